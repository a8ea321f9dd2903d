/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's thread: waiting for what is posted, serving it in batches, and
 * probing. What a batch of slots means is in grant.c.
 */
#include "ha/grant.h"
#include "ha/tenant.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"

/* A probe reserves as much as was asked for last, so that it counts as real,
 * at most so many runs. */
#define PROBE_RUNS 64

/* When the next probe of any duty is due. */
static int64_t worker_probe_at(struct worker *worker)
{
    int64_t at = INT64_MAX;

    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];
        int64_t due;

        pthread_mutex_lock(&duty->pool->lock);
        due = pool_probe_at(&duty->pool->pool, duty->member);
        pthread_mutex_unlock(&duty->pool->lock);
        if (due < at)
            at = due;
    }
    return at;
}

/* Marks the duty as probing, and takes a slot to probe with if there is a
 * counter that somebody asked for. */
static struct slot *probe_begin(const struct worker_duty *duty, int64_t now_ms)
{
    struct ha_pool *pool = duty->pool;
    struct slot *slot = NULL;
    bool is_due;

    pthread_mutex_lock(&pool->lock);
    is_due = pool_probe_at(&pool->pool, duty->member) <= now_ms;
    if (is_due)
        pool_probe_begins(&pool->pool, duty->member, now_ms);
    if (is_due && pool->recent != NULL && duty->member < pool->pool.partitions)
        slot = &pool->recent->slots[duty->member];
    if (slot != NULL && (slot->is_busy || refusal_is_told(slot->refusal)))
        slot = NULL;
    if (slot != NULL) /* its want is 0 if it was never asked */
        slot_ask(slot,
                 slot->want < 1            ? 1
                 : slot->want > PROBE_RUNS ? PROBE_RUNS
                                           : slot->want,
                 now_ms);
    pthread_mutex_unlock(&pool->lock);
    return slot;
}

/* A round trip without a reservation: nobody has asked for a number yet. */
static void probe_claims(struct worker *worker)
{
    const int64_t start_us = clock_now_us();
    struct seqb_error err;
    const bool was_open = connection_is_open(&worker->connection);

    if (worker_connect(worker, &err) != SEQB_OK)
        return;
    if (was_open && worker_verify(worker, &err) != SEQB_OK)
        worker_fail(worker, &err, clock_now_us() - start_us);
    else if (tenant_is_ready(worker, &err))
        worker_note(worker, NULL, clock_now_us() - start_us);
}

/* Probes of a server that is down wait for their turn. */
static bool worker_must_wait(struct worker *worker, int64_t now_ms)
{
    const int64_t until_ms = connection_enter(&worker->connection, now_ms);

    for (size_t i = 0; i < worker->duty_count && until_ms > 0; i++) {
        const struct worker_duty *duty = &worker->duties[i];

        pthread_mutex_lock(&duty->pool->lock);
        pool_hold(&duty->pool->pool, duty->member, until_ms);
        pthread_mutex_unlock(&duty->pool->lock);
    }
    return until_ms > 0;
}

static void worker_probe(struct worker *worker)
{
    const int64_t now_ms = clock_now_ms();
    size_t n = 0;

    if (atomic_exchange_explicit(&worker->is_doubted, false,
                                 memory_order_relaxed))
        connection_close(&worker->connection);
    if (worker_must_wait(worker, now_ms))
        return;
    for (size_t i = 0; i < worker->duty_count && n < WORKER_BATCH; i++) {
        struct slot *slot = probe_begin(&worker->duties[i], now_ms);

        if (slot != NULL)
            worker->batch[n++] = slot;
    }
    worker->is_probing = true;
    if (n > 0)
        grant_run(worker, n);
    else
        probe_claims(worker);
    worker->is_probing = false;
}

/* Waits for something to do; false when it is to stop. */
static bool worker_wait(struct worker *worker)
{
    for (;;) {
        const bool is_serving =
            atomic_load_explicit(&worker->is_serving, memory_order_relaxed);
        const int64_t probe_ms =
            is_serving ? worker_probe_at(worker) : INT64_MAX;
        bool has_jobs;

        pthread_mutex_lock(&worker->lock);
        while (worker->first == NULL && !worker->is_stopping &&
               !worker->is_woken) {
            if (probe_ms == INT64_MAX)
                pthread_cond_wait(&worker->changed, &worker->lock);
            else if (!condition_wait(&worker->changed, &worker->lock, probe_ms))
                break;
        }
        worker->is_woken = false;
        has_jobs = worker->first != NULL;
        if (worker->is_stopping) {
            pthread_mutex_unlock(&worker->lock);
            return false;
        }
        pthread_mutex_unlock(&worker->lock);
        if (has_jobs || probe_ms <= clock_now_ms())
            return true;
    }
}

/* Runs calls one by one and slots in batches. */
static void worker_do(struct worker *worker, struct worker_job *jobs)
{
    size_t n = 0;

    while (jobs != NULL) {
        struct worker_job *job = jobs;

        jobs = job->next;
        if (job->call != NULL)
            job->call(worker, job);
        else
            worker->batch[n++] = (struct slot *)job;
        if (n > 0 && (n == WORKER_BATCH || jobs == NULL)) {
            grant_run(worker, n);
            n = 0;
        }
    }
}

/* Answers what was posted too late. */
static void worker_abandon(struct worker *worker)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_CLOSED, "the broker is closing");
    for (struct worker_job *job = worker_take(worker); job != NULL;) {
        struct worker_job *next = job->next;

        if (job->call == NULL)
            grant_answer((struct slot *)job, &why);
        else if (job->abandon != NULL)
            job->abandon(job);
        job = next;
    }
}

static void *worker_run(void *argument)
{
    struct worker *worker = argument;

    while (worker_wait(worker)) {
        struct worker_job *jobs = worker_take(worker);

        if (jobs != NULL)
            worker_do(worker, jobs);
        else
            worker_probe(worker);
        if (!connection_is_open(&worker->connection))
            worker_reconnect(worker);
    }
    worker_abandon(worker);
    connection_close(&worker->connection);
    return NULL;
}

enum seqb_status worker_start(struct worker *worker, struct seqb_error *err)
{
    char name[16];
    enum seqb_status status;

    (void)text_format(name, sizeof name, "seqb:%s", worker_name(worker));
    status = thread_start(&worker->thread, name, worker_run, worker, err);
    worker->is_started = status == SEQB_OK;
    return status;
}
