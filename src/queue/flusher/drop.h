/* SPDX-License-Identifier: Apache-2.0 */
/* What an advance makes useless: numbers of the file, and numbers that a round
 * has in hand. Private to this folder. */
#pragma once

#include <stdbool.h>

#include "queue/flusher/spool.h"
#include "queue/sequence.h"

/* Drops the blocks of the sequence that begin at or below `to`. Returns what
 * spool_exchange does. */
enum seqb_status drop_below(struct spool *spool,
                            const struct seqb_sequence *sequence, int64_t to,
                            int64_t until_ms, struct seqb_error *err);

/* Whether the sequence has dropped numbers that begin at `first`. */
bool drop_has_passed(struct seqb_sequence *sequence, int64_t first);
