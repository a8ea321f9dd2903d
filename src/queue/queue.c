/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes the queue, and runs its refill thread. find.c looks up the
 * sequences by key. */
#include "queue/queue_state.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/fork_wiped.h"
#include "platform/log.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/flusher/flusher.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "queue/key_list.h"

/* How long a stop waits for questions to the stores that are under way, for
 * asks in flight, for the spool, and for worker ids that are given back. What
 * the first two leave of their time is the spool's. The daemon relies on the
 * sum of the three: see STOP_CLOSE_MS in daemon/daemon.h. */
#define CUT_MS       200
#define SETTLE_MS    500
#define KEEP_MS      1000
#define GIVE_BACK_MS 1000

/* The longest time between two checks of the machine's clocks. Numbers that are
 * taken between a resumption and the next check are issued twice. */
#define WATCH_MS 1000

/* With the catalog locked. A sequence that has a poll_ms is not in the agenda's
 * list. */
static void wake_if_due(void *context, struct seqb_sequence *sequence)
{
    const int64_t now_ms = *(const int64_t *)context;

    if (sequence->poll_ms == INT64_MAX)
        return;
    if (sequence->poll_ms <= now_ms)
        sequence_wake(sequence);
    else
        agenda_poll_at(&sequence->context->agenda, sequence->poll_ms);
}

static void wake_those_due(struct queue *queue)
{
    int64_t now_ms = clock_now_ms();
    size_t at = 0;

    if (!agenda_is_due(&queue->context.agenda, now_ms))
        return;
    while (queue_visit(queue, &at, wake_if_due, &now_ms))
        continue;
}

/* Polls one sequence of the list from agenda_wait, and returns the next one.
 * Lowers `*soonest_ms` to when the sequence is to be polled again. */
static struct seqb_sequence *poll_at(struct agenda *agenda,
                                     struct seqb_sequence *sequence,
                                     int64_t *soonest_ms)
{
    struct seqb_sequence *next = agenda_begin(agenda, sequence);
    int64_t next_ms;
    const bool stays =
        sequence->source->refill(sequence, clock_now_ms(), &next_ms);

    width_poll(sequence);
    if (next_ms < *soonest_ms)
        *soonest_ms = next_ms;
    agenda_end(agenda, sequence, stays);
    return next;
}

