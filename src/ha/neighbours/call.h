/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question to one lessor's store, asked on its worker's thread while the
 * asker waits. The call holds all that it needs. The worker frees it if the
 * asker gave up.
 */
#pragma once

#include "ha/ask.h"
#include "store/store.h"

#define CALL_LISTED    256 /* counters in a page */
#define CALL_TEXT_SIZE (TERM_SIZE + SEQB_INCARNATION_SIZE)

/* What a store holds: its own level, and the marks of the other lessors. */
struct seen {
    bool is_there; /* else the other fields are not valid */
    char incarnation[SEQB_INCARNATION_SIZE];
    char synced[CALL_TEXT_SIZE];             /* "": no claim */
    char marks[LESSORS_MAX][CALL_TEXT_SIZE]; /* by lessor, except its own */
};

struct call_claim {
    char name[SEQB_COUNTER_SIZE];
    char text[CLAIM_SEQUENCE_SIZE]; /* "": there is none */
};

struct call {
    struct ask ask; /* first */
    struct ha_pool *pool;
    int32_t lessor; /* lessor whose store is asked */
    enum seqb_status (*run)(struct worker *worker, struct call *call,
                            struct seqb_error *err);
    bool is_fresh; /* close and open the connection before */

    struct seen seen; /* result of call_read */

    char name[SEQB_COUNTER_SIZE]; /* the claim to swap */
    char expected[CALL_TEXT_SIZE];
    char text[CALL_TEXT_SIZE];
    char incarnation[SEQB_INCARNATION_SIZE]; /* that the store must have */
    char standing[CALL_TEXT_SIZE];           /* result: the claim afterwards */

    char prefix[SEQB_COUNTER_SIZE]; /* prefix of the counters to list */
    char after[SEQB_COUNTER_SIZE];
    int32_t count; /* counters in `listed`: result of call_list, input of
                      call_raise */
    struct seqb_listed listed[CALL_LISTED];

    int32_t claim_count;
    struct call_claim claims[CALL_LISTED]; /* call_claims_read sets the texts,
                                              which call_claims_put writes */
};

/* NULL when out of memory. */
struct call *call_new(struct ha_pool *pool, int32_t lessor);

/* The calls, for `run`. call_read reads the marks before the level. */
enum seqb_status call_read(struct worker *worker, struct call *call,
                           struct seqb_error *err);
enum seqb_status call_swap(struct worker *worker, struct call *call,
                           struct seqb_error *err);
enum seqb_status call_list(struct worker *worker, struct call *call,
                           struct seqb_error *err);
enum seqb_status call_raise(struct worker *worker, struct call *call,
                            struct seqb_error *err);
enum seqb_status call_claims_read(struct worker *worker, struct call *call,
                                  struct seqb_error *err);
enum seqb_status call_claims_put(struct worker *worker, struct call *call,
                                 struct seqb_error *err);

/* Posts it. False if the broker is closing; then the call was freed. */
bool call_post(struct call *call);

/* Waits as long as the store makes progress. If it makes none, returns false,
 * and the call is no longer the caller's. Else the caller owns it until
 * ask_release, and the answer is in its error. */
bool call_wait(struct call *call);

/* Posts it and waits. False, with the reason, if it failed; then the call is no
 * longer the caller's. */
bool call_ask(struct call *call, struct seqb_error *err);
