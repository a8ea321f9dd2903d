/* SPDX-License-Identifier: Apache-2.0 */
/* The sequences of a queue by key: those that are there, those that make
 * themselves, and a visit to all of them. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "queue/queue_state.h"

#define VISIT_PART 256 /* sequences visited with the catalog locked */
#define AHEAD      16  /* sequences whose memory is asked for ahead */

/* No stamp is purged that is younger. */
#define KEEP_LEAST_MS INT64_C(3600000)

/* How long stamps are kept that are over. */
static int64_t keep_ms_of(const struct queue_sequence_options *options)
{
    static const int64_t lengths_ms[] = {
        [PERIOD_SECOND] = 1000,
        [PERIOD_MINUTE] = 60000,
        [PERIOD_HOUR] = 3600000,
        [PERIOD_DAY] = 86400000,
        [PERIOD_WEEK] = 7 * INT64_C(86400000),
        [PERIOD_MONTH] = 31 * INT64_C(86400000),
        [PERIOD_QUARTER] = 92 * INT64_C(86400000),
        [PERIOD_YEAR] = 366 * INT64_C(86400000),
    };
    const int64_t keep_ms =
        options->keep_periods * lengths_ms[options->period->unit];

    return keep_ms > KEEP_LEAST_MS ? keep_ms : KEEP_LEAST_MS;
}

struct ha_counter_attributes
queue_attributes(const struct queue_sequence_options *options)
{
    return (struct ha_counter_attributes){
        .claim = options->attributes == NULL ? "" : options->attributes,
        .value_bits = options_value_bits(options),
        .window_bits = options->window_bits,
        .useful = queue_useful_numbers(options),
        .keep_ms = options->period == NULL ? 0 : keep_ms_of(options),
    };
}

/* What its counter claims and may give, which all of its options share. Of
 * options that the queue was opened with. */
static const struct ha_counter_attributes *
attributes_of(const struct queue *queue,
              const struct queue_sequence_options *options)
{
    const struct queue_options *first = queue->first;

    return options == first->automatic
               ? &queue->attributes[first->sequence_count]
               : &queue->attributes[options - first->sequences];
}

static struct sequence_own *
own_new(const struct queue_sequence_options *options)
{
    struct sequence_own *own = malloc(sizeof *own);

    if (own == NULL)
        return NULL;
    own->options = *options;
    own->attributes = queue_attributes(options);
    own->attributes.asks_first = options->key == NULL; /* it makes itself */
    return own;
}

static const struct source *
source_of(const struct queue_sequence_options *options)
{
    if (options->period != NULL)
        return &source_periodic;
    return options->snowflake != NULL ? &source_snowflake : &source_plain;
}

static enum seqb_status make(struct queue *queue,
                             const struct source_setup *setup,
                             struct sequence_own *own,
                             struct seqb_sequence **out, struct seqb_error *err)
{
    const struct source *source = source_of(setup->options);
    struct seqb_sequence *sequence;
    const enum seqb_status status = source->open(setup, &sequence, err);

    if (status != SEQB_OK) {
        free(own);
        return status;
    }
    sequence->own = own;
    if (own != NULL)
        own->options.key = sequence->key; /* the topology's may go */
    /* Of those that are listed, the flusher takes them at the start. */
    atomic_store(&sequence->may_be_kept,
                 queue->flusher != NULL &&
                     source->permits(sequence, SOURCE_SPOOL, NULL) == SEQB_OK);
    *out = sequence;
    return SEQB_OK;
}

enum seqb_status queue_make(struct queue *queue,
                            const struct queue_sequence_options *options,
                            const char *key, struct seqb_sequence **out,
                            struct seqb_error *err)
{
    struct sequence_own *own = own_new(options);
    struct source_setup setup;

    if (own == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         key);
    setup = (struct source_setup){
        .context = &queue->context,
        .pool = ha_pool_at(queue->ha, (size_t)options->pool),
        .options = &own->options,
        .attributes = &own->attributes,
        .key = key,
    };
    return make(queue, &setup, own, out, err);
}

/* The same from options that the queue was opened with, which are constant. */
static enum seqb_status make_first(struct queue *queue,
                                   const struct queue_sequence_options *options,
                                   const char *key, struct seqb_sequence **out,
                                   struct seqb_error *err)
{
    const struct source_setup setup = {
        .context = &queue->context,
        .pool = ha_pool_at(queue->ha, (size_t)options->pool),
        .options = options,
        .attributes = attributes_of(queue, options),
        .key = key,
    };

    return make(queue, &setup, NULL, out, err);
}

enum seqb_status queue_add(struct queue *queue,
                           const struct queue_sequence_options *options,
                           const char *key, struct seqb_sequence **out,
                           struct seqb_error *err)
{
    struct seqb_sequence *sequence = NULL;
    const enum seqb_status status =
        queue->options == queue->first
            ? make_first(queue, options, key, &sequence, err)
            : queue_make(queue, options, key, &sequence, err);

    if (sequence == NULL)
        return status;
    if (!catalog_add(&queue->catalog, sequence)) {
        sequence->source->free(sequence);
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

/* The key was not there: makes its sequence, unless another call just has. */
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

bool options_match(const struct queue_options *options, const char *key)
{
    return options->automatic != NULL &&
           fnmatch(options->auto_pattern, key, 0) == 0;
}

/* SEQB_AGAIN: it is not there, and may make itself. */
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
        return error_set(err, SEQB_FORKED,
                         "the broker was opened before fork(): open one in "
                         "the child");
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
    if (status != SEQB_OK || found == NULL)
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

    if (sequence_is_removed(sequence))
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
