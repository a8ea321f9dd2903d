/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refill of one sequence: its state, its plan, its asks and deliveries, and
 * whether its callers take from stripes. Also its status.
 */
#include "platform/fork_wiped.h"
#include "platform/log.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "queue/sequence.h"

/* The refill thread polls a sequence after this many numbers at the latest, low
 * or not, so that it soon notices when the sequence becomes busy. */
#define LOOK_NUMBERS 65536

/* A sequence becomes busy at BUSY_RATE numbers per ms, and stays so until it is
 * below CALM_RATE. A stripe of a busy sequence takes 1/STRIPE_PART of the stock
 * at once: STRIPE_MAX numbers at most, and none if that is less than
 * STRIPE_MIN. */
#define BUSY_RATE   4000
#define CALM_RATE   1000
#define STRIPE_PART 64
#define STRIPE_MIN  64
#define STRIPE_MAX  1024

void sequence_set_mark(struct seqb_sequence *sequence)
{
    const int64_t look = (int64_t)ring_stock(sequence->ring) - LOOK_NUMBERS;
    int64_t mark = sequence->low;

    if (sequence->settings->prefetch && look > mark)
        mark = look;
    ring_set_low(sequence->ring, (uint64_t)mark);
}

/* How many more numbers may be asked for. Each partition that is asked may
 * answer with a segment of its own. */
static int64_t sequence_free_numbers(const struct seqb_sequence *sequence,
                                     int64_t stock, int64_t all)
{
    const int64_t run = (int64_t)1 << sequence->options->memory_bits;

    if (ring_free_blocks(sequence->ring) <
        ha_counter_partitions(sequence->counter))
        return 0;
    return SEQUENCE_ROOM * (sequence->settings->max_unused + run) - stock - all;
}

/* With the lock held. Numbers that were given back still count as consumed, so
 * that the count never falls. */
static int64_t sequence_consumed(struct seqb_sequence *sequence, int64_t stock)
{
    const uint64_t consumed = sequence->granted - (uint64_t)stock;

    if (consumed > sequence->consumed)
        sequence->consumed = consumed;
    return (int64_t)sequence->consumed;
}

/* With the lock held. An answer that is being delivered may count both as in
 * flight and as in the ring, so that too little is asked for rather than too
 * much. */
static struct refill_view sequence_view(struct seqb_sequence *sequence,
                                        const struct ha_view *ha,
                                        int64_t now_ms)
{
    const int64_t run = (int64_t)1 << sequence->options->memory_bits;
    struct refill_view view = {.now_ms = now_ms};

    view.stock = (int64_t)ring_stock(sequence->ring);
    view.room = sequence_free_numbers(sequence, view.stock, ha->all * run);
    view.consumed = (uint64_t)sequence_consumed(sequence, view.stock);
    view.fresh = ha->fresh * run;
    view.delay_ms = ha->delay_ms;
    view.is_starved = atomic_load(&sequence->waiters) > 0 ||
                      atomic_load(&sequence->is_armed) ||
                      (sequence->settings->prefetch && view.stock == 0);
    return view;
}

static struct refill_plan sequence_plan(struct seqb_sequence *sequence,
                                        const struct refill_view *view)
{
    const struct refill_rules rules = {
        .runway_ms = sequence->settings->runway_ms,
        .max_unused = sequence->settings->max_unused,
        .run = (int64_t)1 << sequence->options->memory_bits,
        .wanted = atomic_load(&sequence->wanted),
        .prefetch = sequence->settings->prefetch,
        .interval_ms = sequence->context->interval_ms,
    };
    const struct refill_plan plan =
        refill_decide(&sequence->refill, &rules, view);

    sequence->low = rules.prefetch ? plan.low : 0;
    sequence->target = plan.target;
    if (plan.runs > 0)
        sequence->asked = plan;
    sequence_set_mark(sequence);
    return plan;
}

struct sequence_poll sequence_ask(struct seqb_sequence *sequence,
                                  int64_t now_ms)
{
    struct ha_view ha;
    struct refill_view view;
    struct refill_plan plan;
    struct sequence_poll poll = {.late_ms = INT64_MAX};

    if (atomic_load(&sequence->is_over) || sequence_is_removed(sequence) ||
        sequence_admission(sequence) != SEQUENCE_ADMITTED)
        return poll;
    ha_counter_view(sequence->counter, now_ms, &ha);
    if (ha.is_closed)
        return poll;
    view = sequence_view(sequence, &ha, now_ms);
    plan = sequence_plan(sequence, &view);
    poll.stock = view.stock;
    poll.late_ms = ha.late_ms;
    poll.is_starved = view.is_starved;
    poll.is_short = plan.runs > 0;
    poll.is_used = poll.is_starved || poll.is_short || ha.all > 0;
    if (plan.runs > 0 &&
        ha_counter_ask(sequence->counter, plan.runs, plan.spread, now_ms) > 0)
        poll.late_ms =
            min_of(poll.late_ms, now_ms + 3 * ha.delay_ms + SEQUENCE_SOON_MS);
    return poll;
}

