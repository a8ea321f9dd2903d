/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking numbers: from the sequence's stripes and ring, and the rest from its
 * source. Also what all sources share: waiting for numbers.
 */
#include "queue/sequence_take.h"

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/thread.h"

enum seqb_status queue_forked(struct seqb_error *err)
{
    return error_set(err, SEQB_FORKED,
                     "the broker was opened before fork(): open one in the "
                     "child");
}

int64_t sequence_until(const struct seqb_sequence *sequence)
{
    return clock_now_ms() + sequence->settings->deadline_ms;
}

/* With the lock held: why no number came by the deadline. */
static enum seqb_status timed_out(struct seqb_sequence *sequence,
                                  struct seqb_error *err)
{
    const enum seqb_status status =
        ha_counter_availability(sequence->counter, err);

    if (status != SEQB_OK)
        return status;
    return error_set(err, SEQB_TIMEOUT,
                     "sequence %s: no number by the deadline (its own is %d "
                     "ms), though backends are up: they are slow, or the "
                     "deadline is short",
                     sequence->key, (int)sequence->settings->deadline_ms);
}

/* Whether waiting makes no sense, because no partition can ever serve this
 * counter. */
static bool is_hopeless(struct seqb_sequence *sequence)
{
    const enum seqb_status availability =
        ha_counter_availability(sequence->counter, NULL);

    return availability == SEQB_EXHAUSTED || availability == SEQB_LAYOUT;
}

void sequence_wait_begin(struct seqb_sequence *sequence)
{
    atomic_fetch_add_explicit(&sequence->ring->waits, 1, memory_order_relaxed);
    atomic_fetch_add(&sequence->waiters, 1);
}

void sequence_wait_end(struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&sequence->lock);
    atomic_fetch_sub(&sequence->waiters, 1);
    if (sequence->is_closed)
        pthread_cond_broadcast(&sequence->filled);
    pthread_mutex_unlock(&sequence->lock);
}

/* With the lock held: asks for numbers, and returns the time at which the
 * answer becomes late. If nothing could be asked for, leaves that to the refill
 * thread. */
static int64_t wait_ask(struct seqb_sequence *sequence)
{
    const struct sequence_poll poll = sequence_ask(sequence, clock_now_ms());

    if (poll.late_ms == INT64_MAX)
        sequence_wake(sequence);
    return poll.late_ms;
}

/* With the lock held and the ring empty: waits until something changes.
 * `*is_left`: the refill thread asks, so this call does not. */
static enum seqb_status wait_once(struct seqb_sequence *sequence,
                                  int64_t until_ms, bool *is_left,
                                  struct seqb_error *err)
{
    int64_t late_ms;

    if (sequence->is_closed)
        return error_set(err, SEQB_CLOSED, "the broker is closing");
    if (sequence_is_removed(sequence))
        return sequence_unlisted(sequence, err);
    if (atomic_load(&sequence->is_over))
        return SEQB_AGAIN;
    if (is_hopeless(sequence))
        return timed_out(sequence, err);
    late_ms = *is_left ? INT64_MAX : wait_ask(sequence);
    if (condition_wait(&sequence->filled, &sequence->lock,
                       min_of(late_ms, until_ms))) {
        *is_left = false;
        return SEQB_OK;
    }
    if (ring_stock(sequence->ring) > 0)
        return SEQB_OK;
    if (late_ms >= until_ms)
        return timed_out(sequence, err);
    sequence_wake(sequence);
    *is_left = true;
    return SEQB_OK;
}

enum seqb_status sequence_wait(struct seqb_sequence *sequence, int64_t until_ms,
                               struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    bool is_left = false;

    sequence_miss(sequence);
    pthread_mutex_lock(&sequence->lock);
    while (status == SEQB_OK && ring_stock(sequence->ring) == 0)
        status = wait_once(sequence, until_ms, &is_left, err);
    pthread_mutex_unlock(&sequence->lock);
    return status;
}

/* With the lock held. Before the first plan there is no low-water mark; the
 * first plan holds REFILL_MIN. */
static bool is_warm(const struct seqb_sequence *sequence)
{
    const int64_t stock = (int64_t)ring_stock(sequence->ring);
    const int64_t most = sequence->settings->max_unused;
    const int64_t least = (most < REFILL_MIN ? most : REFILL_MIN) / 2;

    return stock > 0 && stock >= least && stock >= sequence->low;
}

