/* SPDX-License-Identifier: Apache-2.0 */
/* What is posted to a worker. */
#pragma once

struct worker;

/* One task of a worker. Tasks run in the order of posting. */
struct worker_job {
    struct worker_job *next;
    /* Runs on the worker's thread. NULL: the job is a slot's, and is batched
     * with others. */
    void (*call)(struct worker *worker, struct worker_job *job);
    /* Called instead of `call`, on the worker's thread, if the broker closes
     * first. NULL: nothing is called. */
    void (*abandon)(struct worker_job *job);
};
