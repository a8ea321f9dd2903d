/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's thread: waits for jobs, serves them in batches, probes, and
 * looks at a store that nobody asks. grant.c handles a batch of slots.
 */
#include "ha/claimed.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/thread.h"

/* A probe reserves as much as the last ask, so that it is a realistic one, but
 * at most this many runs. */
#define PROBE_RUNS 64

/* When the worker's own tasks are due; INT64_MAX: not due. */
struct due {
    int64_t probe_ms; /* the earliest of all memberships */
    int64_t look_ms;
};

/* With the lock held. */
static struct due worker_due(const struct worker *worker)
{
    const int64_t answered_ms = atomic_load_explicit(
        &worker->connection.answered_ms, memory_order_relaxed);
    struct due due = {INT64_MAX, INT64_MAX};

    if (!atomic_load_explicit(&worker->is_serving, memory_order_relaxed))
        return due;
    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct worker_membership *membership = &worker->memberships[i];
        const struct pool *pool = &membership->pool->pool;
        const int32_t member = membership->member;

        due.probe_ms = min_of(due.probe_ms, pool_probe_at(pool, member));
        due.look_ms =
            min_of(due.look_ms, pool_look_at(pool, member, answered_ms));
    }
    return due;
}

/* With the lock held. A slot of the counter that was asked for last, to probe
 * with at most so many runs; NULL if there is none that can be asked now. */
static struct slot *probe_slot(const struct worker_membership *membership,
                               int32_t most, int64_t now_ms)
{
    struct ha_pool *pool = membership->pool;
    struct slot *slot;

    if (pool->recent == NULL || membership->member >= pool->pool.partitions)
        return NULL;
    slot = &pool->recent->slots[membership->member];
    if (slot->counter->is_void || slot->counter->is_unlisted || slot->is_busy ||
        slot_is_over(slot) || counter_awaits_claims(slot->counter) ||
        refusal_is_reported(slot->refusal))
        return NULL;
    /* `want` is 0 if it was never asked. */
    slot_ask(slot, max_of(1, min_of(slot->want, most)), now_ms);
    return slot;
}

/* Marks the membership as probing, if that is due. Returns a slot to probe
 * with; NULL if there is none. */
static struct slot *probe_begin(const struct worker_membership *membership,
                                int64_t now_ms)
{
    struct ha_pool *pool = membership->pool;
    struct slot *slot = NULL;
    bool is_due;

    pthread_mutex_lock(pool->lock);
    is_due = pool_probe_at(&pool->pool, membership->member) <= now_ms;
    if (is_due) {
        pool_probe_begins(&pool->pool, membership->member, now_ms);
        slot = probe_slot(membership, PROBE_RUNS, now_ms);
    }
    pthread_mutex_unlock(pool->lock);
    return slot;
}

/* A probe without a reservation, because no caller has asked for a number
 * yet. */
static void probe_claims(struct worker *worker)
{
    const int64_t start_us = clock_now_us();
    struct seqb_error err;
    const bool was_open = connection_is_open(&worker->connection);

    if (worker_connect(worker, &err) != SEQB_OK)
        return;
    if (was_open && worker_verify(worker, &err) != SEQB_OK)
        worker_fail(worker, &err, clock_now_us() - start_us);
    else
        worker_note(worker, NULL, clock_now_us() - start_us);
}

/* Probes and looks at a server that is down have to wait until it may be tried
 * again. */
static bool worker_must_wait(struct worker *worker, int64_t now_ms)
{
    const int64_t until_ms = connection_enter(&worker->connection, now_ms);

    for (size_t i = 0; i < worker->membership_count && until_ms > 0; i++) {
        const struct worker_membership *membership = &worker->memberships[i];

        pthread_mutex_lock(membership->pool->lock);
        pool_hold(&membership->pool->pool, membership->member, until_ms);
        pthread_mutex_unlock(membership->pool->lock);
    }
    return until_ms > 0;
}

