/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue all of whose parts are scripted: they only write down that they were
 * called. For programs that are linked with the --wrap of each function in the
 * .c file.
 */
#pragma once

#include "queue/queue_state.h"
#include "support/test.h"

#define NOW    1000 /* ms, at the begin */
#define LISTED 2    /* sequences: "a" and "b" */

struct queue_script {
    char journal[1024];
    const char *fails; /* the step that does */
    int64_t now_ms;
    int callocs, lacks; /* the how manyth of them fails; 0: none */
    bool lacks_memory;  /* for a child's view */
    bool is_cold[LISTED];
    size_t refused; /* its index + 1, or 0: none is */
    void *(*run)(void *argument);
    void *argument;
    bool is_due;
    int rounds;
    int64_t until_ms[4]; /* of each wait of the refill thread */
    int64_t next_ms[LISTED];
    int kind;         /* of the catalog's lock */
    int inits, finis; /* of parts */
    bool is_on;
};

extern struct queue_script script;
extern struct seqb_sequence sequences[LISTED + 1]; /* and "c" */

/* The journal, which is empty then. */
void expect_steps(const char *steps);

struct fixture {
    struct queue_options options;
    struct queue *queue;
};

int queue_script_setup(void **state);
int queue_script_teardown(void **state);

#define QUEUE                                                                  \
    FIXTURE(struct fixture *fixture, queue_script_setup, queue_script_teardown)
