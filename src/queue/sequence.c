/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking numbers from a sequence's ring, waiting for them, and taking delivery
 * of grants.
 */
#include "queue/sequence.h"

#include <stdlib.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"
#include "platform/thread.h"

/* Looked at again so soon while somebody waits, or just after an ask. */
#define SOON_MS 2

#define MANY_MAX 10000000 /* numbers in one call */

/* Fetches overlap and hedges answer twice: room for as much again. */
#define RING_SLACK 2

static enum seqb_status forked(struct seqb_error *err)
{
    return error_set(err, SEQB_FORKED,
                     "the broker was opened before fork(): open one in the "
                     "child");
}

static enum seqb_status closing(struct seqb_error *err)
{
    return error_set(err, SEQB_CLOSED, "the broker is closing");
}

/* Runs of the grant that begin at or below `floor`: the first ones. */
static int64_t runs_too_low(const struct ha_grant *grant, int64_t floor)
{
    int64_t low;

    if (grant->count == 0 || grant->first > floor)
        return 0;
    low = (floor - grant->first) / grant->step + 1;
    return low < grant->count ? low : grant->count;
}

/* On a worker's thread. */
static void sequence_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct seqb_sequence *sequence = (struct seqb_sequence *)sink;
    uint64_t pushed;
    int64_t low;

    pthread_mutex_lock(&sequence->lock);
    low = runs_too_low(grant, sequence->floor);
    pushed = ring_push(sequence->ring, grant->first + low * grant->step,
                       grant->step, (uint64_t)(grant->count - low));
    if (atomic_load(&sequence->waiters) > 0)
        pthread_cond_broadcast(&sequence->filled);
    pthread_mutex_unlock(&sequence->lock);
    if (pushed < (uint64_t)(grant->count - low))
        log_line(SEQB_LOG_WARN,
                 "event=dropped key=%s runs=%llu reason=\"the ring is full\"",
                 sequence->key,
                 (unsigned long long)((uint64_t)(grant->count - low) - pushed));
    if (atomic_exchange(&sequence->is_armed, false)) {
        pthread_mutex_lock(&sequence->ready_lock);
        if (sequence->ready != NULL)
            sequence->ready(sequence->ready_context);
        pthread_mutex_unlock(&sequence->ready_lock);
    }
    if (grant->count == low)
        queue_wake(sequence);
}

static void sequence_init(struct seqb_sequence *sequence, struct queue *queue,
                          const struct queue_sequence_options *options,
                          const char *key)
{
    sequence->sink.deliver = sequence_deliver;
    sequence->queue = queue;
    sequence->options = *options;
    (void)text_copy(sequence->key, sizeof sequence->key, key);
    pthread_mutex_init(&sequence->lock, NULL);
    pthread_mutex_init(&sequence->ready_lock, NULL);
    condition_init(&sequence->filled);
    refill_init(&sequence->refill, clock_now_ms());
}

enum seqb_status sequence_new(struct queue *queue, struct ha_pool *pool,
                              const struct queue_sequence_options *options,
                              const char *key, struct seqb_sequence **out,
                              struct seqb_error *err)
{
    struct seqb_sequence *sequence = aligned_alloc(
        RING_LINE, (sizeof *sequence + RING_LINE - 1) / RING_LINE * RING_LINE);
    const uint64_t runs =
        ((uint64_t)options->max_unused >> options->memory_bits) * RING_SLACK +
        2;

    if (sequence == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         key);
    *sequence = (struct seqb_sequence){0};
    sequence_init(sequence, queue, options, key);
    sequence->ring = ring_new(runs, options->memory_bits);
    if (sequence->ring == NULL ||
        ha_counter_new(pool, key, options->memory_bits, &sequence->sink,
                       &sequence->counter, err) != SEQB_OK) {
        sequence_free(sequence);
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         key);
    }
    *out = sequence;
    return SEQB_OK;
}

