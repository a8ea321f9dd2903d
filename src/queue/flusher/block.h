/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unused numbers of a sequence that one partition granted: what the spool
 * keeps. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

/*
 * `length` numbers: `first` and those that follow it in its run of
 * 2^memory_bits, then those of the partition's next runs, each of which begins
 * 2^(bits + memory_bits) after the one before. Neither end need be that of a
 * run.
 */
struct spool_block {
    const char *key;
    size_t pool;  /* its index among the broker's pools */
    int32_t bits; /* the pool has 2^bits partitions */
    int32_t memory_bits;
    int64_t first;
    int64_t length;
};

/* The partition that granted the block. */
int32_t spool_block_partition(const struct spool_block *block);

/* Whether these are numbers of a legal sequence; the pool is not looked at. */
bool spool_block_is_sane(const struct spool_block *block);

/* Takes off the block what lies in the window of its first number, of
 * 2^window_bits runs, and leaves the rest: its length is 0 if there is none. */
struct spool_block spool_block_cut(struct spool_block *block,
                                   int32_t window_bits);

/* For qsort: by pool, key, partition and number. */
int spool_block_compare(const void *a, const void *b);

enum spool_meeting {
    SPOOL_APART,  /* in order, and with no number in common */
    SPOOL_JOINED, /* the second one goes on where the first one ends */
    SPOOL_CROSSED /* out of order, or with a number in common */
};

/* How a sane block meets a sane one that is to come after it. */
enum spool_meeting spool_block_meet(const struct spool_block *block,
                                    const struct spool_block *next);
