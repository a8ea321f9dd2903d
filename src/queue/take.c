/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking numbers from a sequence: of the thread's stripe, of the ring, and
 * waiting for them.
 */
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"
#include "queue/periodic.h"
#include "queue/sequence.h"

#define MANY_MAX 10000000 /* numbers in one call */

enum seqb_status sequence_forked(struct seqb_error *err)
{
    return error_set(err, SEQB_FORKED,
                     "the broker was opened before fork(): open one in the "
                     "child");
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
                     sequence->key, (int)sequence->options->deadline_ms);
}

/* Whether waiting is in vain: every partition is closed for this counter. */
static bool is_hopeless(enum seqb_status outlook)
{
    return outlook == SEQB_EXHAUSTED || outlook == SEQB_LAYOUT;
}

void sequence_wait_begin(struct seqb_sequence *sequence)
{
    atomic_fetch_add_explicit(&sequence->waits, 1, memory_order_relaxed);
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

enum seqb_status sequence_wait(struct seqb_sequence *sequence, int64_t until_ms,
                               struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    pthread_mutex_lock(&sequence->lock);
    while (status == SEQB_OK && ring_stock(sequence->ring) == 0) {
        queue_wake(sequence);
        if (sequence->is_closed)
            status = error_set(err, SEQB_CLOSED, "the broker is closing");
        else if (atomic_load(&sequence->is_over))
            status = SEQB_AGAIN;
        else if (is_hopeless(ha_counter_outlook(sequence->counter, NULL)) ||
                 (!condition_wait(&sequence->filled, &sequence->lock,
                                  until_ms) &&
                  ring_stock(sequence->ring) == 0))
            status = timed_out(sequence, err);
    }
    pthread_mutex_unlock(&sequence->lock);
    return status;
}

/* Wakes the refill if the ring fell low; false if it was found empty. */
static bool was_taken(struct seqb_sequence *sequence, enum ring_taken taken)
{
    if (taken == RING_TAKEN_LOW)
        queue_wake(sequence);
    return taken != RING_EMPTY;
}

/* The ring was found empty: whether its stripes held something, which is in it
 * now. */
static bool has_more(struct seqb_sequence *sequence)
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
        if (was_taken(sequence, ring_take_many(sequence->ring, count - have,
                                               out + have, &taken)))
            have += taken;
        else if (!has_more(sequence))
            break;
    } while (have < count);
    return have;
}

int64_t sequence_until(const struct seqb_sequence *sequence)
{
    return clock_now_ms() + sequence->options->deadline_ms;
}

/* Takes `count` numbers, waiting for them; until the usual deadline if none is
 * said. */
static enum seqb_status take_waiting(struct seqb_sequence *sequence,
                                     size_t count, int64_t *out,
                                     int64_t until_ms, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    size_t have = 0;

    if (!sequence->ring->is_alive)
        return sequence_forked(err);
    if (until_ms == 0)
        until_ms = sequence_until(sequence);
    sequence_wait_begin(sequence);
    while (have < count && status == SEQB_OK) {
        status = sequence_wait(sequence, until_ms, err);
        if (status == SEQB_OK)
            have += sequence_take_some(sequence, count - have, out + have);
    }
    sequence_wait_end(sequence);
    return status;
}

enum seqb_status sequence_take_slice(struct seqb_sequence *sequence,
                                     uint64_t count, struct ring_slice *out,
                                     struct seqb_error *err)
{
    struct ring *ring = sequence->ring;
    const int64_t until_ms = sequence_until(sequence);
    enum seqb_status status = SEQB_OK;
    bool is_taken = false;

    if (was_taken(sequence, ring_take_slice(ring, count, false, out)))
        return SEQB_OK;
    if (!ring->is_alive)
        return sequence_forked(err);
    sequence_wait_begin(sequence);
    while (!is_taken && status == SEQB_OK) {
        if (!has_more(sequence))
            status = sequence_wait(sequence, until_ms, err);
        if (status == SEQB_OK)
            is_taken =
                was_taken(sequence, ring_take_slice(ring, count, false, out));
    }
    sequence_wait_end(sequence);
    return status;
}

