/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence: taking delivery of grants, and asking for them. take.c takes
 * the numbers.
 */
#include "queue/sequence.h"

#include <stdlib.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "platform/wiped.h"

/* Looked at again so soon while somebody waits, or just after an ask. */
#define SOON_MS 2

/* Fetches overlap and hedges answer twice: up to as much again. */
#define ROOM_SLACK 2

/* Of a ring besides two for each partition: what is given back. */
#define SEGMENTS_SPARE 8

/* Numbers a ms from which a sequence is busy, and below which it is so no
 * more; and how much of the stock each stripe may hold then. */
#define BUSY_RATE   4000
#define CALM_RATE   1000
#define STRIPE_PART 64
#define STRIPE_MIN  64
#define STRIPE_MAX  1024

/* The refill looks at a sequence at least whenever so many were taken, low or
 * not, so that it soon knows of one that has become busy. */
#define LOOK_NUMBERS 65536

/* Runs of the grant that begin at or below `floor`: the first ones. */
static int64_t runs_too_low(const struct ha_grant *grant, int64_t floor)
{
    int64_t low;

    if (grant->count == 0 || grant->first > floor)
        return 0;
    low = (floor - grant->first) / grant->step + 1;
    return low < grant->count ? low : grant->count;
}

/* With the lock held: whom the refill is called by next. */
static void set_mark(struct seqb_sequence *sequence)
{
    const int64_t look = (int64_t)ring_stock(sequence->ring) - LOOK_NUMBERS;
    int64_t mark = sequence->low;

    if (sequence->options->prefetch && look > mark)
        mark = look;
    ring_set_low(sequence->ring, (uint64_t)mark);
}

/* With the lock held. */
static bool push(struct seqb_sequence *sequence, int64_t first, uint64_t count)
{
    if (!ring_push(sequence->ring, first, count))
        return false;
    set_mark(sequence);
    return true;
}

/* With the lock held. */
static void wake_waiters(struct seqb_sequence *sequence)
{
    if (atomic_load(&sequence->waiters) > 0)
        pthread_cond_broadcast(&sequence->filled);
}

static void tell_ready(struct seqb_sequence *sequence)
{
    if (!atomic_exchange(&sequence->is_armed, false))
        return;
    pthread_mutex_lock(&sequence->ready_lock);
    if (sequence->ready != NULL)
        sequence->ready(sequence->ready_context);
    pthread_mutex_unlock(&sequence->ready_lock);
}

/* On a worker's thread. */
static void sequence_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct seqb_sequence *sequence = (struct seqb_sequence *)sink;
    uint64_t count;
    int64_t low;
    bool is_pushed = false;
    bool is_low;

    pthread_mutex_lock(&sequence->lock);
    low = runs_too_low(grant, sequence->floor);
    count = (uint64_t)(grant->count - low) << sequence->options->memory_bits;
    if (count > 0)
        is_pushed = push(sequence, grant->first + low * grant->step, count);
    sequence->granted += is_pushed ? count : 0;
    wake_waiters(sequence); /* also by a failure: it may be the last hope */
    /* Nobody passes a mark that is above all there is. */
    is_low =
        count == 0 || ring_stock(sequence->ring) <= (uint64_t)sequence->low;
    pthread_mutex_unlock(&sequence->lock);
    if (count > 0 && !is_pushed)
        log_line(SEQB_LOG_WARN,
                 "event=dropped key=%s numbers=%llu reason=\"the ring is "
                 "full\"",
                 sequence->key, (unsigned long long)count);
    tell_ready(sequence);
    if (is_low)
        queue_wake(sequence);
}

/* With the lock held: a rest that does not fit is a gap. */
static void put_back(struct seqb_sequence *sequence,
                     const struct ring_slice *slice)
{
    const int64_t first =
        ring_number(sequence->ring->shape, slice->base, slice->position);

    if (!sequence->is_closed && first > sequence->floor)
        (void)push(sequence, first, slice->count);
    wake_waiters(sequence);
}

void sequence_give_back(struct seqb_sequence *sequence,
                        const struct ring_slice *slice)
{
    pthread_mutex_lock(&sequence->lock);
    put_back(sequence, slice);
    pthread_mutex_unlock(&sequence->lock);
    tell_ready(sequence);
}

