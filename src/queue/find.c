/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the sequences of a queue by key, makes automatic ones, and visits
 * all of them. */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "queue/queue_state.h"

#define VISIT_PART 256 /* sequences visited with the catalog locked */
#define AHEAD      16  /* sequences ahead to prefetch */

/* --- "did you mean": counts what it does, and stops when that is enough --- */

/* Work is counted in compared pairs of letters. A glance at a key counts as
 * GLANCE pairs. */
#define WORK_MAX 65536
#define GLANCE   8

#define EDITS_MAX 2

static size_t gap_of(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* A listed key that differs by at most EDITS_MAX letters, or NULL. Checks only
 * the first keys if there are very many, because wrong keys may come in a
 * stream. */
static const char *hint_near(const struct queue_options *options,
                             const char *key)
{
    const size_t length = strlen(key);
    const char *near = NULL;
    size_t work = 0;

    for (size_t i = 0; i < options->sequence_count && work < WORK_MAX; i++) {
        const char *other = options->sequences[i].key;
        const size_t other_length = strlen(other);

        work += GLANCE;
        if (gap_of(length, other_length) > EDITS_MAX)
            continue;
        work += length * other_length;
        if (text_distance(key, other) <= EDITS_MAX)
            near = other;
    }
    return near;
}

/* With the catalog locked. */
static enum seqb_status unknown_key(const struct queue *queue, const char *key,
                                    struct seqb_error *err)
{
    const char *near = err == NULL ? NULL : hint_near(queue->options, key);

    if (near != NULL)
        return error_set(err, SEQB_UNKNOWN_KEY,
                         "unknown sequence '%s': did you mean '%s'?", key,
                         near);
    return error_set(err, SEQB_UNKNOWN_KEY,
                     "unknown sequence '%s': list it under sequences, or let "
                     "auto_sequences match it",
                     key);
}

/* For a key that was not found: makes its sequence, unless another call has
 * just made it. */
static enum seqb_status find_automatic(struct queue *queue, const char *key,
                                       struct seqb_sequence **out,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    pthread_rwlock_wrlock(&queue->catalog_lock);
    *out = catalog_get(&queue->catalog, key);
    if (*out == NULL)
        status = options_match(queue->options, key)
                     ? automatic_add(queue, key, out, err)
                     : unknown_key(queue, key, err);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return status;
}

const struct template *options_template(const struct queue_options *options,
                                        const char *key)
{
    return options_match(options, key) ? options->automatic->template : NULL;
}

/* SEQB_AGAIN: there is no sequence, and one may be made automatically. */
static enum seqb_status find_there(struct queue *queue, const char *key,
                                   struct seqb_sequence **out,
                                   struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    *out = catalog_get(&queue->catalog, key);
    if (*out == NULL && !options_match(queue->options, key))
        status = unknown_key(queue, key, err);
    else if (*out == NULL)
        status = automatic_may_add(queue, key, err);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return status;
}

static enum seqb_status check_key(const struct queue *queue, const char *key,
                                  struct seqb_error *err)
{
    if (!*queue->is_alive)
        return queue_forked(err);
    if (!text_is_key(key))
        return error_set(err, SEQB_INVALID,
                         "not a sequence key: 1 to %d of A-Z a-z 0-9 . _ : -",
                         SEQB_KEY_MAX);
    return SEQB_OK;
}

enum seqb_status queue_look_up(
    struct queue *queue, const char *key,
    enum seqb_status (*use)(void *context, const struct queue_meaning *meaning,
                            struct seqb_error *err),
    void *context, struct seqb_error *err)
{
    enum seqb_status status = check_key(queue, key, err);
    const struct seqb_sequence *found;
    struct queue_meaning meaning;

    if (status != SEQB_OK)
        return status;
    pthread_rwlock_rdlock(&queue->catalog_lock);
    found = catalog_get(&queue->catalog, key);
    if (found != NULL) {
        meaning = sequence_meaning(found);
    } else if (options_match(queue->options, key)) {
        meaning.options = queue->options->automatic;
        meaning.template = meaning.options->template;
        meaning.pool = ha_pool_at(queue->ha, (size_t)meaning.options->pool);
        meaning.key = key;
        status = automatic_check(meaning.options, key, err);
    } else {
        status = unknown_key(queue, key, err);
    }
    if (status == SEQB_OK)
        status = use(context, &meaning, err);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return status;
}

enum seqb_status queue_find(struct queue *queue, const char *key,
                            struct seqb_sequence **out, struct seqb_error *err)
{
    enum seqb_status status = check_key(queue, key, err);
    struct seqb_sequence *found;

    if (status != SEQB_OK)
        return status;
    status = find_there(queue, key, &found, err);
    if (status == SEQB_AGAIN)
        status = find_automatic(queue, key, &found, err);
    if (status != SEQB_OK)
        return status;
    if (found->is_refused)
        return ha_counter_availability(found->counter, err);
    if (sequence_is_removed(found))
        return sequence_unlisted(found, err);
    *out = found;
    return SEQB_OK;
}

struct seqb_sequence *queue_peek(struct queue *queue, const char *key)
{
    struct seqb_sequence *found;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    found = catalog_get(&queue->catalog, key);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return found;
}

/* In parts, so that a thread that adds a sequence does not wait for the whole
 * visit, nor do the threads behind that one. */
bool queue_visit(struct queue *queue, size_t *at,
                 void (*visit)(void *context, struct seqb_sequence *sequence),
                 void *context)
{
    const struct catalog *catalog = &queue->catalog;
    bool has_more;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    for (size_t i = 0; i < VISIT_PART && *at < catalog->count; i++, (*at)++) {
        catalog_prefetch(catalog, *at);
        visit(context, catalog->sequences[*at]);
    }
    has_more = *at < catalog->count;
    pthread_rwlock_unlock(&queue->catalog_lock);
    return has_more;
}

struct status_list {
    int64_t now_ms;
    struct seqb_sequence_status *out;
    size_t capacity;
    size_t count;
};

static void status_add(void *context, struct seqb_sequence *sequence)
{
    struct status_list *list = context;

    if (sequence->settings->is_removed)
        return;
    if (list->count < list->capacity)
        sequence->source->status(sequence, list->now_ms,
                                 &list->out[list->count]);
    list->count++;
}

void queue_status(struct queue *queue, struct seqb_sequence_status *out,
                  size_t capacity, size_t *count)
{
    struct status_list list = {clock_now_ms(), out, capacity, 0};
    size_t at = 0;

    while (queue_visit(queue, &at, status_add, &list))
        continue;
    *count = list.count;
}

enum seqb_status queue_status_at(struct queue *queue, size_t index,
                                 struct seqb_sequence_status *out)
{
    const struct catalog *catalog = &queue->catalog;
    struct status_list list = {clock_now_ms(), out, 1, 0};
    enum seqb_status status = SEQB_INVALID;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    if (index < catalog->count) {
        status_add(&list, catalog->sequences[index]);
        status = list.count > 0 ? SEQB_OK : SEQB_UNKNOWN_KEY;
    }
    pthread_rwlock_unlock(&queue->catalog_lock);
    return status;
}

/* If there are very many sequences, most of the time is spent waiting for their
 * memory. So the memory of the next ones is prefetched. */
static void prefetch_step(const struct seqb_sequence *sequence, int step)
{
    if (sequence->source->prefetch_counts != NULL)
        sequence->source->prefetch_counts(sequence, step);
    else if (step == SOURCE_STEPS - 1)
        sequence_prefetch_counts(sequence);
}

static void counts_prefetch(const struct catalog *catalog, size_t at)
{
    size_t ahead = AHEAD;

    if (at + ahead < catalog->count) {
        __builtin_prefetch(catalog->sequences[at + ahead]);
        __builtin_prefetch(&catalog->sequences[at + ahead]->own_settings);
    }
    for (int step = 0; step < SOURCE_STEPS; step++) {
        ahead -= AHEAD / (SOURCE_STEPS + 1);
        if (at + ahead < catalog->count)
            prefetch_step(catalog->sequences[at + ahead], step);
    }
}

size_t queue_counts(struct queue *queue, size_t first,
                    struct seqb_sequence_counts *out, size_t capacity)
{
    const struct catalog *catalog = &queue->catalog;
    const int64_t now_ms = clock_now_ms();
    size_t count = 0;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    for (; count < capacity && first + count < catalog->count; count++) {
        struct seqb_sequence *sequence = catalog->sequences[first + count];

        counts_prefetch(catalog, first + count);
        sequence->source->counts(sequence, now_ms, &out[count]);
        out[count].is_removed = sequence_is_removed(sequence);
    }
    pthread_rwlock_unlock(&queue->catalog_lock);
    return count;
}
