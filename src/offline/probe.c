/* SPDX-License-Identifier: Apache-2.0 */
/* Opens all backends at the same time, each on its own thread and under the
 * watchdog, and reads their claims. probe_pool.c evaluates them. */
#include "offline/probe.h"

#include <stdlib.h>

#include "offline/offline.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"

#define SHOW_MS 100 /* between two updates of the progress bar */

struct inspector;

/* One backend. Used by its thread alone while that runs. */
struct inspection {
    struct inspector *inspector;
    int32_t backend; /* its index in the topology */
    struct store_options options;
    struct connection connection;
    struct seqb_probe *found;
    pthread_t thread;
    bool is_started;
    bool needs_tables; /* each key of auto_sequences needs one first */
};

struct inspector {
    const struct offline_inspection *options;
    const struct store_topology *topology; /* the caller's */
    struct watchdog *watchdog;
    struct inspection *inspections; /* one for each backend */
    struct seqb_probe *found;       /* one for each backend */
    struct probe_pool *pools;
    pthread_mutex_t lock; /* guards `done` */
    pthread_cond_t one_done;
    size_t done; /* how many backends are done */
};

static void inspection_fail(struct inspection *inspection,
                            const struct seqb_error *why)
{
    struct seqb_probe *found = inspection->found;

    found->status = why->status;
    (void)text_copy(found->reason, sizeof found->reason, why->text);
}

/* Opens the store, and reads it even if it is refused because its settings may
 * lose commits. */
static enum seqb_status inspection_open(struct inspection *inspection,
                                        struct seqb_error *err)
{
    struct connection *connection = &inspection->connection;
    enum seqb_status status = connection_open(connection, false, err);

    if (status != SEQB_UNSAFE)
        return status;
    inspection_fail(inspection, err);
    inspection->options.options.accept_loss = true;
    return connection_open(connection, false, err);
}

static void inspection_keep(struct inspection *inspection, int64_t start_us)
{
    const struct seqb_backend *backend = inspection->connection.backend;
    struct seqb_probe *found = inspection->found;

    found->open_us = clock_now_us() - start_us;
    (void)text_copy(found->server, sizeof found->server, backend->server);
    (void)text_copy(found->domain, sizeof found->domain, backend->domain);
    (void)text_copy(found->loss, sizeof found->loss, backend->loss);
}

/* Notes the store's claim of its place: its partition, or else the pool whose
 * layout it keeps. */
static void inspection_place(struct inspection *inspection,
                             const struct layout *pool,
                             const struct layout_store *store)
{
    struct seqb_probe *found = inspection->found;

    if (store->place[0] != '\0')
        (void)text_copy(found->place, sizeof found->place, store->place);
    else if (store->layout[0] != '\0')
        (void)text_copy(found->place, sizeof found->place, pool->name);
}

static enum seqb_status inspection_read_key(struct inspection *inspection,
                                            struct probe_pool *pool,
                                            struct seqb_error *err)
{
    for (int32_t i = 0; i < pool->stores.count; i++) {
        struct layout_store *store = &pool->stores.stores[i];

        if (pool->backends[i] != inspection->backend)
            continue;
        if (claim_read(&inspection->connection, pool->options, store, err) !=
            SEQB_OK)
            return err->status;
        store->is_reached = true;
        if (store->forgets) /* as in a layout */
            (void)text_copy(store->id, sizeof store->id,
                            inspection->options.options.name);
        inspection_place(inspection, pool->options, store);
        if (i == pool->stores.authority &&
            claim_read_lessees(&inspection->connection, pool->options,
                               inspection->inspector->topology->backends,
                               pool->stores.lessees, err) != SEQB_OK)
            return err->status;
        if (claim_check_retired(&inspection->connection, pool->options, err) !=
            SEQB_OK)
            return err->status;
    }
    return SEQB_OK;
}

/* Reads the backend's claims for each pool that it serves. */
static enum seqb_status inspection_read(struct inspection *inspection,
                                        struct seqb_error *err)
{
    const struct inspector *inspector = inspection->inspector;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < inspector->topology->pool_count && status == SEQB_OK;
         i++)
        status = inspection_read_key(inspection, &inspector->pools[i], err);
    return status;
}

/* --- rights --- */

/* If one key lacks a right, most often all keys lack it. */
#define KEYS_ASKED 1000 /* for each pool */

