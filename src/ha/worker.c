/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's thread: waiting, connecting, probing, and telling the pools.
 * What a batch of slots means is in grant.c.
 */
#include "ha/worker.h"

#include <stdlib.h>

#include "ha/grant.h"
#include "ha/tenant.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "store/store.h"

/* A probe reserves as much as was asked for last, so that it counts as real,
 * at most so many runs. */
#define PROBE_RUNS 64

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
    if (slot != NULL && (slot->is_busy || slot->closed != SEQB_OK))
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

static struct worker_job *worker_take(struct worker *worker)
{
    struct worker_job *jobs;

    pthread_mutex_lock(&worker->lock);
    jobs = worker->first;
    worker->first = NULL;
    worker->last = NULL;
    pthread_mutex_unlock(&worker->lock);
    return jobs;
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
