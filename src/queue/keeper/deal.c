/* SPDX-License-Identifier: Apache-2.0 */
/* Judging blocks by their stores, their sequences, and each other. */
#include "queue/keeper/deal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/log.h"

static enum seqb_status no_memory(struct seqb_error *err)
{
    return error_set(err, SEQB_NO_MEMORY, "spool: out of memory");
}

enum seqb_status deal_init(struct deal *deal, struct ha *ha,
                           const struct spool_terms *terms,
                           struct seqb_error *err)
{
    *deal = (struct deal){
        .ha = ha, .terms = terms, .pool_count = ha_pool_count(ha)};
    deal->stores = calloc(deal->pool_count, sizeof *deal->stores);
    if (deal->stores == NULL)
        return no_memory(err);
    for (size_t i = 0; i < deal->pool_count; i++) {
        struct ha_pool *pool = ha_pool_at(ha, i);
        struct deal_stores *stores = &deal->stores[i];

        for (int32_t j = 0; j < 1 << ha_pool_bits(pool); j++)
            stores->known[j] = ha_pool_origin(pool, j, stores->origins[j]);
    }
    return SEQB_OK;
}

void deal_fini(struct deal *deal)
{
    free(deal->pieces);
    free(deal->stores);
}

/* --- the file's pools --- */

