/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence: makes it, puts back numbers that were spooled or not used, and
 * closes it. sequence_refill.c asks for grants, sequence_take.c takes numbers.
 */
#include "queue/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "lease/lease.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/fork_wiped.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/thread.h"

/* Segments of a ring beyond two for each partition: for numbers that are given
 * back. */
#define SEGMENTS_SPARE 8

/* The spool may hold greater numbers, if the sequence became js_safe since. */
static int64_t options_greatest(const struct queue_sequence_options *options)
{
    return INT64_MAX >> (BITS_ALL - options_value_bits(options));
}

void sequence_put(struct seqb_sequence *sequence, int64_t first, uint64_t count)
{
    const int64_t last = ring_number_after(sequence->ring, first, count - 1);

    ha_counter_hold(sequence->counter, last);
    pthread_mutex_lock(&sequence->lock);
    if (first > sequence->floor &&
        last <= options_greatest(sequence->options) &&
        sequence_push(sequence, first, count))
        sequence->granted += count;
    sequence_wake_waiters(sequence);
    pthread_mutex_unlock(&sequence->lock);
    sequence_notify_ready(sequence);
}

void sequence_set(struct seqb_sequence *sequence,
                  const struct queue_sequence_options *options)
{
    struct sequence_settings *settings = sequence->settings;

    atomic_store(&settings->deadline_ms, options->deadline_ms);
    atomic_store(&settings->runway_ms, options->runway_ms);
    atomic_store(&settings->max_unused, options->max_unused);
    atomic_store(&settings->idle_after_ms, options->idle_after_ms);
    atomic_store(&settings->prefetch, options->prefetch);
    atomic_store(&settings->warm, options->warm);
    atomic_store(&settings->full_waits, options->full_waits);
    atomic_store(&settings->is_removed, false);
}

void sequence_set_texts(struct seqb_sequence *sequence,
                        const struct queue_sequence_options *options)
{
    atomic_store_explicit(&sequence->settings->texts, options,
                          memory_order_release);
}

void sequence_read_texts(const struct ha_sink *sink, struct ha_texts *out)
{
    const struct seqb_sequence *sequence = (const struct seqb_sequence *)sink;

    out->max = sequence_texts(sequence)->text_max;
    out->stock = out->max > 0 ? (int64_t)ring_stock(sequence->ring) : 0;
}

/* Has the callers that wait look again. */
static void sequence_call(struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&sequence->lock);
    pthread_cond_broadcast(&sequence->filled);
    pthread_mutex_unlock(&sequence->lock);
}

void sequence_settle(struct seqb_sequence *sequence,
                     enum sequence_admission admission)
{
    atomic_store_explicit(&sequence->settings->admission, admission,
                          memory_order_release);
    sequence_call(sequence);
    sequence_wake(sequence);
    if (admission == SEQUENCE_REFUSED)
        sequence_notify_ready(sequence);
}

void sequence_remove(struct seqb_sequence *sequence, bool is_kept)
{
    atomic_store(&sequence->settings->is_removed, true);
    sequence_call(sequence);
    if (!is_kept && sequence->source->drop != NULL)
        (void)sequence->source->drop(sequence);
    sequence_notify_ready(sequence);
}

void sequence_set_listed(struct seqb_sequence *sequence, bool is_listed)
{
    ha_counter_set_listed(sequence->counter, is_listed);
}

bool sequence_is_unasked(const struct seqb_sequence *sequence)
{
    return sequence_admission(sequence) == SEQUENCE_ADMITTING &&
           ha_counter_is_unasked(sequence->counter);
}

enum seqb_status sequence_admitting(const struct seqb_sequence *sequence,
                                    enum seqb_status status,
                                    struct seqb_error *err)
{
    struct seqb_error why;

    if (sequence_is_unasked(sequence) &&
        ha_counter_availability(sequence->counter, &why) == SEQB_UNAVAILABLE)
        return error_set(err, status, "%s", why.text);
    return error_set(err, status,
                     "sequence %s is new, and the stores have not yet answered "
                     "whether they know it with other settings",
                     sequence->key);
}

enum seqb_status sequence_unlisted(const struct seqb_sequence *sequence,
                                   struct seqb_error *err)
{
    if (sequence_admission(sequence) == SEQUENCE_REFUSED)
        return ha_counter_availability(sequence->counter, err);
    return error_set(err, SEQB_UNKNOWN_KEY,
                     "sequence '%s' was taken out of the topology: list it "
                     "again and reload",
                     sequence->key);
}

