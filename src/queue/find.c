/* SPDX-License-Identifier: Apache-2.0 */
/* The sequences of a queue by key: those that are there, those that make
 * themselves, and a visit to all of them. */
#include <fnmatch.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "queue/queue_state.h"

#define VISIT_PART 256 /* sequences visited with the catalog locked */
#define AHEAD      16  /* sequences whose memory is asked for ahead */

/* Of a sequence with a period: the counter's name holds the stamp, too. */
#define KEY_MAX_WITH_PERIOD 48

/* What its counter claims and may give, which all of its options share. */
static const struct ha_counter_attributes *
attributes_of(const struct queue *queue,
              const struct queue_sequence_options *options)
{
    const struct queue_options *all = queue->options;

    return options == all->automatic
               ? &queue->attributes[all->sequence_count]
               : &queue->attributes[options - all->sequences];
}

static const struct source *
source_of(const struct queue_sequence_options *options)
{
    if (options->period != NULL)
        return &source_periodic;
    return options->snowflake != NULL ? &source_snowflake : &source_plain;
}

enum seqb_status queue_add(struct queue *queue,
                           const struct queue_sequence_options *options,
                           const char *key, struct seqb_sequence **out,
                           struct seqb_error *err)
{
    const struct source *source = source_of(options);
    const struct source_setup setup = {
        .context = &queue->context,
        .pool = ha_pool_at(queue->ha, (size_t)options->pool),
        .options = options,
        .attributes = attributes_of(queue, options),
        .key = key,
    };
    struct seqb_sequence *sequence;
    const enum seqb_status status = source->open(&setup, &sequence, err);

    if (status != SEQB_OK)
        return status;
    /* Of those that are listed, the flusher takes them at the start. */
    atomic_store(&sequence->may_be_kept,
                 queue->flusher != NULL &&
                     source->permits(sequence, SOURCE_SPOOL, NULL) == SEQB_OK);
    if (!catalog_add(&queue->catalog, sequence)) {
        source->free(sequence);
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         key);
    }
    *out = sequence;
    return SEQB_OK;
}

/* --- "did you mean": counts what it does, and stops when that is enough --- */

/* In pairs of letters that are compared; a glance at a key counts as some. */
#define WORK_MAX 65536
#define GLANCE   8

#define EDITS_MAX 2