size_t sequence_gather(struct seqb_sequence *sequence)
{
    struct ring_slice slices[STRIPES];
    size_t n = 0;

    pthread_mutex_lock(&sequence->lock);
    if (sequence->spare != NULL)
        n = stripes_gather(sequence->spare, sequence->ring, slices);
    for (size_t i = 0; i < n; i++)
        put_back(sequence, &slices[i]);
    pthread_mutex_unlock(&sequence->lock);
    return n;
}

/* The last of `count` numbers that begin with `first`. */
static int64_t last_number(const struct ring *ring, int64_t first,
                           uint64_t count)
{
    const uint64_t start = (uint64_t)first & ring->shape.run_mask;
    const uint64_t base =
        (uint64_t)first - (uint64_t)ring_number(ring->shape, 0, start);

    return ring_number(ring->shape, base, start + count - 1);
}

void sequence_put(struct seqb_sequence *sequence, int64_t first, uint64_t count)
{
    ha_counter_hold(sequence->counter,
                    last_number(sequence->ring, first, count));
    pthread_mutex_lock(&sequence->lock);
    if (!sequence->is_closed && first > sequence->floor &&
        push(sequence, first, count))
        sequence->granted += count;
    wake_waiters(sequence);
    pthread_mutex_unlock(&sequence->lock);
    tell_ready(sequence);
}

static void sequence_init(struct seqb_sequence *sequence, struct queue *queue,
                          const struct queue_sequence_options *options)
{
    sequence->sink.deliver = sequence_deliver;
    sequence->queue = queue;
    sequence->options = options;
    pthread_mutex_init(&sequence->lock, NULL);
    pthread_mutex_init(&sequence->ready_lock, NULL);
    condition_init(&sequence->filled);
    sequence->seen_ms = clock_now_ms();
    refill_init(&sequence->refill, sequence->seen_ms);
}

static struct ring *ring_new(struct queue *queue,
                             const struct queue_sequence_options *options,
                             const struct ha_pool *pool)
{
    const int32_t bits = ha_pool_bits(pool);
    const uint32_t segments = 2 * ((uint32_t)1 << bits) + SEGMENTS_SPARE;
    void *memory = wiped_take(queue_memory(queue), ring_size(segments));

    if (memory == NULL)
        return NULL;
    return ring_init(memory, segments, options->memory_bits, bits);
}

enum seqb_status sequence_new(struct queue *queue, struct ha_pool *pool,
                              const struct queue_sequence_options *options,
                              const char *key, struct seqb_sequence **out,
                              struct seqb_error *err)
{
    struct seqb_sequence *sequence = aligned_alloc(RING_LINE, sizeof *sequence);

    if (sequence == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         key);
    *sequence = (struct seqb_sequence){0};
    sequence_init(sequence, queue, options);
    sequence->ring = ring_new(queue, options, pool);
    if (sequence->ring == NULL ||
        ha_counter_new(pool, key, options->memory_bits, &sequence->sink,
                       &sequence->counter, err) != SEQB_OK) {
        sequence_free(sequence);
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         key);
    }
    sequence->key = ha_counter_key(sequence->counter);
    *out = sequence;
    return SEQB_OK;
}

void sequence_free(struct seqb_sequence *sequence)
{
    struct wiped *memory;

    if (sequence == NULL)
        return;
    memory = queue_memory(sequence->queue);
    ha_counter_free(sequence->counter);
    wiped_give(memory, sequence->spare, sizeof *sequence->spare);
    if (sequence->ring != NULL)
        wiped_give(memory, sequence->ring, sequence->ring->size);
    pthread_cond_destroy(&sequence->filled);
    pthread_mutex_destroy(&sequence->ready_lock);
    pthread_mutex_destroy(&sequence->lock);
    free(sequence);
}

/* Returns when nobody is in a call that has waited. */
void sequence_close(struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&sequence->lock);
    sequence->is_closed = true;
    pthread_cond_broadcast(&sequence->filled);
    while (atomic_load(&sequence->waiters) > 0)
        pthread_cond_wait(&sequence->filled, &sequence->lock);
    pthread_mutex_unlock(&sequence->lock);
}