/* Stands for the keys of auto_sequences that have no counter yet. */
#define MADE_UP_KEY "seqbroker_check_probe"

static bool serves(const struct inspection *inspection,
                   const struct probe_pool *pool, int32_t member)
{
    return pool->backends[member] == inspection->backend;
}

/* Checks the rights for the rows that all keys of the pool share a table with:
 * windows that the member leases or counts in, counters with a stamp. */
static enum seqb_status inspection_ask_rows(struct inspection *inspection,
                                            const char *pool, int32_t member,
                                            struct seqb_error *err)
{
    char counter[SEQB_COUNTER_SIZE];

    (void)text_format(counter, sizeof counter, "window/%s/%d/", pool,
                      (int)member);
    return connection_permits(&inspection->connection, counter, err);
}

/* Checks the rights for the pool's listed keys that are counted directly. */
static enum seqb_status inspection_ask_keys(struct inspection *inspection,
                                            size_t pool, const char *name,
                                            int32_t partition,
                                            struct seqb_error *err)
{
    const struct offline_inspection *options = inspection->inspector->options;
    char counter[SEQB_COUNTER_SIZE];
    enum seqb_status status = SEQB_OK;
    int asked = 0;

    for (size_t i = 0;
         i < options->listed_count && asked < KEYS_ASKED && status == SEQB_OK;
         i++) {
        if (options->listed[i].pool != pool)
            continue;
        asked++;
        (void)text_format(counter, sizeof counter, "%s/%d/%s", name,
                          (int)partition, options->listed[i].key);
        status = connection_permits(&inspection->connection, counter, err);
    }
    return status;
}

/* The engine names a counter that no operator has. */
static enum seqb_status automatic_refuse(const struct seqb_error *why,
                                         struct seqb_error *err)
{
    return error_set(err, why->status,
                     "a new key of auto_sequences: the right to make its table "
                     "is missing: grant CREATE, or set auto_create = false and "
                     "make the table of each key yourself (tried with a "
                     "made-up key: %s)",
                     why->text);
}

/* Checks the rights for a counter that is made by its first take. Without
 * auto_create a key is served as soon as it has a table, so that a broker may
 * be well without that right. */
static enum seqb_status inspection_ask_automatic(struct inspection *inspection,
                                                 const char *name,
                                                 int32_t partition,
                                                 struct seqb_error *err)
{
    char counter[SEQB_COUNTER_SIZE];
    struct seqb_error why;
    enum seqb_status status;

    (void)text_format(counter, sizeof counter, "%s/%d/" MADE_UP_KEY, name,
                      (int)partition);
    status = connection_permits(&inspection->connection, counter, &why);
    if (status != SEQB_REFUSED)
        return status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
    if (inspection->options.options.auto_create)
        return automatic_refuse(&why, err);
    inspection->needs_tables = true;
    return SEQB_OK;
}

static enum seqb_status inspection_ask(struct inspection *inspection,
                                       size_t pool, int32_t member,
                                       struct seqb_error *err)
{
    const struct inspector *inspector = inspection->inspector;
    const struct layout *layout = inspector->topology->layouts[pool];
    const struct layout_stores *stores = &inspector->pools[pool].stores;
    char name[SEQB_COUNTER_SIZE];
    enum seqb_status status;

    layout_internal_name(layout->name, layout->generation, name, sizeof name);
    status = inspection_ask_rows(inspection, name, member, err);
    if (status != SEQB_OK || member >= stores->partitions ||
        stores->stores[member].is_windowed)
        return status;
    status = inspection_ask_keys(inspection, pool, name, member, err);
    if (status != SEQB_OK || !inspector->options->has_automatic ||
        inspector->options->automatic_pool != pool)
        return status;
    return inspection_ask_automatic(inspection, name, member, err);
}

/* Checks the rights of each place that the backend has. */
static enum seqb_status inspection_ask_rights(struct inspection *inspection,
                                              struct seqb_error *err)
{
    const struct inspector *inspector = inspection->inspector;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < inspector->topology->pool_count; i++) {
        const struct probe_pool *pool = &inspector->pools[i];

        for (int32_t j = 0; j < pool->stores.count && status == SEQB_OK; j++) {
            if (serves(inspection, pool, j))
                status = inspection_ask(inspection, i, j, err);
        }
    }
    return status;
}

