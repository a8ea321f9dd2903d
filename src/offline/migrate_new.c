/* SPDX-License-Identifier: Apache-2.0 */
/* Raises the new counters; claims what a first start claims, as the last
 * step. */
#include <string.h>

#include "offline/migrate.h"
#include "platform/error.h"
#include "platform/text.h"

/* --- reading --- */

/* `name` was migrated to one value, and is configured with another. */
static enum seqb_status read_differs(const struct migrate_side *is,
                                     const struct migrate_key *key,
                                     const char *name, const int32_t bits[2],
                                     struct seqb_error *err)
{
    return error_set(err, SEQB_LAYOUT,
                     "sequence %s of pool %s was migrated to %s = %d and is "
                     "configured with %d; nothing was changed; put the setting "
                     "back, or write the next generation",
                     key->key, is->name, name, (int)bits[0], (int)bits[1]);
}

enum seqb_status new_read(struct migrate_side *is, struct migrate_key *key,
                          struct seqb_error *err)
{
    const bool has_layout = layout_find_claim(&is->stores) != NULL;
    struct migrate_bits bits;
    struct migrate_done done;

    if (side_read_bits(is, key->key, key->attributes, &bits, err) != SEQB_OK)
        return err->status;
    if (bits.memory_bits >= 0 && bits.memory_bits != key->is.memory_bits)
        return read_differs(is, key, "memory_bits",
                            (int32_t[]){bits.memory_bits, key->is.memory_bits},
                            err);
    if (bits.memory_bits >= 0 && bits.window_bits != key->is.window_bits)
        return read_differs(is, key, "window_bits",
                            (int32_t[]){bits.window_bits, key->is.window_bits},
                            err);
    if (side_compare_key(is, key->key, &done, err) != SEQB_OK)
        return err->status;
    /* Until a store has the layout, the next run may have another one. A broker
     * that was starting may have claimed the key in the old pool after the last
     * run had read that it was not. Then stores of both pools refuse it, and
     * those of the new pool alone have it. */
    key->is_done =
        has_layout && done.by_all && (bits.by_all || !key->is_claimed);
    key->is_noted = has_layout && done.by_any;
    key->was_last = done.last;
    return SEQB_OK;
}

bool new_is_finished(const struct migrate_side *is)
{
    for (int32_t i = 0; i < is->stores.count; i++) {
        const struct layout_store *store = &is->stores.stores[i];

        if (!store->forgets && (!store->is_reached || store->layout[0] == '\0'))
            return false;
    }
    return true;
}

static bool any_went_back(const struct migrate_side *is)
{
    for (int32_t i = 0; i < is->stores.count; i++) {
        if (is->went_back[i])
            return true;
    }
    return false;
}

/* Whether a store may have gone back to before the migration: a key shows it,
 * or only some stores have the new layout. */
static bool new_went_back(const struct migrate_side *is)
{
    return any_went_back(is) ||
           (layout_find_claim(&is->stores) != NULL && !new_is_finished(is));
}

/* Until a store has the layout, an earlier run may have raised a key's counters
 * for another one. With neighbours, the other stores know what a store that
 * went back granted of each key. */
bool new_may_repeat(const struct migrate_side *is)
{
    return layout_find_claim(&is->stores) == NULL ||
           (!is->layout->neighbours && new_went_back(is));
}

bool new_has_key(const struct migrate_side *is, const struct migrate_key *key)
{
    return key->is_done && !new_went_back(is);
}

/* --- counters --- */

/* How high to raise the direct, or the windowed, counters. */
static enum seqb_status floor_of(const struct migrate_key *key,
                                 bool is_windowed, int64_t *floor,
                                 struct seqb_error *err)
{
    if (migrate_floor(&key->is, is_windowed, key->last, floor))
        return SEQB_OK;
    if (key->is_unnoted)
        return error_set(err, SEQB_EXHAUSTED,
                         "sequence %s: an old counter is at its end, and no "
                         "store knows how far it came: each was put back to "
                         "before that; put back a copy of an old store from "
                         "after that, or begin with new stores and advance "
                         "each sequence there above all its numbers",
                         key->key);
    return error_set(err, SEQB_EXHAUSTED,
                     "sequence %s: numbers up to %lld may have been issued, "
                     "and a %s partition of the new layout has none above; "
                     "take fewer memory_bits%s or partitions",
                     key->key, (long long)key->last,
                     is_windowed ? "windowed" : "direct",
                     is_windowed ? ", window_bits" : "");
}

