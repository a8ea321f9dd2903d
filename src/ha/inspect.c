/* SPDX-License-Identifier: Apache-2.0 */
/* Opens every backend at once, each on a thread of its own and under the
 * watchdog, and looks at its claims. What that means is in inspect_pool.c. */
#include "ha/inspect.h"

#include <stdlib.h>

#include "ha/claim.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"

struct inspector;

/* One backend. The thread's own while it runs. */
struct inspection {
    struct inspector *inspector;
    int32_t backend; /* its index */
    struct ha_backend_options options;
    struct worker worker; /* never started: only its connection is used */
    struct seqb_probe *found;
    pthread_t thread;
    bool is_started;
};

struct inspector {
    const struct ha_options *options;
    struct watchdog *watchdog;
    struct inspection *inspections; /* one a backend */
    struct seqb_probe *found;       /* the same */
    struct inspect_pool *pools;
};

static void inspection_fail(struct inspection *inspection,
                            const struct seqb_error *why)
{
    struct seqb_probe *found = inspection->found;

    found->status = why->status;
    (void)text_copy(found->reason, sizeof found->reason, why->text);
}

/* A store that is refused for what its settings lose is looked at all the
 * same. */
static enum seqb_status inspection_open(struct inspection *inspection,
                                        struct seqb_error *err)
{
    struct worker *worker = &inspection->worker;
    enum seqb_status status = worker_open_backend(worker, false, err);

    if (status != SEQB_UNSAFE)
        return status;
    inspection_fail(inspection, err);
    inspection->options.options.accept_loss = true;
    return worker_open_backend(worker, false, err);
}

static void inspection_keep(struct inspection *inspection, int64_t start_us)
{
    const struct seqb_backend *backend = inspection->worker.backend;
    struct seqb_probe *found = inspection->found;

    found->open_us = clock_now_us() - start_us;
    (void)text_copy(found->server, sizeof found->server, backend->server);
    (void)text_copy(found->domain, sizeof found->domain, backend->domain);
    (void)text_copy(found->loss, sizeof found->loss, backend->loss);
}

/* What the store says of its place: that of a partition, or else whose layout
 * it keeps. */
static void inspection_place(struct inspection *inspection,
                             const struct ha_pool_options *pool,
                             const struct layout_store *store)
{
    struct seqb_probe *found = inspection->found;

    if (store->place[0] != '\0')
        (void)text_copy(found->place, sizeof found->place, store->place);
    else if (store->layout[0] != '\0')
        (void)text_copy(found->place, sizeof found->place, pool->name);
}

static enum seqb_status inspection_look_for(struct inspection *inspection,
                                            const struct inspect_pool *pool,
                                            struct seqb_error *err)
{
    for (int32_t i = 0; i < pool->stores.count; i++) {
        struct layout_store *store = &pool->stores.stores[i];

        if (pool->backends[i] != inspection->backend)
            continue;
        if (claim_look(&inspection->worker, pool->options, store, err) !=
            SEQB_OK)
            return err->status;
        store->is_reached = true;
        if (layout_is_named(store)) /* as in a layout */
            layout_store_name(&inspection->options, store->id,
                              sizeof store->id);
        inspection_place(inspection, pool->options, store);
        if (claim_check_retired(&inspection->worker, pool->options, err) !=
            SEQB_OK)
            return err->status;
    }
    return SEQB_OK;
}

/* The backend's claims for each pool that it serves. */
static enum seqb_status inspection_look(struct inspection *inspection,
                                        struct seqb_error *err)
{
    const struct inspector *inspector = inspection->inspector;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < inspector->options->pool_count && status == SEQB_OK;
         i++)
        status = inspection_look_for(inspection, &inspector->pools[i], err);
    return status;
}

static void *inspection_run(void *argument)
{
    struct inspection *inspection = argument;
    const int64_t start_us = clock_now_us();
    struct seqb_error err;

    if (inspection_open(inspection, &err) != SEQB_OK) {
        if (inspection->found->status != SEQB_UNSAFE)
            inspection_fail(inspection, &err);
        return NULL;
    }
    inspection_keep(inspection, start_us);
    if (inspection_look(inspection, &err) != SEQB_OK)
        inspection_fail(inspection, &err);
    worker_disconnect(&inspection->worker);
    return NULL;
}

/* --- setting up --- */

static void pool_add(struct inspector *inspector, struct inspect_pool *pool,
                     int32_t backend, int32_t partition)
{
    const struct ha_backend_options *options =
        &inspector->options->backends[backend];
    struct seqb_probe *found = &inspector->found[backend];
    const int32_t member = pool->stores.count++;

    pool->backends[member] = backend;
    pool->stores.stores[member] = (struct layout_store){
        .backend = options->options.name,
        .is_windowed = options->ops->guarantee == SEQB_WINDOWED,
        .is_local = options->ops->guarantee == SEQB_LOCAL};
    if (partition < 0 && found->pool[0] != '\0')
        return;
    found->partition = partition;
    (void)text_copy(found->pool, sizeof found->pool, pool->options->name);
}

