/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence's refill: how things are, what is planned and asked for, whether
 * its callers take from stripes; and its status.
 */
#include "platform/text.h"
#include "platform/wiped.h"
#include "queue/sequence.h"

/* Numbers a ms from which a sequence is busy, and below which it is so no
 * more; and how much of the stock each stripe may hold then. */
#define BUSY_RATE   4000
#define CALM_RATE   1000
#define STRIPE_PART 64
#define STRIPE_MIN  64
#define STRIPE_MAX  1024

/* How many numbers may be asked for besides those that are. Each partition
 * that is asked may answer with a segment of its own. */
static int64_t sequence_room(const struct seqb_sequence *sequence,
                             int64_t stock, int64_t all)
{
    const int64_t run = (int64_t)1 << sequence->options->memory_bits;

    if (ring_room(sequence->ring) < ha_counter_partitions(sequence->counter))
        return 0;
    return SEQUENCE_ROOM * (sequence->options->max_unused + run) - stock - all;
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
            wiped_take(sequence->context->memory, sizeof *sequence->spare);

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
        .wish = atomic_load(&sequence->wish),
        .prefetch = sequence->options->prefetch,
        .interval_ms = sequence->context->interval_ms,
    };
    int64_t all;
    const struct refill_view view =
        sequence_view(sequence, now_ms, &all, next_ms);
    struct refill_plan plan;
    bool is_striped;

    *next_ms = INT64_MAX;
    if (atomic_load(&sequence->is_over))
        return false;
    if (atomic_load(&sequence->may_be_kept) &&
        !atomic_exchange(&sequence->is_missed, true))
        wakeup_set(&sequence->context->flusher);
    pthread_mutex_lock(&sequence->lock);
    plan = refill_decide(&sequence->refill, &rules, &view);
    sequence->low = rules.prefetch ? plan.low : 0;
    sequence->target = plan.target;
    if (plan.runs > 0)
        sequence->asked = plan;
    sequence_set_mark(sequence);
    pthread_mutex_unlock(&sequence->lock);
    if (plan.runs > 0)
        ha_counter_ask(sequence->counter, plan.runs, plan.spread, now_ms);
    if (plan.runs > 0 ||
        (view.is_starved && now_ms + SEQUENCE_SOON_MS < *next_ms))
        *next_ms = now_ms + SEQUENCE_SOON_MS;
    is_striped = sequence->may_stripe && sequence_stripe(sequence, view.stock);
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
        .width_numbers = INT64_MAX,
        .pool_numbers = INT64_MAX,
    };
    if (sequence->options->template != NULL) {
        out->width_numbers = sequence->options->width_numbers;
        out->pool_numbers = sequence->options->pool_numbers;
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
