/* SPDX-License-Identifier: Apache-2.0 */
/* Connections, and single calls on them. migrate.c decides their order. */
#include "offline/migrate.h"

#include <stdlib.h>
#include <string.h>

#include "offline/probe.h"
#include "platform/chance.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* Take, raise a fenced counter, take again; and once more if other brokers
 * interfere. */
#define TAKE_ROUNDS 3

/* A pool's time-out is short, because others serve meanwhile. Here nobody
 * waits, and a call that is cut off leaves a pool half migrated. */
#define PATIENCE_MS 10000

/* --- setting up --- */

static void members_add(struct migrate_side *side,
                        const struct store_topology *topology,
                        struct watchdog *watchdog)
{
    for (int32_t i = 0; i < side->stores.count; i++) {
        struct seqb_backend_options *options = &side->options[i].options;

        side->options[i] = topology->backends[layout_member(side->layout, i)];
        if (options->timeout_ms < PATIENCE_MS)
            options->timeout_ms = PATIENCE_MS;
        connection_init(&side->connections[i], &side->options[i], watchdog,
                        NULL);
    }
}

/* Finds the lessors: the authority, or the neighbours in the order of their
 * indexes. */
static void lessors_find(struct migrate_side *side,
                         const struct store_options *backends)
{
    const struct layout *layout = side->layout;

    if (layout->authority >= 0)
        side->lessors[side->lessor_count++] = layout_authority(layout);
    while (side->lessor_count < layout_lessor_count(layout, backends)) {
        side->lessors[side->lessor_count] =
            layout_lessor(layout, side->lessor_count, backends);
        side->lessor_ids[side->lessor_count] = side->lessor_count;
        side->lessor_count++;
    }
    side->lessor_bits = layout_lessor_bits(side->lessor_count);
}