void queue_on_ready(struct seqb_sequence *sequence,
                    void (*ready)(void *context), void *context)
{
    pthread_mutex_lock(&sequence->ready_lock);
    sequence->ready = ready;
    sequence->ready_context = context;
    pthread_mutex_unlock(&sequence->ready_lock);
}

void queue_decode(const struct seqb_sequence *sequence, int64_t value,
                  struct seqb_decoded *out)
{
    ha_counter_decode(sequence->counter, value, out);
}

int64_t queue_deadline_ms(const struct seqb_sequence *sequence)
{
    return sequence->options->deadline_ms;
}

/* How many numbers may be asked for besides those that are. Each partition
 * that is asked may answer with a segment of its own. */
static int64_t sequence_room(const struct seqb_sequence *sequence,
                             int64_t stock, int64_t all)
{
    const int64_t run = (int64_t)1 << sequence->options->memory_bits;

    if (ring_room(sequence->ring) < ha_counter_partitions(sequence->counter))
        return 0;
    return ROOM_SLACK * (sequence->options->max_unused + run) - stock - all;
}

/* `*all` numbers are asked for; the next of them is late at `*late_ms`. */
static struct refill_view sequence_view(struct seqb_sequence *sequence,
                                        int64_t now_ms, int64_t *all,
                                        int64_t *late_ms)
{
    const int64_t run = (int64_t)1 << sequence->options->memory_bits;
    struct refill_view view = {.now_ms = now_ms};
    uint64_t consumed;
    struct ha_view ha;

    /* Before the ring: what is delivered in between is counted twice, and too
     * little is asked for, not too much. */
    ha_counter_view(sequence->counter, now_ms, &ha);
    *all = ha.all * run;
    *late_ms = ha.late_ms;
    pthread_mutex_lock(&sequence->lock);
    view.stock = (int64_t)ring_stock(sequence->ring);
    view.room = sequence_room(sequence, view.stock, *all);
    consumed = sequence->granted - (uint64_t)view.stock;
    /* What is given back was counted once. */
    if (consumed > sequence->consumed)
        sequence->consumed = consumed;
    view.consumed = sequence->consumed;
    pthread_mutex_unlock(&sequence->lock);
    view.fresh = ha.fresh * run;
    view.delay_ms = ha.delay_ms;
    view.is_starved = atomic_load(&sequence->waiters) > 0 ||
                      atomic_load(&sequence->is_armed) ||
                      (sequence->options->prefetch && view.stock == 0);
    return view;
}

bool sequence_has_place(struct seqb_sequence *sequence, uint32_t blocks,
                        int64_t numbers)
{
    const uint32_t partitions = ha_counter_partitions(sequence->counter);
    bool has_place;

    pthread_mutex_lock(&sequence->lock);
    has_place = ring_room(sequence->ring) >= partitions + blocks &&
                (int64_t)ring_stock(sequence->ring) + numbers <=
                    ROOM_SLACK * sequence->options->max_unused;
    pthread_mutex_unlock(&sequence->lock);
    return has_place;
}

