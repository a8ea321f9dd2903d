/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's part of an admission, on its own thread: it asks its store about
 * all counters, many in one call, and keeps which counters the store has with
 * other settings. ha/admit.c posts this and waits for it.
 */
#pragma once

#include "ha/ask.h"

struct claim_batch;

/* A counter, and the answer of the first store that has it with other settings.
 * The pool's lock guards that answer. */
struct admitted {
    struct ha_counter *counter;
    char *reason; /* NULL: no memory for it */
    int32_t partition;
    bool is_refused;
    bool is_known; /* visit_known: a store has its claim */
    bool is_noted; /* visit_note: a store that keeps its claims has it */
};

struct admission;

/* What a store is asked about a counter. */
struct visit {
    /* Whether it writes claims, so that the pool must not have been retired
     * meanwhile. */
    bool claims;
    /* Whether the worker's store is asked about the counter. */
    bool (*concerns)(const struct worker *worker,
                     const struct ha_counter *counter);
    /* Adds the counter's claims to the batch: from none to as many as the
     * pools of the worker have generations. */
    void (*add)(const struct worker *worker, const struct ha_counter *counter,
                struct claim_batch *batch);
    /* Every claim that was added for the i-th counter is as expected. With the
     * lock held. */
    void (*accept)(const struct worker *worker, struct admission *admission,
                   size_t i);
    /* Asks about the i-th counter alone, and so learns why it is refused. */
    enum seqb_status (*one)(struct worker *worker, struct admission *admission,
                            size_t i, struct seqb_error *err);
};

/* Claims the bits of a sequence, and compares them. */
extern const struct visit visit_claim;

/* The same in two parts: visit_note is for the stores that keep their claims,
 * visit_copy for those that may forget. A broker of another topology asks only
 * the former, so that a sequence begins when one of them has its claim. */
extern const struct visit visit_note;
extern const struct visit visit_copy;

/* Asks whether another pool of the store was used for the sequence. Changes
 * nothing. */
extern const struct visit visit_elsewhere;

/* Asks whether the store knows the sequence in its own pool. Changes
 * nothing. */
extern const struct visit visit_known;

/* Counters that are visited together; shared by the workers. */
struct admission {
    const struct visit *visit;
    atomic_size_t holders; /* the caller and the workers; the last one frees it,
                              see admission_drop */
    size_t count;
    bool is_part;  /* there are other counters, which are not refused */
    bool is_owner; /* frees the counters, too: see ha_known */
    /* visit_elsewhere: by counter, then by backend, whether the store answered
     * that it does not know the sequence. Else NULL. The pool's lock guards
     * it. */
    bool *has_no_such;
    struct admitted admitted[];
};

/* The answers about the i-th counter, one for each backend. */
static inline bool *admission_answers(const struct admission *admission,
                                      size_t i, size_t backends)
{
    return &admission->has_no_such[i * backends];
}

bool admitted_is_refused(const struct admitted *admitted);

/*
 * Visits all of them. If the store fails on the way, the call returns the
 * reason, and the store is asked about the rest before its grants. Each call to
 * the store is a step of `ask`.
 */
enum seqb_status visit_all(struct worker *worker, struct admission *admission,
                           struct ask *ask, struct seqb_error *err);

/* Of ha/admit.c: makes an admission; has every store visited that it concerns,
 * and closes what they refuse (SEQB_LAYOUT: that is all of it); ends it. NULL
 * is allowed in the last two. */
struct admission *admission_new(const struct ha *ha, const struct visit *visit,
                                struct ha_counter *const *counters,
                                size_t count);
enum seqb_status visit_run(struct ha *ha, struct admission *admission,
                           struct seqb_error *err);
void visit_end(struct admission *admission);

/* Of ha/admit.c: makes an admission of visit_claim, runs it, and ends it. */
enum seqb_status claim_all(struct ha *ha, struct ha_counter *const *counters,
                           size_t count, struct seqb_error *err);
