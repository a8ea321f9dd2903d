/* SPDX-License-Identifier: Apache-2.0 */
/* What is posted to a worker. */
#pragma once

struct worker;

/* Something for a worker to do, in the order of posting. */
struct worker_job {
    struct worker_job *next;
    /* NULL: a slot, to be batched with others. Runs on the worker's thread. */
    void (*call)(struct worker *worker, struct worker_job *job);
    /* Instead of the call, on the same thread, once that has ended; NULL:
     * nobody minds. */
    void (*abandon)(struct worker_job *job);
};