bool sequence_is_idle(struct seqb_sequence *sequence, int64_t now_ms)
{
    const int64_t after_ms = sequence->options->idle_after_ms;
    uint64_t stock;
    uint64_t consumed;
    bool is_idle;

    if (after_ms == 0 || sequence->options->warm)
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

void sequence_settle(struct seqb_sequence *sequence, int64_t until_ms)
{
    struct ha_view view;

    ha_counter_view(sequence->counter, clock_now_ms(), &view);
    while (view.all > 0 && clock_now_ms() < until_ms) {
        pthread_mutex_lock(&sequence->lock);
        (void)condition_wait(&sequence->filled, &sequence->lock,
                             clock_now_ms() + SOON_MS);
        pthread_mutex_unlock(&sequence->lock);
        ha_counter_view(sequence->counter, clock_now_ms(), &view);
    }
}

static uint64_t stripe_numbers(int64_t stock)
{
    const int64_t numbers = stock / STRIPE_PART;

    if (numbers < STRIPE_MIN)
        return 0;
    return (uint64_t)(numbers < STRIPE_MAX ? numbers : STRIPE_MAX);
}

/* With the lock held. Without the memory for it, all take from the ring. */
static void stripes_start(struct seqb_sequence *sequence)
{
    if (sequence->spare == NULL) {
        void *memory =
            wiped_take(queue_memory(sequence->queue), sizeof *sequence->spare);

        if (memory == NULL)
            return;
        sequence->spare = stripes_init(memory, sequence->ring);
    }
    atomic_store_explicit(&sequence->stripes, sequence->spare,
                          memory_order_release);
}

/* On the refill thread: callers of a busy sequence take from stripes, those of
 * a calm one from the ring. True while it has stripes. */
static bool sequence_stripe(struct seqb_sequence *sequence, int64_t stock)
{
    const struct refill *refill = &sequence->refill; /* the thread's own */
    const double rate =
        refill->burst > refill->rate ? refill->burst : refill->rate;
    const bool is_striped =
        atomic_load_explicit(&sequence->stripes, memory_order_relaxed) != NULL;

    if (rate < (is_striped ? CALM_RATE : BUSY_RATE)) {
        if (sequence->spare == NULL)
            return false;
        atomic_store_explicit(&sequence->stripes, NULL, memory_order_relaxed);
        stripes_set_slice(sequence->spare, 0);
        return sequence_gather(sequence) > 0;
    }
    pthread_mutex_lock(&sequence->lock);
    if (!is_striped)
        stripes_start(sequence);
    pthread_mutex_unlock(&sequence->lock);
    if (sequence->spare != NULL)
        stripes_set_slice(sequence->spare, stripe_numbers(stock));
    return true;
}

bool sequence_refill(struct seqb_sequence *sequence, int64_t now_ms,
                     int64_t *next_ms)
{
    const struct refill_rules rules = {
        .runway_ms = sequence->options->runway_ms,
        .max_unused = sequence->options->max_unused,
        .run = (int64_t)1 << sequence->options->memory_bits,
        .prefetch = sequence->options->prefetch,
        .interval_ms = queue_interval_ms(sequence->queue),
    };
    int64_t all;
    const struct refill_view view =
        sequence_view(sequence, now_ms, &all, next_ms);
    struct refill_plan plan;
    bool is_striped;

    if (atomic_load(&sequence->may_be_kept) &&
        !atomic_exchange(&sequence->is_missed, true))
        queue_miss(sequence->queue);
    pthread_mutex_lock(&sequence->lock);
    plan = refill_decide(&sequence->refill, &rules, &view);
    sequence->low = rules.prefetch ? plan.low : 0;
    sequence->target = plan.target;
    if (plan.runs > 0)
        sequence->asked = plan;
    set_mark(sequence);
    pthread_mutex_unlock(&sequence->lock);
    if (plan.runs > 0)
        ha_counter_ask(sequence->counter, plan.runs, plan.spread, now_ms);
    if (plan.runs > 0 || (view.is_starved && now_ms + SOON_MS < *next_ms))
        *next_ms = now_ms + SOON_MS;
    is_striped = sequence_stripe(sequence, view.stock);
    return view.is_starved || all > 0 || plan.runs > 0 || is_striped;
}

void sequence_status(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_status *out)
{
    int64_t in_flight;
    int64_t late_ms;
    const struct refill_view view =
        sequence_view(sequence, now_ms, &in_flight, &late_ms);

    *out = (struct seqb_sequence_status){
        .memory_bits = sequence->options->memory_bits,
        .stock = view.stock,
        .in_flight = in_flight,
        .taken = (int64_t)view.consumed,
        .waits = atomic_load_explicit(&sequence->waits, memory_order_relaxed),
        .runs_out_ms = ha_counter_runs_out_ms(sequence->counter, now_ms),
    };
    (void)text_copy(out->key, sizeof out->key, sequence->key);
    (void)text_copy(out->pool, sizeof out->pool,
                    ha_counter_pool_name(sequence->counter));
    pthread_mutex_lock(&sequence->lock);
    out->rate = refill_rate(&sequence->refill, now_ms, view.consumed);
    out->low_water = sequence->low;
    out->target = sequence->target;
    out->asked = sequence->asked.runs << sequence->options->memory_bits;
    if (out->asked > 0)
        (void)refill_explain(&sequence->asked, out->why, sizeof out->why);
    pthread_mutex_unlock(&sequence->lock);
    out->runway_ms = refill_runway_ms(out->rate, out->stock);
}
