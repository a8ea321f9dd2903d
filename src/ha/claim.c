/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a store, and what ought to. */
#include "ha/claim.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "ha/call.h"
#include "platform/error.h"
#include "platform/text.h"

#define STORE_CLAIM "store"
#define PLACE_CLAIM "place"

static const char *store_name(const struct worker *worker)
{
    return worker->options->options.name;
}

/* Whether the store keeps what it was told: it may forget, or be none. */
static bool store_remembers(const struct worker *worker)
{
    return worker->options->ops->guarantee == SEQB_DIRECT;
}

/* "<kind>/<the pool's internal name>" */
static void pool_claim_name(const char *kind,
                            const struct ha_pool_options *pool, char *out,
                            size_t size)
{
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(pool->name, pool->generation, name, sizeof name);
    (void)text_format(out, size, "%s/%s", kind, name);
}

/* A store that stands in one place by a pool's first layout may stand in
 * another by a later one. */
static void place_claim_name(const struct ha_pool_options *pool, char *out,
                             size_t size)
{
    layout_internal_name(PLACE_CLAIM, pool->generation, out, size);
}

enum seqb_status claim_look(struct worker *worker,
                            const struct ha_pool_options *pool,
                            struct layout_store *out, struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    enum seqb_status status =
        call_claim(worker, STORE_CLAIM, NULL, out->id, sizeof out->id, err);

    place_claim_name(pool, name, sizeof name);
    if (status == SEQB_OK)
        status =
            call_claim(worker, name, NULL, out->place, sizeof out->place, err);
    if (status != SEQB_OK)
        return status;
    pool_claim_name("pool", pool, name, sizeof name);
    return call_claim(worker, name, NULL, out->layout, sizeof out->layout, err);
}

/* 128 bits by chance, in hexadecimal digits. */
static enum seqb_status id_make(char *out, size_t size, struct seqb_error *err)
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return error_set(err, SEQB_NO_MEMORY, "no random bytes for an id");
    out[0] = '\0';
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)text_append(out, size, "%02x", bytes[i]);
    return SEQB_OK;
}

enum seqb_status claim_identify(struct worker *worker, struct layout_store *out,
                                struct seqb_error *err)
{
    char id[LAYOUT_STORE_SIZE];

    if (!store_remembers(worker))
        layout_store_name(worker->options, id, sizeof id);
    else if (id_make(id, sizeof id, err) != SEQB_OK)
        return SEQB_NO_MEMORY;
    return call_claim(worker, STORE_CLAIM, id, out->id, sizeof out->id, err);
}

/* The store must be the one that the layout names; one that may forget is
 * told again who it is. */
static enum seqb_status verify_id(struct worker *worker, const char *expected,
                                  struct seqb_error *err)
{
    const char *name = store_name(worker);
    char own[LAYOUT_STORE_SIZE];
    char id[LAYOUT_STORE_SIZE];
    enum seqb_status status;

    layout_store_name(worker->options, own, sizeof own);
    status =
        call_claim(worker, STORE_CLAIM, store_remembers(worker) ? NULL : own,
                   id, sizeof id, err);
    if (status != SEQB_OK)
        return status;
    /* "": an authority that leases nothing, so that any store will do. */
    if (expected[0] == '\0' || strcmp(id, expected) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_LAYOUT,
                     "backend %s: another store stands there: the layout "
                     "names '%s', this one is '%s'; put the right one in its "
                     "place",
                     name, expected, id[0] == '\0' ? "new" : id);
}

static void place_name(const struct ha_pool_options *pool, int32_t partition,
                       char *out, size_t size)
{
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(pool->name, pool->generation, name, sizeof name);
    (void)text_format(out, size, "%s/%d", name, (int)partition);
}

enum seqb_status claim_compare_place(const char *name, const char *standing,
                                     const struct ha_pool_options *pool,
                                     int32_t partition, struct seqb_error *err)
{
    char place[LAYOUT_STORE_SIZE];

    place_name(pool, partition, place, sizeof place);
    if (strcmp(standing, place) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_LAYOUT,
                     "backend %s: its store stands in %s (pool/partition) and "
                     "is configured as %s; nothing was changed; put the "
                     "topology back as it was, another place would issue old "
                     "numbers again",
                     name, standing, place);
}

/* The counters' names and the numbers' bits come from the place. An authority
 * that is no partition may serve several pools. */
static enum seqb_status verify_place(struct worker *worker,
                                     const struct ha_pool *pool, int32_t member,
                                     struct seqb_error *err)
{
    char place[LAYOUT_STORE_SIZE];
    char claim[LAYOUT_STORE_SIZE];
    char standing[LAYOUT_STORE_SIZE];
    enum seqb_status status;

    if (member >= 1 << pool->options->bits)
        return SEQB_OK;
    place_claim_name(pool->options, claim, sizeof claim);
    place_name(pool->options, member, place, sizeof place);
    status = call_claim(worker, claim, place, standing, sizeof standing, err);
    if (status != SEQB_OK)
        return status;
    return claim_compare_place(store_name(worker), standing, pool->options,
                               member, err);
}

