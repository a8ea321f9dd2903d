/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question for a worker: the asker posts it and waits for the answer. An
 * asker that gives up abandons it, and the worker frees it after the answer.
 * `struct ask` is the first member of a struct on the heap, which holds
 * question and answer.
 */
#pragma once

#include "ha/worker.h"

struct ask {
    struct worker_job job;     /* first */
    struct worker_job *posted; /* what is posted: `job`, or a slot's, whose
                                  `done` calls ask_answer */
    /* Called on the worker's thread. Its result is the answer, with `err`. */
    enum seqb_status (*call)(struct worker *worker, struct ask *ask,
                             struct seqb_error *err);
    void (*free)(struct ask *ask); /* frees the struct that this is the first
                                      member of */

    const _Atomic int64_t *limit_ms; /* of the worker, once it is posted */
    pthread_mutex_t lock;            /* guards what follows */
    pthread_cond_t changed;
    bool is_answered;
    bool is_abandoned;       /* the asker gave up: the worker frees it */
    uint64_t steps;          /* progress towards the answer */
    struct seqb_error error; /* the answer; valid when it is answered */
};

/* Sets up a zeroed ask; `call` is NULL if a slot is posted. */
void ask_init(struct ask *ask,
              enum seqb_status (*call)(struct worker *worker, struct ask *ask,
                                       struct seqb_error *err),
              void (*free)(struct ask *ask));

/* Destroys the lock. For a `free` function that frees more than the ask. */
void ask_fini(struct ask *ask);

/* A `free` function for a malloc'ed struct with nothing else to free. */
void ask_free(struct ask *ask);

/* Posts it. False if the worker is stopping: then the caller still owns it. */
bool ask_post(struct worker *worker, struct ask *ask);

/* Both wait for the answer: the first until a time, the second until
 * `patience_ms` pass without a step. Neither waits longer than ha_end_waits
 * allows. True if it is answered. */
bool ask_wait(struct ask *ask, int64_t until_ms);
bool ask_wait_steps(struct ask *ask, int64_t patience_ms);

/* The asker needs it no longer: frees it, or leaves that to the worker. */
void ask_release(struct ask *ask);

/* Posts it and waits until `until_ms`. True if it is answered: call
 * ask_release. Else the caller no longer owns it, and `err` is SEQB_CLOSED, or
 * SEQB_UNAVAILABLE if there was no answer in time. */
bool worker_ask(struct worker *worker, struct ask *ask, int64_t until_ms,
                struct seqb_error *err);

/* On the worker's thread: gives the answer, NULL for success; reports a step,
 * for ask_wait_steps. */
void ask_answer(struct ask *ask, const struct seqb_error *why);
void ask_step(struct ask *ask);

/* On the worker's thread: whether the broker closes, so that nobody needs an
 * answer that takes several steps. */
bool ask_is_over(const struct ask *ask);