static void inspect(struct inspection *inspection)
{
    const int64_t start_us = clock_now_us();
    struct seqb_error err;

    if (inspection_open(inspection, &err) != SEQB_OK) {
        if (inspection->found->status != SEQB_UNSAFE)
            inspection_fail(inspection, &err);
        return;
    }
    inspection_keep(inspection, start_us);
    if (inspection_read(inspection, &err) != SEQB_OK ||
        inspection_ask_rights(inspection, &err) != SEQB_OK)
        inspection_fail(inspection, &err);
    else
        (void)connection_describe(&inspection->connection,
                                  &inspection->found->details, &err);
    connection_close(&inspection->connection);
}

static void *inspection_run(void *argument)
{
    struct inspection *inspection = argument;
    struct inspector *inspector = inspection->inspector;

    inspect(inspection);
    pthread_mutex_lock(&inspector->lock);
    inspector->done++;
    pthread_cond_signal(&inspector->one_done);
    pthread_mutex_unlock(&inspector->lock);
    return NULL;
}

/* --- setting up --- */

/* A backend may be the authority of several pools. It is shown in the pool
 * whose partition it is, or else in the first pool. */
static void pool_add(struct inspector *inspector, struct probe_pool *pool,
                     int32_t member)
{
    const int32_t backend = layout_member(pool->options, member);
    struct seqb_probe *found = &inspector->found[backend];
    const bool is_partition = member < pool->stores.partitions;

    pool->backends[member] = backend;
    if (!is_partition && found->pool[0] != '\0')
        return;
    found->partition = is_partition ? member : -1;
    found->is_windowed = pool->stores.stores[member].is_windowed;
    (void)text_copy(found->pool, sizeof found->pool, pool->options->name);
}

static enum seqb_status pool_assemble(struct inspector *inspector, size_t i,
                                      struct seqb_error *err)
{
    const struct layout *layout = inspector->topology->layouts[i];
    struct probe_pool *pool = &inspector->pools[i];

    pool->options = layout;
    pool->stored = inspector->topology->backends;
    pool->found = inspector->found;
    if (layout_stores_init(&pool->stores, layout, inspector->topology->backends,
                           err) != SEQB_OK)
        return SEQB_NO_MEMORY;
    for (int32_t j = 0; j < pool->stores.count; j++)
        pool_add(inspector, pool, j);
    if (layout->authority >= 0)
        inspector->found[layout->authority].is_authority = true;
    return SEQB_OK;
}

static void backend_assemble(struct inspector *inspector, size_t i)
{
    struct inspection *inspection = &inspector->inspections[i];
    struct seqb_probe *found = &inspector->found[i];

    inspection->inspector = inspector;
    inspection->backend = (int32_t)i;
    inspection->options = inspector->topology->backends[i];
    inspection->found = found;
    found->partition = -1;
    (void)text_copy(found->backend, sizeof found->backend,
                    inspection->options.options.name);
    (void)text_copy(found->engine, sizeof found->engine,
                    inspection->options.ops->engine);
    connection_init(&inspection->connection, &inspection->options,
                    inspector->watchdog, NULL);
}

static enum seqb_status inspector_init(struct inspector *inspector,
                                       struct seqb_error *err)
{
    const struct store_topology *topology = inspector->topology;
    enum seqb_status status;

