/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of the pools: look at every store, settle the layout, verify it
 * everywhere. On ha_open's thread, which waits for the workers.
 */
#pragma once

#include "ha/worker.h"

struct ha {
    const struct ha_options *options;
    struct watchdog *watchdog;
    struct events events;
    struct endpoint *endpoints; /* as many as are different */
    size_t endpoint_count;
    struct worker *workers; /* one a backend, in the options' order */
    struct ha_pool *pools;
    size_t pools_made; /* pools whose lock is initialised */
};

/* Settles every pool; on failure nothing serves and nothing was granted. */
enum seqb_status startup_run(struct ha *ha, struct seqb_error *err);