bool sequence_warm(struct seqb_sequence *sequence, int64_t until_ms)
{
    bool goes_on = true;
    bool is_filled;

    atomic_fetch_add(&sequence->waiters, 1);
    pthread_mutex_lock(&sequence->lock);
    while (!is_warm(sequence) && !is_hopeless(sequence) && goes_on)
        goes_on = condition_wait(&sequence->filled, &sequence->lock, until_ms);
    is_filled = is_warm(sequence);
    atomic_fetch_sub(&sequence->waiters, 1);
    pthread_mutex_unlock(&sequence->lock);
    return is_filled;
}

/* Wakes the refill thread if the ring fell low. False if the ring was empty. */
static bool finish_take(struct seqb_sequence *sequence, enum ring_taken taken)
{
    if (taken == RING_TAKEN_LOW)
        sequence_wake(sequence);
    return taken != RING_EMPTY;
}

/* For an empty ring: moves the numbers of the stripes into it. True if there
 * were any. */
static bool gather_stripes(struct seqb_sequence *sequence)
{
    if (!sequence->ring->is_alive ||
        atomic_load_explicit(&sequence->stripes, memory_order_relaxed) == NULL)
        return false;
    return sequence_gather(sequence) > 0;
}

size_t sequence_take_some(struct seqb_sequence *sequence, size_t count,
                          int64_t *out)
{
    size_t have = 0;
    size_t taken;

    do {
        if (finish_take(sequence, ring_take_many(sequence->ring, count - have,
                                                 out + have, &taken)))
            have += taken;
        else if (!gather_stripes(sequence))
            break;
    } while (have < count);
    return have;
}

bool sequence_take_unstriped(struct seqb_sequence *sequence, int64_t *out)
{
    struct stripes *stripes =
        atomic_load_explicit(&sequence->stripes, memory_order_acquire);

    return finish_take(sequence,
                       stripes != NULL
                           ? stripes_refill(stripes, sequence->ring, out)
                           : ring_take(sequence->ring, out)) ||
           sequence_take_some(sequence, 1, out) == 1;
}

bool sequence_take_run(struct seqb_sequence *sequence, size_t count,
                       int64_t *first)
{
    struct ring *ring = sequence->ring;

    if (count == 1)
        return sequence_take_one(sequence, first);
    if (finish_take(sequence, ring_take_run(ring, count, first)) ||
        (gather_stripes(sequence) &&
         finish_take(sequence, ring_take_run(ring, count, first))))
        return true;
    /* A ring that holds numbers is not waited for, nor filled if it holds many.
     * What it holds is too short for this call. */
    ring_skip_short(ring, count);
    return false;
}

enum seqb_status sequence_again(struct seqb_sequence *sequence,
                                struct seqb_error *err)
{
    enum seqb_status status;

    if (!sequence->ring->is_alive)
        return queue_forked(err);
    if (sequence_is_removed(sequence))
        return sequence_unlisted(sequence, err);
    atomic_fetch_add_explicit(&sequence->ring->waits, 1, memory_order_relaxed);
    atomic_store(&sequence->is_armed, true);
    sequence_wake(sequence);
    status = ha_counter_availability(sequence->counter, err);
    if (status != SEQB_OK)
        return status;
    if (err != NULL) {
        err->status = SEQB_AGAIN;
        err->text[0] = '\0';
    }
    return SEQB_AGAIN;
}

enum seqb_status sequence_take_slice(struct seqb_sequence *sequence,
                                     uint64_t count, struct ring_slice *out,
                                     struct seqb_error *err)
{
    struct ring *ring = sequence->ring;
    const int64_t until_ms = sequence_until(sequence);
    enum seqb_status status = SEQB_OK;
    bool is_taken = false;

    if (finish_take(sequence, ring_take_slice(ring, count, RING_SEGMENT, out)))
        return SEQB_OK;
    if (!ring->is_alive)
        return queue_forked(err);
    sequence_wait_begin(sequence);
    while (!is_taken && status == SEQB_OK) {
        if (!gather_stripes(sequence))
            status = sequence_wait(sequence, until_ms, err);
        if (status == SEQB_OK)
            is_taken = finish_take(
                sequence, ring_take_slice(ring, count, RING_SEGMENT, out));
    }
    sequence_wait_end(sequence);
    return status;
}

/* Takes what is there of the numbers still wanted, or the whole run. */
static size_t take_there(struct seqb_sequence *sequence,
                         const struct queue_take *take, size_t have)
{
    if (!take->is_contiguous)
        return sequence_take_some(sequence, take->count - have,
                                  take->out + have);
    return sequence_take_run(sequence, take->count, take->out) ? take->count
                                                               : 0;
}