static bool pool_find(const struct deal *deal, const struct spool_pool *pool,
                      size_t *out)
{
    for (size_t i = 0; i < deal->pool_count; i++) {
        const struct ha_pool *own = ha_pool_at(deal->ha, i);

        if (pool->bits == ha_pool_bits(own) &&
            strcmp(pool->layout, ha_pool_layout(own)) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

bool deal_adopt(const struct deal *deal, struct spool_text *present)
{
    struct spool_pool *pools = calloc(deal->pool_count, sizeof *pools);
    size_t places[SPOOL_POOLS];
    bool fits = pools != NULL;

    for (size_t i = 0; fits && i < present->pool_count; i++) {
        fits = pool_find(deal, &present->pools[i], &places[i]);
        if (fits)
            pools[places[i]] = present->pools[i];
    }
    if (!fits) {
        free(pools);
        return false;
    }
    for (size_t i = 0; i < present->block_count; i++)
        present->blocks[i].pool = places[present->blocks[i].pool];
    present->place.pool = places[present->place.pool];
    free(present->pools);
    present->pools = pools;
    present->pool_count = deal->pool_count;
    return true;
}

/* --- what becomes of a block --- */

static enum fate choose(const struct deal *deal,
                        const struct spool_block *block, bool may_take)
{
    const struct spool_terms *terms = deal->terms;
    int32_t memory_bits = -1;
    enum spool_choice choice = SPOOL_KEEP;

    if (terms->choose != NULL)
        choice = terms->choose(terms->context, block, &memory_bits);
    if (choice == SPOOL_DROP)
        return FATE_LOST;
    if (choice == SPOOL_KEEP || !may_take)
        return FATE_KEPT;
    return memory_bits == block->memory_bits ? FATE_TAKEN : FATE_LOST;
}

/* A store that has another origin than when the block was kept may grant its
 * numbers again. Of one that is not connected nothing is taken, but kept. */
static enum fate judge(const struct deal *deal,
                       const struct spool_text *present,
                       const struct spool_block *block)
{
    const int32_t partition = spool_block_partition(block);
    const struct deal_stores *stores = &deal->stores[block->pool];
    const enum ha_origin known = stores->known[partition];
    const char *origin = present->pools[block->pool].origins[partition];

    if (known != HA_ORIGIN_NONE &&
        strcmp(origin, stores->origins[partition]) != 0)
        return FATE_LOST;
    return choose(deal, block, known == HA_ORIGIN_NOW);
}

static void add_present(struct deal *deal, const struct spool_text *present)
{
    for (size_t i = 0; i < present->block_count; i++) {
        const struct spool_block *block = &present->blocks[i];

        deal->pieces[deal->piece_count++] =
            (struct piece){*block, judge(deal, present, block), false};
    }
}

/* Of a store that was never connected, or went back, nothing is kept. */
static bool add_given(struct deal *deal, const struct spool_block *give)
{
    struct piece piece = {*give, FATE_KEPT, true};
    struct spool_block *block = &piece.block;

    if (block->pool >= deal->pool_count)
        return false;
    block->bits = ha_pool_bits(ha_pool_at(deal->ha, block->pool));
    if (!spool_block_is_sane(block))
        return false;
    if (deal->stores[block->pool].known[spool_block_partition(block)] ==
        HA_ORIGIN_NONE)
        piece.fate = FATE_LOST;
    deal->pieces[deal->piece_count++] = piece;
    return true;
}

static enum seqb_status add_all_given(struct deal *deal, struct seqb_error *err)
{
    const struct spool_terms *terms = deal->terms;

    for (size_t i = 0; i < terms->give_count; i++) {
        const struct spool_block *give = &terms->give[i];

        if (!add_given(deal, give))
            return error_set(err, SEQB_INVALID,
                             "spool: sequence %s: %" PRId64
                             " numbers from %" PRId64 " cannot be",
                             give->key, give->length, give->first);
    }
    return SEQB_OK;
}

/* No number may be there twice: neither among what is given, nor in the file
 * as well, which then is of another time. */
static enum seqb_status check_crossing(const struct deal *deal,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 1; i < deal->piece_count; i++) {
        const struct piece *piece = &deal->pieces[i - 1];

        if (spool_block_meet(&piece->block, &piece[1].block) != SPOOL_CROSSED)
            continue;
        status = error_set(err, SEQB_CORRUPT,
                           "it has numbers of sequence %s that this broker has "
                           "in hand",
                           piece->block.key);
        if (piece->is_given && piece[1].is_given)
            return error_set(err, SEQB_INVALID,
                             "spool: sequence %s: a number is given twice",
                             piece->block.key);
    }
    return status;
}

enum seqb_status deal_judge(struct deal *deal, const struct spool_text *present,
                            struct seqb_error *err)
{
    const size_t count = present == NULL ? 0 : present->block_count;

    free(deal->pieces);
    deal->piece_count = 0;
    deal->pieces =
        calloc(count + deal->terms->give_count + 1, sizeof *deal->pieces);
    if (deal->pieces == NULL)
        return no_memory(err);
    if (count > 0)
        add_present(deal, present);
    if (add_all_given(deal, err) != SEQB_OK)
        return SEQB_INVALID;
    qsort(deal->pieces, deal->piece_count, sizeof *deal->pieces,
          spool_block_compare);
    return check_crossing(deal, err);
}

bool deal_is_worth_it(const struct deal *deal)
{
    for (size_t i = 0; i < deal->piece_count; i++) {
        const struct piece *piece = &deal->pieces[i];

        if (piece->is_given == (piece->fate == FATE_KEPT))
            return true;
    }
    return false;
}

/* --- the next file --- */

static void next_add(struct spool_text *next, const struct spool_block *block)
{
    struct spool_block *last = next->blocks + next->block_count;

    if (next->block_count > 0 &&
        spool_block_meet(last - 1, block) == SPOOL_JOINED)
        last[-1].length += block->length;
    else
        next->blocks[next->block_count++] = *block;
}

/* The origins that are known, else those that the file had. */
static void next_pool(const struct deal *deal, const struct spool_text *present,
                      size_t i, struct spool_pool *out)
{
    const struct ha_pool *pool = ha_pool_at(deal->ha, i);
    const struct deal_stores *stores = &deal->stores[i];

    *out = (struct spool_pool){.layout = ha_pool_layout(pool),
                               .bits = ha_pool_bits(pool)};
    for (int32_t j = 0; j < 1 << out->bits; j++) {
        if (stores->known[j] != HA_ORIGIN_NONE)
            out->origins[j] = stores->origins[j];
        else if (present != NULL)
            out->origins[j] = present->pools[i].origins[j];
    }
}

enum seqb_status deal_compose(const struct deal *deal,
                              const struct spool_text *present,
                              struct spool_text *next, struct seqb_error *err)
{
    spool_text_fini(next);
    next->pool_count = deal->pool_count;
    next->pools = calloc(deal->pool_count, sizeof *next->pools);
    next->blocks = calloc(deal->piece_count + 1, sizeof *next->blocks);
    if (next->pools == NULL || next->blocks == NULL)
        return no_memory(err);
    for (size_t i = 0; i < deal->pool_count; i++)
        next_pool(deal, present, i, &next->pools[i]);
    for (size_t i = 0; i < deal->piece_count; i++) {
        if (deal->pieces[i].fate == FATE_KEPT)
            next_add(next, &deal->pieces[i].block);
    }
    return SEQB_OK;
}

/* --- afterwards --- */

void deal_tell(const struct deal *deal)
{
    int64_t numbers[FATE_LOST + 1] = {0};
    int64_t given = 0;

    for (size_t i = 0; i < deal->piece_count; i++) {
        const struct piece *piece = &deal->pieces[i];

        numbers[piece->fate] += piece->block.length;
        given += piece->is_given ? piece->block.length : 0;
    }
    if (numbers[FATE_LOST] > 0)
        log_reason(SEQB_LOG_WARN,
                   "their store changed or went back, or their sequence has no "
                   "use for them",
                   "event=spool_lost numbers=%" PRId64, numbers[FATE_LOST]);
    if (numbers[FATE_TAKEN] > 0 || given > 0)
        log_line(SEQB_LOG_INFO,
                 "event=spool taken=%" PRId64 " given=%" PRId64
                 " kept=%" PRId64,
                 numbers[FATE_TAKEN], given, numbers[FATE_KEPT]);
}

void deal_take(const struct deal *deal)
{
    const struct spool_terms *terms = deal->terms;

    for (size_t i = 0; i < deal->piece_count; i++) {
        if (deal->pieces[i].fate == FATE_TAKEN)
            terms->take(terms->context, &deal->pieces[i].block);
    }
}
