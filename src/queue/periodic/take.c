/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes from a sequence with a period. A number is taken from the slot of one
 * stamp. It belongs to that stamp if the slot still has the stamp afterwards.
 * Otherwise it is a gap, and the next number is taken.
 */
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/thread.h"
#include "queue/periodic/periodic.h"

/* Between two reads of a clock that has to catch up. */
#define CLOCK_REST_MS 5

/* The state of a call. */
struct taking {
    struct seqb_sequence *front;
    const struct queue_take *take;
    size_t have;
    int64_t stamp; /* of the numbers taken; 0: none is taken */
};

/* If the sequence has ids, makes the shard's id of a number that was just
 * taken. */
static inline enum seqb_status make_id(const struct seqb_sequence *front,
                                       const struct current_period *current,
                                       int64_t shard, int64_t *number,
                                       struct seqb_error *err)
{
    const struct bits_layout *ids = front->options->ids;

    if (ids == NULL ||
        LIKELY(bits_compose_at(ids, current->first_id, shard, *number, number)))
        return SEQB_OK;
    return bits_compose(
        ids, &(struct bits_parts){current->span.begin_ms, shard, *number},
        number, err);
}

/* The same for `n` numbers of a call. */
static enum seqb_status make_ids(const struct taking *taking,
                                 const struct current_period *current, size_t n,
                                 int64_t *numbers, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (taking->front->options->ids == NULL)
        return SEQB_OK;
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = make_id(taking->front, current, taking->take->shard,
                         &numbers[i], err);
    return status;
}

static inline struct seqb_stamp stamp_of(const struct current_period *current)
{
    return (struct seqb_stamp){current->span.stamp, current->span.begin_ms,
                               current->span.end_ms};
}

/* Adds `n` numbers. If all have to be of one stamp, drops those of an earlier
 * stamp. */
static void keep_stamp(struct taking *taking,
                       const struct current_period *current, size_t n)
{
    struct seqb_stamp *stamp = taking->take->stamp;

    if (stamp != NULL && taking->stamp != current->span.stamp) {
        memmove(taking->take->out, taking->take->out + taking->have,
                n * sizeof *taking->take->out);
        taking->have = 0;
        *stamp = stamp_of(current);
    }
    taking->stamp = current->span.stamp;
    taking->have += n;
}

/* Takes the only number of the call. */
static inline enum seqb_status take_one(const struct seqb_sequence *front,
                                        const struct queue_take *take,
                                        const struct current_period *current,
                                        struct seqb_error *err)
{
    if (!sequence_take_one(current->slot->sequence, take->out) ||
        !current_holds(current))
        return SEQB_AGAIN;
    if (take->stamp != NULL)
        *take->stamp = stamp_of(current);
    return make_id(front, current, take->shard, take->out, err);
}

static enum seqb_status take_several(struct taking *taking,
                                     const struct current_period *current,
                                     struct seqb_error *err)
{
    const size_t left = taking->take->count - taking->have;
    int64_t *out = taking->take->out + taking->have;
    const size_t n = sequence_take_some(current->slot->sequence, left, out);
    enum seqb_status status;

    if (n == 0 || !current_holds(current))
        return SEQB_AGAIN;
    status = make_ids(taking, current, n, out, err);
    if (status != SEQB_OK)
        return status;
    keep_stamp(taking, current, n);
    return taking->have == taking->take->count ? SEQB_OK : SEQB_AGAIN;
}

/* Takes what the current ring holds. SEQB_AGAIN: that was not enough. */
static enum seqb_status take_there(struct taking *taking,
                                   const struct current_period *current,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    if (taking->take->count > 1)
        return take_several(taking, current, err);
    status = take_one(taking->front, taking->take, current, err);
    taking->have = status == SEQB_OK;
    return status;
}

/* --- waiting --- */

/* Waits until `until_ms`, or until the sequence is closed or removed: for the
 * clock to catch up, or for a free slot. SEQB_AGAIN or SEQB_CLOSED. */
static enum seqb_status rest(struct seqb_sequence *front, int64_t until_ms,
                             struct seqb_error *err)
{
    bool is_closed;

