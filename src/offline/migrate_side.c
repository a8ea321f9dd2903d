/* SPDX-License-Identifier: Apache-2.0 */
/* Connections and single calls; in which order is migrate.c's. */
#include "offline/migrate_side.h"

#include <stdlib.h>
#include <string.h>

#include "offline/probe.h"
#include "platform/error.h"
#include "platform/text.h"

/* Take, raise what is fenced, take again; once more if other brokers come in
 * between. */
#define TAKE_ROUNDS 3

/* --- setting up --- */

static enum seqb_status members_add(struct migrate_side *side,
                                    const struct store_topology *topology,
                                    struct watchdog *watchdog,
                                    struct seqb_error *err)
{
    for (int32_t i = 0; i < side->stores.count; i++) {
        const struct store_options *backend =
            &topology->backends[layout_member(side->layout, i)];

        if (backend->ops->guarantee == SEQB_LOCAL)
            return error_set(err, SEQB_INVALID,
                             "pool %s: backend %s makes its numbers of the "
                             "time: a pool with it cannot be migrated",
                             side->name, backend->options.name);
        connection_init(&side->connections[i], backend, watchdog, NULL);
    }
    return SEQB_OK;
}

enum seqb_status side_new(const struct store_topology *topology, size_t pool,
                          struct watchdog *watchdog, struct migrate_side **out,
                          struct seqb_error *err)
{
    const struct layout *layout = topology->layouts[pool];
    struct migrate_side *side = calloc(1, sizeof *side);

    *out = side;
    if (side == NULL) {
        (void)error_set(err, SEQB_NO_MEMORY, "out of memory");
        return SEQB_NO_MEMORY;
    }
    side->layout = layout;
    layout_internal_name(layout->name, layout->generation, side->name,
                         sizeof side->name);
    if (layout_stores_init(&side->stores, layout, topology->backends, err) !=
        SEQB_OK)
        return SEQB_NO_MEMORY;
    side->connections =
        calloc((size_t)side->stores.count, sizeof *side->connections);
    if (side->connections == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    return members_add(side, topology, watchdog, err);
}

void side_free(struct migrate_side *side)
{
    if (side == NULL)
        return;
    for (int32_t i = 0; side->connections != NULL && i < side->stores.count;
         i++)
        connection_close(&side->connections[i]);
    free(side->connections);
    layout_stores_fini(&side->stores);
    free(side);
}

enum seqb_status side_connect(struct migrate_side *side,
                              enum side_stores stores, struct seqb_error *err)
{
    for (int32_t i = 0; i < side->stores.count; i++) {
        struct connection *connection = &side->connections[i];
        struct seqb_error why;
        enum seqb_status status = SEQB_OK;

        if (!connection_is_open(connection))
            status = connection_open(connection, stores == SIDE_MAKE, &why);
        if (status == SEQB_UNREACHABLE && stores == SIDE_SOME &&
            connection->options->options.auto_create)
            continue;
        if (status != SEQB_OK)
            return error_set(err, status,
                             "pool %s: a migration needs every backend, and "
                             "%s fails: %s",
                             side->layout->name, connection_name(connection),
                             why.text);
    }
    return SEQB_OK;
}

/* --- looking --- */

bool side_is_windowed(const struct migrate_side *side, int32_t member)
{
    return side->stores.stores[member].is_windowed;
}

bool side_has(const struct migrate_side *side, bool windowed)
{
    for (int32_t i = 0; i < side->stores.partitions; i++) {
        if (side_is_windowed(side, i) == windowed)
            return true;
    }
    return false;
}

/* The comparisons of `seqctl check --probe`; the first reason is told. */
static enum seqb_status side_compare(struct migrate_side *side,
                                     struct seqb_error *err)
{
    struct probe_pool look = {.options = side->layout, .stores = side->stores};
    enum seqb_status status = SEQB_OK;

    look.found = calloc((size_t)side->stores.count, sizeof *look.found);
    if (look.found == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    for (int32_t i = 0; i < side->stores.count; i++)
        look.backends[i] = i;
    probe_check_layout(&look);
    for (int32_t i = 0; i < side->stores.count && status == SEQB_OK; i++) {
        if (look.found[i].status != SEQB_OK)
            status = error_set(err, look.found[i].status, "%s",
                               look.found[i].reason);
    }
    free(look.found);
    return status;
}

enum seqb_status side_look(struct migrate_side *side, struct seqb_error *err)
{
    for (int32_t i = 0; i < side->stores.count; i++) {
        struct layout_store *store = &side->stores.stores[i];

        if (!connection_is_open(&side->connections[i]))
            continue;
        if (claim_look(&side->connections[i], side->layout, store, err) !=
            SEQB_OK)
            return err->status;
        store->is_reached = true;
        if (!store->is_windowed)
            continue;
        if (store->id[0] != '\0' && strcmp(store->id, store->backend) != 0)
            return error_set(
                err, SEQB_LAYOUT,
                "backend %s: its store was called '%s': a windowed "
                "one keeps its name",
                store->backend, store->id);
        (void)text_copy(store->id, sizeof store->id, store->backend);
    }
    return side_compare(side, err);
}

/* Digits alone, between "memory_bits=" and the terms; -1 if it is anything
 * else. */
static int32_t bits_of(const char *claim, const char *terms)
{
    static const char before[] = "memory_bits=";
    const size_t length = sizeof before - 1;
    const size_t digits =
        strlen(claim) < length ? 0 : strcspn(claim + length, " ");
    int64_t bits;

    if (strncmp(claim, before, length) != 0 ||
        !text_to_int64(claim + length, digits, &bits) || bits < 0 ||
        bits > INT32_MAX ||
        strcmp(claim + length + digits, terms == NULL ? "" : terms) != 0)
        return -1;
    return (int32_t)bits;
}

enum seqb_status side_look_bits(struct migrate_side *side, const char *key,
                                const char *terms, int32_t *out,
                                struct seqb_error *err)
{
    const struct claim_terms claimed = {.layout = side->layout, .key = key};

