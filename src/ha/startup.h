/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of the pools: look at every store, settle the layout, verify it
 * everywhere. On ha_open's thread, which waits for the workers.
 */
#pragma once

#include "ha/state.h"

struct ha {
    const struct ha_options *options;
    struct watchdog *watchdog;
    struct events events;
    struct endpoint *endpoints; /* as many as are different */
    size_t endpoint_count;
    struct worker *workers; /* one a backend, in the options' order */
    struct ha_pool *pools;
    size_t pools_made;            /* pools whose lock is initialised */
    struct admission *admissions; /* that workers did not finish in time */
};

/* Settles every pool; on failure nothing serves and nothing was granted. */
enum seqb_status startup_run(struct ha *ha, struct seqb_error *err);

/*
 * A step that a worker carries out on its own thread, unless it was abandoned;
 * it ends with startup_done. Waiting ends with that, or at `until_ms`: then the
 * worker is abandoned.
 */
void startup_post(struct worker *worker,
                  void (*step)(struct worker *worker, struct worker_job *job));
void startup_wait(struct worker *worker, int64_t until_ms);
void startup_done(struct worker *worker);

/* Of admit.c: frees what was left for workers that have stopped now. */
void admit_forget(struct ha *ha);
