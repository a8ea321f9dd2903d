/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing the queue, and the one thread that refills it. Its
 * sequences by key are in find.c. */
#include "queue/queue_state.h"

#include <stdlib.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"
#include "platform/wiped.h"
#include "queue/keeper.h"
#include "queue/periodic.h"
#include "queue/sequence.h"
#include "queue/warm.h"

/* How long a stop waits for what is on its way, and for the spool. */
#define SETTLE_MS 500
#define KEEP_MS   2000

void queue_wake(struct seqb_sequence *sequence)
{
    struct queue *queue = sequence->queue;

    pthread_mutex_lock(&queue->lock);
    sequence->is_woken = true;
    if (!sequence->is_active) {
        sequence->is_active = true;
        sequence->next_active = queue->active;
        queue->active = sequence;
    }
    queue->is_woken = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* Looks at one sequence of the list that was taken; returns the next one.
 * `*soonest_ms` is lowered to when it is to be looked at again. */
static struct seqb_sequence *look_at(struct queue *queue,
                                     struct seqb_sequence *sequence,
                                     int64_t *soonest_ms)
{
    struct seqb_sequence *next = sequence->next_active;
    int64_t next_ms;
    bool stays;

    pthread_mutex_lock(&queue->lock);
    sequence->is_woken = false;
    pthread_mutex_unlock(&queue->lock);
    stays = sequence_refill(sequence, clock_now_ms(), &next_ms);
    if (next_ms < *soonest_ms)
        *soonest_ms = next_ms;
    pthread_mutex_lock(&queue->lock);
    sequence->is_active = stays || sequence->is_woken;
    if (sequence->is_active) {
        sequence->next_active = queue->active;
        queue->active = sequence;
    }
    pthread_mutex_unlock(&queue->lock);
    return next;
}

void queue_miss(struct queue *queue)
{
    keeper_wake(queue->keeper);
}

/* With the catalog locked. Between two stamps it is in no list. */
static void wake_at_turn(void *context, struct seqb_sequence *sequence)
{
    const int64_t now_ms = *(const int64_t *)context;

    if (sequence->periodic == NULL || sequence->turn_ms == INT64_MAX)
        return;
    if (sequence->turn_ms <= now_ms)
        queue_wake(sequence);
    else
        queue_turn_at(sequence->queue, sequence->turn_ms);
}

/* A stamp of some sequence is about to end. */
static void wake_turns(struct queue *queue)
{
    int64_t now_ms = clock_now_ms();
    size_t at = 0;
    bool is_due;

    pthread_mutex_lock(&queue->lock);
    is_due = queue->turn_ms <= now_ms;
    if (is_due)
        queue->turn_ms = INT64_MAX;
    pthread_mutex_unlock(&queue->lock);
    while (is_due && queue_visit(queue, &at, wake_at_turn, &now_ms))
        continue;
}

void queue_turn_at(struct queue *queue, int64_t turn_ms)
{
    pthread_mutex_lock(&queue->lock);
    if (turn_ms < queue->turn_ms)
        queue->turn_ms = turn_ms;
    pthread_mutex_unlock(&queue->lock);
}

/* Waits for a wake-up, or until then while sequences are active, or until one
 * has its turn. Returns the list of those to look at; false when it is to
 * stop. */
static bool queue_wait(struct queue *queue, int64_t until_ms,
                       struct seqb_sequence **list)
{
    bool in_time = true;
    bool goes_on;

    pthread_mutex_lock(&queue->lock);
    while (!queue->is_woken && !queue->is_stopping && in_time) {
        if (queue->active == NULL || queue->turn_ms < until_ms)
            until_ms = queue->turn_ms;
        if (until_ms == INT64_MAX)
            pthread_cond_wait(&queue->changed, &queue->lock);
        else
            in_time = condition_wait(&queue->changed, &queue->lock, until_ms);
    }
    queue->is_woken = false;
    *list = queue->active;
    queue->active = NULL;
    goes_on = !queue->is_stopping;
    pthread_mutex_unlock(&queue->lock);
    return goes_on;
}

static void *refill_run(void *argument)
{
    struct queue *queue = argument;
    struct seqb_sequence *list;
    int64_t until_ms = 0;

    while (queue_wait(queue, until_ms, &list)) {
        wake_turns(queue);
        until_ms = clock_now_ms() + queue->options->interval_ms;
        while (list != NULL)
            list = look_at(queue, list, &until_ms);
    }
    return NULL;
}

static enum seqb_status admit_listed(struct queue *queue,
                                     struct seqb_error *err)
{
    const size_t count = queue->catalog.count;
    struct ha_counter **counters =
        calloc(count + 1, sizeof(struct ha_counter *));
    enum seqb_status status;

    if (counters == NULL)
        return error_set(err, SEQB_NO_MEMORY, "queue: out of memory");
    for (size_t i = 0; i < count; i++)
        counters[i] = queue->catalog.sequences[i]->counter;
    status = ha_admit(queue->ha, counters, count, err);
    free(counters);
    return status;
}

static enum seqb_status add_listed(struct queue *queue, struct seqb_error *err)
{
    const struct queue_options *options = queue->options;
    struct seqb_sequence *sequence;
    enum seqb_status status;

    if (!catalog_reserve(&queue->catalog, options->sequence_count))
        return error_set(err, SEQB_NO_MEMORY, "queue: out of memory");
    for (size_t i = 0; i < options->sequence_count; i++) {
        status = queue_add(queue, &options->sequences[i],
                           options->sequences[i].key, &sequence, err);
        if (status != SEQB_OK)
            return status;
    }
    return admit_listed(queue, err);
}

/* Callers come all the time: a new sequence must not wait until none does. */
static void catalog_lock_init(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attributes;

    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

static struct ha_terms terms_of(const struct queue_sequence_options *options)
{
    return (struct ha_terms){.claim =
                                 options->terms == NULL ? "" : options->terms,
                             .value_bits = options_value_bits(options)};
}

/* Shared by all sequences of the same options. */
static struct ha_terms *terms_new(const struct queue_options *options)
{
    struct ha_terms *terms = calloc(options->sequence_count + 1, sizeof *terms);

    if (terms == NULL)
        return NULL;
    for (size_t i = 0; i < options->sequence_count; i++)
        terms[i] = terms_of(&options->sequences[i]);
    if (options->automatic != NULL)
        terms[options->sequence_count] = terms_of(options->automatic);
    return terms;
}

static struct queue *queue_new(const struct queue_options *options,
                               struct ha *ha)
{
    struct queue *queue = calloc(1, sizeof *queue);

    if (queue == NULL)
        return NULL;
    queue->memory = wiped_open();
    queue->terms = terms_new(options);
    if (queue->memory != NULL)
        queue->is_alive = wiped_take(queue->memory, sizeof *queue->is_alive);
    if (queue->is_alive == NULL || queue->terms == NULL) {
        wiped_close(queue->memory);
        free(queue->terms);
        free(queue);
        return NULL;
    }
    *queue->is_alive = true;
    queue->options = options;
    queue->ha = ha;
    queue->turn_ms = INT64_MAX;
    catalog_lock_init(&queue->catalog_lock);
    pthread_mutex_init(&queue->lock, NULL);
    condition_init(&queue->changed);
    return queue;
}

static enum seqb_status threads_start(struct queue *queue,
                                      struct seqb_error *err)
{
    const enum seqb_status status =
        thread_start(&queue->thread, "seqb:refill", refill_run, queue, err);

    queue->is_started = status == SEQB_OK;
    return status == SEQB_OK && queue->keeper != NULL
               ? keeper_start(queue->keeper, err)
               : status;
}

enum seqb_status queue_open(const struct queue_options *options, struct ha *ha,
                            struct queue **out, struct seqb_error *err)
{
    struct queue *queue = queue_new(options, ha);
    enum seqb_status status;
    int64_t until_ms;

    if (queue == NULL)
        return error_set(err, SEQB_NO_MEMORY, "queue: out of memory");
    *out = queue; /* to be freed after the ha in any case */
    until_ms = clock_now_ms() + options->warm_timeout_ms;
    status = options->clock == NULL
                 ? SEQB_OK
                 : wall_open(options->clock, ha, until_ms, &queue->wall, err);
    if (status == SEQB_OK)
        status = add_listed(queue, err);
    until_ms = clock_now_ms() + options->warm_timeout_ms;
    if (status == SEQB_OK && options->spool_path != NULL)
        status = keeper_open(queue, options, ha, until_ms, &queue->keeper, err);
    if (status == SEQB_OK)
        status = threads_start(queue, err);
    if (status == SEQB_OK)
        warm_wait(&queue->catalog, until_ms);
    return status;
}

static void close_one(struct seqb_sequence *sequence)
{
    if (sequence->periodic != NULL)
        periodic_close(sequence->periodic);
    sequence_close(sequence);
}

static void each_sequence(struct queue *queue,
                          void (*visit)(struct seqb_sequence *sequence))
{
    for (size_t i = 0; i < queue->catalog.count; i++)
        visit(queue->catalog.sequences[i]);
}

/* Nobody waits, and nothing is asked for any more: what is left is kept. */
static void queue_keep(struct queue *queue)
{
    const int64_t until_ms = clock_now_ms() + SETTLE_MS;

    if (queue->keeper == NULL)
        return;
    keeper_stop(queue->keeper);
    for (size_t i = 0; i < queue->catalog.count; i++)
        sequence_settle(queue->catalog.sequences[i], until_ms);
    keeper_keep_all(queue->keeper, clock_now_ms() + KEEP_MS);
}

void queue_stop(struct queue *queue)
{
    if (queue == NULL)
        return;
    wall_stop(queue->wall); /* whoever waits for it goes on */
    pthread_rwlock_rdlock(&queue->catalog_lock);
    each_sequence(queue, close_one);
    pthread_rwlock_unlock(&queue->catalog_lock);
    pthread_mutex_lock(&queue->lock);
    queue->is_stopping = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    if (queue->is_started) {
        pthread_join(queue->thread, NULL);
        queue_keep(queue);
    }
    queue->is_started = false;
}

void queue_free(struct queue *queue)
{
    if (queue == NULL)
        return;
    keeper_close(queue->keeper);
    each_sequence(queue, sequence_free);
    wall_close(queue->wall);
    catalog_fini(&queue->catalog);
    free(queue->terms);
    wiped_close(queue->memory);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    pthread_rwlock_destroy(&queue->catalog_lock);
    free(queue);
}

struct keeper *queue_keeper(struct queue *queue)
{
    return queue->keeper;
}

void queue_clock(struct queue *queue, struct seqb_clock_status *out)
{
    *out = (struct seqb_clock_status){.is_used = queue->wall != NULL};
    if (queue->wall != NULL)
        wall_status(queue->wall, out);
}

int32_t queue_interval_ms(const struct queue *queue)
{
    return queue->options->interval_ms;
}

struct wiped *queue_memory(struct queue *queue)
{
    return queue->memory;
}

bool queue_is_forked(const struct queue *queue)
{
    return !*queue->is_alive;
}
