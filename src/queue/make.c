/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a sequence from its options: from those of queue_open, which last as
 * long as the queue, or from a copy. */
#include <stdlib.h>

#include "platform/error.h"
#include "queue/queue_state.h"

/* Younger stamps are not purged. */
#define KEEP_LEAST_MS INT64_C(3600000)

/* How long the counters of past stamps are kept. */
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
        .texts = sequence_read_texts,
    };
}

/* The counter attributes that all sequences with these options share. The
 * options are of queue_open. */
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
    own->attributes.asks_first = options->key == NULL; /* automatic */
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
        own->options.key = sequence->key; /* the topology's text may be freed */
    /* The first listed sequences are made before there is a flusher:
     * flusher_open sets this for them. */
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

/* The same from options of queue_open, which are constant. */
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