void sequence_free(struct seqb_sequence *sequence)
{
    if (sequence == NULL)
        return;
    ha_counter_free(sequence->counter);
    ring_free(sequence->ring);
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

/* With the lock held, nothing came by the deadline. */
static enum seqb_status timed_out(struct seqb_sequence *sequence,
                                  struct seqb_error *err)
{
    const enum seqb_status status = ha_counter_outlook(sequence->counter, err);

    if (status != SEQB_OK)
        return status;
    return error_set(err, SEQB_TIMEOUT,
                     "sequence %s: no number within %d ms, though backends "
                     "are up: they are slow, or the deadline is short",
                     sequence->key, (int)sequence->options.deadline_ms);
}

/* Whether waiting is in vain: every partition is closed for this counter. */
static bool is_hopeless(enum seqb_status outlook)
{
    return outlook == SEQB_EXHAUSTED || outlook == SEQB_LAYOUT;
}

/* A call found the ring empty: from here to wait_end it counts as waiting, and
 * the sequence is not freed. */
static void wait_begin(struct seqb_sequence *sequence)
{
    atomic_fetch_add_explicit(&sequence->waits, 1, memory_order_relaxed);
    atomic_fetch_add(&sequence->waiters, 1);
}

static void wait_end(struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&sequence->lock);
    atomic_fetch_sub(&sequence->waiters, 1);
    if (sequence->is_closed)
        pthread_cond_broadcast(&sequence->filled);
    pthread_mutex_unlock(&sequence->lock);
}

/* Between wait_begin and wait_end: waits until the ring holds something. */
static enum seqb_status sequence_wait(struct seqb_sequence *sequence,
                                      int64_t until_ms, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    pthread_mutex_lock(&sequence->lock);
    while (status == SEQB_OK && ring_stock(sequence->ring) == 0) {
        queue_wake(sequence);
        if (sequence->is_closed)
            status = closing(err);
        else if (is_hopeless(ha_counter_outlook(sequence->counter, NULL)) ||
                 (!condition_wait(&sequence->filled, &sequence->lock,
                                  until_ms) &&
                  ring_stock(sequence->ring) == 0))
            status = timed_out(sequence, err);
    }
    pthread_mutex_unlock(&sequence->lock);
    return status;
}

/* Takes up to `count` numbers that are there. */
static size_t take_some(struct seqb_sequence *sequence, size_t count,
                        int64_t *out)
{
    size_t taken;

    if (ring_take_many(sequence->ring, count, out, &taken) == RING_TAKEN_LOW)
        queue_wake(sequence);
    return taken;
}

/* Takes `count` numbers, waiting for them. */
static enum seqb_status take_waiting(struct seqb_sequence *sequence,
                                     size_t count, int64_t *out,
                                     struct seqb_error *err)
{
    const int64_t until_ms = clock_now_ms() + sequence->options.deadline_ms;
    enum seqb_status status = SEQB_OK;
    size_t have = 0;

    if (!sequence->ring->is_alive)
        return forked(err);
    wait_begin(sequence);
    while (have < count && status == SEQB_OK) {
        status = sequence_wait(sequence, until_ms, err);
        if (status == SEQB_OK)
            have += take_some(sequence, count - have, out + have);
    }
    wait_end(sequence);
    return status;
}

enum seqb_status queue_next(struct seqb_sequence *sequence, int64_t *out,
                            struct seqb_error *err)
{
    switch (ring_take(sequence->ring, out)) {
    case RING_TAKEN:
        return SEQB_OK;
    case RING_TAKEN_LOW:
        queue_wake(sequence);
        return SEQB_OK;
    default:
        return take_waiting(sequence, 1, out, err);
    }
}

enum seqb_status queue_next_many(struct seqb_sequence *sequence, size_t count,
                                 int64_t *out, struct seqb_error *err)
{
    size_t have;

    if (count < 1 || count > MANY_MAX)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: count %zu is not in 1 ... %d",
                         sequence->key, count, MANY_MAX);
    have = take_some(sequence, count, out);
    if (have == count)
        return SEQB_OK;
    return take_waiting(sequence, count - have, out + have, err);
}

/* The ring was found empty by a caller who does not wait: has it refilled, and
 * owes a ready call. */
static enum seqb_status again(struct seqb_sequence *sequence,
                              struct seqb_error *err)
{
    enum seqb_status status;

    if (!sequence->ring->is_alive)
        return forked(err);
    atomic_fetch_add_explicit(&sequence->waits, 1, memory_order_relaxed);
    atomic_store(&sequence->is_armed, true);
    queue_wake(sequence);
    status = ha_counter_outlook(sequence->counter, err);
    if (status != SEQB_OK)
        return status;
    if (err != NULL) {
        err->status = SEQB_AGAIN;
        err->text[0] = '\0';
    }
    return SEQB_AGAIN;
}