static void *refill_run(void *argument)
{
    struct queue *queue = argument;
    struct seqb_sequence *list;
    int64_t until_ms = 0;

    while (agenda_wait(&queue->context.agenda, until_ms,
                       clock_now_ms() + WATCH_MS, &list)) {
        queue_watch(queue);
        wake_those_due(queue);
        if (list != NULL)
            until_ms = clock_now_ms() + queue->context.interval_ms;
        while (list != NULL)
            list = poll_at(&queue->context.agenda, list, &until_ms);
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
    for (size_t i = 0; i < count && status == SEQB_OK; i++)
        queue->catalog.sequences[i]->is_refused =
            ha_counter_availability(counters[i], NULL) == SEQB_LAYOUT;
    free(counters);
    if (status == SEQB_OK)
        status = admitter_expect(queue, queue->catalog.sequences, count, err);
    if (status == SEQB_OK)
        admitter_put_off(queue, queue->catalog.sequences, count);
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

/* Writers go first: with steady readers, a new sequence would wait for ever
 * otherwise. */
static void catalog_lock_init(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attributes;

    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

/* All sequences made from the same options share one element. */
static struct ha_counter_attributes *
attributes_new(const struct queue_options *options)
{
    struct ha_counter_attributes *attributes =
        calloc(options->sequence_count + 1, sizeof *attributes);

    if (attributes == NULL)
        return NULL;
    for (size_t i = 0; i < options->sequence_count; i++)
        attributes[i] = queue_attributes(&options->sequences[i]);
    if (options->automatic != NULL)
        attributes[options->sequence_count] =
            queue_attributes(options->automatic);
    attributes[options->sequence_count].asks_first = true;
    return attributes;
}

static struct queue *queue_new(const struct queue_options *options,
                               struct ha *ha)
{
    struct queue *queue = calloc(1, sizeof *queue);
    const struct clock_pair now = clock_read_pair();
    struct fork_wiped *memory;

    if (queue == NULL)
        return NULL;
    resume_init(&queue->resume, &now);
    memory = fork_wiped_open();
    queue->context.memory = memory;
    queue->context.interval_ms = options->interval_ms;
    queue->attributes = attributes_new(options);
    if (memory != NULL)
        queue->is_alive = fork_wiped_take(memory, sizeof *queue->is_alive);
    if (queue->is_alive == NULL || queue->attributes == NULL) {
        fork_wiped_close(memory);
        free(queue->attributes);
        free(queue);
        return NULL;
    }
    *queue->is_alive = true;
    queue->options = options;
    queue->first = options;
    queue->ha = ha;
    pthread_mutex_init(&queue->admit_lock, NULL);
    admitter_init(&queue->admitter);
    looks_init(&queue->looks, automatic_add_known);
    catalog_lock_init(&queue->catalog_lock);
    agenda_init(&queue->context.agenda);
    wakeup_init(&queue->context.flusher);
    widths_init(&queue->context.widths);
    return queue;
}

static enum seqb_status threads_start(struct queue *queue,
                                      struct seqb_error *err)
{
    const enum seqb_status status =
        thread_start(&queue->thread, "seqb:refill", refill_run, queue, err);

    queue->is_started = status == SEQB_OK;
    return status == SEQB_OK && queue->flusher != NULL
               ? flusher_start(queue->flusher, err)
               : status;
}

static bool is_warmed(const struct seqb_sequence *sequence)
{
    return sequence->settings->warm && !sequence->is_refused &&
           sequence_admission(sequence) == SEQUENCE_ADMITTED;
}

/* The next one from number `*i` on; NULL: there is none. Sequences may be made
 * meanwhile, for keys of the spool that the stores know. */
static struct seqb_sequence *warmed_next(struct queue *queue, size_t *i)
{
    const struct catalog *catalog = &queue->catalog;
    struct seqb_sequence *found = NULL;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    for (; *i < catalog->count && found == NULL; (*i)++) {
        if (is_warmed(catalog->sequences[*i]))
            found = catalog->sequences[*i];
    }
    pthread_rwlock_unlock(&queue->catalog_lock);
    return found;
}

/* Fills the rings of all warm sequences at the same time. Waits until each
 * holds so much that a refill would not add to it, or until `until_ms`. Then
 * logs those that are not filled. The refill thread must be running. */
static void warm_wait(struct queue *queue, int64_t until_ms)
{
    struct key_list cold = {.count = 0};
    struct seqb_sequence *sequence;

    for (size_t i = 0; (sequence = warmed_next(queue, &i)) != NULL;)
        sequence_wake(sequence);
    for (size_t i = 0; (sequence = warmed_next(queue, &i)) != NULL;) {
        if (!sequence->source->warm(sequence, until_ms))
            key_list_add(&cold, sequence->key);
    }
    if (cold.count > 0)
        log_reason(SEQB_LOG_WARN,
                   "not filled in open_timeout: the first numbers may have to "
                   "be waited for",
                   "event=cold sequences=%zu keys=%s%s", cold.count, cold.names,
                   key_list_rest(&cold));
}

enum seqb_status queue_open(const struct queue_options *options, struct ha *ha,
                            struct queue **out, struct seqb_error *err)
{
    struct queue *queue = queue_new(options, ha);
    enum seqb_status status;
    int64_t until_ms;

    if (queue == NULL)
        return error_set(err, SEQB_NO_MEMORY, "queue: out of memory");
    *out = queue; /* the caller frees it after the ha in any case */
    until_ms = clock_now_ms() + options->warm_timeout_ms;
    status = options->clock == NULL
                 ? SEQB_OK
                 : guarded_clock_open(options->clock, ha, until_ms,
                                      &queue->context.clock, err);
    if (status == SEQB_OK)
        status = generators_open(queue, err);
    if (status == SEQB_OK)
        status = add_listed(queue, err);
    until_ms = clock_now_ms() + options->warm_timeout_ms;
    if (status == SEQB_OK)
        status = generators_start(queue, until_ms, err);
    if (status == SEQB_OK && options->spool_path != NULL)
        status =
            flusher_open(queue, options, ha, until_ms, &queue->flusher, err);
    if (status == SEQB_OK)
        status = threads_start(queue, err);
    if (status == SEQB_OK)
        warm_wait(queue, until_ms);
    return status;
}

/* No caller waits, and nothing more is asked for: gives what is left to the
 * spool. Waits for the stores again, but only for that. */
static void queue_keep(struct queue *queue, int64_t until_ms)
{
    const int64_t settled_ms = clock_now_ms() + SETTLE_MS;

    if (queue->flusher == NULL)
        return;
    flusher_stop(queue->flusher);
    for (size_t i = 0; i < queue->catalog.count; i++)
        sequence_finish(queue->catalog.sequences[i], settled_ms);
    ha_end_waits(queue->ha, until_ms);
    flusher_keep_all(queue->flusher, until_ms);
}

void queue_end_waits(struct queue *queue, int64_t keep_until_ms)
{
    queue->keep_until_ms = keep_until_ms;
    ha_end_waits(queue->ha, clock_now_ms() + CUT_MS);
}

void queue_stop(struct queue *queue)
{
    int64_t until_ms = clock_now_ms() + CUT_MS + SETTLE_MS + KEEP_MS;

    if (queue == NULL)
        return;
    until_ms = max_of(until_ms, queue->keep_until_ms);
    /* A thread that waits for a store that hangs must not delay the spool. */
    queue_end_waits(queue, until_ms);
    guarded_clock_stop(queue->context.clock); /* ends the waits of callers for
                                                 the clock */
    generators_shut(queue);
    looks_shut(&queue->looks); /* or it would add sequences that are not
                                  closed */
    pthread_rwlock_rdlock(&queue->catalog_lock);
    for (size_t i = 0; i < queue->catalog.count; i++)
        queue->catalog.sequences[i]->source->close(queue->catalog.sequences[i]);
    pthread_rwlock_unlock(&queue->catalog_lock);
    looks_stop(&queue->looks); /* before the admitter, which it may start */
    admitter_stop(&queue->admitter);
    agenda_stop(&queue->context.agenda);
    if (queue->is_started) {
        pthread_join(queue->thread, NULL);
        queue_keep(queue, until_ms);
    }
    queue->is_started = false;
    /* Last, because they give worker ids back, and wait for a store. */
    ha_end_waits(queue->ha, clock_now_ms() + GIVE_BACK_MS);
    generators_close(queue);
}

void queue_free(struct queue *queue)
{
    if (queue == NULL)
        return;
    flusher_close(queue->flusher);
    for (size_t i = 0; i < queue->catalog.count; i++)
        queue->catalog.sequences[i]->source->free(queue->catalog.sequences[i]);
    while (queue->abandoned != NULL) {
        struct seqb_sequence *sequence = queue->abandoned;

        queue->abandoned = sequence->next_aside;
        sequence->source->free(sequence);
    }
    generators_free(queue);
    guarded_clock_close(queue->context.clock);
    catalog_fini(&queue->catalog);
    free(queue->attributes);
    fork_wiped_close(queue->context.memory);
    wakeup_fini(&queue->context.flusher);
    widths_fini(&queue->context.widths);
    agenda_fini(&queue->context.agenda);
    pthread_rwlock_destroy(&queue->catalog_lock);
    pthread_mutex_destroy(&queue->admit_lock);
    admitter_fini(&queue->admitter);
    looks_fini(&queue->looks);
    free(queue);
}

bool queue_is_forked(const struct queue *queue)
{
    return !*queue->is_alive;
}
