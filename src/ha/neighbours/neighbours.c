/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that looks at lessors, and decides what each lessor needs; their
 * status. */
#include "ha/neighbours/neighbours.h"

#include <stdlib.h>

#include "ha/neighbours/sync.h"
#include "ha/startup.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"

struct neighbours {
    struct ha *ha;
    pthread_t thread;
    pthread_cond_t looked; /* each lessor was looked at once: `has_polled` */
    /* Guarded by the lock of the ha. */
    bool is_stopping;
    bool has_polled;
};

/* A look at all lessors of a pool. */
struct round {
    struct ha_pool *pool;
    struct seen seen[LESSORS_MAX];
    struct call *calls[LESSORS_MAX];
};

/* --- events --- */

static struct worker *lessor_worker(const struct ha_pool *pool, int32_t i)
{
    return pool->workers[pool->lessors.lessor[i].member];
}

static void report(const struct ha_pool *pool, int32_t i,
                   enum seqb_event_kind kind, const char *reason)
{
    const struct worker *worker = lessor_worker(pool, i);
    const struct seqb_event event = {
        .kind = kind,
        .from = SEQB_PARTITION_UP,
        .to = SEQB_PARTITION_UP,
        .pool = pool->options->layout.name,
        .partition = pool->lessors.lessor[i].member,
        .backend = worker_name(worker),
        .reason = reason,
    };

    events_emit(worker->events, &event);
}

/* Sets the state. Reports when a lessor waits, and when one leases that did not
 * before. */
static void lessor_becomes(struct ha_pool *pool, int32_t i,
                           enum ha_lessor_state state, const char *reason)
{
    struct lessor *lessor = &pool->lessors.lessor[i];
    enum ha_lessor_state was;
    bool is_news;

    pthread_mutex_lock(pool->lock);
    was = lessor->state;
    is_news = lessors_set(&pool->lessors, i, state, clock_now_ms());
    pthread_mutex_unlock(pool->lock);
    if (!is_news)
        return;
    if (state == HA_LESSOR_WAITING)
        report(pool, i, SEQB_EVENT_LESSOR_WAITS, reason);
    else if (state == HA_LESSOR_LEVEL && was != HA_LESSOR_UNKNOWN)
        report(pool, i, SEQB_EVENT_LESSOR_LEVEL, reason);
}

static void lessor_becomes_level(const struct sync *sync, const char *reason)
{
    struct ha_pool *pool = sync->pool;

    pthread_mutex_lock(pool->lock);
    lessors_enter(&pool->lessors, sync->lessor, sync->nonce);
    pthread_mutex_unlock(pool->lock);
    lessor_becomes(pool, sync->lessor, HA_LESSOR_LEVEL, reason);
}

/* --- a look --- */

static void poll_post(struct round *round, int32_t i)
{
    struct ha_pool *pool = round->pool;
    struct call *call = call_new(pool, i);

    if (call == NULL)
        return;
    call->run = call_read;
    pthread_mutex_lock(pool->lock);
    call->is_fresh = lessors_take_doubt(&pool->lessors, i, clock_now_ms());
    pthread_mutex_unlock(pool->lock);
    if (call_post(call))
        round->calls[i] = call;
}

static void poll_take(struct round *round, int32_t i)
{
    struct call *call = round->calls[i];

    if (call == NULL || !call_wait(call))
        return;
    if (call->ask.error.status == SEQB_OK) {
        round->seen[i] = call->seen;
        round->seen[i].is_there = true;
    }
    ask_release(&call->ask);
}

/* --- one lessor --- */

static void lessor_waits(struct ha_pool *pool, int32_t i, int32_t away)
{
    char reason[128];

    (void)text_format(reason, sizeof reason,
                      "it was restarted, and backend %s cannot be asked what "
                      "it leased",
                      worker_name(lessor_worker(pool, away)));
    pthread_mutex_lock(pool->lock);
    pool->lessors.lessor[i].waits_for = away;
    pthread_mutex_unlock(pool->lock);
    lessor_becomes(pool, i, HA_LESSOR_WAITING, reason);
}

/* True if the lessor needs nothing more. */
static bool lessor_finish(const struct round *round, int32_t i)
{
    struct ha_pool *pool = round->pool;
    const struct sync sync = sync_of(pool, round->seen, i);
    const int32_t away = sync_away(&sync);
    struct seqb_error err;

    if (!round->seen[i].is_there)
        return false;
    if (sync.is_level) {
        lessor_becomes_level(&sync, term_is_trusted(sync.nonce)
                                        ? "an operator's word: seqctl trust"
                                        : "another broker made it so");
        return sync_has_marks(&sync) || sync_mark_all(&sync, &err);
    }
    if (away >= 0) {
        lessor_waits(pool, i, away);
        return false;
    }
    lessor_becomes(pool, i, HA_LESSOR_SYNCING, "");
    if (!sync_run(&sync, &err))
        return false;
    lessor_becomes_level(&sync, "it knows what the others leased");
    return true;
}

/* --- the thread --- */

static void pool_poll(struct ha_pool *pool)
{
    const int32_t count = pool->lessors.count;
    struct round *round = calloc(1, sizeof *round);
    bool all_well = round != NULL;

    if (round != NULL) {
        round->pool = pool;
        for (int32_t i = 0; i < count; i++)
            poll_post(round, i);
        for (int32_t i = 0; i < count; i++)
            poll_take(round, i);
        for (int32_t i = 0; i < count; i++)
            all_well = lessor_finish(round, i) && all_well;
        free(round);
    }
    pthread_mutex_lock(pool->lock);
    lessors_polled(&pool->lessors, all_well, clock_now_ms());
    pthread_mutex_unlock(pool->lock);
}

