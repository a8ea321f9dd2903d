/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an exchange makes of every block, those of the file and those given:
 * kept, taken or lost; and of what is kept the next file. No I/O. Private to
 * this folder.
 */
#pragma once

#include <stdbool.h>

#include "queue/flusher/spool.h"
#include "queue/flusher/text.h"

enum disposition { MERGE_KEPT, MERGE_TAKEN, MERGE_LOST };

struct piece {
    struct spool_block block; /* first: pieces are sorted like blocks */
    enum disposition disposition;
    bool is_given; /* else it was in the file */
};

/* What this broker knows of a pool's stores. */
struct merge_stores {
    enum ha_origin known[HA_PARTITIONS_MAX];
    char origins[HA_PARTITIONS_MAX][SEQB_ORIGIN_SIZE];
};

struct merge {
    struct ha *ha;
    const struct spool_exchange_options *options;
    size_t pool_count;
    struct merge_stores *stores; /* one a pool */
    struct piece *pieces;
    size_t piece_count;
};

/* Looks at the stores. `merge` is for merge_fini in any case. */
enum seqb_status merge_init(struct merge *merge, struct ha *ha,
                            const struct spool_exchange_options *options,
                            struct seqb_error *err);
void merge_fini(struct merge *merge);

/* Puts the pools of a text in the order of this broker's; false if one of them
 * is none of its, or has another layout. */
bool merge_adopt(const struct merge *merge, struct spool_text *present);

/* Of one that was not adopted: whether that is so since a pool was migrated
 * after the text was written. */
bool merge_is_migrated(const struct merge *merge,
                       const struct spool_text *present);

/*
 * Collects the blocks of `present` (adopted; NULL: there is none) and those
 * given, and decides about each. SEQB_INVALID if what is given makes no sense;
 * SEQB_CORRUPT if the file has numbers that are given as well; SEQB_NO_MEMORY.
 */
enum seqb_status merge_decide(struct merge *merge,
                              const struct spool_text *present,
                              struct seqb_error *err);

/* Whether anything is to be changed in the file. */
bool merge_is_worth_it(const struct merge *merge);

/* Fills the pools and the blocks of the next file, which point into `present`,
 * what was given, and the merge. SEQB_NO_MEMORY. */
enum seqb_status merge_compose(const struct merge *merge,
                               const struct spool_text *present,
                               struct spool_text *next, struct seqb_error *err);

/* It is done: a line of the log; then what was taken is handed over. */
void merge_log(const struct merge *merge);
void merge_take(const struct merge *merge);
