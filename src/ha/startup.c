/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First start or not? If any store holds a claim of the pool, that is the
 * layout, and stores that cannot be reached may come later. If none does,
 * every direct store must be reached, since its id belongs to the layout.
 */
#include "ha/startup.h"

#include <stdlib.h>
#include <string.h>

#include "ha/tenant.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "store/store.h"

#define LOOK_TRIES 3

static struct worker_startup *startup_of(struct worker_job *job)
{
    return (struct worker_startup *)job;
}

void startup_done(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->startup.is_done = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

/* Steps that a worker carries out on its own thread. */

/* False if the connection broke after it had been made. */
static bool look_once(struct worker *worker, struct worker_startup *startup)
{
    struct layout_store *store = &startup->store;
    enum seqb_status status = SEQB_OK;

    if (!connection_is_open(&worker->connection))
        status = worker_open(worker, false, &startup->error);
    if (status != SEQB_OK)
        return true;
    status = claim_look(&worker->connection, &startup->pool->options->layout,
                        store, &startup->error);
    if (status != SEQB_OK)
        connection_close(&worker->connection);
    store->is_reached = status == SEQB_OK;
    return status != SEQB_UNREACHABLE;
}

/* A store may be found to have another history by several brokers that start
 * at once: the first binds it, and the others' connections are void. */
static void step_look(struct worker *worker, struct worker_job *job)
{
    struct worker_startup *startup = startup_of(job);

    startup->store.is_reached = false;
    for (int i = 0; i < LOOK_TRIES; i++) {
        if (look_once(worker, startup))
            break;
    }
    startup_done(worker);
}

static void step_identify(struct worker *worker, struct worker_job *job)
{
    struct worker_startup *startup = startup_of(job);
    struct layout_store *store = &startup->store;
    enum seqb_status status = SEQB_OK;

    if (!connection_is_open(&worker->connection))
        status = worker_open(worker, true, &startup->error);
    if (status == SEQB_OK)
        status = claim_identify(&worker->connection, store, &startup->error);
    if (status != SEQB_OK)
        connection_close(&worker->connection);
    store->is_reached = status == SEQB_OK;
    startup_done(worker);
}

static void step_verify(struct worker *worker, struct worker_job *job)
{
    struct worker_startup *startup = startup_of(job);
    const int64_t start_us = clock_now_us();
    enum seqb_status status = startup->error.status;

    if (connection_is_open(&worker->connection)) {
        startup->error.status = SEQB_OK;
        status = worker_verify(worker, &startup->error);
    }
    if (status == SEQB_OK)
        worker_note(worker, NULL, clock_now_us() - start_us);
    else
        worker_fail(worker, &startup->error, clock_now_us() - start_us);
    atomic_store_explicit(&worker->is_serving, true, memory_order_relaxed);
    startup_done(worker);
}

/* Posting steps and waiting for them. */

void startup_post(struct worker *worker,
                  void (*step)(struct worker *worker, struct worker_job *job))
{
    if (worker->startup.is_abandoned)
        return;
    worker->startup.is_done = false;
    worker->startup.job.call = step;
    if (!worker_post(worker, &worker->startup.job))
        worker->startup.is_abandoned = true;
}

void startup_wait(struct worker *worker, int64_t until_ms)
{
    struct worker_startup *startup = &worker->startup;
    bool in_time = !startup->is_abandoned;

    pthread_mutex_lock(&worker->lock);
    while (in_time && !startup->is_done)
        in_time = condition_wait(&worker->changed, &worker->lock, until_ms) ||
                  startup->is_done;
    pthread_mutex_unlock(&worker->lock);
    startup->is_abandoned = !in_time;
}

/* The stores of a pool as the workers found them. */
static void stores_read(const struct ha_pool *pool,
                        struct layout_stores *stores)
{
    stores->partitions = 1 << pool->options->layout.bits;
    stores->count = pool->members;
    stores->authority = -1;
    for (int32_t i = 0; i < pool->members; i++) {
        struct worker *worker = pool->workers[i];
        struct layout_store *store = &stores->stores[i];

        if (worker == pool->authority)
            stores->authority = i;
        memset(store, 0, sizeof *store);
        store->backend = worker_name(worker);
        store->is_windowed = worker_guarantee(worker) == SEQB_WINDOWED;
        store->is_local = worker_guarantee(worker) == SEQB_LOCAL;
        if (!worker->startup.is_abandoned) {
            store->is_reached = worker->startup.store.is_reached;
            (void)text_copy(store->id, sizeof store->id,
                            worker->startup.store.id);
            (void)text_copy(store->layout, sizeof store->layout,
                            worker->startup.store.layout);
            (void)text_copy(store->place, sizeof store->place,
                            worker->startup.store.place);
        }
        if (layout_is_named(store))
            layout_store_name(worker->connection.options, store->id,
                              sizeof store->id);
    }
}

/* Each step has the whole time-out: one hung store, waited for in the first,
 * must not leave the others none. It is not waited for again. */
static void pool_step(struct ha_pool *pool,
                      void (*step)(struct worker *worker,
                                   struct worker_job *job),
                      int32_t timeout_ms)
{
    const int64_t until_ms = clock_now_ms() + timeout_ms;

    for (int32_t i = 0; i < pool->members; i++) {
        /* An abandoned worker may still be reading it. */
        if (!pool->workers[i]->startup.is_abandoned)
            pool->workers[i]->startup.pool = pool;
        startup_post(pool->workers[i], step);
    }
    for (int32_t i = 0; i < pool->members; i++)
        startup_wait(pool->workers[i], until_ms);
}

static enum seqb_status first_start_fails(const struct ha_pool *pool,
                                          const struct worker *worker,
                                          struct seqb_error *err)
{
    const struct worker_startup *startup = &worker->startup;
    enum seqb_status status = startup->error.status;

    if (startup->is_abandoned)
        return error_set(err, SEQB_UNAVAILABLE,
                         "pool %s: backend %s does not answer within "
                         "open_timeout, and no other one says whether this "
                         "is the first start; try again",
                         pool->options->layout.name, worker_name(worker));
    if (status_blame(status) == BLAME_BACKEND && status != SEQB_CORRUPT)
        status = SEQB_UNAVAILABLE;
    return error_set(err, status,
                     "pool %s: the first start needs every direct backend, "
                     "and %s fails: %s",
                     pool->options->layout.name, worker_name(worker),
                     startup->error.text);
}

/* Two backends that lead to one store would fail together, and a layout
 * with them could never be put right. */
static enum seqb_status check_twins(const struct ha_pool *pool,
                                    const struct layout_stores *stores,
                                    struct seqb_error *err)
{
    const struct layout_store *a;
    const struct layout_store *b;

    if (!layout_find_twins(stores, &a, &b))
        return SEQB_OK;
    return error_set(err, SEQB_LAYOUT,
                     "pool %s: backends %s and %s lead to the same store; "
                     "give each one of its own",
                     pool->options->layout.name, a->backend, b->backend);
}

/* A store that knows no claim of the pool, but stands in another one: most
 * likely the pool was renamed, and would count from 1 again. */
static enum seqb_status check_places(const struct ha_pool *pool,
                                     const struct layout_stores *stores,
                                     struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < stores->partitions && status == SEQB_OK; i++) {
        const struct layout_store *store = &stores->stores[i];

        if (store->place[0] != '\0')
            status = claim_compare_place(store->backend, store->place,
                                         &pool->options->layout, i, err);
    }
    return status;
}