static void sequence_init(struct seqb_sequence *sequence,
                          const struct source *source,
                          const struct source_setup *setup)
{
    sequence->sink.deliver = sequence_deliver;
    sequence->source = source;
    sequence->context = setup->context;
    sequence->options = setup->options;
    sequence->settings =
        setup->settings != NULL ? setup->settings : &sequence->own_settings;
    if (setup->settings == NULL) {
        sequence_set(sequence, setup->options);
        sequence_set_texts(sequence, setup->options);
    }
    sequence->poll_ms = INT64_MAX;
    pthread_mutex_init(&sequence->lock, NULL);
    pthread_mutex_init(&sequence->ready_lock, NULL);
    condition_init(&sequence->filled);
    sequence->seen_ms = clock_now_ms();
    refill_init(&sequence->refill, sequence->seen_ms);
}

/* A ring for the grants of the counter. */
static struct ring *ring_new(const struct source_setup *setup,
                             const struct ha_counter *counter)
{
    const int32_t bits = ha_pool_bits(setup->pool);
    const int32_t lessor_bits = ha_counter_lessor_bits(counter);
    const uint32_t segments = 2 * ((uint32_t)1 << bits) + SEGMENTS_SPARE;
    void *memory = fork_wiped_take(setup->context->memory, ring_size(segments));
    struct ring *ring;

    if (memory == NULL)
        return NULL;
    ring = ring_init(memory, segments, setup->options->memory_bits, bits);
    if (lessor_bits > 0)
        ring_step_windows(ring, ha_counter_window_bits(counter), lessor_bits);
    return ring;
}

enum seqb_status sequence_new(const struct source_setup *setup,
                              const struct source *source, size_t size,
                              struct seqb_sequence **out,
                              struct seqb_error *err)
{
    struct seqb_sequence *sequence = aligned_alloc(RING_LINE, size);

    if (sequence == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         setup->key);
    memset(sequence, 0, size);
    sequence_init(sequence, source, setup);
    if (ha_counter_new(setup->pool, setup->key, setup->options->memory_bits,
                       &sequence->sink, &sequence->counter, err) == SEQB_OK) {
        ha_counter_set_attributes(sequence->counter, setup->attributes);
        sequence->ring = ring_new(setup, sequence->counter);
    }
    if (sequence->ring == NULL) {
        sequence_free(sequence);
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         setup->key);
    }
    sequence->key = ha_counter_key(sequence->counter);
    *out = sequence;
    return SEQB_OK;
}

void sequence_free(struct seqb_sequence *sequence)
{
    struct fork_wiped *memory;
    struct sequence_own *own;

    if (sequence == NULL)
        return;
    own = sequence->own;
    memory = sequence->context->memory;
    ha_counter_free(sequence->counter);
    fork_wiped_give(memory, sequence->spare, sizeof *sequence->spare);
    if (sequence->ring != NULL)
        fork_wiped_give(memory, sequence->ring, ring_bytes(sequence->ring));
    pthread_cond_destroy(&sequence->filled);
    pthread_mutex_destroy(&sequence->ready_lock);
    pthread_mutex_destroy(&sequence->lock);
    free(sequence);
    free(own);
}

void sequence_close(struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&sequence->lock);
    sequence->is_closed = true;
    pthread_cond_broadcast(&sequence->filled);
    while (atomic_load(&sequence->waiters) > 0)
        pthread_cond_wait(&sequence->filled, &sequence->lock);
    pthread_mutex_unlock(&sequence->lock);
}

void sequence_renew(struct seqb_sequence *sequence, int64_t *taken,
                    int64_t *dropped)
{
    pthread_mutex_lock(&sequence->lock);
    *dropped += (int64_t)sequence_drop_below(sequence, sequence->floor);
    /* As in sequence_consumed: numbers that were given back count as taken
     * once. */
    *taken += max_of((int64_t)sequence->granted, (int64_t)sequence->consumed);
    sequence->granted = 0;
    sequence->consumed = 0;
    atomic_store(&sequence->wanted, 0);
    sequence->asked = (struct refill_plan){0};
    sequence->low = 0;
    sequence->target = 0;
    refill_init(&sequence->refill, clock_now_ms());
    sequence_set_mark(sequence);
    pthread_mutex_unlock(&sequence->lock);
}

void sequence_on_ready(struct seqb_sequence *sequence,
                       void (*ready)(void *context), void *context)
{
    pthread_mutex_lock(&sequence->ready_lock);
    sequence->ready = ready;
    sequence->ready_context = context;
    pthread_mutex_unlock(&sequence->ready_lock);
}

