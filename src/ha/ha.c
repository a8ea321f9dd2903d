/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing the pools with their workers, and their status. */
#include "ha/ha.h"

#include <stdlib.h>
#include <string.h>

#include "ha/startup.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/thread.h"

static void add_membership(struct ha_pool *pool, struct worker *worker)
{
    const int32_t timeout_ms = pool->options->timeout_ms;

    worker->memberships[worker->membership_count++] =
        (struct worker_membership){pool, pool->members};
    if (worker->connection.slow_ms == 0 ||
        timeout_ms < worker->connection.slow_ms)
        worker->connection.slow_ms = timeout_ms;
    pool->workers[pool->members++] = worker;
}

/* Every store of a pool with neighbours has to be an engine that may lease. */
static enum seqb_status check_neighbours(const struct ha_options *options,
                                         const struct layout *layout,
                                         struct seqb_error *err)
{
    const struct store_options *backends = options->backends;

    for (int32_t i = 0; layout->neighbours && i < 1 << layout->bits; i++) {
        const struct store_options *backend = &backends[layout->partitions[i]];

        if (backend->ops->guarantee == SEQB_DIRECT &&
            !layout_may_lease(backend->ops))
            return error_set(err, SEQB_CONFIG,
                             "pool %s: backend %s: engine %s cannot lease "
                             "windows to neighbours",
                             layout->name, backend->options.name,
                             backend->ops->engine);
    }
    if (!layout->neighbours || layout_lessor_count(layout, backends) >= 2)
        return SEQB_OK;
    return error_set(err, SEQB_CONFIG,
                     "pool %s: authority \"neighbours\" needs two direct "
                     "backends or more",
                     layout->name);
}

static void lessors_assemble(struct ha *ha, struct ha_pool *pool)
{
    const struct layout *layout = &pool->options->layout;
    const struct store_options *backends = ha->options->backends;
    const int32_t count = layout_lessor_count(layout, backends);
    int32_t members[LESSORS_MAX];

    for (int32_t i = 0; i < count; i++)
        members[i] = layout_lessor(layout, i, backends);
    (void)text_format(pool->synced, sizeof pool->synced, "synced/%s",
                      pool->name);
    pool->lessors_changed = &ha->lessors_changed;
    lessors_init(&pool->lessors, members, count, (uint64_t)clock_now_us(),
                 clock_now_ms());
}

static void pool_assemble(struct ha *ha, struct ha_pool *pool,
                          const struct ha_pool_options *options)
{
    const struct layout *layout = &options->layout;

    pool->current = *options;
    pool->options = &pool->current;
    layout_internal_name(layout->name, layout->generation, pool->name,
                         sizeof pool->name);
    pool->failover_gap = layout->failover_gap;
    pool->lock = &ha->lock;
    condition_init(&pool->answered);
    ha->pools_made++;
    for (int32_t i = 0; i < layout_member_count(layout); i++)
        add_membership(pool, &ha->workers[layout_member(layout, i)]);
    if (layout->authority >= 0)
        pool->authority = &ha->workers[layout->authority];
    pool_init(&pool->pool, pool->options, pool->members,
              (uint64_t)clock_now_us(), clock_now_ms());
    lessors_assemble(ha, pool);
}

/* On the watchdog's thread. */
static int64_t ha_evaluate(void *context, int64_t now_ms)
{
    struct ha *ha = context;
    int64_t soonest_ms = INT64_MAX;

    for (size_t i = 0; i < ha->options->backend_count; i++) {
        const int64_t next_ms = worker_evaluate(&ha->workers[i], now_ms);

        if (next_ms < soonest_ms)
            soonest_ms = next_ms;
    }
    return soonest_ms;
}

static enum seqb_status backend_assemble(struct ha *ha, size_t i,
                                         struct seqb_error *err)
{
    const struct store_options *options = &ha->options->backends[i];
    struct worker *worker = &ha->workers[i];
    struct endpoint *endpoint =
        endpoint_find(ha->endpoints, &ha->endpoint_count, options);