bool side_leave_out(struct migrate_side *side, const char *backend)
{
    int32_t left = 0;

    for (int32_t i = 0; i < side->stores.partitions; i++) {
        if (strcmp(side->stores.stores[i].backend, backend) == 0)
            side->without = i;
    }
    for (int32_t i = 0; side->without >= 0 && i < side->lessor_count; i++) {
        if (side->lessors[i] == side->without)
            continue;
        side->lessor_ids[left] = side->lessor_ids[i];
        side->lessors[left++] = side->lessors[i];
    }
    if (side->without >= 0)
        side->lessor_count = left;
    return side->without >= 0;
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
    side->failover_gap = layout->failover_gap;
    side->without = -1;
    side->claim.backends = topology->backends;
    side->granted_path = topology->granted_path;
    layout_internal_name(layout->name, layout->generation, side->name,
                         sizeof side->name);
    if (layout_stores_init(&side->stores, layout, topology->backends, err) !=
        SEQB_OK)
        return SEQB_NO_MEMORY;
    lessors_find(side, topology->backends);
    side->connections =
        calloc((size_t)side->stores.count, sizeof *side->connections);
    side->options = calloc((size_t)side->stores.count, sizeof *side->options);
    if (side->connections == NULL || side->options == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    members_add(side, topology, watchdog);
    return SEQB_OK;
}

void side_free(struct migrate_side *side)
{
    if (side == NULL)
        return;
    for (int32_t i = 0; side->connections != NULL && i < side->stores.count;
         i++)
        connection_close(&side->connections[i]);
    free(side->connections);
    free(side->options);
    granted_close(side->granted);
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

        if (i == side->without)
            continue;
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

/* --- reading --- */

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

/* The comparisons of `seqctl check --probe`. Returns the first difference. */
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

/* Brokers with another topology were granted numbers by their own gap. */
static enum seqb_status gap_read(struct migrate_side *side, int32_t member,
                                 struct seqb_error *err)
{
    int64_t gap;

    if (side->stores.stores[member].forgets)
        return SEQB_OK;
    if (claim_read_gap(&side->connections[member], side->layout, &gap, err) !=
        SEQB_OK)
        return err->status;
    side->failover_gap = max_of(side->failover_gap, gap);
    return SEQB_OK;
}

enum seqb_status side_read(struct migrate_side *side, struct seqb_error *err)
{
    for (int32_t i = 0; i < side->stores.count; i++) {
        struct layout_store *store = &side->stores.stores[i];

        if (!connection_is_open(&side->connections[i]))
            continue;
        if (claim_read(&side->connections[i], side->layout, store, err) !=
                SEQB_OK ||
            gap_read(side, i, err) != SEQB_OK)
            return err->status;
        store->is_reached = true;
        if (i == side->stores.authority &&
            claim_read_lessees(&side->connections[i], side->layout,
                               side->claim.backends, side->stores.lessees,
                               err) != SEQB_OK)
            return err->status;
        if (!store->forgets)
            continue;
        if (store->id[0] != '\0' && strcmp(store->id, store->backend) != 0)
            return error_set(
                err, SEQB_LAYOUT,
                "backend %s: its store was called '%s': a windowed "
                "one keeps its name",
                store->backend, store->id);
        (void)text_copy(store->id, sizeof store->id, store->backend);
    }
    if (side_compare(side, err) != SEQB_OK)
        return err->status;
    side_compare_layouts(side);
    return SEQB_OK;
}

/* Skips a word and reads the digits behind it. False if they are not there. */
static bool bits_take(const char **claim, const char *word, int32_t *out)
{
    const size_t length = strlen(word);
    const char *digits = *claim + length;
    int64_t bits;

    if (strncmp(*claim, word, length) != 0 ||
        !text_to_int64(digits, strcspn(digits, " "), &bits) || bits < 0 ||
        bits >= LAYOUT_BITS_ALL)
        return false;
    *out = (int32_t)bits;
    *claim = digits + strcspn(digits, " ");
    return true;
}

/* Reads the bits of a claim, and moves behind them. False if the claim has any
 * other form. */
static bool bits_read(const struct layout *layout, const char **claim,
                      struct migrate_bits *out)
{
    out->window_bits = layout->window_bits;
    if (!bits_take(claim, "memory_bits=", &out->memory_bits))
        return false;
    (void)bits_take(claim, " window_bits=", &out->window_bits);
    return true;
}

static bool claim_read_bits(const struct layout *layout, const char *claim,
                            const char *attributes, struct migrate_bits *out)
{
    return bits_read(layout, &claim, out) &&
           strcmp(claim, attributes == NULL ? "" : attributes) == 0;
}

void side_attributes_of(const struct migrate_side *side, const char *claim,
                        char *out, size_t size)
{
    struct migrate_bits bits;

    (void)bits_read(side->layout, &claim, &bits);
    (void)text_copy(out, size, claim);
}

enum seqb_status side_read_bits(struct migrate_side *side, const char *key,
                                const char *attributes,
                                struct migrate_bits *out,
                                struct seqb_error *err)
{
    const struct claim_attributes claimed = {.layout = side->layout,
                                             .key = key};

    *out = (struct migrate_bits){.memory_bits = -1,
                                 .window_bits = side->layout->window_bits,
                                 .by_all = true};
    for (int32_t i = 0; i < side->stores.count; i++) {
        char claim[CLAIM_SEQUENCE_SIZE];
        enum seqb_status status;
        struct migrate_bits bits = {.by_all = out->by_all};

        if (!connection_is_open(&side->connections[i]))
            continue;
        status = claim_read_sequence(&side->connections[i], &claimed,
                                     side->layout->generation, claim,
                                     sizeof claim, err);
        if (status != SEQB_OK)
            return status;
        if (claim[0] == '\0') {
            out->by_all &= side->stores.stores[i].forgets;
            continue;
        }
        if (!claim_read_bits(side->layout, claim, attributes, &bits) ||
            (out->memory_bits >= 0 && (out->memory_bits != bits.memory_bits ||
                                       out->window_bits != bits.window_bits)))
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

/* Such a key was not among those of a migration. Its numbers are not below what
 * the counters of this generation grant. Another store may have the claim of a
 * broker of this generation, which this store refused. */
enum seqb_status side_check_history(struct migrate_side *side, const char *key,
                                    struct seqb_error *err)
{
    const struct claim_attributes claimed = {.layout = side->layout,
                                             .key = key};

    for (int32_t i = 0; i < side->stores.count; i++) {
        if (side->stores.stores[i].forgets || side->went_back[i] ||
            !connection_is_open(&side->connections[i]))
            continue;
        if (claim_check_history(&side->connections[i], &claimed, err) !=
            SEQB_OK)
            return err->status;
    }
    return SEQB_OK;
}

/* --- counters --- */

int32_t side_counter_count(const struct migrate_side *side, int32_t partition)
{
    return side_is_windowed(side, partition) ? side->lessor_count : 1;
}

void side_counter(struct migrate_side *side, const struct migrate_shape *shape,
                  const char *key, struct side_place place,
                  struct migrate_counter *out)
{
    const bool is_windowed = side_is_windowed(side, place.partition);
    const int32_t member =
        is_windowed ? side->lessors[place.i] : place.partition;

    *out = (struct migrate_counter){
        .connection = &side->connections[member],
        .is_windowed = is_windowed,
        .limit = migrate_limit(shape, is_windowed),
        .gap = is_windowed
                   ? layout_window_gap(migrate_limit(shape, is_windowed))
                   : side->failover_gap,
        .base_gap = side->failover_gap,
        .useful = shape->useful,
        .low_bits = migrate_low_bits(shape, is_windowed),
        .went_back = side->went_back[member],
    };
    (void)text_format(out->name, sizeof out->name, "%s%s/%d/%s",
                      is_windowed ? "window/" : "", side->name,
                      (int)place.partition, key);
}

static uint64_t counter_chance(const struct migrate_counter *counter,
                               int64_t value)
{
    return layout_chance(chance_bits(), counter->useful, counter->low_bits,
                         value);
}

int64_t counter_floor(const struct migrate_counter *counter, int64_t floor)
{
    const struct seqb_raise raise = {.gap = counter->gap,
                                     .limit = counter->limit,
                                     .chance = counter_chance(counter, floor)};

    if (!counter->went_back)
        return floor;
    /* For values, the numbers to be passed include the gap in any case. */
    if (counter->is_windowed && floor <= counter->limit - counter->gap)
        floor += counter->gap;
    return floor + seqb_raise_spread(&raise, floor);
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
        .base_ms = connection_base_ms(counter->connection, 0),
        .chance = counter_chance(counter, 0)};
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
        .base_ms = connection_base_ms(counter->connection, 0),
        .chance = counter_chance(counter, floor)};

    return raise_by(counter, &raise, err);
}
