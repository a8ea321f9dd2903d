/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of a cluster that a network cut divides. One client on each side
 * takes numbers continuously, on a thread of its own, and counts what it was
 * granted in each phase.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "support/numbers.h"

enum cut_phase { CUT_BEFORE, CUT_DURING, CUT_AFTER, CUT_PHASES };

/* The client of one side. A call counts for the phase in which it began. Only a
 * call that began during the cut and ended after it counts for the phase after
 * it. */
struct cut_taker {
    /* Takes one number; false if none was granted. */
    bool (*take)(struct cut_taker *taker, int64_t *out);
    const struct seqb_backend_ops *ops; /* for cut_take */
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    void *context;   /* of `take`, which may have one */
    int netns;       /* of its connections (see lan_fd); -1: outside */
    char error[256]; /* of the last call that failed */
    pthread_t thread;
    atomic_int phase;
    atomic_bool is_over;
    atomic_llong granted[CUT_PHASES];
    atomic_llong failed[CUT_PHASES];
    struct numbers *numbers; /* shared by both sides */
};

/* `take` for an engine that counts directly: takes one number of a counter.
 * Opens the backend if necessary, and closes it after a failed call. Asks again
 * if another client was faster. */
bool cut_take(struct cut_taker *taker, int64_t *out);

/* Runs two clients over one store; takers[0] is on the side of the host that is
 * cut off. Takes numbers before, during and after a cut, and checks that none
 * repeats. Calls `cut` and `heal` with `context`. Checks that during the cut
 * the majority is granted numbers and calls of the minority fail. Returns how
 * many numbers the minority was granted during the cut. */
int64_t cut_run(struct cut_taker takers[static 2], void (*cut)(void *context),
                void (*heal)(void *context), void *context);
