/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New options for pools that serve: times change at once, and a backend whose
 * connection options changed is connected again by its own thread. All that may
 * fail is done before the commit.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/startup.h"
#include "platform/error.h"

/* The ha keeps it after the commit, because workers may use what it holds. */
struct ha_reload {
    struct ha *ha;
    const struct ha_options *options; /* valid until the commit */
    struct store_options **changed;   /* by backend index; NULL: unchanged */
    struct endpoint **endpoints; /* by backend index, of those that changed */
    struct endpoint *made;       /* endpoints that are new */
    size_t made_count;
    struct ha_reload *next; /* the one committed before */
};

static const struct store_options *find_backend(const struct ha_options *in,
                                                const char *name)
{
    for (size_t i = 0; i < in->backend_count; i++) {
        if (strcmp(in->backends[i].options.name, name) == 0)
            return &in->backends[i];
    }
    return NULL;
}

static const struct ha_pool_options *find_pool(const struct ha_options *in,
                                               const char *name)
{
    for (size_t i = 0; i < in->pool_count; i++) {
        if (strcmp(in->pools[i].layout.name, name) == 0)
            return &in->pools[i];
    }
    return NULL;
}

static struct endpoint *endpoint_in(struct endpoint *endpoints, size_t count,
                                    const char *address)
{
    for (size_t i = 0; i < count && address[0] != '\0'; i++) {
        if (strcmp(endpoints[i].address, address) == 0)
            return &endpoints[i];
    }
    return NULL;
}

/* An existing endpoint, or a new one, for which there is room. */
static struct endpoint *endpoint_of(struct ha_reload *reload,
                                    const struct store_options *options)
{
    struct ha *ha = reload->ha;
    char address[ENDPOINT_ADDRESS_SIZE];
    struct endpoint *found;

    endpoint_address(options, address, sizeof address);
    found = endpoint_in(ha->endpoints, ha->endpoint_count, address);
    for (const struct ha_reload *at = ha->reloads; at != NULL && found == NULL;
         at = at->next)
        found = endpoint_in(at->made, at->made_count, address);
    return found != NULL
               ? found
               : endpoint_find(reload->made, &reload->made_count, options);
}

static bool backend_prepare(struct ha_reload *reload, size_t i)
{
    const struct worker *worker = &reload->ha->workers[i];
    const struct store_options *next =
        find_backend(reload->options, worker_name(worker));

    if (next == NULL || store_options_equal(worker->wanted, next))
        return true;
    reload->changed[i] = store_options_copy(next);
    if (reload->changed[i] == NULL)
        return false;
    reload->endpoints[i] = endpoint_of(reload, reload->changed[i]);
    return true;
}

static bool reload_fill(struct ha_reload *reload)
{
    const size_t count = reload->ha->options->backend_count;

    reload->changed = calloc(count, sizeof(struct store_options *));
    reload->endpoints = calloc(count, sizeof(struct endpoint *));
    reload->made = calloc(count, sizeof *reload->made);
    if (reload->changed == NULL || reload->endpoints == NULL ||
        reload->made == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!backend_prepare(reload, i))
            return false;
    }
    return true;
}

enum seqb_status ha_prepare(struct ha *ha, const struct ha_options *options,
                            struct ha_reload **out, struct seqb_error *err)
{
    struct ha_reload *reload = calloc(1, sizeof *reload);

    if (reload == NULL)
        return error_set(err, SEQB_NO_MEMORY, "reload: out of memory");
    reload->ha = ha;
    reload->options = options;
    if (!reload_fill(reload)) {
        ha_reload_free(reload);
        return error_set(err, SEQB_NO_MEMORY, "reload: out of memory");
    }
    *out = reload;
    return SEQB_OK;
}

/* With the lock held. */
static void pool_set(struct ha_pool *pool, const struct ha_pool_options *next)
{
    struct ha_pool_options *current = &pool->current;

    current->timeout_ms = next->timeout_ms;
    current->slow_count = next->slow_count;
    current->slow_window_ms = next->slow_window_ms;
    current->rescue_after_ms = next->rescue_after_ms;
    current->rescue = next->rescue;
    current->check_interval_ms = next->check_interval_ms;
}