/* --- delivering --- */

bool sequence_push(struct seqb_sequence *sequence, int64_t first,
                   uint64_t count)
{
    if (!ring_push(sequence->ring, first, count))
        return false;
    sequence_set_mark(sequence);
    return true;
}

void sequence_wake_waiters(struct seqb_sequence *sequence)
{
    if (atomic_load(&sequence->waiters) > 0)
        pthread_cond_broadcast(&sequence->filled);
}

void sequence_notify_ready(struct seqb_sequence *sequence)
{
    if (!atomic_exchange(&sequence->is_armed, false))
        return;
    pthread_mutex_lock(&sequence->ready_lock);
    if (sequence->ready != NULL)
        sequence->ready(sequence->ready_context);
    pthread_mutex_unlock(&sequence->ready_lock);
}

/* The first number of the n-th run of the grant, which may be of several
 * windows. */
static int64_t run_begin(const struct seqb_sequence *sequence,
                         const struct ha_grant *grant, int64_t n)
{
    return ring_number_after(sequence->ring, grant->first,
                             (uint64_t)n << sequence->options->memory_bits);
}

/* How many runs of the grant begin at or below the floor. These are the first
 * ones. */
static int64_t runs_too_low(const struct seqb_sequence *sequence,
                            const struct ha_grant *grant)
{
    int64_t low = 0;
    int64_t high = grant->count;

    if (grant->count == 0 || grant->first > sequence->floor)
        return 0;
    while (low < high) {
        const int64_t n = low + (high - low) / 2;

        if (run_begin(sequence, grant, n) <= sequence->floor)
            low = n + 1;
        else
            high = n;
    }
    return low;
}

/* Drops the ring first: a stripe that is refilled meanwhile got its slice
 * before that, and is gathered afterwards. */
uint64_t sequence_drop_below(struct seqb_sequence *sequence, int64_t floor)
{
    struct ring_slice slices[STRIPES];
    uint64_t dropped = ring_drop(sequence->ring);
    size_t n = 0;

    sequence->floor = max_of(sequence->floor, floor);
    if (sequence->spare != NULL)
        n = stripes_gather_all(sequence->spare, sequence->ring, slices);
    for (size_t i = 0; i < n; i++)
        dropped += slices[i].count;
    sequence->granted -= dropped;
    return dropped;
}

int64_t sequence_drop_all(struct seqb_sequence *sequence)
{
    uint64_t dropped;

    pthread_mutex_lock(&sequence->lock);
    dropped = sequence_drop_below(sequence, sequence->floor);
    sequence_wake_waiters(sequence);
    pthread_mutex_unlock(&sequence->lock);
    return (int64_t)dropped;
}

static void report_void(const struct seqb_sequence *sequence, uint64_t dropped)
{
    log_reason(SEQB_LOG_WARN, "a store knows the sequence by other settings",
               "event=dropped key=%s numbers=%llu", sequence->key,
               (unsigned long long)dropped);
}

void sequence_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct seqb_sequence *sequence = (struct seqb_sequence *)sink;
    uint64_t count = 0; /* stays 0 after a removal: what is granted then is a
                           gap */
    uint64_t dropped = 0;
    int64_t low;
    bool is_pushed = false;
    bool is_low;

    pthread_mutex_lock(&sequence->lock);
    if (grant->is_void)
        dropped = sequence_drop_below(sequence, INT64_MAX);
    low = runs_too_low(sequence, grant);
    if (!sequence_is_removed(sequence))
        count = (uint64_t)(grant->count - low)
                << sequence->options->memory_bits;
    if (count > 0)
        is_pushed =
            sequence_push(sequence, run_begin(sequence, grant, low), count);
    sequence->granted += is_pushed ? count : 0;
    if (grant->count > 0)
        sequence_has_number(sequence);
    sequence_wake_waiters(
        sequence); /* also after a failure: it may be the last answer */
    /* If the mark is above the stock, no taker passes it. */
    is_low =
        count == 0 || ring_stock(sequence->ring) <= (uint64_t)sequence->low;
    pthread_mutex_unlock(&sequence->lock);
    if (dropped > 0)
        report_void(sequence, dropped);
    if (count > 0 && !is_pushed)
        log_reason(SEQB_LOG_WARN, "the ring is full",
                   "event=dropped key=%s numbers=%llu", sequence->key,
                   (unsigned long long)count);
    sequence_notify_ready(sequence);
    if (is_low)
        sequence_wake(sequence);
}

/* With the lock held. A slice that does not fit is a gap. Also after the close,
 * because the flusher's last round takes what the ring holds then. */
static void put_back(struct seqb_sequence *sequence,
                     const struct ring_slice *slice)
{
    const int64_t first =
        ring_number(sequence->ring->shape, slice->base, slice->position);

    if (first > sequence->floor)
        (void)sequence_push(sequence, first, slice->count);
    sequence_wake_waiters(sequence);
}