static size_t gap_of(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* A listed key that differs by two letters at most, or NULL. Of very many, only
 * the first are looked at: wrong keys may come in a stream. */
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

static enum seqb_status too_many(const struct queue *queue, const char *key,
                                 struct seqb_error *err)
{
    return error_set(err, SEQB_UNKNOWN_KEY,
                     "unknown sequence '%s', and the limit of auto_sequences, "
                     "%lld, is reached",
                     key, (long long)queue->options->auto_limit);
}

/*
 * A sequence of an earlier layout that was not migrated is refused before its
 * first number, by the stores that know it: others would begin it again. So is
 * one whose codes were made with another key. Waits for them with the catalog
 * locked, which is rare: once for each sequence that makes itself, in a pool
 * that was migrated, or with a template that shuffles.
 */
static enum seqb_status admit_new(struct queue *queue,
                                  struct seqb_sequence *sequence,
                                  struct seqb_error *err)
{
    const enum seqb_status status =
        ha_admit(queue->ha, &sequence->counter, 1, err);

    if (status == SEQB_OK)
        return SEQB_OK;
    catalog_remove_last(&queue->catalog);
    sequence->source->free(sequence);
    return status;
}

/* With the catalog locked for writing. */
static enum seqb_status add_automatic(struct queue *queue, const char *key,
                                      struct seqb_sequence **out,
                                      struct seqb_error *err)
{
    struct seqb_sequence *made = NULL;
    enum seqb_status status;

    if (queue->options->automatic->period != NULL &&
        strlen(key) > KEY_MAX_WITH_PERIOD)
        return error_set(err, SEQB_INVALID,
                         "not a key of a sequence with a period: these have "
                         "at most %d characters",
                         KEY_MAX_WITH_PERIOD);
    if (queue->automatic >= queue->options->auto_limit)
        return too_many(queue, key, err);
    status = queue_add(queue, queue->options->automatic, key, &made, err);
    if (made != NULL && (queue->options->automatic->claims_first ||
                         ha_counter_has_past(made->counter)))
        status = admit_new(queue, made, err);
    if (status != SEQB_OK)
        return status;
    queue->automatic++;
    *out = made;
    return SEQB_OK;
}

/* The key was not there: makes its sequence, unless another call just has. */
static enum seqb_status find_automatic(struct queue *queue, const char *key,
                                       struct seqb_sequence **out,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    pthread_rwlock_wrlock(&queue->catalog_lock);
    *out = catalog_get(&queue->catalog, key);
    if (*out == NULL)
        status = add_automatic(queue, key, out, err);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return status;
}

static bool may_make_itself(const struct queue *queue, const char *key)
{
    return queue->options->automatic != NULL &&
           fnmatch(queue->options->auto_pattern, key, 0) == 0;
}

enum seqb_status queue_find(struct queue *queue, const char *key,
                            struct seqb_sequence **out, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    struct seqb_sequence *found;
    bool is_full;

    if (!*queue->is_alive)
        return error_set(err, SEQB_FORKED,
                         "the broker was opened before fork(): open one in "
                         "the child");
    if (!text_is_key(key))
        return error_set(err, SEQB_INVALID,
                         "not a sequence key: 1 to %d of A-Z a-z 0-9 . _ : -",
                         SEQB_KEY_MAX);
    pthread_rwlock_rdlock(&queue->catalog_lock);
    found = catalog_get(&queue->catalog, key);
    is_full = queue->automatic >= queue->options->auto_limit;
    pthread_rwlock_unlock(&queue->catalog_lock);
    if (found != NULL && found->is_refused)
        return ha_counter_availability(found->counter, err);
    if (found == NULL && !may_make_itself(queue, key))
        return unknown_key(queue, key, err);
    if (found == NULL && is_full)
        return too_many(queue, key, err);
    if (found == NULL)
        status = find_automatic(queue, key, &found, err);
    if (status == SEQB_OK)
        *out = found;
    return status;
}

struct seqb_sequence *queue_peek(struct queue *queue, const char *key)
{
    struct seqb_sequence *found;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    found = catalog_get(&queue->catalog, key);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return found;
}

/* In parts, so that nobody who adds a sequence waits for all of it, nor those
 * who come after that one. */
bool queue_visit(struct queue *queue, size_t *at,
                 void (*visit)(void *context, struct seqb_sequence *sequence),
                 void *context)
{
    const struct catalog *catalog = &queue->catalog;
    bool has_more;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    for (size_t i = 0; i < VISIT_PART && *at < catalog->count; i++, (*at)++)
        visit(context, catalog->sequences[*at]);
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

bool queue_status_at(struct queue *queue, size_t index,
                     struct seqb_sequence_status *out)
{
    const struct catalog *catalog = &queue->catalog;
    const int64_t now_ms = clock_now_ms();
    bool is_there;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    is_there = index < catalog->count;
    if (is_there)
        catalog->sequences[index]->source->status(catalog->sequences[index],
                                                  now_ms, out);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return is_there;
}

/* Where there are very many sequences, reading one is waiting for its memory:
 * so that of those which come next is asked for ahead. */
static void counts_ask_ahead(const struct catalog *catalog, size_t at)
{
    if (at + AHEAD < catalog->count)
        __builtin_prefetch(catalog->sequences[at + AHEAD]);
    if (at + AHEAD / 4 < catalog->count)
        sequence_ask_ahead(catalog->sequences[at + AHEAD / 4]);
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

        counts_ask_ahead(catalog, first + count);
        sequence->source->counts(sequence, now_ms, &out[count]);
    }
    pthread_rwlock_unlock(&queue->catalog_lock);
    return count;
}
