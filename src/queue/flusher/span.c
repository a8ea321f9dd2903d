/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts blocks into windows and joins those of one segment. */
#include "queue/flusher/span.h"

struct span span_cut(struct seqb_sequence *sequence, struct spool_block *rest)
{
    struct spool_block part = *rest;

    if (ha_counter_lessor_bits(sequence->counter) > 0)
        part = spool_block_cut(rest, ha_counter_window_bits(sequence->counter));
    else
        rest->length = 0;
    return (struct span){sequence, part.first, part.length};
}

bool span_join(struct span *span, const struct span *next)
{
    if (span->sequence != next->sequence ||
        ring_number_after(span->sequence->ring, span->first,
                          (uint64_t)span->count) != next->first)
        return false;
    span->count += next->count;
    return true;
}