static enum seqb_status pool_assemble(struct inspector *inspector, size_t i,
                                      struct seqb_error *err)
{
    const struct ha_pool_options *options = &inspector->options->pools[i];
    struct inspect_pool *pool = &inspector->pools[i];

    pool->options = options;
    pool->found = inspector->found;
    pool->stores.partitions = 1 << options->bits;
    pool->stores.authority = -1;
    pool->stores.stores = calloc((size_t)pool->stores.partitions + 1,
                                 sizeof *pool->stores.stores);
    if (pool->stores.stores == NULL)
        return error_set(err, SEQB_NO_MEMORY, "pool %s: out of memory",
                         options->name);
    for (int32_t j = 0; j < pool->stores.partitions; j++) {
        pool_add(inspector, pool, options->partitions[j], j);
        if (options->partitions[j] == options->authority)
            pool->stores.authority = j;
    }
    if (options->authority < 0)
        return SEQB_OK;
    inspector->found[options->authority].is_authority = true;
    if (pool->stores.authority < 0) {
        pool->stores.authority = pool->stores.count;
        pool_add(inspector, pool, options->authority, -1);
    }
    return SEQB_OK;
}

static enum seqb_status backend_assemble(struct inspector *inspector, size_t i,
                                         struct seqb_error *err)
{
    struct inspection *inspection = &inspector->inspections[i];
    struct seqb_probe *found = &inspector->found[i];

    inspection->inspector = inspector;
    inspection->backend = (int32_t)i;
    inspection->options = inspector->options->backends[i];
    inspection->found = found;
    found->partition = -1;
    found->is_windowed = inspection->options.ops->guarantee == SEQB_WINDOWED;
    found->is_local = inspection->options.ops->guarantee == SEQB_LOCAL;
    (void)text_copy(found->backend, sizeof found->backend,
                    inspection->options.options.name);
    (void)text_copy(found->engine, sizeof found->engine,
                    inspection->options.ops->engine);
    return worker_init(&inspection->worker, &inspection->options,
                       inspector->watchdog, 0, err);
}

static enum seqb_status inspector_init(struct inspector *inspector,
                                       struct seqb_error *err)
{
    const struct ha_options *options = inspector->options;
    enum seqb_status status;

    inspector->inspections =
        calloc(options->backend_count, sizeof *inspector->inspections);
    inspector->found = calloc(options->backend_count, sizeof *inspector->found);
    inspector->pools = calloc(options->pool_count, sizeof *inspector->pools);
    if (inspector->inspections == NULL || inspector->found == NULL ||
        inspector->pools == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    status = watchdog_open(NULL, NULL, &inspector->watchdog, err);
    for (size_t i = 0; i < options->backend_count && status == SEQB_OK; i++)
        status = backend_assemble(inspector, i, err);
    for (size_t i = 0; i < options->pool_count && status == SEQB_OK; i++)
        status = pool_assemble(inspector, i, err);
    return status;
}

static void inspector_fini(struct inspector *inspector)
{
    const struct ha_options *options = inspector->options;

    for (size_t i = 0;
         inspector->inspections != NULL && i < options->backend_count; i++)
        worker_fini(&inspector->inspections[i].worker);
    watchdog_close(inspector->watchdog);
    for (size_t i = 0; inspector->pools != NULL && i < options->pool_count; i++)
        free(inspector->pools[i].stores.stores);
    free(inspector->inspections);
    free(inspector->found);
    free(inspector->pools);
}

/* --- running --- */

static enum seqb_status inspector_run(struct inspector *inspector,
                                      struct seqb_error *err)
{
    const size_t count = inspector->options->backend_count;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < count && status == SEQB_OK; i++) {
        struct inspection *inspection = &inspector->inspections[i];

        status = thread_start(&inspection->thread, "seqb-inspect",
                              inspection_run, inspection, err);
        inspection->is_started = status == SEQB_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (inspector->inspections[i].is_started)
            pthread_join(inspector->inspections[i].thread, NULL);
    }
    return status;
}

static enum seqb_status inspector_tell(const struct inspector *inspector,
                                       const struct seqb_probe_listener *to,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    size_t failed = 0;

    for (size_t i = 0; i < inspector->options->backend_count; i++) {
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
    for (size_t i = 0; i < inspector->options->pool_count; i++)
        inspect_domains(&inspector->pools[i], to);
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(err, status, "%zu of %zu backends cannot serve", failed,
                     inspector->options->backend_count);
}

enum seqb_status ha_inspect(const struct ha_options *options,
                            const struct seqb_probe_listener *listener,
                            struct seqb_error *err)
{
    struct inspector inspector = {.options = options};
    enum seqb_status status = inspector_init(&inspector, err);

    if (status == SEQB_OK)
        status = inspector_run(&inspector, err);
    for (size_t i = 0; i < options->pool_count && status == SEQB_OK; i++) {
        inspect_layout(&inspector.pools[i]);
        inspect_generation(&inspector.pools[i]);
    }
    if (status == SEQB_OK)
        status = inspector_tell(&inspector, listener, err);
    inspector_fini(&inspector);
    return status;
}