    connection_init(&worker->connection, options, ha->watchdog, endpoint);
    worker->all = ha->workers;
    worker->all_count = ha->options->backend_count;
    worker->events = &ha->events;
    worker->raised = ha->raised;
    worker->granted = ha->granted;
    worker->begun_ms = &ha->begun_ms;
    worker->limit_ms = &ha->limit_ms;
    return worker_init(worker, &ha->lock, ha->options->pool_count, err);
}

/* A backend may be the authority of every pool, and a partition of one pool. */
static enum seqb_status ha_assemble(struct ha *ha, struct seqb_error *err)
{
    const struct ha_options *options = ha->options;

    for (size_t i = 0; i < options->pool_count; i++) {
        if (check_neighbours(options, &options->pools[i].layout, err) !=
            SEQB_OK)
            return SEQB_CONFIG;
    }
    if (raised_open(options->raised_path, &ha->raised, err) != SEQB_OK ||
        granted_open(options->granted_path, &ha->granted, err) != SEQB_OK)
        return err->status;
    if (watchdog_open(ha_evaluate, ha, &ha->watchdog, err) != SEQB_OK)
        return SEQB_NO_MEMORY;
    for (size_t i = 0; i < options->backend_count; i++) {
        if (backend_assemble(ha, i, err) != SEQB_OK)
            return SEQB_NO_MEMORY;
    }
    for (size_t i = 0; i < options->pool_count; i++)
        pool_assemble(ha, &ha->pools[i], &options->pools[i]);
    for (size_t i = 0; i < options->backend_count; i++) {
        if (ha->workers[i].membership_count == 0)
            return error_set(err, SEQB_CONFIG, "backend %s is used by no pool",
                             options->backends[i].options.name);
        if (worker_start(&ha->workers[i], err) != SEQB_OK)
            return SEQB_NO_MEMORY;
    }
    return SEQB_OK;
}

enum seqb_status ha_open(const struct ha_options *options, struct ha **out,
                         struct seqb_error *err)
{
    struct ha *ha = calloc(1, sizeof *ha);
    enum seqb_status status;

    if (ha == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    pthread_mutex_init(&ha->lock, NULL);
    condition_init(&ha->lessors_changed);
    atomic_init(&ha->limit_ms, INT64_MAX);
    ha->options = options;
    ha->workers = calloc(options->backend_count, sizeof *ha->workers);
    ha->pools = calloc(options->pool_count, sizeof *ha->pools);
    ha->endpoints = calloc(options->backend_count, sizeof *ha->endpoints);
    events_init(&ha->events);
    status = ha->workers == NULL || ha->pools == NULL || ha->endpoints == NULL
                 ? error_set(err, SEQB_NO_MEMORY, "out of memory")
                 : ha_assemble(ha, err);
    if (status == SEQB_OK)
        status = startup_run(ha, err);
    if (status == SEQB_OK)
        status = neighbours_open(ha, &ha->neighbours, err);
    if (status != SEQB_OK) {
        ha_close(ha);
        return status;
    }
    *out = ha;
    return SEQB_OK;
}

/* Stops all workers before it joins any, because one worker may wait for
 * another's window, and is answered when that one stops. */
void ha_close(struct ha *ha)
{
    if (ha == NULL)
        return;
    neighbours_stop(ha->neighbours);
    for (size_t i = 0; ha->workers != NULL && i < ha->options->backend_count;
         i++)
        worker_stop(&ha->workers[i]);
    for (size_t i = 0; ha->workers != NULL && i < ha->options->backend_count;
         i++)
        worker_join(&ha->workers[i]);
    neighbours_close(ha->neighbours);
    watchdog_close(ha->watchdog);
    for (size_t i = 0; ha->workers != NULL && i < ha->options->backend_count;
         i++)
        worker_fini(&ha->workers[i]);
    for (size_t i = 0; ha->pools != NULL && i < ha->pools_made; i++)
        pthread_cond_destroy(&ha->pools[i].answered);
    for (size_t i = 0; ha->endpoints != NULL && i < ha->endpoint_count; i++)
        endpoint_fini(&ha->endpoints[i]);
    events_fini(&ha->events);
    pthread_cond_destroy(&ha->lessors_changed);
    raised_close(ha->raised);
    granted_close(ha->granted);
    pthread_mutex_destroy(&ha->lock);
    reloads_free(ha);
    free(ha->endpoints);
    free(ha->workers);
    free(ha->pools);
    free(ha);
}

void ha_end_waits(struct ha *ha, int64_t until_ms)
{
    atomic_store_explicit(&ha->limit_ms, until_ms, memory_order_relaxed);
}

int64_t ha_limit_ms(const struct ha *ha)
{
    return atomic_load_explicit(&ha->limit_ms, memory_order_relaxed);
}

void ha_on_event(struct ha *ha,
                 void (*callback)(void *context,
                                  const struct seqb_event *event),
                 void *context)
{
    events_listen(&ha->events, callback, context);
}

void ha_resumed(struct ha *ha)
{
    pthread_mutex_lock(&ha->lock);
    for (size_t i = 0; i < ha->options->pool_count; i++)
        ha->pools[i].resumed++;
    for (size_t i = 0; i < ha->options->backend_count; i++)
        worker_connect_again(&ha->workers[i]);
    pthread_mutex_unlock(&ha->lock);
}

uint64_t ha_usable(struct ha *ha)
{
    uint64_t hash = HASH_BEGIN;

    for (size_t i = 0; i < ha->options->backend_count; i++) {
        const bool is_usable = worker_is_usable(&ha->workers[i]);

        hash = hash_add(hash, &is_usable, sizeof is_usable);
    }
    return hash;
}

struct ha_pool *ha_pool_at(struct ha *ha, size_t i)
{
    return &ha->pools[i];
}

int32_t ha_pool_bits(const struct ha_pool *pool)
{
    return pool->options->layout.bits;
}

static void member_status(const struct ha_pool *pool, int32_t i, int64_t now_ms,
                          struct seqb_partition_status *out)
{
    const struct worker *worker = pool->workers[i];
    const struct pool_member *member = &pool->pool.member[i];
    const int64_t answered_ms = atomic_load_explicit(
        &worker->connection.answered_ms, memory_order_relaxed);