/* With the lock held: the pool whose look is due first. */
static struct ha_pool *pool_due(const struct ha *ha)
{
    struct ha_pool *due = &ha->pools[0];

    for (size_t i = 1; i < ha->options->pool_count; i++) {
        if (ha->pools[i].lessors.poll_ms < due->lessors.poll_ms)
            due = &ha->pools[i];
    }
    return due;
}

/* Waits until a pool's look is due. NULL if the thread has to stop. */
static struct ha_pool *next_pool(struct neighbours *neighbours)
{
    struct ha *ha = neighbours->ha;
    struct ha_pool *pool = NULL;

    pthread_mutex_lock(&ha->lock);
    while (pool == NULL && !neighbours->is_stopping) {
        struct ha_pool *due = pool_due(ha);
        const int64_t at_ms = due->lessors.poll_ms;

        if (at_ms <= clock_now_ms()) {
            lessors_poll(&due->lessors);
            pool = due;
            break;
        }
        neighbours->has_polled = true;
        pthread_cond_broadcast(&neighbours->looked);
        if (at_ms == INT64_MAX)
            pthread_cond_wait(&ha->lessors_changed, &ha->lock);
        else
            (void)condition_wait(&ha->lessors_changed, &ha->lock, at_ms);
    }
    pthread_mutex_unlock(&ha->lock);
    return pool;
}

static void *neighbours_run(void *argument)
{
    struct neighbours *neighbours = argument;
    struct ha_pool *pool;

    while ((pool = next_pool(neighbours)) != NULL)
        pool_poll(pool);
    return NULL;
}

static void wait_for_first_poll(struct neighbours *neighbours)
{
    struct ha *ha = neighbours->ha;
    const int64_t until_ms = clock_now_ms() + ha->options->open_timeout_ms;

    pthread_mutex_lock(&ha->lock);
    while (!neighbours->has_polled &&
           condition_wait(&neighbours->looked, &ha->lock, until_ms))
        ;
    pthread_mutex_unlock(&ha->lock);
}

static bool has_neighbours(const struct ha *ha)
{
    for (size_t i = 0; i < ha->options->pool_count; i++) {
        if (ha->pools[i].lessors.count > 0)
            return true;
    }
    return false;
}

enum seqb_status neighbours_open(struct ha *ha, struct neighbours **out,
                                 struct seqb_error *err)
{
    struct neighbours *neighbours;
    enum seqb_status status;

    if (!has_neighbours(ha))
        return SEQB_OK;
    neighbours = calloc(1, sizeof *neighbours);
    if (neighbours == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    neighbours->ha = ha;
    condition_init(&neighbours->looked);
    status = thread_start(&neighbours->thread, "seqb:neighbours",
                          neighbours_run, neighbours, err);
    if (status != SEQB_OK) {
        pthread_cond_destroy(&neighbours->looked);
        free(neighbours);
        return status;
    }
    *out = neighbours;
    wait_for_first_poll(neighbours);
    return SEQB_OK;
}

void neighbours_stop(struct neighbours *neighbours)
{
    if (neighbours == NULL)
        return;
    pthread_mutex_lock(&neighbours->ha->lock);
    neighbours->is_stopping = true;
    pthread_cond_signal(&neighbours->ha->lessors_changed);
    pthread_mutex_unlock(&neighbours->ha->lock);
}

void neighbours_close(struct neighbours *neighbours)
{
    if (neighbours == NULL)
        return;
    pthread_join(neighbours->thread, NULL);
    pthread_cond_destroy(&neighbours->looked);
    free(neighbours);
}

/* --- the status --- */

const char *ha_lessor_state_name(enum ha_lessor_state state)
{
    static const char *const names[] = {
        [HA_LESSOR_UNKNOWN] = "unknown",
        [HA_LESSOR_LEVEL] = "level",
        [HA_LESSOR_SYNCING] = "syncing",
        [HA_LESSOR_WAITING] = "waiting",
    };

    return names[state];
}

static struct ha_lessor lessor_status(const struct ha_pool *pool, int32_t i,
                                      int64_t now_ms)
{
    const struct lessor *lessor = &pool->lessors.lessor[i];
    const bool is_waiting = lessor->state == HA_LESSOR_WAITING;

    return (struct ha_lessor){
        .pool = pool->options->layout.name,
        .backend = worker_name(lessor_worker(pool, i)),
        .waits_for = is_waiting
                         ? worker_name(lessor_worker(pool, lessor->waits_for))
                         : NULL,
        .partition = lessor->member,
        .state = lessor->state,
        .since_ms = now_ms - lessor->since_ms,
        .leases_per_minute = lessors_rate(lessor, now_ms),
    };
}

void ha_lessors(struct ha *ha, struct ha_lessor *out, size_t capacity,
                size_t *count)
{
    const int64_t now_ms = clock_now_ms();
    size_t n = 0;

    pthread_mutex_lock(&ha->lock);
    for (size_t i = 0; i < ha->options->pool_count; i++) {
        for (int32_t j = 0; j < ha->pools[i].lessors.count; j++, n++) {
            if (n < capacity)
                out[n] = lessor_status(&ha->pools[i], j, now_ms);
        }
    }
    pthread_mutex_unlock(&ha->lock);
    *count = n;
}