void queue_on_ready(struct seqb_sequence *sequence,
                    void (*ready)(void *context), void *context)
{
    sequence->source->on_ready(sequence, ready, context);
}

/* A snowflake has no counter in a store: the id holds its whole counter. */
static void snowflake_decode(const struct lease_options *options, int64_t value,
                             struct seqb_decoded *out)
{
    const int32_t worker_bits =
        options->layout.shard - options->datacenter_bits;
    struct bits_parts parts;

    bits_take_apart(&options->layout, value, &parts);
    out->time_ms = parts.time_ms;
    if (options->datacenter_bits > 0)
        out->datacenter = parts.shard >> worker_bits;
    out->worker = parts.shard & ((INT64_C(1) << worker_bits) - 1);
    out->number = parts.counter;
}

void queue_meaning_decode(const struct queue_meaning *meaning, int64_t value,
                          struct seqb_decoded *out)
{
    const struct queue_sequence_options *options = meaning->options;
    struct bits_parts parts;

    *out = (struct seqb_decoded){.time_ms = -1,
                                 .shard = -1,
                                 .datacenter = -1,
                                 .worker = -1,
                                 .number = value};
    if (options->snowflake != NULL) {
        snowflake_decode(options->snowflake, value, out);
        return;
    }
    if (options->ids != NULL) {
        bits_take_apart(options->ids, value, &parts);
        out->time_ms = parts.time_ms;
        out->shard = parts.shard;
        out->number = value = parts.counter;
    }
    ha_pool_decode(meaning->pool, options->memory_bits, value, out);
}

struct queue_meaning sequence_meaning(const struct seqb_sequence *sequence)
{
    return (struct queue_meaning){.options = sequence->options,
                                  .template =
                                      sequence_texts(sequence)->template,
                                  .pool = ha_counter_pool(sequence->counter),
                                  .key = sequence->key};
}

void queue_decode(const struct seqb_sequence *sequence, int64_t value,
                  struct seqb_decoded *out)
{
    const struct queue_meaning meaning = sequence_meaning(sequence);

    queue_meaning_decode(&meaning, value, out);
}

const char *queue_key(const struct seqb_sequence *sequence)
{
    return sequence->key;
}

const struct template *queue_template(const struct seqb_sequence *sequence)
{
    return sequence_texts(sequence)->template;
}

int64_t queue_deadline_ms(const struct seqb_sequence *sequence)
{
    return sequence->settings->deadline_ms;
}

bool sequence_has_capacity(struct seqb_sequence *sequence, uint32_t blocks,
                           int64_t numbers)
{
    const uint32_t partitions = ha_counter_partitions(sequence->counter);
    bool has_place;

    pthread_mutex_lock(&sequence->lock);
    has_place = ring_free_blocks(sequence->ring) >= partitions + blocks &&
                (int64_t)ring_stock(sequence->ring) + numbers <=
                    SEQUENCE_ROOM * sequence->settings->max_unused;
    pthread_mutex_unlock(&sequence->lock);
    return has_place;
}

bool sequence_is_idle(struct seqb_sequence *sequence, int64_t now_ms)
{
    const int64_t after_ms = sequence->settings->idle_after_ms;
    uint64_t stock;
    uint64_t consumed;
    bool is_idle;

    if (sequence_is_removed(sequence))
        return ring_stock(sequence->ring) > 0;
    if (after_ms == 0 || sequence->settings->warm)
        return false;
    pthread_mutex_lock(&sequence->lock);
    stock = ring_stock(sequence->ring);
    consumed = sequence->granted - stock;
    is_idle = stock > 0 && consumed == sequence->seen &&
              atomic_load(&sequence->waiters) == 0;
    if (!is_idle) {
        sequence->seen = consumed;
        sequence->seen_ms = now_ms;
    }
    is_idle = is_idle && now_ms - sequence->seen_ms >= after_ms;
    pthread_mutex_unlock(&sequence->lock);
    return is_idle;
}

void sequence_finish(struct seqb_sequence *sequence, int64_t until_ms)
{
    struct ha_view view;

    ha_counter_view(sequence->counter, clock_now_ms(), &view);
    while (view.all > 0 && clock_now_ms() < until_ms) {
        pthread_mutex_lock(&sequence->lock);
        (void)condition_wait(&sequence->filled, &sequence->lock,
                             clock_now_ms() + SEQUENCE_SOON_MS);
        pthread_mutex_unlock(&sequence->lock);
        ha_counter_view(sequence->counter, clock_now_ms(), &view);
    }
}
