/* SPDX-License-Identifier: Apache-2.0 */
/* A worker as others use it: what is posted to it, its connection, and what its
 * pools are told. Its thread is in serve.c. */
#include "ha/worker.h"

#include <assert.h>
#include <stdlib.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "store/store.h"

enum seqb_status worker_init(struct worker *worker, size_t duties,
                             struct seqb_error *err)
{
    worker->duties = calloc(duties + 1, sizeof *worker->duties);
    if (worker->duties == NULL)
        return error_set(err, SEQB_NO_MEMORY, "backend %s: out of memory",
                         worker_name(worker));
    pthread_mutex_init(&worker->lock, NULL);
    condition_init(&worker->changed);
    return SEQB_OK;
}

void worker_fini(struct worker *worker)
{
    if (worker->duties == NULL)
        return;
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
    free(worker->duties);
}

bool worker_post(struct worker *worker, struct worker_job *job)
{
    bool is_open;

    pthread_mutex_lock(&worker->lock);
    is_open = !worker->is_stopping;
    if (is_open) {
        job->next = NULL;
        if (worker->first == NULL)
            worker->first = job;
        else
            worker->last->next = job;
        worker->last = job;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
    return is_open;
}

void worker_wake(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->is_woken = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

struct worker_job *worker_take(struct worker *worker)
{
    struct worker_job *jobs;

    pthread_mutex_lock(&worker->lock);
    jobs = worker->first;
    worker->first = NULL;
    worker->last = NULL;
    pthread_mutex_unlock(&worker->lock);
    return jobs;
}

void worker_stop(struct worker *worker)
{
    if (worker->duties == NULL)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->is_stopping = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

void worker_join(struct worker *worker)
{
    if (worker->is_started)
        pthread_join(worker->thread, NULL);
    worker->is_started = false;
}

/* --- what the pools are told --- */

void worker_tell(const struct worker *worker, const struct worker_duty *duty,
                 struct pool_change change, const char *reason)
{
    const struct seqb_event event = {
        .kind = SEQB_EVENT_STATE,
        .from = change.from,
        .to = change.to,
        .pool = duty->pool->options->layout.name,
        .partition =
            duty->member < duty->pool->pool.partitions ? duty->member : -1,
        .backend = worker_name(worker),
        .reason = reason,
    };

    if (change.from == change.to)
        return;
    events_tell(worker->events, &event);
    watchdog_expect(worker->connection.watchdog,
                    0); /* time may change it again */
}

void worker_note(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us)
{
    const int64_t now_ms = clock_now_ms();

    if (why == NULL)
        atomic_store_explicit(&worker->well_ms, now_ms, memory_order_relaxed);
    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];
        struct ha_pool *pool = duty->pool;
        struct pool_change change;
        char reason[sizeof pool->pool.member[0].reason];

        pthread_mutex_lock(&pool->lock);
        change = why == NULL ? pool_succeeded(&pool->pool, duty->member,
                                              elapsed_us, now_ms)
                             : pool_failed(&pool->pool, duty->member, why,
                                           elapsed_us, now_ms);
        (void)text_copy(reason, sizeof reason,
                        pool->pool.member[duty->member].reason);
        pthread_mutex_unlock(&pool->lock);
        worker_tell(worker, duty, change, reason);
    }
}

/* --- the connection --- */

void worker_fail(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us)
{
    connection_report(&worker->connection, why);
    /* First: closing may take long, and is a call that is judged, too. */
    worker_note(worker, why, elapsed_us);
    connection_close(&worker->connection);
}

/* No connection could be made since `since_ms`: what is true of one backend on
 * that server is true of all, but of one that was answered meanwhile. Their
 * connections are as good as lost. */
static void worker_speak_for_all(const struct worker *worker,
                                 const struct seqb_error *why, int64_t since_ms)
{
    struct seqb_error copy;

    if (worker->connection.endpoint == NULL || why->status != SEQB_UNREACHABLE)
        return;
    (void)error_set(&copy, SEQB_UNREACHABLE,
                    "as backend %s on the same "
                    "server: %s",
                    worker_name(worker), why->text);
    for (struct connection *at = worker->connection.endpoint->first; at != NULL;
         at = at->next_on_endpoint) {
        struct worker *other = (struct worker *)at;

        if (other == worker ||
            atomic_load_explicit(&other->well_ms, memory_order_relaxed) >=
                since_ms)
            continue;
        atomic_store_explicit(&other->is_doubted, true, memory_order_relaxed);
        worker_note(other, &copy, 0);
        worker_wake(other); /* it may sleep, with no probe in sight */
    }
}

/* For the status: who serves now may be another server than before. */
static void worker_show(struct worker *worker)
{
    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];

        pthread_mutex_lock(&duty->pool->lock);
        pool_connected(&duty->pool->pool, duty->member,
                       worker->connection.backend);
        pthread_mutex_unlock(&duty->pool->lock);
    }
}

enum seqb_status worker_open(struct worker *worker, bool create,
                             struct seqb_error *err)
{
    const enum seqb_status status =
        connection_open(&worker->connection, create, err);

    if (status == SEQB_OK)
        worker_show(worker);
    return status;
}

enum seqb_status worker_verify(struct worker *worker, struct seqb_error *err)
{
    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];
        const enum seqb_status status =
            claim_verify(&worker->connection, &duty->pool->options->layout,
                         &duty->pool->claim, duty->member, err);

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
    if (status == SEQB_OK)
        status = worker_verify(worker, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    worker_fail(worker, &why, clock_now_us() - start_us);
    if (!was_open)
        worker_speak_for_all(worker, &why, start_us / 1000);
    return error_copy(err, &why);
}

/* --- may it be asked? --- */

/* The worker's part in a pool, of which it has one. */
static const struct worker_duty *worker_duty_in(const struct worker *worker,
                                                const struct ha_pool *pool)
{
    const struct worker_duty *duty = worker->duties;

    while (duty->pool != pool) {
        duty++;
        assert(duty < worker->duties + worker->duty_count);
    }
    return duty;
}

bool worker_may_work(struct worker *worker, const struct ha_pool *of,
                     struct seqb_error *err)
{
    const struct worker_duty *duty = worker_duty_in(worker, of);
    struct ha_pool *pool = duty->pool;
    const struct pool_member *member = &pool->pool.member[duty->member];
    bool may;

    pthread_mutex_lock(&pool->lock);
    may = pool_is_usable(&pool->pool, duty->member) ||
          member->state == SEQB_PARTITION_PROBING;
    if (!may)
        (void)error_set(err, SEQB_UNAVAILABLE, "%s: %s",
                        seqb_partition_state_name(member->state),
                        member->reason);
    pthread_mutex_unlock(&pool->lock);
    return may;
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

static bool worker_is_usable(struct worker *worker)
{
    bool is_usable = false;

    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];

        pthread_mutex_lock(&duty->pool->lock);
        is_usable |= pool_is_usable(&duty->pool->pool, duty->member);
        pthread_mutex_unlock(&duty->pool->lock);
    }
    return is_usable;
}

/* A call that passed its deadline has cost the connection, but no quarantine
 * yet: whether the server is there is found out now, not by the next who
 * asks. */
void worker_reconnect(struct worker *worker)
{
    struct seqb_error err;

    if (!connection_is_open(&worker->connection) && worker_is_usable(worker) &&
        worker_may_connect(worker, &err))
        (void)worker_connect(worker, &err);
}
