/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A visit of counters, of which all but admission/visit.c is scripted: the
 * batch of claims, the store, the worker's connection, and the asker. They
 * write down that they were called. For programs that are linked with the
 * --wrap of each function in the .c file.
 */
#pragma once

#include "ha/admission/admission.h"
#include "ha/startup.h"
#include "store/claim_batch.h"
#include "unit/slot_fixture.h"

#define WORKER   1
#define COUNTERS 5 /* "a", "b", "c" of main, "d" of other, "e" of strange */
#define MEMBER   3 /* of main; of other it is the authority */
#define SERIAL   7

/* A letter of `claims` for each of `keys`:
 * '.' it is as expected, 'x' only when it is asked about alone,
 * 'l' SEQB_LAYOUT, 'f' SEQB_REFUSED, 'u' SEQB_UNREACHABLE,
 * 'r' refused before, 'v' closed before, 'L' as 'l', and refused meanwhile,
 * 'k' its own pool knows it, 'K' another store of it does. */
struct visit_row {
    const struct visit *visit; /* NULL: visit_claim */
    const char *keys;
    const char *claims;
    int membership_count;   /* 0: 2, -1: none */
    int32_t generation;     /* of other */
    const char *retired;    /* pool */
    enum seqb_status steps; /* of each call with a batch */
    int over_at;            /* the broker closes; as the next ones: the call
                               with which that begins, 0: never */
    int unusable_at;
    int unreachable_at;
    bool has_no_batch;
    int64_t step_ms;
    enum seqb_status status;
    const char *log;
    const char *accepted; /* '1': it is */
};

struct visit_script {
    struct ha ha;
    struct ha_options options;
    struct ha_pool other;
    struct ha_pool strange;
    struct worker_membership memberships[4];
    struct ha_counter *counters[COUNTERS];
    const struct visit_row *row;
    struct admission *admission;
    struct ask ask;
    struct {
        char letters[32];
        size_t count;
        size_t sent;
    } batch;
    int checks; /* whether the broker closes */
    int looks;  /* whether the worker is usable */
    int connects;
    int64_t now_ms;
    char log[256];
    int allocated_count; /* in visit_all, and not freed */
};

extern struct visit_script scene;

int visit_setup(void **state);
int visit_teardown(void **state);

#define VISITED FIXTURE(struct fixture *f, visit_setup, visit_teardown)

/* The admission of a row, not visited. The test ends it. */
void visit_make(const struct visit_row *row);

/* visit_all of such an admission. Of its allocations one fails; -1: none. */
enum seqb_status visit_play(struct fixture *f, const struct visit_row *row,
                            int no_memory_at, struct seqb_error *err);