/* One number of the thread's stripe, if there are stripes: no more than that,
 * so that the common path needs no stack and calls nothing. */
static inline bool take_striped(struct seqb_sequence *sequence, int64_t *out)
{
    struct stripes *stripes =
        atomic_load_explicit(&sequence->stripes, memory_order_acquire);

    return LIKELY(stripes != NULL) && stripes_take(stripes, out);
}

/* The stripe, if there is one, is used up. */
static bool take_unstriped(struct seqb_sequence *sequence, int64_t *out)
{
    struct stripes *stripes =
        atomic_load_explicit(&sequence->stripes, memory_order_acquire);

    return was_taken(sequence,
                     stripes != NULL
                         ? stripes_refill(stripes, sequence->ring, out)
                         : ring_take(sequence->ring, out)) ||
           sequence_take_some(sequence, 1, out) == 1;
}

static __attribute__((noinline)) enum seqb_status
next_unstriped(struct seqb_sequence *sequence, int64_t *out,
               struct seqb_error *err)
{
    if (take_unstriped(sequence, out))
        return SEQB_OK;
    if (sequence->periodic != NULL)
        return periodic_take(sequence,
                             &(struct queue_take){.out = out, .count = 1}, err);
    return take_waiting(sequence, 1, out, 0, err);
}

enum seqb_status queue_next(struct seqb_sequence *sequence, int64_t *out,
                            struct seqb_error *err)
{
    if (LIKELY(take_striped(sequence, out)))
        return SEQB_OK;
    return next_unstriped(sequence, out, err);
}

static enum seqb_status check_count(const struct seqb_sequence *sequence,
                                    size_t count, struct seqb_error *err)
{
    if (count >= 1 && count <= MANY_MAX)
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "sequence %s: count %zu is not in 1 ... %d", sequence->key,
                     count, MANY_MAX);
}

/* Of a sequence without a period. */
static enum seqb_status next_many(struct seqb_sequence *sequence,
                                  const struct queue_take *take,
                                  struct seqb_error *err)
{
    size_t have;

    have = sequence_take_some(sequence, take->count, take->out);
    if (have == take->count)
        return SEQB_OK;
    return take_waiting(sequence, take->count - have, take->out + have,
                        take->until_ms, err);
}

enum seqb_status queue_next_many(struct seqb_sequence *sequence, size_t count,
                                 int64_t *out, struct seqb_error *err)
{
    const struct queue_take take = {.out = out, .count = count};

    if (check_count(sequence, count, err) != SEQB_OK)
        return SEQB_INVALID;
    return sequence->periodic != NULL ? periodic_take(sequence, &take, err)
                                      : next_many(sequence, &take, err);
}

enum seqb_status sequence_again(struct seqb_sequence *sequence,
                                struct seqb_error *err)
{
    enum seqb_status status;

    if (!sequence->ring->is_alive)
        return sequence_forked(err);
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
    enum seqb_status status;

    *taken = 0;
    if (check_count(sequence, count, err) != SEQB_OK)
        return SEQB_INVALID;
    *taken = sequence_take_some(sequence, count, out);
    if (*taken == count)
        return SEQB_OK;
    if (sequence->periodic != NULL)
        return periodic_try_take(
            sequence,
            &(struct queue_take){.out = out, .count = count, .taken = taken},
            err);
    /* Once armed, look again: the delivery may have been just before. */
    status = sequence_again(sequence, err);
    *taken += sequence_take_some(sequence, count - *taken, out + *taken);
    return *taken == count ? SEQB_OK : status;
}