static enum seqb_status retired_error(const struct worker *worker,
                                      const struct ha_pool_options *pool,
                                      const char *by, struct seqb_error *err)
{
    return error_set(err, SEQB_LAYOUT,
                     "backend %s: pool %s of generation %d was retired by "
                     "seqctl migrate, '%s' has taken its place; use the "
                     "topology that was migrated to",
                     store_name(worker), pool->name,
                     pool->generation > 1 ? (int)pool->generation : 1, by);
}

enum seqb_status claim_check_retired(struct worker *worker,
                                     const struct ha_pool_options *pool,
                                     struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char by[LAYOUT_STORE_SIZE];
    enum seqb_status status;

    pool_claim_name("retired", pool, name, sizeof name);
    status = call_claim(worker, name, NULL, by, sizeof by, err);
    if (status != SEQB_OK || by[0] == '\0')
        return status;
    return retired_error(worker, pool, by, err);
}

enum seqb_status claim_retire(struct worker *worker,
                              const struct ha_pool_options *pool,
                              const char *by, struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char standing[LAYOUT_STORE_SIZE];
    enum seqb_status status;

    pool_claim_name("retired", pool, name, sizeof name);
    status = call_claim(worker, name, by, standing, sizeof standing, err);
    if (status != SEQB_OK || strcmp(standing, by) == 0)
        return status;
    return retired_error(worker, pool, standing, err);
}

enum seqb_status claim_verify(struct worker *worker, const struct ha_pool *pool,
                              int32_t member, struct seqb_error *err)
{
    char standing[SEQB_CLAIM_SIZE];
    char claim[SEQB_COUNTER_SIZE];
    enum seqb_status status = verify_id(worker, pool->store_ids[member], err);

    if (status == SEQB_OK)
        status = claim_check_retired(worker, pool->options, err);
    if (status == SEQB_OK)
        status = verify_place(worker, pool, member, err);
    if (status != SEQB_OK)
        return status;
    pool_claim_name("pool", pool->options, claim, sizeof claim);
    status =
        call_claim(worker, claim, pool->layout, standing, sizeof standing, err);
    if (status != SEQB_OK)
        return status;
    return layout_compare(store_name(worker), standing, pool->layout, err);
}

static void sequence_claim_name(const struct ha_counter *counter,
                                int32_t generation, char *out, size_t size)
{
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(counter->pool->options->name, generation, name,
                         sizeof name);
    (void)text_format(out, size, "sequence/%s/%s", name, counter->key);
}

enum seqb_status claim_look_sequence(struct worker *worker,
                                     const struct ha_counter *counter,
                                     int32_t generation, char *out, size_t size,
                                     struct seqb_error *err)
{
    char claim[SEQB_COUNTER_SIZE];

    sequence_claim_name(counter, generation, claim, sizeof claim);
    return call_claim(worker, claim, NULL, out, size, err);
}

enum seqb_status claim_migrated(struct worker *worker,
                                const struct ha_counter *counter,
                                struct seqb_error *err)
{
    char claim[SEQB_COUNTER_SIZE];
    char text[CLAIM_TERMS_SIZE];
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status;

    sequence_claim_name(counter, counter->pool->options->generation, claim,
                        sizeof claim);
    (void)text_format(text, sizeof text, "memory_bits=%d%s",
                      (int)counter->memory_bits,
                      counter->terms == NULL ? "" : counter->terms->claim);
    status = call_claim(worker, claim, text, standing, sizeof standing, err);
    if (status != SEQB_OK || strcmp(standing, text) == 0)
        return status;
    return error_set(err, SEQB_LAYOUT,
                     "sequence %s in backend %s was used with %s and is "
                     "configured with %s; nothing was changed; put the "
                     "settings back, others would issue old numbers again",
                     counter->key, store_name(worker), standing, text);
}

/* A sequence that this store knows of an earlier generation alone was not
 * among the keys of a migration: its counters would begin at 1 again. */
static enum seqb_status check_history(struct worker *worker,
                                      const struct ha_counter *counter,
                                      struct seqb_error *err)
{
    int32_t generation = counter->pool->options->generation;
    char standing[CLAIM_TERMS_SIZE];
    enum seqb_status status = claim_look_sequence(
        worker, counter, generation, standing, sizeof standing, err);

    if (status != SEQB_OK || standing[0] != '\0')
        return status;
    while (status == SEQB_OK && --generation >= 1) {
        status = claim_look_sequence(worker, counter, generation, standing,
                                     sizeof standing, err);
        if (status == SEQB_OK && standing[0] != '\0')
            return error_set(
                err, SEQB_LAYOUT,
                "sequence %s was used in generation %d of pool %s, as backend "
                "%s says, and was not migrated; nothing was changed; run "
                "seqctl migrate again with the key in --keys FILE",
                counter->key, (int)generation, counter->pool->options->name,
                store_name(worker));
    }
    return status;
}

enum seqb_status claim_sequence(struct worker *worker,
                                const struct ha_counter *counter,
                                struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    /* One that may forget is no witness. */
    if (counter->pool->options->generation > 1 && store_remembers(worker))
        status = check_history(worker, counter, err);
    return status == SEQB_OK ? claim_migrated(worker, counter, err) : status;
}