/* Takes the numbers after the first `have`, and waits for them. */
static enum seqb_status take_waiting(struct seqb_sequence *sequence,
                                     const struct queue_take *take, size_t have,
                                     struct seqb_error *err)
{
    const int64_t until_ms =
        take->until_ms != 0 ? take->until_ms : sequence_until(sequence);
    enum seqb_status status = SEQB_OK;

    if (!sequence->ring->is_alive)
        return queue_forked(err);
    sequence_wait_begin(sequence);
    while (have < take->count && status == SEQB_OK) {
        status = sequence_wait(sequence, until_ms, err);
        if (status == SEQB_OK)
            have += take_there(sequence, take, have);
    }
    sequence_wait_end(sequence);
    return status;
}

enum seqb_status sequence_take(struct seqb_sequence *sequence,
                               const struct queue_take *take,
                               struct seqb_error *err)
{
    size_t have;

    if (take->count == 1 && sequence_take_one(sequence, take->out))
        return SEQB_OK;
    have = take_there(sequence, take, 0);
    return have == take->count ? SEQB_OK
                               : take_waiting(sequence, take, have, err);
}

/* --- callers --- */

/* A function of its own, so that the common path needs no stack. */
static __attribute__((noinline)) enum seqb_status
next_of_source(struct seqb_sequence *sequence, int64_t *out,
               struct seqb_error *err)
{
    const struct queue_take one = {.out = out, .count = 1};

    return sequence->source->take(sequence, &one, err);
}

/* Aligned, so that the common path is in two cache lines, not three. */
__attribute__((aligned(RING_LINE))) enum seqb_status
queue_next(struct seqb_sequence *sequence, int64_t *out, struct seqb_error *err)
{
    if (LIKELY(sequence_take_striped(sequence, out)))
        return SEQB_OK;
    return next_of_source(sequence, out, err);
}

enum seqb_status queue_try_next(struct seqb_sequence *sequence, int64_t *out,
                                struct seqb_error *err)
{
    if (sequence_take_one(sequence, out))
        return SEQB_OK;
    return sequence->source->try_take(
        sequence,
        &(struct queue_take){.out = out, .count = 1, .is_contiguous = true},
        err);
}

/* The source checks the length of a run. The stamp is preset for sources that
 * set none. */
static inline enum seqb_status take_begin(const struct seqb_sequence *sequence,
                                          const struct queue_take *take,
                                          struct seqb_error *err)
{
    if (!take->is_contiguous && !count_is_valid(take->count))
        return refuse_count(sequence->key, take->count, err);
    if (take->stamp != NULL)
        *take->stamp = (struct seqb_stamp){.ends_ms = INT64_MAX};
    if (take->is_sharded && !shard_is_valid(sequence->options, take->shard))
        return refuse_shard(sequence->options, sequence->key, take->shard, err);
    return SEQB_OK;
}

enum seqb_status queue_check_stamp(const struct seqb_sequence *sequence,
                                   size_t count, struct seqb_error *err)
{
    const struct bits_layout *ids = sequence->options->ids;

    if (ids == NULL || count <= (size_t)bits_counter_max(ids))
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "sequence %s: %zu ids, and a stamp has %lld: with "
                     "SEQB_ANY_STAMP they may be of several",
                     sequence->key, count, (long long)bits_counter_max(ids));
}

enum seqb_status queue_take(struct seqb_sequence *sequence,
                            const struct queue_take *take,
                            struct seqb_error *err)
{
    enum seqb_status status = take_begin(sequence, take, err);

    if (status == SEQB_OK && take->stamp != NULL && take->count > 1)
        status = queue_check_stamp(sequence, take->count, err);
    return status == SEQB_OK ? sequence->source->take(sequence, take, err)
                             : status;
}

/* Refuses to take all or none of more numbers than the ring ever holds at once:
 * that would never succeed. */
static enum seqb_status check_all(const struct seqb_sequence *sequence,
                                  const struct queue_take *take,
                                  struct seqb_error *err)
{
    const int64_t most = sequence->settings->max_unused / 2;

    if (take->taken != NULL || take->is_contiguous || take->count == 1 ||
        (int64_t)take->count <= most)
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "sequence %s: %zu numbers at once are more than half of "
                     "its max_unused, %lld: wait for them, or raise it",
                     sequence->key, take->count, (long long)most);
}

enum seqb_status queue_try_take(struct seqb_sequence *sequence,
                                const struct queue_take *take,
                                struct seqb_error *err)
{
    enum seqb_status status = take_begin(sequence, take, err);

    if (status == SEQB_OK)
        status = check_all(sequence, take, err);
    if (status != SEQB_OK)
        return status;
    return sequence->source->try_take(sequence, take, err);
}
