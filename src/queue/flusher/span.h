/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the spool as a ring needs them. A block continues with the next
 * number of its partition, but a ring's segment with the next window of a
 * lease. So a block is cut into windows, and windows that follow each other in
 * the ring are joined.
 */
#pragma once

#include "queue/flusher/block.h"
#include "queue/sequence.h"

/* Numbers that are one segment of a ring. */
struct span {
    struct seqb_sequence *sequence; /* NULL: no numbers */
    int64_t first;
    int64_t count;
};

/* Splits off the first numbers of the block, a block of this sequence, that are
 * one segment of the sequence's ring. `rest` keeps the others; its length is 0
 * in the end. */
struct span span_cut(struct seqb_sequence *sequence, struct spool_block *rest);

/* Adds `next` to the span if it continues the span; else returns false. */
bool span_join(struct span *span, const struct span *next);
