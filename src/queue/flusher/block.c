/* SPDX-License-Identifier: Apache-2.0 */
/* Calculates with the positions of numbers in their partition, which have no
 * gaps. */
#include "queue/flusher/block.h"

#include <string.h>

#include "ha/ha.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "queue/queue.h"

/* The position of the block's first number among all numbers of its
 * partition. */
static int64_t block_position(const struct spool_block *block)
{
    const int32_t memory_bits = block->memory_bits;
    const int64_t memory = block->first & (((int64_t)1 << memory_bits) - 1);

    return block->first >> (block->bits + memory_bits) << memory_bits | memory;
}

int32_t spool_block_partition(const struct spool_block *block)
{
    return (int32_t)(block->first >> block->memory_bits &
                     (((int64_t)1 << block->bits) - 1));
}

/* The number at a position at which a run begins. */
static int64_t block_number(const struct spool_block *block, int64_t position)
{
    const int64_t run = position >> block->memory_bits << block->bits |
                        spool_block_partition(block);

    return run << block->memory_bits;
}

struct spool_block spool_block_cut(struct spool_block *block,
                                   int32_t window_bits)
{
    const int64_t size = (int64_t)1 << (window_bits + block->memory_bits);
    const int64_t position = block_position(block);
    struct spool_block part = *block;

    part.length = min_of(block->length, size - (position & (size - 1)));
    block->length -= part.length;
    if (block->length > 0)
        block->first = block_number(block, position + part.length);
    return part;
}

bool spool_block_is_sane(const struct spool_block *block)
{
    if (!text_is_key(block->key) || block->bits < 0 ||
        block->bits > HA_BITS_MAX || block->memory_bits < 0 ||
        block->memory_bits > QUEUE_MEMORY_BITS_MAX)
        return false;
    /* Counters begin at 1. */
    if (block->first < (int64_t)1 << (block->bits + block->memory_bits) ||
        block->length < 1)
        return false;
    return block->length - 1 <=
           (INT64_MAX >> block->bits) - block_position(block);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Compares only the sequences; 0 if both blocks are of the same one. */
static int compare_sequences(const struct spool_block *a,
                             const struct spool_block *b)
{
    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    return a->key == b->key ? 0 : strcmp(a->key, b->key);
}

int spool_block_compare(const void *a, const void *b)
{
    const struct spool_block *x = a;
    const struct spool_block *y = b;
    int order = compare_sequences(x, y);

    if (order == 0)
        order = compare_numbers(x->memory_bits, y->memory_bits);
    if (order == 0)
        order =
            compare_numbers(spool_block_partition(x), spool_block_partition(y));
    return order != 0 ? order : compare_numbers(x->first, y->first);
}

enum spool_meeting spool_block_meet(const struct spool_block *block,
                                    const struct spool_block *next)
{
    int64_t last;
    int64_t begin;

    if (spool_block_compare(block, next) >= 0)
        return SPOOL_CROSSED;
    if (compare_sequences(block, next) != 0)
        return SPOOL_APART;
    /* The same numbers would have two meanings. */
    if (block->memory_bits != next->memory_bits)
        return SPOOL_CROSSED;
    if (spool_block_partition(block) != spool_block_partition(next))
        return SPOOL_APART;
    last = block_position(block) + (block->length - 1);
    begin = block_position(next);
    if (begin <= last)
        return SPOOL_CROSSED;
    return begin - last == 1 ? SPOOL_JOINED : SPOOL_APART;
}
