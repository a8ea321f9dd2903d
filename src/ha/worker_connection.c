/* SPDX-License-Identifier: Apache-2.0 */
/* Connecting, and closing a connection on which a call failed. */
#include "ha/worker_connection.h"

#include <string.h>

#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

void worker_fail(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us)
{
    connection_report(&worker->connection, why);
    /* First, because closing may take long, and is a call that is evaluated,
     * too. */
    worker_note(worker, why, elapsed_us);
    connection_close(&worker->connection);
}

/* No connection to this server could be made since `since_ms`. So every backend
 * on the server is noted as failed, except those that were answered meanwhile.
 * Their connections are probably lost. */
static void note_server_down(const struct worker *worker,
                             const struct seqb_error *why, int64_t since_ms)
{
    struct seqb_error copy;

    if (worker->connection.endpoint == NULL || why->status != SEQB_UNREACHABLE)
        return;
    (void)error_set(&copy, SEQB_UNREACHABLE,
                    "as backend %s on the same "
                    "server: %s",
                    worker_name(worker), why->text);
    for (size_t i = 0; i < worker->all_count; i++) {
        struct worker *other = &worker->all[i];

        if (other == worker ||
            other->connection.endpoint != worker->connection.endpoint ||
            atomic_load_explicit(&other->connection.answered_ms,
                                 memory_order_relaxed) >= since_ms)
            continue;
        atomic_store_explicit(&other->is_doubted, true, memory_order_relaxed);
        worker_note(other, &copy, 0);
        worker_wake(other); /* it may be asleep without a planned probe */
    }
}

/* Grants of a store with another origin belong to another history. */
static void worker_learn_origin(struct worker *worker)
{
    const char *origin = worker->connection.backend->origin;

    if (strcmp(origin, worker->origin) == 0)
        return;
    (void)text_copy(worker->origin, sizeof worker->origin, origin);
    worker->history++;
}

enum seqb_status worker_open(struct worker *worker, bool create,
                             struct seqb_error *err)
{
    const enum seqb_status status =
        connection_open(&worker->connection, create, err);

    if (status == SEQB_OK) {
        worker_learn_origin(worker);
        worker_show(worker);
    }
    return status;
}

/* Other brokers of the pool may have a larger failover_gap than this broker,
 * and this broker may have a larger one than the store has noted. */
static enum seqb_status learn_gap(struct worker *worker, struct ha_pool *pool,
                                  struct seqb_error *err)
{
    int64_t gap;
    enum seqb_status status;

    if (worker_guarantee(worker) != SEQB_DIRECT)
        return SEQB_OK;
    pthread_mutex_lock(pool->lock);
    gap = pool->failover_gap;
    pthread_mutex_unlock(pool->lock);
    status = claim_gap(&worker->connection, &pool->options->layout, &gap, err);
    if (status != SEQB_OK)
        return status;
    pthread_mutex_lock(pool->lock);
    pool->failover_gap = max_of(pool->failover_gap, gap);
    pthread_mutex_unlock(pool->lock);
    return SEQB_OK;
}

/* A lessor was connected: schedules a look at whether it is level, and at the
 * marks that the others have of it. A store that reports no incarnation is
 * refused, because the others could not tell whether it was restarted. */
static enum seqb_status
report_lessor(struct worker *worker, const struct worker_membership *membership,
              struct seqb_error *err)
{
    struct ha_pool *pool = membership->pool;
    const int32_t i = lessors_find(&pool->lessors, membership->member);

    if (i < 0 || connection_is_verified(&worker->connection))
        return SEQB_OK;
    if (worker->connection.incarnation[0] == '\0')
        return error_set(err, SEQB_UNSAFE,
                         "backend %s: it does not say when its server was "
                         "started, which neighbours must know",
                         worker_name(worker));
    pthread_mutex_lock(pool->lock);
    lessors_connected(&pool->lessors, i, worker->connection.incarnation,
                      clock_now_ms());
    pthread_cond_signal(pool->lessors_changed);
    pthread_mutex_unlock(pool->lock);
    return SEQB_OK;
}

enum seqb_status worker_verify(struct worker *worker, struct seqb_error *err)
{
    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct worker_membership *membership = &worker->memberships[i];
        const struct layout *layout = &membership->pool->options->layout;
        enum seqb_status status =
            claim_check_migrated(&worker->connection, layout, err);

        if (status == SEQB_OK)
            status =
                claim_verify(&worker->connection, layout,
                             &membership->pool->claim, membership->member, err);
        if (status == SEQB_OK)
            status = learn_gap(worker, membership->pool, err);
        if (status == SEQB_OK)
            status = report_lessor(worker, membership, err);
        if (status != SEQB_OK)
            return status;
    }
    connection_set_verified(&worker->connection);
    return connection_read_clock(&worker->connection, err);
}

enum seqb_status worker_connect(struct worker *worker, struct seqb_error *err)
{
    const int64_t start_us = clock_now_us();
    const bool was_open = connection_is_open(&worker->connection);
    struct seqb_error why;
    enum seqb_status status = SEQB_OK;

    if (connection_is_verified(&worker->connection))
        return SEQB_OK;
    if (!was_open)
        status = worker_open(worker, false, &why);
    /* Of the options: a file that they name cannot be read any more. */
    if (status_blame(status) == BLAME_CALLER)
        why.status = SEQB_REFUSED;
    if (status == SEQB_OK)
        status = worker_verify(worker, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    worker_fail(worker, &why, clock_now_us() - start_us);
    if (!was_open)
        note_server_down(worker, &why, start_us / 1000);
    return error_copy(err, &why);
}

bool worker_may_connect(struct worker *worker, struct seqb_error *err)
{
    if (worker->is_probing ||
        connection_enter(&worker->connection, clock_now_ms()) == 0)
        return true;
    (void)error_set(err, SEQB_UNAVAILABLE,
                    "its server is down, and was tried less than %d ms ago",
                    ENDPOINT_ATTEMPT_MS);
    return false;
}

/* A call that passed its deadline lost the connection, but caused no quarantine
 * yet. Connects now to learn whether the server is up, not when the next caller
 * asks. */
void worker_reconnect(struct worker *worker)
{
    struct seqb_error err;

    if (worker_is_usable(worker) && worker_may_connect(worker, &err))
        (void)worker_connect(worker, &err);
}
