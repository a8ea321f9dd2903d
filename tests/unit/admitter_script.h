/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An admitter whose stores, clock and thread the test sets, for programs that
 * are linked with the --wrap of each function in the .c file. The thread's
 * function runs on the test's own thread, until it waits for sequences.
 */
#pragma once

#include "queue/queue_state.h"
#include "support/test.h"

#define BATCH   64
#define LOOK_MS 200
#define NOW     INT64_C(1000)
#define SIX     6

struct admitter_script {
    void *(*run)(void *argument); /* of the thread */
    int starts, joins, signals, rests, ends, conditions;
    enum seqb_status start;
    int64_t now_ms, until_ms;
    int64_t stop_ms; /* the thread ends at its first look from then on */
    uint64_t usable;
    bool goes_on;
    enum seqb_status admitted[SIX]; /* what each call of the stores returns */
    int64_t at_ms[SIX];             /* when it was, */
    size_t counts[SIX];             /* and of how many */
    size_t calls;
    bool is_unasked[BATCH + 1], is_refused[BATCH + 1];
    size_t asked_at[BATCH + 1]; /* the call from which on it is not unasked */
    void (*at_look)(void);      /* once; or NULL */
};

extern struct admitter_script script;
extern struct queue queue;
extern struct source_context context;
extern struct seqb_sequence sequences[BATCH + 1]; /* "key0", ... */

/* "key0" and "key1" are listed, the pattern is "key?", and nine sequences are
 * automatic. */
int admitter_setup(void **state);
int admitter_teardown(void **state);

#define QUEUE FIXTURE(struct queue *unused, admitter_setup, admitter_teardown)