    pthread_mutex_lock(&front->lock);
    if (!front->is_closed && !sequence_is_removed(front))
        (void)condition_wait(&front->filled, &front->lock, until_ms);
    is_closed = front->is_closed;
    pthread_mutex_unlock(&front->lock);
    return is_closed ? error_set(err, SEQB_CLOSED, "the broker is closing")
                     : SEQB_AGAIN;
}

/* When the current period is over, by clock_now_ms. If the machine's clock is
 * past its end and the guarded clock does not believe that: when to look
 * again. */
static int64_t current_ends_ms(const struct current_period *current)
{
    const int64_t left_ms = current->span.end_ms - clock_wall_ms();

    return clock_now_ms() + (left_ms > 0 ? left_ms : CLOCK_REST_MS);
}

/* SEQB_EXHAUSTED: the stamp has no more numbers. */
static enum seqb_status full(const struct seqb_sequence *front,
                             const struct current_period *current,
                             const struct seqb_error *why,
                             struct seqb_error *err)
{
    struct seqb_error copy = *why;

    return error_set(err, SEQB_EXHAUSTED,
                     "sequence %s: stamp %lld is used up, the next one begins "
                     "in %lld ms: %s",
                     front->key, (long long)current->span.stamp,
                     (long long)(current->span.end_ms - clock_wall_ms()),
                     copy.text);
}

/* Waits for numbers of the current period. SEQB_AGAIN: try again. */
static enum seqb_status current_wait(struct seqb_sequence *front,
                                     const struct current_period *current,
                                     int64_t until_ms, struct seqb_error *err)
{
    struct seqb_sequence *sequence = current->slot->sequence;
    const int64_t ends_ms = current_ends_ms(current);
    const int64_t soonest_ms = min_of(ends_ms, until_ms);
    struct seqb_error why = {.status = SEQB_OK};
    enum seqb_status status;

    sequence_wait_begin(sequence);
    status = sequence_wait(sequence, soonest_ms, &why);
    sequence_wait_end(sequence);
    if (status == SEQB_OK || status == SEQB_AGAIN)
        return SEQB_AGAIN;
    if (status == SEQB_EXHAUSTED) {
        if (!front->settings->full_waits || ends_ms >= until_ms)
            return full(front, current, &why, err);
        return rest(front, ends_ms, err);
    }
    if ((status == SEQB_TIMEOUT || status == SEQB_UNAVAILABLE) &&
        clock_now_ms() < until_ms)
        return SEQB_AGAIN;
    return error_copy(err, &why);
}

/* For a caller whose clock is not within the current stamp: waits until it is
 * known which slot is current. */
static enum seqb_status current_await(struct seqb_sequence *front,
                                      int64_t until_ms,
                                      struct current_period *current,
                                      struct seqb_error *err)
{
    enum seqb_status status =
        periodic_find_current(periodic_of(front), until_ms, current, err);

    while (current_may_come(status)) {
        const int64_t now_ms = clock_now_ms();

        if (now_ms >= until_ms && sequence_is_unasked(front))
            return sequence_admitting(front, SEQB_UNAVAILABLE, err);
        if (now_ms >= until_ms)
            return status == SEQB_TIMEOUT
                       ? status
                       : error_set(
                             err, SEQB_CLOCK,
                             "sequence %s: the clock is behind the last stamp, "
                             "or what is issued could not be kept in time",
                             front->key);
        status = rest(front, min_of(now_ms + CLOCK_REST_MS, until_ms), err);
        if (status == SEQB_AGAIN)
            status = periodic_find_current(periodic_of(front), until_ms,
                                           current, err);
    }
    return status;
}

static enum seqb_status take_waiting(struct taking *taking,
                                     struct seqb_error *err)
{
    struct seqb_sequence *front = taking->front;
    const int64_t until_ms = taking->take->until_ms != 0
                                 ? taking->take->until_ms
                                 : sequence_until(front);
    enum seqb_status status = SEQB_AGAIN;
    struct current_period current;

    while (status == SEQB_AGAIN) {
        if (!periodic_current(periodic_of(front), &current)) {
            status = current_await(front, until_ms, &current, err);
            if (status != SEQB_OK)
                return status;
        }
        status = take_there(taking, &current, err);
        if (status == SEQB_AGAIN)
            status = current_wait(front, &current, until_ms, err);
    }
    return status;
}