    *out = (struct seqb_partition_status){
        .partition = i < pool->pool.partitions ? i : -1,
        .is_windowed = pool_is_windowed(pool, i),
        .is_authority = worker == pool->authority,
        .state = member->state,
        .since_ms = now_ms - member->since_ms,
        .next_probe_ms = -1,
        .latency_us = member->latency_us,
        .granted = member->granted,
        .errors = member->errors,
        .slow = member->slow,
        .ejections = member->ejections,
        .clock_ms = connection_clock_ahead_ms(&worker->connection),
        .last_ok_ms = answered_ms < 0 ? -1 : max_of(now_ms - answered_ms, 0),
        .raises = member->raises,
    };
    (void)text_copy(out->pool, sizeof out->pool, pool->options->layout.name);
    (void)text_copy(out->backend, sizeof out->backend, worker_name(worker));
    (void)text_copy(out->engine, sizeof out->engine,
                    worker->connection.options->ops->engine);
    (void)text_copy(out->server, sizeof out->server, member->server);
    (void)text_copy(out->domain, sizeof out->domain, member->domain);
    (void)text_copy(out->loss, sizeof out->loss, member->loss);
    member_reason(pool, i, out->reason, sizeof out->reason);
    if (member_refuses(pool, i))
        out->refused = pool->refusals[i].count;
    if (member->state == SEQB_PARTITION_QUARANTINED)
        out->next_probe_ms =
            member->next_probe_ms > now_ms ? member->next_probe_ms - now_ms : 0;
}

void ha_status(struct ha *ha, struct seqb_partition_status *out,
               size_t capacity, size_t *count)
{
    const int64_t now_ms = clock_now_ms();
    size_t n = 0;

    for (size_t i = 0; i < ha->options->pool_count; i++) {
        struct ha_pool *pool = &ha->pools[i];

        pthread_mutex_lock(pool->lock);
        for (int32_t j = 0; j < pool->members; j++, n++) {
            if (n < capacity)
                member_status(pool, j, now_ms, &out[n]);
        }
        pthread_mutex_unlock(pool->lock);
    }
    *count = n;
}