    inspector->inspections =
        calloc(topology->backend_count, sizeof *inspector->inspections);
    inspector->found =
        calloc(topology->backend_count, sizeof *inspector->found);
    inspector->pools = calloc(topology->pool_count, sizeof *inspector->pools);
    if (inspector->inspections == NULL || inspector->found == NULL ||
        inspector->pools == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    status = watchdog_open(NULL, NULL, &inspector->watchdog, err);
    for (size_t i = 0; i < topology->backend_count; i++)
        backend_assemble(inspector, i);
    for (size_t i = 0; i < topology->pool_count && status == SEQB_OK; i++)
        status = pool_assemble(inspector, i, err);
    return status;
}

static void inspector_fini(struct inspector *inspector)
{
    const struct store_topology *topology = inspector->topology;

    watchdog_close(inspector->watchdog);
    for (size_t i = 0; inspector->pools != NULL && i < topology->pool_count;
         i++)
        layout_stores_fini(&inspector->pools[i].stores);
    free(inspector->inspections);
    free(inspector->found);
    free(inspector->pools);
    pthread_cond_destroy(&inspector->one_done);
    pthread_mutex_destroy(&inspector->lock);
}

/* --- running --- */

/* Shows progress until `started` backends are done. Without a listener, only
 * the joins wait. */
static void inspector_show(struct inspector *inspector, size_t started)
{
    const struct seqb_progress *progress = inspector->options->progress;
    size_t done = 0;

    while (progress != NULL && done < started) {
        const int64_t until_ms = clock_now_ms() + SHOW_MS;

        pthread_mutex_lock(&inspector->lock);
        while (inspector->done == done &&
               condition_wait(&inspector->one_done, &inspector->lock, until_ms))
            ;
        done = inspector->done;
        pthread_mutex_unlock(&inspector->lock);
        progress->show(progress->context, (int64_t)done,
                       (int64_t)inspector->topology->backend_count);
    }
}

static enum seqb_status inspector_run(struct inspector *inspector,
                                      struct seqb_error *err)
{
    const size_t count = inspector->topology->backend_count;
    enum seqb_status status = SEQB_OK;
    size_t started = 0;

    for (size_t i = 0; i < count && status == SEQB_OK; i++) {
        struct inspection *inspection = &inspector->inspections[i];

        status = thread_start(&inspection->thread, "seqb-inspect",
                              inspection_run, inspection, err);
        inspection->is_started = status == SEQB_OK;
        started += inspection->is_started;
    }
    inspector_show(inspector, started);
    for (size_t i = 0; i < count; i++) {
        if (inspector->inspections[i].is_started)
            pthread_join(inspector->inspections[i].thread, NULL);
    }
    return status;
}

static void warn_of_tables(const struct inspector *inspector, size_t backend,
                           const struct seqb_probe_listener *to)
{
    const size_t pool = inspector->options->automatic_pool;
    char line[SEQB_ERROR_TEXT_SIZE];

    if (!inspector->inspections[backend].needs_tables || to->warning == NULL)
        return;
    (void)text_format(line, sizeof line,
                      "pool %s: %s makes no tables (auto_create = false): each "
                      "key of auto_sequences needs a table first",
                      inspector->topology->layouts[pool]->name,
                      inspector->found[backend].backend);
    to->warning(to->context, line);
}

static enum seqb_status inspector_report(const struct inspector *inspector,
                                         const struct seqb_probe_listener *to,
                                         struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    size_t failed = 0;

    for (size_t i = 0; i < inspector->topology->backend_count; i++) {
        const struct seqb_probe *found = &inspector->found[i];

        if (to->backend != NULL)
            to->backend(to->context, found);
        if (found->status == SEQB_OK)
            continue;
        failed++;
        if (status != SEQB_LAYOUT)
            status =
                found->status == SEQB_LAYOUT ? SEQB_LAYOUT : SEQB_UNAVAILABLE;
    }
    if (to->note != NULL)
        offline_explain(inspector->topology, to->note, to->context);
    for (size_t i = 0; i < inspector->topology->pool_count; i++)
        probe_warn_domains(&inspector->pools[i], to);
    for (size_t i = 0; i < inspector->topology->backend_count; i++)
        warn_of_tables(inspector, i, to);
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(err, status, "%zu of %zu backends cannot serve", failed,
                     inspector->topology->backend_count);
}

enum seqb_status offline_probe(const struct offline_inspection *options,
                               const struct seqb_probe_listener *listener,
                               struct seqb_error *err)
{
    const struct store_topology *topology = options->topology;
    struct inspector inspector = {.options = options, .topology = topology};
    enum seqb_status status;

    pthread_mutex_init(&inspector.lock, NULL);
    condition_init(&inspector.one_done);
    status = inspector_init(&inspector, err);

    if (status == SEQB_OK)
        status = inspector_run(&inspector, err);
    for (size_t i = 0; i < topology->pool_count && status == SEQB_OK; i++) {
        probe_check_layout(&inspector.pools[i]);
        probe_check_generation(&inspector.pools[i]);
    }
    if (status == SEQB_OK)
        status = inspector_report(&inspector, listener, err);
    inspector_fini(&inspector);
    return status;
}