static void worker_probe(struct worker *worker, int64_t now_ms)
{
    size_t n = 0;

    for (size_t i = 0; i < worker->membership_count && n < WORKER_BATCH; i++) {
        struct slot *slot = probe_begin(&worker->memberships[i], now_ms);

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

/* A refused claim also proves that the store answers. Refused counters are
 * handled when numbers are asked of them. */
static void look_at_store(struct worker *worker)
{
    const int64_t start_us = clock_now_us();
    enum seqb_status status;
    struct seqb_error err;

    /* Connecting compares the claims, so it serves as a look. */
    if (!connection_is_verified(&worker->connection)) {
        (void)worker_connect(worker, &err);
        return;
    }
    status = claimed_look(worker, &err);
    if (status != SEQB_LAYOUT && connection_was_refused(status))
        worker_note(worker, NULL, clock_now_us() - start_us);
    else
        worker_fail(worker, &err, clock_now_us() - start_us);
}

/* What a look is to find out. */
struct look {
    size_t asked;        /* slots in the batch: a read would not be enough */
    bool read_is_enough; /* a store that did not answer was asked for no number
                          before, so that a read shows that it is well */
};

static struct look look_begin(struct worker *worker, int64_t now_ms)
{
    struct look look = {0, false};
    bool has_unused = false;
    bool has_used = false;

    pthread_mutex_lock(worker->lock);
    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct worker_membership *membership = &worker->memberships[i];
        struct ha_pool *pool = membership->pool;
        struct slot *slot = NULL;

        pool_look_begins(&pool->pool, membership->member, now_ms);
        if (pool->pool.member[membership->member].unanswered == 0 ||
            !pool_is_usable(&pool->pool, membership->member))
            continue;
        /* What is answered too late is a gap. */
        if (look.asked < WORKER_BATCH)
            slot = probe_slot(membership, 1, now_ms);
        if (slot != NULL)
            worker->batch[look.asked++] = slot;
        if (pool->recent == NULL && membership->member < pool->pool.partitions)
            has_unused = true;
        else
            has_used = true;
    }
    pthread_mutex_unlock(worker->lock);
    look.read_is_enough = has_unused && !has_used;
    return look;
}

static void worker_look(struct worker *worker, int64_t now_ms)
{
    const struct look look = look_begin(worker, now_ms);

    if (look.asked > 0) {
        worker->is_probing = true;
        grant_run(worker, look.asked);
        worker->is_probing = false;
        return;
    }
    worker->is_looking = !look.read_is_enough;
    look_at_store(worker);
    worker->is_looking = false;
}

/* No job was posted: makes a probe, or else a look, if it is still due. */
static void worker_check(struct worker *worker)
{
    const int64_t now_ms = clock_now_ms();
    struct due due;

    pthread_mutex_lock(worker->lock);
    due = worker_due(worker);
    pthread_mutex_unlock(worker->lock);
    if (min_of(due.probe_ms, due.look_ms) > now_ms)
        return;
    if (atomic_exchange_explicit(&worker->is_doubted, false,
                                 memory_order_relaxed))
        connection_close(&worker->connection);
    if (worker_must_wait(worker, now_ms))
        return;
    if (due.probe_ms <= now_ms)
        worker_probe(worker, now_ms);
    else
        worker_look(worker, now_ms);
}

/* With the lock held: takes all jobs, in the order of posting. */
static struct worker_job *worker_take(struct worker *worker)
{
    struct worker_job *jobs = worker->first;

    worker->first = NULL;
    return jobs;
}

/* With the lock held: waits until a job is posted, or a probe or look is
 * due. */
static void worker_sleep(struct worker *worker)
{
    while (worker->first == NULL && !worker->is_stopping) {
        const struct due due = worker_due(worker);
        const int64_t due_ms = min_of(due.probe_ms, due.look_ms);

        if (due_ms == INT64_MAX)
            pthread_cond_wait(&worker->changed, worker->lock);
        else if (due_ms <= clock_now_ms())
            return;
        else
            (void)condition_wait(&worker->changed, worker->lock, due_ms);
    }
}

/* Waits for jobs; `*jobs` is NULL if a probe or look is due. False when the
 * worker has to stop. */
static bool worker_wait(struct worker *worker, struct worker_job **jobs)
{
    bool goes_on;

    pthread_mutex_lock(worker->lock);
    worker_sleep(worker);
    goes_on = !worker->is_stopping;
    *jobs = goes_on ? worker_take(worker) : NULL;
    pthread_mutex_unlock(worker->lock);
    return goes_on;
}

/* Runs jobs with a call one by one, and slots in batches. */
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
        if (n == WORKER_BATCH || jobs == NULL) {
            grant_run(worker, n);
            n = 0;
        }
    }
}

/* Answers what was posted but not served before the stop. */
static void worker_abandon(struct worker *worker)
{
    struct seqb_error why;
    struct worker_job *job;

    pthread_mutex_lock(worker->lock);
    job = worker_take(worker);
    pthread_mutex_unlock(worker->lock);
    (void)error_set(&why, SEQB_CLOSED, "the broker is closing");
    while (job != NULL) {
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
    struct worker_job *jobs;

    while (worker_wait(worker, &jobs)) {
        if (jobs != NULL)
            worker_do(worker, jobs);
        else
            worker_check(worker);
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