/* Nobody has claimed the pool: makes the stores and gives them ids. */
static enum seqb_status first_start(struct ha_pool *pool,
                                    struct layout_stores *stores,
                                    int32_t timeout_ms, struct seqb_error *err)
{
    if (pool->options->layout.generation > 1)
        return layout_not_migrated(&pool->options->layout, err);
    if (check_places(pool, stores, err) != SEQB_OK)
        return SEQB_LAYOUT;
    pool_step(pool, step_identify, timeout_ms);
    stores_read(pool, stores);
    for (int32_t i = 0; i < stores->count; i++) {
        if (!stores->stores[i].is_windowed && !stores->stores[i].is_reached)
            return first_start_fails(pool, pool->workers[i], err);
    }
    return check_twins(pool, stores, err);
}

/* A store that stands in a place which the layout gives to another. */
static enum seqb_status check_strangers(const struct ha_pool *pool,
                                        const struct layout_stores *stores,
                                        const struct layout_store *claim,
                                        struct seqb_error *err)
{
    for (int32_t i = 0; i < stores->count; i++) {
        const struct layout_store *store = &stores->stores[i];

        if (store->is_reached && !layout_is_named(store) &&
            store->id[0] == '\0')
            return error_set(
                err, SEQB_LAYOUT,
                "pool %s: backend %s is new and empty, but backend %s says "
                "that the pool is in use; put the old store back",
                pool->options->layout.name, store->backend, claim->backend);
    }
    return SEQB_OK;
}

