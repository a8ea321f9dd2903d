/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning the new counters, and the claims of a first start, last. */
#include <string.h>

#include "offline/migrate_steps.h"
#include "platform/error.h"
#include "platform/text.h"

/* --- looking --- */

static void done_name(const struct migrate_side *is, const char *key, char *out,
                      size_t size)
{
    (void)text_format(out, size, "migrated/%s/%s", is->name, key);
}

/* In every direct store, since the others may forget. */
static enum seqb_status look_done(struct migrate_side *is,
                                  struct migrate_key *key,
                                  struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char standing[64] = "";
    enum seqb_status status = SEQB_OK;

    key->is_done = true;
    done_name(is, key->key, name, sizeof name);
    for (int32_t i = 0; i < is->stores.count && key->is_done; i++) {
        if (side_is_windowed(is, i))
            continue;
        if (connection_is_open(&is->connections[i]))
            status = connection_claim(&is->connections[i], name, NULL, standing,
                                      sizeof standing, err);
        key->is_done = connection_is_open(&is->connections[i]) &&
                       status == SEQB_OK && standing[0] != '\0';
    }
    return status;
}

enum seqb_status new_look(struct migrate_side *is, struct migrate_key *key,
                          struct seqb_error *err)
{
    int32_t bits;

    if (side_look_bits(is, key->key, key->terms, &bits, err) != SEQB_OK)
        return err->status;
    if (bits >= 0 && bits != key->is.memory_bits)
        return error_set(err, SEQB_LAYOUT,
                         "sequence %s of pool %s was migrated to memory_bits = "
                         "%d and is configured with %d; nothing was changed; "
                         "put the setting back, or write the next generation",
                         key->key, is->name, (int)bits,
                         (int)key->is.memory_bits);
    return look_done(is, key, err);
}

bool new_is_settled(const struct migrate_side *is)
{
    for (int32_t i = 0; i < is->stores.count; i++) {
        const struct layout_store *store = &is->stores.stores[i];

        if (!store->is_windowed &&
            (!store->is_reached || store->layout[0] == '\0'))
            return false;
    }
    return true;
}

/* --- counters --- */

/* How high to raise the counters of one class. */
static enum seqb_status floor_of(const struct migrate_key *key,
                                 bool is_windowed, int64_t *floor,
                                 struct seqb_error *err)
{
    if (migrate_floor(&key->is, is_windowed, key->last, floor))
        return SEQB_OK;
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

static enum seqb_status counters_raise(struct migrate_side *is,
                                       const struct migrate_key *key,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < is->stores.partitions && status == SEQB_OK; i++) {
        struct migrate_counter counter;
        int64_t floor;

        side_counter(is, &key->is, key->key, i, &counter);
        status = floor_of(key, counter.is_windowed, &floor, err);
        if (status == SEQB_OK)
            status = counter_raise(&counter, floor, counter.limit, err);
    }
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

    done_name(is, key->key, name, sizeof name);
    (void)text_format(text, sizeof text, "above %lld", (long long)key->last);
    for (int32_t i = 0; i < is->stores.count && status == SEQB_OK; i++) {
        if (!side_is_windowed(is, i))
            status = connection_claim(&is->connections[i], name, text, standing,
                                      sizeof standing, err);
    }
    return status;
}

enum seqb_status new_raise(struct migrate_side *is,
                           const struct migrate_key *key,
                           struct seqb_error *err)
{
    const struct claim_terms terms = {.layout = is->layout,
                                      .key = key->key,
                                      .memory_bits = key->is.memory_bits,
                                      .more =
                                          key->terms == NULL ? "" : key->terms};
    enum seqb_status status = counters_raise(is, key, err);

    for (int32_t i = 0; i < is->stores.count && status == SEQB_OK; i++)
        status = claim_migrated(&is->connections[i], &terms, err);
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

enum seqb_status new_settle(struct migrate_side *is, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < is->stores.count && status == SEQB_OK; i++)
        status =
            claim_verify(&is->connections[i], is->layout, &is->claim, i, err);
    return status;
}