/* The ring did not hold enough, or no stamp is current by the machine's
 * clock. */
static enum seqb_status take_more(struct taking *taking, struct seqb_error *err)
{
    struct seqb_sequence *front = taking->front;
    enum seqb_status status;

    if (!front->ring->is_alive)
        return queue_forked(err);
    /* So that the front is not freed during any of the waits. */
    sequence_wait_begin(front);
    status = take_waiting(taking, err);
    sequence_wait_end(front);
    return status;
}

static enum seqb_status take_all(struct seqb_sequence *front,
                                 const struct queue_take *take,
                                 struct seqb_error *err)
{
    struct taking taking = {.front = front, .take = take};
    struct current_period current;
    enum seqb_status status = SEQB_AGAIN;

    if (take->is_contiguous)
        return refuse_run(front->options, front->key, take->count, err);
    if (periodic_current(periodic_of(front), &current))
        status = take_several(&taking, &current, err);
    return status == SEQB_AGAIN ? take_more(&taking, err) : status;
}

enum seqb_status periodic_take(struct seqb_sequence *front,
                               const struct queue_take *take,
                               struct seqb_error *err)
{
    struct current_period current;
    enum seqb_status status = SEQB_AGAIN;

    if (take->count != 1)
        return take_all(front, take, err);
    if (LIKELY(periodic_current(periodic_of(front), &current)))
        status = take_one(front, take, &current, err);
    if (LIKELY(status != SEQB_AGAIN))
        return status;
    return take_more(&(struct taking){.front = front, .take = take}, err);
}

/* --- without waiting --- */

/* It is not known yet which slot is current. The refill thread calls the ready
 * function when it is. */
static enum seqb_status current_again(struct seqb_sequence *front,
                                      struct seqb_error *err)
{
    atomic_store(&front->is_armed, true);
    sequence_wake(front);
    if (sequence_is_unasked(front))
        return sequence_admitting(front, SEQB_UNAVAILABLE, err);
    if (err != NULL) {
        err->status = SEQB_AGAIN;
        err->text[0] = '\0';
    }
    return SEQB_AGAIN;
}

/* Takes what is there; for all or none, only if there is enough. */
static enum seqb_status try_take(struct taking *taking,
                                 const struct current_period *current,
                                 struct seqb_error *err)
{
    struct seqb_sequence *sequence = current->slot->sequence;
    const bool is_all = taking->take->taken == NULL;

    if (is_all && ring_stock(sequence->ring) < taking->take->count) {
        atomic_store(&sequence->wanted, (int64_t)taking->take->count);
        return SEQB_AGAIN;
    }
    return take_there(taking, current, err);
}

static enum seqb_status try_there(struct taking *taking,
                                  const struct current_period *current,
                                  struct seqb_error *err)
{
    struct seqb_error why = {.status = SEQB_OK};
    enum seqb_status status = try_take(taking, current, err);

    if (status != SEQB_AGAIN)
        return status;
    status = sequence_again(current->slot->sequence, &why);
    if (status == SEQB_EXHAUSTED)
        return taking->front->settings->full_waits
                   ? current_again(taking->front, err)
                   : full(taking->front, current, &why, err);
    (void)error_copy(err, &why);
    /* Check again after the ready call was armed: numbers may have arrived just
     * before. */
    return status == SEQB_AGAIN ? try_take(taking, current, err) : status;
}

enum seqb_status periodic_try_take(struct seqb_sequence *front,
                                   const struct queue_take *take,
                                   struct seqb_error *err)
{
    struct taking taking = {.front = front, .take = take};
    struct current_period current;
    enum seqb_status status = SEQB_OK;

    if (take->is_contiguous && take->count != 1)
        return refuse_run(front->options, front->key, take->count, err);
    if (!front->ring->is_alive)
        return queue_forked(err);
    if (!periodic_current(periodic_of(front), &current))
        status = periodic_find_current(periodic_of(front), 0, &current, err);
    if (status == SEQB_OK)
        status = try_there(&taking, &current, err);
    else if (current_may_come(status))
        status = current_again(front, err);
    if (take->taken != NULL)
        *take->taken = taking.have;
    return status;
}