/* With the lock held. A larger gap applies from now on. Each direct store
 * learns it when it is connected again, before it is asked for more. A smaller
 * gap changes nothing, because the grants that a store may lose were made under
 * the larger one. */
static void pool_raise_gap(struct ha_pool *pool, int64_t gap)
{
    if (gap <= pool->failover_gap)
        return;
    pool->failover_gap = gap;
    for (int32_t i = 0; i < pool->members; i++) {
        if (worker_guarantee(pool->workers[i]) == SEQB_DIRECT)
            worker_connect_again(pool->workers[i]);
    }
}

/* With the lock held: sets the smallest time-out of the worker's pools. */
static void worker_set_slow(struct worker *worker)
{
    int32_t slow_ms = 0;

    for (size_t i = 0; i < worker->membership_count; i++) {
        const int32_t timeout_ms =
            worker->memberships[i].pool->options->timeout_ms;

        if (slow_ms == 0 || timeout_ms < slow_ms)
            slow_ms = timeout_ms;
    }
    worker->connection.slow_ms = slow_ms;
}

/* With its new settings the member may work again. A member whose store went
 * back stays poisoned. */
static void member_retry(struct ha *ha,
                         const struct worker_membership *membership)
{
    struct ha_pool *pool = membership->pool;
    const int32_t i = membership->member;
    enum seqb_partition_state state;

    pthread_mutex_lock(pool->lock);
    state = pool->pool.member[i].state;
    pthread_mutex_unlock(pool->lock);
    if (state == SEQB_PARTITION_QUARANTINED || state == SEQB_PARTITION_REFUSED)
        (void)ha_command(ha, pool->options->layout.name,
                         i < pool->pool.partitions ? i : -1, SEQB_ORDER_RESCUE,
                         NULL);
}

static void retry_changed(const struct ha_reload *reload)
{
    struct ha *ha = reload->ha;

    for (size_t i = 0; i < ha->options->backend_count; i++) {
        const struct worker *worker = &ha->workers[i];

        for (size_t j = 0;
             reload->changed[i] != NULL && j < worker->membership_count; j++)
            member_retry(ha, &worker->memberships[j]);
    }
}

void ha_commit(struct ha_reload *reload)
{
    struct ha *ha = reload->ha;

    pthread_mutex_lock(&ha->lock);
    for (size_t i = 0; i < ha->options->pool_count; i++) {
        struct ha_pool *pool = &ha->pools[i];
        const struct ha_pool_options *next =
            find_pool(reload->options, pool->options->layout.name);

        if (next == NULL)
            continue;
        pool_set(pool, next);
        pool_raise_gap(pool, next->layout.failover_gap);
    }
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct worker *worker = &ha->workers[i];

        worker_set_slow(worker);
        if (reload->changed[i] == NULL)
            pthread_cond_signal(&worker->changed); /* its look may be sooner */
        else
            worker_change(worker, reload->changed[i], reload->endpoints[i]);
    }
    pthread_mutex_unlock(&ha->lock);
    retry_changed(reload);
    reload->next = ha->reloads;
    ha->reloads = reload;
}

void ha_reload_free(struct ha_reload *reload)
{
    if (reload == NULL)
        return;
    for (size_t i = 0;
         reload->changed != NULL && i < reload->ha->options->backend_count; i++)
        store_options_free(reload->changed[i]);
    for (size_t i = 0; i < reload->made_count; i++)
        endpoint_fini(&reload->made[i]);
    free(reload->changed);
    free(reload->endpoints);
    free(reload->made);
    free(reload);
}

void reloads_free(struct ha *ha)
{
    while (ha->reloads != NULL) {
        struct ha_reload *reload = ha->reloads;

        ha->reloads = reload->next;
        ha_reload_free(reload);
    }
}

void ha_map_pools(const struct ha *ha, const struct ha_options *options,
                  int32_t *out)
{
    for (size_t i = 0; i < options->pool_count; i++) {
        out[i] = -1;
        for (size_t j = 0; j < ha->options->pool_count; j++) {
            if (strcmp(ha->options->pools[j].layout.name,
                       options->pools[i].layout.name) == 0)
                out[i] = (int32_t)j;
        }
    }
}
