/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants from their making to their end, and when they are to work. What is
 * asked of the authority is tenant_turn.c's. */
#include "ha/tenant.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "ha/startup.h"
#include "ha/tenant_state.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/thread.h"

#define DEFAULT_LEASE_MS 10000
#define GIVE_BACK_MS     1000 /* how long a stop waits for an authority */

/* --- on the authority's thread --- */

static void tenant_close(struct tenant *tenant)
{
    tenant_give_back(tenant);
    pthread_mutex_lock(&tenant->lock);
    tenant->is_posted = false;
    tenant->is_closed = true;
    pthread_cond_broadcast(&tenant->changed);
    pthread_mutex_unlock(&tenant->lock);
}

/* With the tenant's lock held. */
static void tenant_post(struct tenant *tenant)
{
    tenant->is_posted = worker_post(tenant->authority, &tenant->job);
    if (!tenant->is_posted)
        tenant->due_ms = INT64_MAX; /* the authority is stopping */
}

static void tenant_work(struct worker *worker, struct worker_job *job)
{
    struct tenant *tenant = (struct tenant *)job;
    int64_t wait_ms = 0;
    bool is_closing;

    pthread_mutex_lock(&tenant->lock);
    is_closing = tenant->is_closing;
    pthread_mutex_unlock(&tenant->lock);
    if (!is_closing)
        wait_ms = tenant_turn(tenant);
    pthread_mutex_lock(&tenant->lock);
    is_closing = tenant->is_closing;
    tenant->due_ms = clock_now_ms() + wait_ms;
    tenant->is_posted = false;
    if (!is_closing && wait_ms == 0)
        tenant_post(tenant); /* behind what others wait for */
    pthread_mutex_unlock(&tenant->lock);
    if (is_closing)
        tenant_close(tenant);
    else if (wait_ms > 0)
        watchdog_expect(worker->connection.watchdog, clock_now_ms() + wait_ms);
}

static void tenant_abandon(struct worker_job *job)
{
    struct tenant *tenant = (struct tenant *)job;

    pthread_mutex_lock(&tenant->lock);
    tenant->is_posted = false;
    tenant->is_closed = true;
    tenant->is_answered = true;
    pthread_cond_broadcast(&tenant->changed);
    pthread_mutex_unlock(&tenant->lock);
}

/* --- making and ending --- */

static void tenant_free(struct tenant *tenant)
{
    if (tenant == NULL)
        return;
    pthread_cond_destroy(&tenant->changed);
    pthread_mutex_destroy(&tenant->lock);
    free(tenant->sights);
    free(tenant);
}

/* "broker@host:pid" */
static enum seqb_status self_init(struct lease_self *self, const char *broker,
                                  int32_t lease_ms, struct seqb_error *err)
{
    char host[64] = "";

    if (getrandom(&self->key, sizeof self->key, 0) != sizeof self->key)
        return error_set(err, SEQB_NO_MEMORY, "no random bytes for a lease");
    self->key |= 1; /* never 0 */
    self->lease_ms = lease_ms > 0 ? lease_ms : DEFAULT_LEASE_MS;
    (void)gethostname(host, sizeof host - 1);
    (void)text_format(self->holder, sizeof self->holder, "%s@%s:%ld",
                      broker == NULL ? "seqbroker" : broker, host,
                      (long)getpid());
    for (char *at = self->holder; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ')
            *at = '_';
    }
    return SEQB_OK;
}

static enum seqb_status tenant_make(struct ha *ha, struct ha_pool *pool,
                                    int32_t partition, struct seqb_error *err)
{
    struct worker *worker = pool->workers[partition];
    const struct seqb_backend_options *options =
        &worker->connection.options->options;
    struct tenant *tenant;

    if (pool->authority == NULL)
        return error_set(err, SEQB_CONFIG,
                         "pool %s: backend %s needs an authority that leases "
                         "worker ids",
                         pool->options->layout.name, options->name);
    tenant = calloc(1, sizeof *tenant);
    if (tenant == NULL)
        return error_set(err, SEQB_NO_MEMORY, "pool %s: out of memory",
                         pool->options->layout.name);
    pthread_mutex_init(&tenant->lock, NULL);
    condition_init(&tenant->changed);
    tenant->job.call = tenant_work;
    tenant->job.abandon = tenant_abandon;
    tenant->pool = pool;
    tenant->partition = partition;
    tenant->worker = worker;
    tenant->authority = pool->authority;
    tenant->layout = (struct bits_layout){.epoch_ms = options->epoch_ms,
                                          .unit_ms = 1,
                                          .time = options->time_bits,
                                          .shard = options->worker_bits,
                                          .counter = options->counter_bits};
    tenant->id = TENANT_NOBODY;
    tenant->lease.worker = TENANT_NOBODY;
    tenant->attempt.worker = TENANT_NOBODY;
    tenant->due_ms = INT64_MAX;
    worker->tenant = tenant;
    return self_init(&tenant->self, ha->options->broker,
                     worker->connection.options->lease_ms, err);
}