enum seqb_status queue_try_many(struct seqb_sequence *sequence, size_t count,
                                int64_t *out, size_t *taken,
                                struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    *taken = 0;
    if (count < 1 || count > MANY_MAX)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: count %zu is not in 1 ... %d",
                         sequence->key, count, MANY_MAX);
    while (*taken < count) {
        size_t n;
        const enum ring_taken how =
            ring_take_many(sequence->ring, count - *taken, out + *taken, &n);

        *taken += n;
        if (how == RING_TAKEN_LOW)
            queue_wake(sequence);
        if (how != RING_EMPTY)
            continue;
        /* Once armed, look again: the delivery may have been just before. */
        if (status != SEQB_OK)
            return status;
        status = again(sequence, err);
    }
    return SEQB_OK;
}

enum seqb_status queue_try_run(struct seqb_sequence *sequence, size_t count,
                               int64_t *first, struct seqb_error *err)
{
    const uint64_t run = (uint64_t)1 << sequence->options.memory_bits;
    enum seqb_status status = SEQB_OK;
    enum ring_taken how;

    if (count < 1 || count > run)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: %zu contiguous numbers are not in 1 "
                         "... %llu, its 2^memory_bits",
                         sequence->key, count, (unsigned long long)run);
    for (;;) {
        how = ring_take_run(sequence->ring, count, first);
        if (how == RING_TAKEN_LOW)
            queue_wake(sequence);
        if (how != RING_EMPTY)
            return SEQB_OK;
        if (status != SEQB_OK)
            return status;
        status = again(sequence, err);
    }
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
    return sequence->options.deadline_ms;
}

/* `*all` numbers are asked for; the next of them is late at `*late_ms`. */
static struct refill_view sequence_view(struct seqb_sequence *sequence,
                                        int64_t now_ms, int64_t *all,
                                        int64_t *late_ms)
{
    const int64_t run = (int64_t)1 << sequence->options.memory_bits;
    struct refill_view view = {.now_ms = now_ms};
    struct ha_view ha;

    /* Before the ring: what is delivered in between is counted twice, and too
     * little is asked for, not too much. */
    ha_counter_view(sequence->counter, now_ms, &ha);
    pthread_mutex_lock(&sequence->lock);
    view.consumed = ring_consumed(sequence->ring) - sequence->dropped;
    pthread_mutex_unlock(&sequence->lock);
    view.stock = (int64_t)ring_stock(sequence->ring);
    view.room = ((int64_t)ring_room(sequence->ring) - ha.all) * run;
    view.fresh = ha.fresh * run;
    view.delay_ms = ha.delay_ms;
    view.is_starved = atomic_load(&sequence->waiters) > 0 ||
                      atomic_load(&sequence->is_armed) ||
                      (sequence->options.prefetch && view.stock == 0);
    *all = ha.all * run;
    *late_ms = ha.late_ms;
    return view;
}

bool sequence_refill(struct seqb_sequence *sequence, int64_t now_ms,
                     int64_t *next_ms)
{
    const struct refill_rules rules = {
        .runway_ms = sequence->options.runway_ms,
        .max_unused = sequence->options.max_unused,
        .run = (int64_t)1 << sequence->options.memory_bits,
        .prefetch = sequence->options.prefetch,
    };
    int64_t all;
    const struct refill_view view =
        sequence_view(sequence, now_ms, &all, next_ms);
    struct refill_plan plan;

    pthread_mutex_lock(&sequence->lock);
    plan = refill_decide(&sequence->refill, &rules, &view);
    sequence->low = plan.low;
    pthread_mutex_unlock(&sequence->lock);
    ring_set_low(sequence->ring,
                 rules.prefetch ? (uint64_t)plan.low : RING_NEVER_LOW);
    if (plan.runs > 0)
        ha_counter_ask(sequence->counter, plan.runs, plan.spread, now_ms);
    if (plan.runs > 0 || (view.is_starved && now_ms + SOON_MS < *next_ms))
        *next_ms = now_ms + SOON_MS;
    return view.is_starved || all > 0 || plan.runs > 0;
}

void sequence_status(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_status *out)
{
    int64_t in_flight;
    int64_t late_ms;
    const struct refill_view view =
        sequence_view(sequence, now_ms, &in_flight, &late_ms);

    *out = (struct seqb_sequence_status){
        .memory_bits = sequence->options.memory_bits,
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
    pthread_mutex_unlock(&sequence->lock);
}
