/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that sends at a fixed rate whatever the server does: an open loop.
 * How long a request took is counted from the moment it was meant to be sent,
 * so that one that had to wait behind a slow one counts what it waited.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "support/latency.h"

struct openloop_options {
    const char *address; /* "tcp:PORT" or "unix:PATH" */
    const char *key;
    int connections;
    int64_t rate; /* requests a second, over all connections in turn */
    double seconds;
    bool sleeps; /* until a request is due or a reply has come */
};

struct openloop {
    struct latency latency;
    double served_s; /* replies a second, from the first to the last */
};

/* On the calling thread, which uses a whole core unless it `sleeps`. What fails
 * ends the program, as does a request without a reply long after the end. */
void openloop_run(const struct openloop_options *options, struct openloop *out);
