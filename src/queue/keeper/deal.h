/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an exchange makes of every block, those of the file and those given:
 * kept, taken or lost; and of what is kept the next file. No I/O. Private to
 * this folder.
 */
#pragma once

#include <stdbool.h>

#include "queue/keeper/spool.h"
#include "queue/keeper/text.h"

enum fate { FATE_KEPT, FATE_TAKEN, FATE_LOST };

struct piece {
    struct spool_block block; /* first: pieces are sorted like blocks */
    enum fate fate;
    bool is_given; /* else it was in the file */
};

/* What this broker knows of a pool's stores. */
struct deal_stores {
    enum ha_origin known[HA_PARTITIONS_MAX];
    char origins[HA_PARTITIONS_MAX][SEQB_ORIGIN_SIZE];
};

struct deal {
    struct ha *ha;
    const struct spool_terms *terms;
    size_t pool_count;
    struct deal_stores *stores; /* one a pool */
    struct piece *pieces;
    size_t piece_count;
};

/* Looks at the stores. `deal` is for deal_fini in any case. */
enum seqb_status deal_init(struct deal *deal, struct ha *ha,
                           const struct spool_terms *terms,
                           struct seqb_error *err);
void deal_fini(struct deal *deal);

/* Puts the pools of a text in the order of this broker's; false if one of them
 * is none of its, or has another layout. */
bool deal_adopt(const struct deal *deal, struct spool_text *present);

/*
 * Collects the blocks of `present` (adopted; NULL: there is none) and those
 * given, and decides about each. SEQB_INVALID if what is given makes no sense;
 * SEQB_CORRUPT if the file has numbers that are given as well; SEQB_NO_MEMORY.
 */
enum seqb_status deal_judge(struct deal *deal, const struct spool_text *present,
                            struct seqb_error *err);

/* Whether anything is to be changed in the file. */
bool deal_is_worth_it(const struct deal *deal);

/* Fills the pools and the blocks of the next file, which point into `present`,
 * what was given, and the deal. SEQB_NO_MEMORY. */
enum seqb_status deal_compose(const struct deal *deal,
                              const struct spool_text *present,
                              struct spool_text *next, struct seqb_error *err);

/* It is done: a line of the log; then what was taken is handed over. */
void deal_tell(const struct deal *deal);
void deal_take(const struct deal *deal);