    *out = -1;
    for (int32_t i = 0; i < side->stores.count; i++) {
        char claim[CLAIM_TERMS_SIZE];
        enum seqb_status status;
        int32_t bits;

        if (!connection_is_open(&side->connections[i]))
            continue;
        status = claim_look_sequence(&side->connections[i], &claimed,
                                     side->layout->generation, claim,
                                     sizeof claim, err);
        if (status != SEQB_OK)
            return status;
        if (claim[0] == '\0')
            continue;
        bits = bits_of(claim, terms);
        if (bits < 0 || (*out >= 0 && *out != bits))
            return error_set(err, SEQB_LAYOUT,
                             "sequence %s of pool %s: backend %s says '%s', "
                             "and the topologies or another one not; nothing "
                             "was changed",
                             key, side->name, side->stores.stores[i].backend,
                             claim);
        *out = bits;
    }
    return SEQB_OK;
}

/* --- counters --- */

void side_counter(struct migrate_side *side, const struct migrate_shape *shape,
                  const char *key, int32_t partition,
                  struct migrate_counter *out)
{
    const struct layout *pool = side->layout;
    const bool is_windowed = side_is_windowed(side, partition);

    *out = (struct migrate_counter){
        .connection = &side->connections[is_windowed ? side->stores.authority
                                                     : partition],
        .is_windowed = is_windowed,
        .limit = migrate_limit(shape, is_windowed),
        .gap = is_windowed ? WINDOW_GAP : pool->failover_gap,
        .base_gap = pool->failover_gap,
    };
    (void)text_format(out->name, sizeof out->name, "%s%s/%d/%s",
                      is_windowed ? "window/" : "", side->name, (int)partition,
                      key);
}

static enum seqb_status raise_by(const struct migrate_counter *counter,
                                 const struct seqb_raise *raise,
                                 struct seqb_error *err)
{
    int64_t value;

    return connection_raise(counter->connection, raise, &value, err);
}

static enum seqb_status take_once(const struct migrate_counter *counter,
                                  int64_t limit, int64_t *out,
                                  struct seqb_error *err)
{
    struct seqb_request request = {.counter = counter->name,
                                   .want = 1,
                                   .limit = limit,
                                   .window = SEQB_NO_WINDOW};
    if (connection_reserve(counter->connection, &request, 1, err) != SEQB_OK)
        return err->status;
    if (request.status != SEQB_OK)
        return error_copy(err, &request.error);
    if (request.block.count != 1 || request.block.first < 1)
        return error_set(err, SEQB_PROTOCOL,
                         "backend %s: counter %s: granted %lld from %lld, "
                         "which was not asked for",
                         connection_name(counter->connection), counter->name,
                         (long long)request.block.count,
                         (long long)request.block.first);
    *out = request.block.first;
    return SEQB_OK;
}

enum seqb_status counter_take(const struct migrate_counter *counter,
                              int64_t limit, int64_t *out,
                              struct seqb_error *err)
{
    const struct seqb_raise raise = {
        .counter = counter->name,
        .gap = counter->gap,
        .limit = limit,
        .base_gap = counter->base_gap,
        .base_ms = connection_base_ms(counter->connection)};
    enum seqb_status status = take_once(counter, limit, out, err);

    for (int round = 1; round < TAKE_ROUNDS; round++) {
        if (status == SEQB_FENCED) {
            status = raise_by(counter, &raise, err);
            if (status != SEQB_OK)
                return status;
        } else if (status != SEQB_AGAIN) {
            return status;
        }
        status = take_once(counter, limit, out, err);
    }
    return status;
}

enum seqb_status counter_raise(const struct migrate_counter *counter,
                               int64_t floor, int64_t limit,
                               struct seqb_error *err)
{
    const struct seqb_raise raise = {
        .counter = counter->name,
        .floor = floor,
        .gap = counter->gap,
        .limit = limit,
        .base_gap = counter->base_gap,
        .base_ms = connection_base_ms(counter->connection)};

    return raise_by(counter, &raise, err);
}
