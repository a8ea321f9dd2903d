/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the spool as a ring has them. A block goes on in the next number
 * of its partition, a ring's segment in the next window of a lease: a block is
 * cut into windows, and those that follow each other in a ring are joined.
 */
#pragma once

#include "queue/flusher/block.h"
#include "queue/sequence.h"

/* Numbers that a ring has in one segment. */
struct span {
    struct seqb_sequence *sequence; /* NULL: there are none */
    int64_t first;
    int64_t count;
};

/* Takes off the block, of that sequence, the first numbers that its ring has in
 * one segment; what is left has length 0 in the end. */
struct span span_cut(struct seqb_sequence *sequence, struct spool_block *rest);

/* Whether the span goes on with the next one, which is then part of it. */
bool span_join(struct span *span, const struct span *next);