static const struct layout_store *look_at_all(struct ha_pool *pool,
                                              struct layout_stores *stores,
                                              int32_t timeout_ms)
{
    pool_step(pool, step_look, timeout_ms);
    stores_read(pool, stores);
    return layout_find_claim(stores);
}

/* The pool is in use, as `*claim` says. */
static enum seqb_status later_start(struct ha_pool *pool,
                                    struct layout_stores *stores,
                                    const struct layout_store **claim,
                                    int32_t timeout_ms, struct seqb_error *err)
{
    struct seqb_error why;
    enum seqb_status status = check_strangers(pool, stores, *claim, &why);

    /* Another broker's first start may have come between two looks: it gives
     * every store its id before it claims the first one. */
    if (status != SEQB_OK) {
        *claim = look_at_all(pool, stores, timeout_ms);
        if (*claim == NULL)
            return error_copy(err, &why);
        status = check_strangers(pool, stores, *claim, err);
    }
    layout_adopt((*claim)->layout, stores);
    return status;
}

static enum seqb_status settle_stores(struct ha_pool *pool,
                                      struct layout_stores *stores,
                                      int32_t timeout_ms,
                                      struct seqb_error *err)
{
    const struct layout_store *claim = look_at_all(pool, stores, timeout_ms);
    enum seqb_status status =
        claim == NULL ? first_start(pool, stores, timeout_ms, err)
                      : later_start(pool, stores, &claim, timeout_ms, err);

    if (status == SEQB_OK)
        status = layout_compose(&pool->options->layout, stores,
                                pool->claim.text, sizeof pool->claim.text, err);
    if (status == SEQB_OK && claim != NULL)
        status = layout_compare(claim->backend, claim->layout, pool->claim.text,
                                err);
    for (int32_t i = 0; i < stores->count; i++)
        (void)text_copy(pool->claim.store_ids[i],
                        sizeof pool->claim.store_ids[i], stores->stores[i].id);
    return status;
}

static enum seqb_status pool_settle(struct ha_pool *pool, int32_t timeout_ms,
                                    struct seqb_error *err)
{
    struct layout_stores stores = {
        .stores = calloc((size_t)pool->members, sizeof *stores.stores)};
    enum seqb_status status;

    if (stores.stores == NULL)
        return error_set(err, SEQB_NO_MEMORY, "pool %s: out of memory",
                         pool->options->layout.name);
    status = settle_stores(pool, &stores, timeout_ms, err);
    free(stores.stores);
    return status;
}

/* A worker that did not answer in time goes on as one that is down. */
static void abandon(struct worker *worker, int64_t waited_ms)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_UNREACHABLE, "no answer at start");
    worker_note(worker, &why, waited_ms * 1000);
    atomic_store_explicit(&worker->is_serving, true, memory_order_relaxed);
    worker_wake(worker);
}

static enum seqb_status verify_all(struct ha *ha, struct seqb_error *err)
{
    const int64_t until_ms = clock_now_ms() + ha->options->open_timeout_ms;
    size_t usable = 0;

    for (size_t i = 0; i < ha->options->backend_count; i++)
        startup_post(&ha->workers[i], step_verify);
    for (size_t i = 0; i < ha->options->backend_count; i++)
        startup_wait(&ha->workers[i], until_ms);
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct worker *worker = &ha->workers[i];

        if (worker->startup.is_abandoned)
            abandon(worker, ha->options->open_timeout_ms);
        else if (worker->startup.error.status == SEQB_LAYOUT)
            return error_copy(err, &worker->startup.error);
        else
            usable += worker->startup.error.status == SEQB_OK;
    }
    if (usable > 0)
        return SEQB_OK;
    return error_set(err, SEQB_UNAVAILABLE, "no backend answers; %s: %s",
                     ha->workers[0].connection.options->options.name,
                     ha->workers[0].startup.is_abandoned
                         ? "no answer in time"
                         : ha->workers[0].startup.error.text);
}

enum seqb_status startup_run(struct ha *ha, struct seqb_error *err)
{
    enum seqb_status status;

    for (size_t i = 0; i < ha->options->pool_count; i++) {
        status = pool_settle(&ha->pools[i], ha->options->open_timeout_ms, err);
        if (status != SEQB_OK)
            return status;
    }
    status = verify_all(ha, err);
    if (status == SEQB_OK)
        tenants_start(ha, clock_now_ms() + ha->options->open_timeout_ms);
    return status;
}
