/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of a cluster that is cut in two: one on each side takes numbers for
 * ever, on a thread of its own, and keeps what it was granted in each phase.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "support/numbers.h"

enum cut_phase { CUT_BEFORE, CUT_DURING, CUT_AFTER, CUT_PHASES };

/* One side's client. A call of a phase began and ended in it; one that goes on
 * when the cut ends is of the phase after it. */
struct cut_taker {
    /* A number, once; false if none was granted. */
    bool (*take)(struct cut_taker *taker, int64_t *out);
    const struct seqb_backend_ops *ops; /* of cut_take */
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    int netns;       /* where its connections begin (lan_fd); -1: outside */
    char error[256]; /* of the last call that failed */
    pthread_t thread;
    atomic_int phase;
    atomic_bool is_over;
    atomic_llong granted[CUT_PHASES];
    atomic_llong failed[CUT_PHASES];
    struct numbers *numbers; /* both sides' */
};

/* `take` of an engine that counts directly: one number of a counter. Opens the
 * backend if need be, and closes it after a call that failed. Asks again where
 * another client was faster. */
bool cut_take(struct cut_taker *taker, int64_t *out);

/* Two of them, over one store: [0] is on the side of the host that is cut off.
 * Takes numbers before a cut, while it lasts and after it, and sees to it that
 * none comes twice. `cut` and `heal` are called with `context`. While the cut
 * lasts the majority is granted some, and the minority has calls that fail;
 * returns how many it was granted all the same. */
int64_t cut_run(struct cut_taker takers[static 2], void (*cut)(void *context),
                void (*heal)(void *context), void *context);