static bool take_run(struct seqb_sequence *sequence, size_t count,
                     int64_t *first)
{
    struct ring *ring = sequence->ring;

    if (count == 1)
        return take_striped(sequence, first) || take_unstriped(sequence, first);
    return was_taken(sequence, ring_take_run(ring, count, first)) ||
           (has_more(sequence) &&
            was_taken(sequence, ring_take_run(ring, count, first)));
}

/* Numbers of several stamps would not be contiguous, nor ids. The count is
 * shown as a caller's negative number that was made a size. */
static enum seqb_status refuse_run(const struct seqb_sequence *sequence,
                                   size_t count, struct seqb_error *err)
{
    const unsigned long long run = 1ULL << sequence->options->memory_bits;

    if (sequence->periodic != NULL)
        return error_set(err, SEQB_INVALID,
                         "sequence %s has a period: its numbers are taken one "
                         "by one, or with their stamp, not %lld contiguous "
                         "ones",
                         sequence->key, (long long)count);
    return error_set(err, SEQB_INVALID,
                     "sequence %s: the increment must be 1 ... %llu "
                     "(2^memory_bits), not %lld",
                     sequence->key, run, (long long)count);
}

enum seqb_status queue_try_run(struct seqb_sequence *sequence, size_t count,
                               int64_t *first, struct seqb_error *err)
{
    const uint64_t run = (uint64_t)1 << sequence->options->memory_bits;
    enum seqb_status status;

    if (count < 1 || count > run)
        return refuse_run(sequence, count, err);
    if (take_run(sequence, count, first))
        return SEQB_OK;
    if (sequence->periodic != NULL && count > 1)
        return refuse_run(sequence, count, err);
    if (sequence->periodic != NULL)
        return periodic_try_take(
            sequence, &(struct queue_take){.out = first, .count = 1}, err);
    status = sequence_again(sequence, err);
    return take_run(sequence, count, first) ? SEQB_OK : status;
}

static enum seqb_status check_take(const struct seqb_sequence *sequence,
                                   const struct queue_take *take,
                                   struct seqb_error *err)
{
    const enum seqb_status status = check_count(sequence, take->count, err);

    if (status != SEQB_OK || !take->is_sharded)
        return status;
    return periodic_check_shard(sequence, take->shard, err);
}

/* A sequence without a period has one stamp, always. */
static void tell_no_stamp(const struct queue_take *take)
{
    if (take->stamp != NULL)
        *take->stamp = (struct seqb_stamp){.ends_ms = INT64_MAX};
}

enum seqb_status queue_take(struct seqb_sequence *sequence,
                            const struct queue_take *take,
                            struct seqb_error *err)
{
    const enum seqb_status status = check_take(sequence, take, err);

    if (status != SEQB_OK)
        return status;
    if (sequence->periodic != NULL)
        return periodic_take(sequence, take, err);
    tell_no_stamp(take);
    return take->count == 1 && take->until_ms == 0
               ? queue_next(sequence, take->out, err)
               : next_many(sequence, take, err);
}

/* More than is ever held would never be there at once. */
static enum seqb_status check_all(const struct seqb_sequence *sequence,
                                  const struct queue_take *take,
                                  struct seqb_error *err)
{
    const int64_t most = sequence->options->max_unused / 2;

    if (take->taken != NULL || take->count == 1 || (int64_t)take->count <= most)
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
    enum seqb_status status = check_take(sequence, take, err);
    size_t taken;

    if (status == SEQB_OK)
        status = check_all(sequence, take, err);
    if (status != SEQB_OK)
        return status;
    if (sequence->periodic != NULL)
        return periodic_try_take(sequence, take, err);
    tell_no_stamp(take);
    if (take->taken == NULL && ring_stock(sequence->ring) < take->count) {
        atomic_store(&sequence->wish, (int64_t)take->count);
        status = sequence_again(sequence, err);
        /* Once armed, look again: the delivery may have been just before. */
        if (ring_stock(sequence->ring) < take->count)
            return status;
    }
    return queue_try_many(sequence, take->count, take->out,
                          take->taken == NULL ? &taken : take->taken, err);
}
