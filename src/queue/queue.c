/* SPDX-License-Identifier: Apache-2.0 */
/* The sequences of a broker by key, and the one thread that refills them. */
#include "queue/queue.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/sequence.h"

#define BUCKETS 4096 /* a power of two */

/* Somebody waits: look again sooner than in the ordinary interval. */

struct queue {
    const struct queue_options *options;
    struct ha *ha;
    bool *is_alive; /* in memory that a forked child finds zero */

    pthread_rwlock_t catalog; /* guards buckets, automatic */
    struct seqb_sequence *buckets[BUCKETS];
    int64_t automatic; /* sequences that made themselves */

    pthread_t thread;
    bool is_started;
    pthread_mutex_t lock; /* guards what follows, and the sequences' flags */
    pthread_cond_t changed;
    struct seqb_sequence *active; /* to be looked at in the next interval */
    bool is_woken;
    bool is_stopping;
};

/* FNV-1a, 32 bits (draft-eastlake-fnv). */
static uint32_t key_bucket(const char *key)
{
    uint32_t hash = 2166136261u;

    for (; *key != '\0'; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    return hash % BUCKETS;
}

static struct seqb_sequence *catalog_get(struct queue *queue, const char *key)
{
    struct seqb_sequence *found = queue->buckets[key_bucket(key)];

    while (found != NULL && strcmp(found->key, key) != 0)
        found = found->next_in_bucket;
    return found;
}

static enum seqb_status
catalog_add(struct queue *queue, const struct queue_sequence_options *options,
            const char *key, struct seqb_sequence **out, struct seqb_error *err)
{
    struct seqb_sequence **bucket = &queue->buckets[key_bucket(key)];
    struct seqb_sequence *sequence;
    const enum seqb_status status =
        sequence_new(queue, ha_pool_at(queue->ha, (size_t)options->pool),
                     options, key, &sequence, err);

    if (status != SEQB_OK)
        return status;
    sequence->next_in_bucket = *bucket;
    *bucket = sequence;
    *out = sequence;
    return SEQB_OK;
}

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

/* Waits for a wake-up, or until then while sequences are active. Returns the
 * list of those to look at; false when it is to stop. */
static bool queue_wait(struct queue *queue, int64_t until_ms,
                       struct seqb_sequence **list)
{
    bool in_time = true;
    bool goes_on;

    pthread_mutex_lock(&queue->lock);
    while (!queue->is_woken && !queue->is_stopping && in_time) {
        if (queue->active == NULL)
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
        until_ms = clock_now_ms() + queue->options->interval_ms;
        while (list != NULL)
            list = look_at(queue, list, &until_ms);
    }
    return NULL;
}

static enum seqb_status add_listed(struct queue *queue, struct seqb_error *err)
{
    for (size_t i = 0; i < queue->options->sequence_count; i++) {
        const struct queue_sequence_options *options =
            &queue->options->sequences[i];
        struct seqb_sequence *sequence;
        enum seqb_status status =
            catalog_add(queue, options, options->key, &sequence, err);

        if (status == SEQB_OK)
            status = ha_counter_admit(sequence->counter, err);
        if (status != SEQB_OK)
            return status;
    }
    return SEQB_OK;
}

static struct queue *queue_new(const struct queue_options *options,
                               struct ha *ha)
{
    struct queue *queue = calloc(1, sizeof *queue);

    if (queue == NULL)
        return NULL;
    queue->is_alive = fork_wiped_new(sizeof *queue->is_alive);
    if (queue->is_alive == NULL) {
        free(queue);
        return NULL;
    }
    *queue->is_alive = true;
    queue->options = options;
    queue->ha = ha;
    pthread_rwlock_init(&queue->catalog, NULL);
    pthread_mutex_init(&queue->lock, NULL);
    condition_init(&queue->changed);
    return queue;
}

enum seqb_status queue_open(const struct queue_options *options, struct ha *ha,
                            struct queue **out, struct seqb_error *err)
{
    struct queue *queue = queue_new(options, ha);
    enum seqb_status status;

    if (queue == NULL)
        return error_set(err, SEQB_NO_MEMORY, "queue: out of memory");
    *out = queue; /* to be freed after the ha in any case */
    status = add_listed(queue, err);
    if (status != SEQB_OK)
        return status;
    status =
        thread_start(&queue->thread, "seqb:refill", refill_run, queue, err);
    queue->is_started = status == SEQB_OK;
    return status;
}

static void each_sequence(struct queue *queue,
                          void (*visit)(struct seqb_sequence *sequence))
{
    for (size_t i = 0; i < BUCKETS; i++) {
        struct seqb_sequence *next;

        for (struct seqb_sequence *at = queue->buckets[i]; at != NULL;
             at = next) {
            next = at->next_in_bucket;
            visit(at);
        }
    }
}

void queue_stop(struct queue *queue)
{
    if (queue == NULL)
        return;
    pthread_rwlock_rdlock(&queue->catalog);
    each_sequence(queue, sequence_close);
    pthread_rwlock_unlock(&queue->catalog);
    pthread_mutex_lock(&queue->lock);
    queue->is_stopping = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    if (queue->is_started)
        pthread_join(queue->thread, NULL);
    queue->is_started = false;
}

void queue_free(struct queue *queue)
{
    if (queue == NULL)
        return;
    each_sequence(queue, sequence_free);
    fork_wiped_free(queue->is_alive, sizeof *queue->is_alive);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    pthread_rwlock_destroy(&queue->catalog);
    free(queue);
}

bool queue_is_forked(const struct queue *queue)
{
    return !*queue->is_alive;
}

static enum seqb_status unknown_key(const struct queue *queue, const char *key,
                                    struct seqb_error *err)
{
    const char *near = NULL;

    for (size_t i = 0; i < queue->options->sequence_count; i++) {
        if (text_distance(key, queue->options->sequences[i].key) <= 2)
            near = queue->options->sequences[i].key;
    }
    if (near != NULL)
        return error_set(err, SEQB_UNKNOWN_KEY,
                         "unknown sequence '%s': did you mean '%s'?", key,
                         near);
    return error_set(err, SEQB_UNKNOWN_KEY,
                     "unknown sequence '%s': list it under sequences, or let "
                     "auto_sequences match it",
                     key);
}

/*
 * A sequence of an earlier layout that was not migrated is refused before its
 * first number, by the stores that know it: others would begin it anew. Waits
 * for them with the catalog locked, which is rare: once for each sequence that
 * makes itself, in a pool that was migrated.
 */
static enum seqb_status admit_new(struct queue *queue,
                                  struct seqb_sequence *sequence,
                                  struct seqb_error *err)
{
    const enum seqb_status status = ha_counter_admit(sequence->counter, err);

    if (status == SEQB_OK)
        return SEQB_OK;
    queue->buckets[key_bucket(sequence->key)] = sequence->next_in_bucket;
    sequence_free(sequence);
    return status;
}

/* With the catalog locked for writing. */
static enum seqb_status add_automatic(struct queue *queue, const char *key,
                                      struct seqb_sequence **out,
                                      struct seqb_error *err)
{
    const struct queue_options *options = queue->options;
    enum seqb_status status;

    if (options->automatic == NULL ||
        fnmatch(options->auto_pattern, key, 0) != 0)
        return unknown_key(queue, key, err);
    if (queue->automatic >= options->auto_limit)
        return error_set(err, SEQB_UNKNOWN_KEY,
                         "unknown sequence '%s', and the limit of "
                         "auto_sequences, %lld, is reached",
                         key, (long long)options->auto_limit);
    status = catalog_add(queue, options->automatic, key, out, err);
    if (status == SEQB_OK && ha_counter_has_past((*out)->counter))
        status = admit_new(queue, *out, err);
    queue->automatic += status == SEQB_OK;
    return status;
}

enum seqb_status queue_find(struct queue *queue, const char *key,
                            struct seqb_sequence **out, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    struct seqb_sequence *found;

    if (queue_is_forked(queue))
        return error_set(err, SEQB_FORKED,
                         "the broker was opened before fork(): open one in "
                         "the child");
    if (!text_is_key(key))
        return error_set(err, SEQB_INVALID,
                         "not a sequence key: 1 to %d of A-Z a-z 0-9 . _ : -",
                         SEQB_KEY_MAX);
    pthread_rwlock_rdlock(&queue->catalog);
    found = catalog_get(queue, key);
    pthread_rwlock_unlock(&queue->catalog);
    if (found == NULL) {
        pthread_rwlock_wrlock(&queue->catalog);
        found = catalog_get(queue, key);
        if (found == NULL)
            status = add_automatic(queue, key, &found, err);
        pthread_rwlock_unlock(&queue->catalog);
    }
    if (status == SEQB_OK)
        *out = found;
    return status;
}

void queue_status(struct queue *queue, struct seqb_sequence_status *out,
                  size_t capacity, size_t *count)
{
    const int64_t now_ms = clock_now_ms();
    size_t n = 0;

    pthread_rwlock_rdlock(&queue->catalog);
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct seqb_sequence *at = queue->buckets[i]; at != NULL;
             at = at->next_in_bucket, n++) {
            if (n < capacity)
                sequence_status(at, now_ms, &out[n]);
        }
    }
    pthread_rwlock_unlock(&queue->catalog);
    *count = n;
}
