/* SPDX-License-Identifier: Apache-2.0 */
/* What the partition has of its tenant: the lease that its engine counts with,
 * or why there is none. */
#include "ha/tenant.h"
#include "ha/tenant_state.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* --- what the partition shows --- */

/* A partition that rests already shows the newest reason. */
static void show_why(struct tenant *tenant, const struct seqb_error *why)
{
    struct ha_pool *pool = tenant->pool;
    struct pool_member *member = &pool->pool.member[tenant->partition];
    struct seqb_error unreachable = *why;
    bool is_usable;

    pthread_mutex_lock(&pool->lock);
    is_usable = pool_state_is_usable(member->state);
    if (member->state == SEQB_PARTITION_QUARANTINED)
        (void)text_copy(member->reason, sizeof member->reason, why->text);
    pthread_mutex_unlock(&pool->lock);
    unreachable.status = SEQB_UNREACHABLE;
    if (is_usable)
        worker_note(tenant->worker, &unreachable, 0);
}

static void show_well(struct tenant *tenant)
{
    struct ha_pool *pool = tenant->pool;
    bool is_probed;

    pthread_mutex_lock(&pool->lock);
    is_probed = pool_hasten(&pool->pool, tenant->partition, clock_now_ms());
    pthread_mutex_unlock(&pool->lock);
    if (is_probed)
        worker_wake(tenant->worker);
}

/* With the tenant's lock held. */
static void tenant_answer(struct tenant *tenant, const struct seqb_error *why)
{
    tenant->why.status = SEQB_OK;
    if (why != NULL)
        tenant->why = *why;
    tenant->is_answered = true;
    pthread_cond_broadcast(&tenant->changed);
}

void tenant_gain(struct tenant *tenant, int64_t sent_ms)
{
    pthread_mutex_lock(&tenant->lock);
    tenant->lease =
        (struct tenant_lease){.worker = tenant->id,
                              .above_ms = tenant->above_ms,
                              .upto_ms = tenant->row.upto_ms,
                              .until_ms = sent_ms + tenant->self.lease_ms};
    tenant->serial++;
    tenant_answer(tenant, NULL);
    pthread_mutex_unlock(&tenant->lock);
    show_well(tenant);
}

void tenant_lose(struct tenant *tenant, const struct seqb_error *why)
{
    tenant->id = TENANT_NOBODY;
    pthread_mutex_lock(&tenant->lock);
    tenant->lease.worker = TENANT_NOBODY;
    tenant_answer(tenant, why);
    pthread_mutex_unlock(&tenant->lock);
    show_why(tenant, why);
}

/* With the tenant's lock held. */
static bool lease_is_valid(const struct tenant *tenant)
{
    return tenant->lease.worker != TENANT_NOBODY &&
           clock_boot_ms() < tenant->lease.until_ms;
}

void tenant_fail(struct tenant *tenant, const struct seqb_error *why)
{
    bool is_valid;

    pthread_mutex_lock(&tenant->lock);
    is_valid = lease_is_valid(tenant);
    tenant_answer(tenant, why);
    pthread_mutex_unlock(&tenant->lock);
    if (!is_valid)
        show_why(tenant, why);
}

/* --- on the thread of the partition's worker --- */

/* With the tenant's lock held. */
static enum seqb_status lease_read_out(const struct tenant *tenant,
                                       struct seqb_error *err)
{
    const char *why =
        tenant->why.status == SEQB_OK ? "it was not renewed" : tenant->why.text;

    if (lease_is_valid(tenant))
        return SEQB_OK;
    if (tenant->lease.worker == TENANT_NOBODY)
        return error_set(err, SEQB_UNAVAILABLE, "%s",
                         tenant->why.status == SEQB_OK
                             ? "it has no worker id yet"
                             : tenant->why.text);
    return error_set(err, SEQB_UNAVAILABLE,
                     "the lease of worker id %lld has ended: %s",
                     (long long)tenant->lease.worker, why);
}

/* A clock that leapt ahead passes what the row says: it is renewed early. */
static void hurry(struct tenant *tenant, const struct tenant_lease *lease,
                  uint64_t serial)
{
    if (clock_wall_ms() <= lease->upto_ms || tenant->hurried == serial)
        return;
    tenant->hurried = serial;
    pthread_mutex_lock(&tenant->lock);
    tenant->due_ms = 0;
    pthread_mutex_unlock(&tenant->lock);
    watchdog_expect(tenant->worker->connection.watchdog, 0);
}

/* An engine that was opened anew does not know what it gave before. */
static enum seqb_status install(struct tenant *tenant,
                                const struct tenant_lease *lease,
                                struct seqb_error *err)
{
    const int64_t used_ms =
        atomic_load_explicit(&tenant->used_ms, memory_order_relaxed);
    const struct seqb_window window = {
        .counter = "",
        .window = lease->worker,
        .above = min_of(max_of(lease->above_ms, used_ms), lease->upto_ms),
        .upto = lease->upto_ms,
        .until_ms = lease->until_ms};
    int64_t standing;

    return connection_install(&tenant->worker->connection, &window, &standing,
                              err);
}

bool tenant_is_ready(struct worker *worker, struct seqb_error *err)
{
    struct tenant *tenant = worker->tenant;
    struct tenant_lease lease;
    enum seqb_status status;
    uint64_t serial;

    if (tenant == NULL)
        return true;
    pthread_mutex_lock(&tenant->lock);
    status = lease_read_out(tenant, err);
    lease = tenant->lease;
    serial = tenant->serial;
    pthread_mutex_unlock(&tenant->lock);
    if (status == SEQB_OK &&
        (tenant->installed != serial ||
         tenant->installed_on != worker->connection.serial))
        status = install(tenant, &lease, err);
    if (status != SEQB_OK) {
        struct seqb_error why = *err;

        why.status = SEQB_UNREACHABLE;
        worker_note(worker, &why, 0);
        return false;
    }
    tenant->installed = serial;
    tenant->installed_on = worker->connection.serial;
    hurry(tenant, &lease, serial);
    return true;
}

void tenant_used(struct tenant *tenant, int64_t value)
{
    struct bits_parts parts;

    bits_take_apart(&tenant->layout, value, &parts);
    if (parts.time_ms >
        atomic_load_explicit(&tenant->used_ms, memory_order_relaxed))
        atomic_store_explicit(&tenant->used_ms, parts.time_ms,
                              memory_order_relaxed);
}

bool tenant_owns(const struct tenant *tenant, uint64_t key)
{
    return tenant->self.key == key;
}

void tenant_row_name(const struct ha_pool *pool, int64_t id, char *out,
                     size_t size)
{
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(pool->options->layout.name,
                         pool->options->layout.generation, name, sizeof name);
    (void)text_format(out, size, "worker/%s/%lld", name, (long long)id);
}
