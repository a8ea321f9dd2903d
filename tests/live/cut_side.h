/* SPDX-License-Identifier: Apache-2.0 */
/* A broker as the client of one side of a cut. */
#pragma once

#include <seqbroker/seqbroker.h>

#include "cut.h"

struct cut_side {
    char topology[128]; /* its path */
    const char *key;
    struct seqb_broker *broker; /* NULL: not open */
    struct seqb_sequence *sequence;
};

/* `key` must outlive the side. */
void cut_side_init(struct cut_side *side, const char *topology,
                   const char *key);

/* A `take` whose context is a side. Opens the broker if it is not open: its
 * threads are in the network namespace of the thread that does so. */
bool cut_side_take(struct cut_taker *taker, int64_t *out);

void cut_side_close(struct cut_side *side);
