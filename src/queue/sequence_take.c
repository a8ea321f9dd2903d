/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/sequence_take.h"

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"

enum seqb_status sequence_forked(struct seqb_error *err)
{
    return error_set(err, SEQB_FORKED,
                     "the broker was opened before fork(): open one in the "
                     "child");
}

int64_t sequence_until(const struct seqb_sequence *sequence)
{
    return clock_now_ms() + sequence->options->deadline_ms;
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
static bool is_hopeless(struct seqb_sequence *sequence)
{
    const enum seqb_status outlook =
        ha_counter_outlook(sequence->counter, NULL);

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
        sequence_wake(sequence);
        if (sequence->is_closed)
            status = error_set(err, SEQB_CLOSED, "the broker is closing");
        else if (atomic_load(&sequence->is_over))
            status = SEQB_AGAIN;
        else if (is_hopeless(sequence) ||
                 (!condition_wait(&sequence->filled, &sequence->lock,
                                  until_ms) &&
                  ring_stock(sequence->ring) == 0))
            status = timed_out(sequence, err);
    }
    pthread_mutex_unlock(&sequence->lock);
    return status;
}

/* With the lock held. Before the first plan there is no mark to reach; the
 * plan of a sequence that was never used holds REFILL_MIN. */
static bool is_warm(const struct seqb_sequence *sequence)
{
    const int64_t stock = (int64_t)ring_stock(sequence->ring);
    const int64_t most = sequence->options->max_unused;
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

/* Wakes the refill if the ring fell low; false if it was found empty. */
static bool was_taken(struct seqb_sequence *sequence, enum ring_taken taken)
{
    if (taken == RING_TAKEN_LOW)
        sequence_wake(sequence);
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

bool sequence_take_unstriped(struct seqb_sequence *sequence, int64_t *out)
{
    struct stripes *stripes =
        atomic_load_explicit(&sequence->stripes, memory_order_acquire);

    return was_taken(sequence,
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
        return sequence_take_striped(sequence, first) ||
               sequence_take_unstriped(sequence, first);
    return was_taken(sequence, ring_take_run(ring, count, first)) ||
           (has_more(sequence) &&
            was_taken(sequence, ring_take_run(ring, count, first)));
}

enum seqb_status sequence_again(struct seqb_sequence *sequence,
                                struct seqb_error *err)
{
    enum seqb_status status;

    if (!sequence->ring->is_alive)
        return sequence_forked(err);
    atomic_fetch_add_explicit(&sequence->waits, 1, memory_order_relaxed);
    atomic_store(&sequence->is_armed, true);
    sequence_wake(sequence);
    status = ha_counter_outlook(sequence->counter, err);
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
