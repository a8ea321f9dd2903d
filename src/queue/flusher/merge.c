/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about blocks by their stores, their sequences, and each other. */
#include "queue/flusher/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/log.h"

static enum seqb_status no_memory(struct seqb_error *err)
{
    return error_set(err, SEQB_NO_MEMORY, "spool: out of memory");
}

enum seqb_status merge_init(struct merge *merge, struct ha *ha,
                            const struct spool_exchange_options *options,
                            struct seqb_error *err)
{
    *merge = (struct merge){
        .ha = ha, .options = options, .pool_count = ha_pool_count(ha)};
    merge->stores = calloc(merge->pool_count, sizeof *merge->stores);
    if (merge->stores == NULL)
        return no_memory(err);
    for (size_t i = 0; i < merge->pool_count; i++) {
        struct ha_pool *pool = ha_pool_at(ha, i);
        struct merge_stores *stores = &merge->stores[i];

        for (int32_t j = 0; j < 1 << ha_pool_bits(pool); j++)
            stores->known[j] = ha_pool_origin(pool, j, stores->origins[j]);
    }
    return SEQB_OK;
}

void merge_fini(struct merge *merge)
{
    free(merge->pieces);
    free(merge->stores);
}

/* --- the file's pools --- */

static bool pool_find(const struct merge *merge, const struct spool_pool *pool,
                      size_t *out)
{
    for (size_t i = 0; i < merge->pool_count; i++) {
        const struct ha_pool *own = ha_pool_at(merge->ha, i);

        if (pool->bits == ha_pool_bits(own) &&
            strcmp(pool->layout, ha_pool_layout(own)) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

enum seqb_status merge_adopt(const struct merge *merge,
                             struct spool_text *present, struct seqb_error *err)
{
    struct spool_pool *pools;
    size_t places[SPOOL_POOLS];

    for (size_t i = 0; i < present->pool_count; i++) {
        if (!pool_find(merge, &present->pools[i], &places[i]))
            return error_set(err, SEQB_LAYOUT,
                             "it is of other pools, or of another layout of "
                             "them");
    }
    pools = calloc(merge->pool_count, sizeof *pools);
    if (pools == NULL)
        return no_memory(err);
    for (size_t i = 0; i < present->pool_count; i++)
        pools[places[i]] = present->pools[i];
    for (size_t i = 0; i < present->block_count; i++)
        present->blocks[i].pool = places[present->blocks[i].pool];
    present->place.pool = places[present->place.pool];
    free(present->pools);
    present->pools = pools;
    present->pool_count = merge->pool_count;
    return SEQB_OK;
}

static bool pool_is_earlier(const struct merge *merge,
                            const struct spool_pool *pool)
{
    for (size_t i = 0; i < merge->pool_count; i++) {
        if (ha_pool_had_layout(ha_pool_at(merge->ha, i), pool->layout))
            return true;
    }
    return false;
}

bool merge_is_migrated(const struct merge *merge,
                       const struct spool_text *present)
{
    bool is_migrated = false;
    size_t place;

    for (size_t i = 0; i < present->pool_count; i++) {
        const struct spool_pool *pool = &present->pools[i];

        if (pool_find(merge, pool, &place))
            continue;
        if (!pool_is_earlier(merge, pool))
            return false;
        is_migrated = true;
    }
    return is_migrated;
}

/* --- what becomes of a block --- */

static enum disposition choose(const struct merge *merge,
                               const struct spool_block *block, bool may_take)
{
    const struct spool_exchange_options *options = merge->options;
    int32_t memory_bits = -1;
    enum spool_choice choice = SPOOL_KEEP;

    if (options->choose != NULL)
        choice = options->choose(options->context, block, &memory_bits);
    if (choice == SPOOL_DROP)
        return MERGE_LOST;
    if (choice == SPOOL_KEEP || !may_take)
        return MERGE_KEPT;
    return memory_bits == block->memory_bits ? MERGE_TAKEN : MERGE_LOST;
}

/* If the store has another origin than when the block was kept, it may grant
 * the block's numbers again: the block is lost. If the store is not connected,
 * the block is not taken but kept. */
static enum disposition evaluate(const struct merge *merge,
                                 const struct spool_text *present,
                                 const struct spool_block *block)
{
    const int32_t partition = spool_block_partition(block);
    const struct merge_stores *stores = &merge->stores[block->pool];
    const enum ha_origin known = stores->known[partition];
    const char *origin = present->pools[block->pool].origins[partition];

    if (known != HA_ORIGIN_NONE &&
        strcmp(origin, stores->origins[partition]) != 0)
        return MERGE_LOST;
    return choose(merge, block, known == HA_ORIGIN_NOW);
}

static void add_present(struct merge *merge, const struct spool_text *present)
{
    for (size_t i = 0; i < present->block_count; i++) {
        const struct spool_block *block = &present->blocks[i];

        merge->pieces[merge->piece_count++] =
            (struct piece){*block, evaluate(merge, present, block), false};
    }
}

static bool is_stale(const struct merge *merge, const struct spool_block *block)
{
    const struct spool_exchange_options *options = merge->options;

    return options->is_stale != NULL &&
           options->is_stale(options->context, block);
}

/* Numbers of a store that was never connected, or whose history went back, are
 * lost, and so are stale ones. */
static bool add_given(struct merge *merge, const struct spool_block *give)
{
    struct piece piece = {*give, MERGE_KEPT, true};
    struct spool_block *block = &piece.block;

    if (block->pool >= merge->pool_count)
        return false;
    block->bits = ha_pool_bits(ha_pool_at(merge->ha, block->pool));
    if (!spool_block_is_sane(block))
        return false;
    if (merge->stores[block->pool].known[spool_block_partition(block)] ==
            HA_ORIGIN_NONE ||
        is_stale(merge, give))
        piece.disposition = MERGE_LOST;
    merge->pieces[merge->piece_count++] = piece;
    return true;
}

static enum seqb_status add_all_given(struct merge *merge,
                                      struct seqb_error *err)
{
    const struct spool_exchange_options *options = merge->options;

    for (size_t i = 0; i < options->give_count; i++) {
        const struct spool_block *give = &options->give[i];

        if (!add_given(merge, give))
            return error_set(err, SEQB_INVALID,
                             "spool: sequence %s: %" PRId64
                             " numbers from %" PRId64 " cannot be",
                             give->key, give->length, give->first);
    }
    return SEQB_OK;
}

/* No number may occur twice: neither among the given blocks, nor in the file as
 * well, because the file is then of another time. */
static enum seqb_status check_crossing(const struct merge *merge,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 1; i < merge->piece_count; i++) {
        const struct piece *piece = &merge->pieces[i - 1];

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

enum seqb_status merge_decide(struct merge *merge,
                              const struct spool_text *present,
                              struct seqb_error *err)
{
    const size_t count = present == NULL ? 0 : present->block_count;

    free(merge->pieces);
    merge->piece_count = 0;
    merge->pieces =
        calloc(count + merge->options->give_count + 1, sizeof *merge->pieces);
    if (merge->pieces == NULL)
        return no_memory(err);
    if (count > 0)
        add_present(merge, present);
    if (add_all_given(merge, err) != SEQB_OK)
        return SEQB_INVALID;
    qsort(merge->pieces, merge->piece_count, sizeof *merge->pieces,
          spool_block_compare);
    return check_crossing(merge, err);
}

bool merge_is_worth_it(const struct merge *merge)
{
    for (size_t i = 0; i < merge->piece_count; i++) {
        const struct piece *piece = &merge->pieces[i];

        if (piece->is_given == (piece->disposition == MERGE_KEPT))
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

/* The origins that are known, else those of the file. */
static void next_pool(const struct merge *merge,
                      const struct spool_text *present, size_t i,
                      struct spool_pool *out)
{
    const struct ha_pool *pool = ha_pool_at(merge->ha, i);
    const struct merge_stores *stores = &merge->stores[i];

    *out = (struct spool_pool){.layout = ha_pool_layout(pool),
                               .bits = ha_pool_bits(pool)};
    for (int32_t j = 0; j < 1 << out->bits; j++) {
        if (stores->known[j] != HA_ORIGIN_NONE)
            out->origins[j] = stores->origins[j];
        else if (present != NULL)
            out->origins[j] = present->pools[i].origins[j];
    }
}

enum seqb_status merge_compose(const struct merge *merge,
                               const struct spool_text *present,
                               struct spool_text *next, struct seqb_error *err)
{
    spool_text_fini(next);
    next->pool_count = merge->pool_count;
    next->pools = calloc(merge->pool_count, sizeof *next->pools);
    next->blocks = calloc(merge->piece_count + 1, sizeof *next->blocks);
    if (next->pools == NULL || next->blocks == NULL)
        return no_memory(err);
    for (size_t i = 0; i < merge->pool_count; i++)
        next_pool(merge, present, i, &next->pools[i]);
    for (size_t i = 0; i < merge->piece_count; i++) {
        if (merge->pieces[i].disposition == MERGE_KEPT)
            next_add(next, &merge->pieces[i].block);
    }
    return SEQB_OK;
}

/* --- afterwards --- */

void merge_log(const struct merge *merge)
{
    int64_t numbers[MERGE_LOST + 1] = {0};
    int64_t given = 0;

    for (size_t i = 0; i < merge->piece_count; i++) {
        const struct piece *piece = &merge->pieces[i];

        numbers[piece->disposition] += piece->block.length;
        given += piece->is_given ? piece->block.length : 0;
    }
    if (numbers[MERGE_LOST] > 0)
        log_reason(SEQB_LOG_WARN,
                   "their store changed or went back, or their sequence has no "
                   "use for them",
                   "event=spool_lost numbers=%" PRId64, numbers[MERGE_LOST]);
    if (numbers[MERGE_TAKEN] > 0 || given > 0)
        log_line(SEQB_LOG_INFO,
                 "event=spool taken=%" PRId64 " given=%" PRId64
                 " kept=%" PRId64,
                 numbers[MERGE_TAKEN], given, numbers[MERGE_KEPT]);
}

void merge_take(const struct merge *merge)
{
    const struct spool_exchange_options *options = merge->options;

    for (size_t i = 0; i < merge->piece_count; i++) {
        if (merge->pieces[i].disposition == MERGE_TAKEN)
            options->take(options->context, &merge->pieces[i].block);
    }
}
