/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of one lessor's store, on its worker's thread, by who waits
 * for the answer. All that it needs is in the call, which its worker frees if
 * nobody waits any more.
 */
#pragma once

#include "ha/ask.h"

#define CALL_LISTED    256 /* counters in a page */
#define CALL_TEXT_SIZE (TERM_SIZE + SEQB_INCARNATION_SIZE)

/* What stands in a store of its own level, and of the marks of the others. */
struct seen {
    bool is_there; /* else the rest says nothing */
    char incarnation[SEQB_INCARNATION_SIZE];
    char synced[CALL_TEXT_SIZE];             /* "": nothing */
    char marks[LESSORS_MAX][CALL_TEXT_SIZE]; /* by lessor; not of its own */
};

struct call {
    struct ask ask; /* first */
    struct ha_pool *pool;
    int32_t lessor; /* whose store it is */
    enum seqb_status (*run)(struct connection *connection, struct call *call,
                            struct seqb_error *err);
    bool is_fresh; /* the store is connected once more before */

    struct seen seen; /* out, of a look */

    char name[SEQB_COUNTER_SIZE]; /* of a claim that is swapped ... */
    char expected[CALL_TEXT_SIZE];
    char text[CALL_TEXT_SIZE];
    char incarnation[SEQB_INCARNATION_SIZE]; /* ... in this incarnation */
    char standing[CALL_TEXT_SIZE];           /* out */

    char prefix[SEQB_COUNTER_SIZE]; /* of counters that are listed ... */
    char after[SEQB_COUNTER_SIZE];
    int32_t count; /* ... and how many are in the page, which is `listed`: out
                      of a list, in of a raise */
    struct seqb_listed listed[CALL_LISTED];
};

/* SEQB_NO_MEMORY is a failure like others. */
struct call *call_new(struct ha_pool *pool, int32_t lessor);

/* The calls, as `run`. A look reads the marks before the level. */
enum seqb_status call_read(struct connection *connection, struct call *call,
                           struct seqb_error *err);
enum seqb_status call_swap(struct connection *connection, struct call *call,
                           struct seqb_error *err);
enum seqb_status call_list(struct connection *connection, struct call *call,
                           struct seqb_error *err);
enum seqb_status call_raise(struct connection *connection, struct call *call,
                            struct seqb_error *err);

/* Posts it; false, and it is gone, if the broker is closing. */
bool call_post(struct call *call);

/* Waits as long as the store gets on. False: it does not, and the call is gone.
 * Else it is the caller's until ask_release, with the answer in its error. */
bool call_wait(struct call *call);

/* Posts it and waits. False, with the reason, if it failed; then it is gone. */
bool call_ask(struct call *call, struct seqb_error *err);
