/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides for an exchange what becomes of each block, of the file and of those
 * given: kept, taken or lost. Makes the next file from the blocks that are
 * kept. No I/O. Private to this folder.
 */
#pragma once

#include <stdbool.h>

#include "queue/flusher/spool.h"
#include "queue/flusher/text.h"

enum disposition { MERGE_KEPT, MERGE_TAKEN, MERGE_LOST };

struct piece {
    struct spool_block block; /* must be first: pieces are sorted as blocks */
    enum disposition disposition;
    bool is_given; /* false: it was in the file */
};

/* What this broker knows of a pool's stores: their origins. */
struct merge_stores {
    enum ha_origin known[HA_PARTITIONS_MAX];
    char origins[HA_PARTITIONS_MAX][SEQB_ORIGIN_SIZE];
};

struct merge {
    struct ha *ha;
    const struct spool_exchange_options *options;
    size_t pool_count;
    struct merge_stores *stores; /* one for each pool */
    struct piece *pieces;
    size_t piece_count;
};

/* Reads what is known of the stores. Call merge_fini in any case. */
enum seqb_status merge_init(struct merge *merge, struct ha *ha,
                            const struct spool_exchange_options *options,
                            struct seqb_error *err);
void merge_fini(struct merge *merge);

/* Puts the pools of a text in this broker's order. SEQB_LAYOUT: the broker does
 * not have one of them, or has it with another layout; SEQB_NO_MEMORY. */
enum seqb_status merge_adopt(const struct merge *merge,
                             struct spool_text *present,
                             struct seqb_error *err);

/* For a text that was not adopted: whether the only reason is that pools were
 * migrated after the text was written. */
bool merge_is_migrated(const struct merge *merge,
                       const struct spool_text *present);

/*
 * Collects the blocks of `present` (adopted; NULL: there is none) and those
 * given, and decides about each. SEQB_INVALID: a given block makes no sense, or
 * a number is given twice; SEQB_CORRUPT: the file has numbers that are also
 * given; SEQB_NO_MEMORY.
 */
enum seqb_status merge_decide(struct merge *merge,
                              const struct spool_text *present,
                              struct seqb_error *err);

/* Whether the file has to change. */
bool merge_is_worth_it(const struct merge *merge);

/* Fills in the pools and blocks of the next file. They point into `present`,
 * the given blocks, and the merge. SEQB_NO_MEMORY. */
enum seqb_status merge_compose(const struct merge *merge,
                               const struct spool_text *present,
                               struct spool_text *next, struct seqb_error *err);

/* Call these after the exchange. merge_log logs it, merge_take hands over what
 * was taken. */
void merge_log(const struct merge *merge);
void merge_take(const struct merge *merge);
