/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question for a worker, that somebody waits for. Who waits may give up; then
 * whoever answers frees it. The first member of what is asked, on the heap.
 */
#pragma once

#include "ha/worker.h"

struct ask {
    struct worker_job job;     /* first */
    struct worker_job *posted; /* to the worker: `job`, or a slot's, whose
                                 `done` calls ask_answer then */
    /* On the worker's thread; returns what the answer is, with `err`. */
    enum seqb_status (*call)(struct worker *worker, struct ask *ask,
                             struct seqb_error *err);
    void (*free)(struct ask *ask); /* frees what it is the first member of */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool is_answered;
    bool is_abandoned;       /* nobody waits: whoever answers frees it */
    uint64_t steps;          /* made towards the answer */
    struct seqb_error error; /* the answer; valid when it is answered */
};

/* Sets up a zeroed one; `call` is NULL if a slot is posted. */
void ask_init(struct ask *ask,
              enum seqb_status (*call)(struct worker *worker, struct ask *ask,
                                       struct seqb_error *err),
              void (*free)(struct ask *ask));

/* Destroys the lock; for a `free` that frees more. */
void ask_fini(struct ask *ask);

/* A `free`: of one that was malloc'ed and has nothing else to be freed. */
void ask_free(struct ask *ask);

/* Posts it. False, and it is still the caller's alone, if the worker stops. */
bool ask_post(struct worker *worker, struct ask *ask);

/* Both wait for the answer: until a time, or as long as no `patience_ms` pass
 * without a step. True if it is answered. */
bool ask_wait(struct ask *ask, int64_t until_ms);
bool ask_wait_steps(struct ask *ask, int64_t patience_ms);

/* The asker is done with it: frees it, or leaves that to who answers. */
void ask_release(struct ask *ask);

/* Posts it and waits until `until_ms`. True: it is answered, for ask_release.
 * Else it is gone: `err` is SEQB_CLOSED, or SEQB_UNAVAILABLE for no answer in
 * time. */
bool worker_ask(struct worker *worker, struct ask *ask, int64_t until_ms,
                struct seqb_error *err);

/* On the worker's thread. The answer, NULL for success; and a step, for those
 * who wait for them. */
void ask_answer(struct ask *ask, const struct seqb_error *why);
void ask_step(struct ask *ask);