void sequence_give_back(struct seqb_sequence *sequence,
                        const struct ring_slice *slice)
{
    pthread_mutex_lock(&sequence->lock);
    put_back(sequence, slice);
    pthread_mutex_unlock(&sequence->lock);
    sequence_notify_ready(sequence);
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

/* --- stripes --- */

static uint64_t stripe_numbers(int64_t stock)
{
    const int64_t numbers = stock / STRIPE_PART;

    if (numbers < STRIPE_MIN)
        return 0;
    return (uint64_t)(numbers < STRIPE_MAX ? numbers : STRIPE_MAX);
}

/* With the lock held. If there is no memory for stripes, all callers take from
 * the ring. */
static void stripes_start(struct seqb_sequence *sequence)
{
    if (sequence->spare == NULL) {
        void *memory =
            fork_wiped_take(sequence->context->memory, sizeof *sequence->spare);

        if (memory == NULL)
            return;
        sequence->spare = stripes_init(memory, sequence->ring);
    }
    atomic_store_explicit(&sequence->stripes, sequence->spare,
                          memory_order_release);
}

/* Numbers per ms. */
static double sequence_rate(struct seqb_sequence *sequence)
{
    double rate;

    pthread_mutex_lock(&sequence->lock);
    rate = sequence->refill.rate;
    if (sequence->refill.burst > rate)
        rate = sequence->refill.burst;
    pthread_mutex_unlock(&sequence->lock);
    return rate;
}

/* On the refill thread: lets callers of a busy sequence take from stripes, and
 * the others from the ring. True if it has stripes, or they still held
 * numbers. */
static bool sequence_stripe(struct seqb_sequence *sequence, int64_t stock)
{
    const bool is_striped =
        atomic_load_explicit(&sequence->stripes, memory_order_relaxed) != NULL;

    if (sequence_rate(sequence) < (is_striped ? CALM_RATE : BUSY_RATE)) {
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
    struct sequence_poll poll;
    bool is_striped;

    *next_ms = INT64_MAX;
    if (atomic_load(&sequence->is_over) || sequence_is_removed(sequence)) {
        /* It may have been armed after the end looked for that. */
        sequence_notify_ready(sequence);
        return false;
    }
    sequence_miss(sequence);
    pthread_mutex_lock(&sequence->lock);
    poll = sequence_ask(sequence, now_ms);
    pthread_mutex_unlock(&sequence->lock);
    *next_ms = poll.late_ms;
    if (poll.is_short ||
        (poll.is_starved && now_ms + SEQUENCE_SOON_MS < *next_ms))
        *next_ms = now_ms + SEQUENCE_SOON_MS;
    is_striped = sequence->may_stripe && sequence_stripe(sequence, poll.stock);
    return poll.is_used || is_striped;
}

void sequence_status(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_status *out)
{
    const struct queue_sequence_options *texts = sequence_texts(sequence);
    struct refill_view view;
    struct ha_view ha;

    pthread_mutex_lock(&sequence->lock);
    ha_counter_view(sequence->counter, now_ms, &ha);
    view = sequence_view(sequence, &ha, now_ms);
    pthread_mutex_unlock(&sequence->lock);
    *out = (struct seqb_sequence_status){
        .memory_bits = sequence->options->memory_bits,
        .window_bits = ha_counter_window_bits(sequence->counter),
        .stock = view.stock,
        .in_flight = ha.all << sequence->options->memory_bits,
        .taken = (int64_t)view.consumed,
        .waits =
            atomic_load_explicit(&sequence->ring->waits, memory_order_relaxed),
        .runs_out_ms = ha_counter_runs_out_ms(sequence->counter, now_ms),
        .width_numbers = INT64_MAX,
        .pool_numbers = INT64_MAX,
    };
    if (texts->template != NULL) {
        out->width_numbers = texts->width_numbers;
        out->pool_numbers = texts->pool_numbers;
    }
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
    (void)text_copy(out->period, sizeof out->period,
                    period_unit_name(PERIOD_NONE));
}

void sequence_counts(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_counts *out)
{
    uint64_t head;

    *out = (struct seqb_sequence_counts){
        .waits =
            atomic_load_explicit(&sequence->ring->waits, memory_order_relaxed),
        .runs_out_ms = ha_counter_last_runs_out_ms(sequence->counter, now_ms)};
    pthread_mutex_lock(&sequence->lock);
    head = ring_head(sequence->ring);
    out->stock = (int64_t)ring_stock(sequence->ring);
    out->taken = sequence_consumed(sequence, out->stock);
    out->rate = refill_rate(&sequence->refill, now_ms, (uint64_t)out->taken);
    if (out->rate == 0) /* it stays 0 until numbers are taken */
        ring_note_rest(sequence->ring, head, out->stock, out->taken);
    pthread_mutex_unlock(&sequence->lock);
    out->runway_ms = refill_runway_ms(out->rate, out->stock);
}