enum seqb_status new_check(const struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    int64_t floor;

    if (side_has(is, false))
        status = floor_of(key, false, &floor, err);
    if (status == SEQB_OK && side_has(is, true))
        status = floor_of(key, true, &floor, err);
    return status;
}

/* Raises `last` above what the counter granted. An exhausted counter granted
 * its whole range. */
static enum seqb_status counter_overtake(struct migrate_key *key,
                                         int32_t partition,
                                         const struct migrate_counter *counter,
                                         struct seqb_error *err)
{
    int64_t v = counter->limit;
    const enum seqb_status status =
        counter_take(counter, counter->limit, &v, err);

    if (status != SEQB_OK && status != SEQB_EXHAUSTED)
        return status;
    key_saw(key, &key->is, partition, counter, v);
    return SEQB_OK;
}

enum seqb_status new_overtake(struct migrate_side *is, struct migrate_key *key,
                              struct seqb_error *err)
{
    for (int32_t p = 0; any_went_back(is) && p < is->stores.partitions; p++) {
        for (int32_t i = 0; i < side_counter_count(is, p); i++) {
            struct migrate_counter counter;

            side_counter(is, &key->is, key->key, (struct side_place){p, i},
                         &counter);
            if (!counter.went_back &&
                counter_overtake(key, p, &counter, err) != SEQB_OK)
                return err->status;
        }
    }
    return SEQB_OK;
}

static enum seqb_status partition_raise(struct migrate_side *is,
                                        const struct migrate_key *key,
                                        int32_t partition,
                                        struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0;
         i < side_counter_count(is, partition) && status == SEQB_OK; i++) {
        struct migrate_counter counter;
        int64_t floor;

        side_counter(is, &key->is, key->key, (struct side_place){partition, i},
                     &counter);
        status = floor_of(key, counter.is_windowed, &floor, err);
        if (status == SEQB_OK)
            status = counter_raise(&counter, counter_floor(&counter, floor),
                                   counter.limit, err);
    }
    return status;
}

static enum seqb_status counters_raise(struct migrate_side *is,
                                       const struct migrate_key *key,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < is->stores.partitions && status == SEQB_OK; i++)
        status = partition_raise(is, key, i, err);
    return status;
}

static enum seqb_status claim_done(struct migrate_side *is,
                                   const struct migrate_key *key,
                                   struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char text[64];
    char standing[64];
    enum seqb_status status = SEQB_OK;

    side_done_name(is, key->key, name, sizeof name);
    (void)text_format(text, sizeof text, MIGRATE_ABOVE "%lld",
                      (long long)key->last);
    for (int32_t i = 0; i < is->stores.count && status == SEQB_OK; i++) {
        if (!is->stores.stores[i].forgets)
            status = connection_claim(&is->connections[i], name, text, standing,
                                      sizeof standing, err);
    }
    return status;
}

/* A claim says that the sequence has begun in this pool. One that no broker
 * claimed has not, and brokers ask the other pools before it does. */
enum seqb_status new_raise(struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err)
{
    const struct claim_attributes attributes = {
        .layout = is->layout,
        .key = key->key,
        .memory_bits = key->is.memory_bits,
        .window_bits = key->is.window_bits,
        .more = key->attributes == NULL ? "" : key->attributes};
    enum seqb_status status = counters_raise(is, key, err);

    for (int32_t i = 0;
         key->is_claimed && i < is->stores.count && status == SEQB_OK; i++)
        status = claim_migrated(&is->connections[i], &attributes, err);
    return status == SEQB_OK ? claim_done(is, key, err) : status;
}

/* --- the layout --- */

enum seqb_status new_identify(struct migrate_side *is, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < is->stores.count && status == SEQB_OK; i++) {
        struct layout_store *store = &is->stores.stores[i];

        status = claim_identify(&is->connections[i], store, err);
        store->is_reached = status == SEQB_OK;
        (void)text_copy(is->claim.store_ids[i], sizeof is->claim.store_ids[i],
                        store->id);
    }
    if (status != SEQB_OK)
        return status;
    return layout_compose(is->layout, &is->stores, is->claim.text,
                          sizeof is->claim.text, err);
}

enum seqb_status new_finish(struct migrate_side *is, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < is->stores.count && status == SEQB_OK; i++)
        status =
            claim_verify(&is->connections[i], is->layout, &is->claim, i, err);
    return status;
}
