/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: unused numbers of a sequence that one partition granted. The spool
 * keeps them. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

/*
 * `length` numbers: `first` and those that follow it in its run of
 * 2^memory_bits, then those of the partition's next runs. Each of these begins
 * 2^(bits + memory_bits) after the one before. A block may begin and end inside
 * a run.
 */
struct spool_block {
    const char *key;
    size_t pool;  /* index of the pool in the broker */
    int32_t bits; /* the pool has 2^bits partitions */
    int32_t memory_bits;
    int64_t first;
    int64_t length;
};

/* The partition that granted the block. */
int32_t spool_block_partition(const struct spool_block *block);

/* Whether a sequence can have these numbers. Does not check the pool. */
bool spool_block_is_sane(const struct spool_block *block);

/* Splits off and returns the part of the block within the window of its first
 * number, a window being of 2^window_bits runs. `block` keeps the rest; its
 * length is 0 if there is none. */
struct spool_block spool_block_cut(struct spool_block *block,
                                   int32_t window_bits);

/* For qsort: by pool, key, memory bits, partition and number. */
int spool_block_compare(const void *a, const void *b);

enum spool_meeting {
    SPOOL_APART,  /* in order, without a common number */
    SPOOL_JOINED, /* the second block continues the first one */
    SPOOL_CROSSED /* out of order, or with a common number */
};

/* How a valid block meets a valid one that is to follow it. */
enum spool_meeting spool_block_meet(const struct spool_block *block,
                                    const struct spool_block *next);