enum seqb_status tenants_make(struct ha *ha, struct seqb_error *err)
{
    for (size_t i = 0; i < ha->options->pool_count; i++) {
        struct ha_pool *pool = &ha->pools[i];

        for (int32_t j = 0; j < 1 << pool->options->layout.bits; j++) {
            if (worker_guarantee(pool->workers[j]) == SEQB_LOCAL &&
                tenant_make(ha, pool, j, err) != SEQB_OK)
                return err == NULL ? SEQB_CONFIG : err->status;
        }
    }
    return SEQB_OK;
}

/* The i-th backend's tenant, or NULL. */
static struct tenant *tenant_at(const struct ha *ha, size_t i)
{
    return ha->workers[i].tenant;
}

static void await(struct tenant *tenant, const bool *what, int64_t until_ms)
{
    bool in_time = true;

    pthread_mutex_lock(&tenant->lock);
    while (!*what && in_time)
        in_time = condition_wait(&tenant->changed, &tenant->lock, until_ms);
    pthread_mutex_unlock(&tenant->lock);
}

void tenants_start(struct ha *ha, int64_t until_ms)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        struct tenant *tenant = tenant_at(ha, i);

        if (tenant == NULL)
            continue;
        pthread_mutex_lock(&tenant->lock);
        tenant->is_started = true;
        tenant_post(tenant);
        pthread_mutex_unlock(&tenant->lock);
    }
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (tenant_at(ha, i) != NULL)
            await(tenant_at(ha, i), &tenant_at(ha, i)->is_answered, until_ms);
    }
}

static int64_t tenant_judge(struct tenant *tenant, int64_t now_ms)
{
    int64_t due_ms = INT64_MAX;

    pthread_mutex_lock(&tenant->lock);
    if (tenant->is_started && !tenant->is_closing && !tenant->is_posted) {
        if (tenant->due_ms <= now_ms)
            tenant_post(tenant);
        else
            due_ms = tenant->due_ms;
    }
    pthread_mutex_unlock(&tenant->lock);
    return due_ms;
}

int64_t tenants_judge(struct ha *ha, int64_t now_ms)
{
    int64_t soonest_ms = INT64_MAX;

    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (tenant_at(ha, i) != NULL)
            soonest_ms =
                min_of(soonest_ms, tenant_judge(tenant_at(ha, i), now_ms));
    }
    return soonest_ms;
}

/* The partition's worker first: what it grants must not be given away. */
static void tenant_end(struct tenant *tenant)
{
    worker_stop(tenant->worker);
    worker_join(tenant->worker);
    pthread_mutex_lock(&tenant->lock);
    tenant->is_closing = true;
    if (!tenant->is_posted)
        tenant_post(tenant);
    if (!tenant->is_posted)
        tenant->is_closed = true;
    pthread_mutex_unlock(&tenant->lock);
}

void tenants_end(struct ha *ha)
{
    const int64_t until_ms = clock_now_ms() + GIVE_BACK_MS;

    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (tenant_at(ha, i) != NULL && tenant_at(ha, i)->is_started)
            tenant_end(tenant_at(ha, i));
    }
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        if (tenant_at(ha, i) != NULL && tenant_at(ha, i)->is_started)
            await(tenant_at(ha, i), &tenant_at(ha, i)->is_closed, until_ms);
    }
}

void tenants_free(struct ha *ha)
{
    for (size_t i = 0; i < ha->options->backend_count; i++) {
        tenant_free(tenant_at(ha, i));
        ha->workers[i].tenant = NULL;
    }
}
