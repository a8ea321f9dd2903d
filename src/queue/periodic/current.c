/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which slot is current. A caller whose clock is within the current
 * stamp reads only that slot. Any other caller asks the guarded clock, and
 * moves to the stamp of the guarded time, once that stamp is kept for the next
 * start.
 */
#include "platform/error.h"
#include "queue/periodic/periodic.h"

/* Ends a stamp: wakes the callers that wait for its numbers, so that they try
 * again. */
static void slot_end(struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&sequence->lock);
    atomic_store(&sequence->is_over, true);
    pthread_cond_broadcast(&sequence->filled);
    pthread_mutex_unlock(&sequence->lock);
    sequence_notify_ready(sequence);
}

/* With the lock held: the stamp's slot becomes the current one. */
static enum seqb_status current_make(struct periodic *periodic,
                                     const struct period_span *span,
                                     struct current_period *out,
                                     struct seqb_error *err)
{
    struct period_slot *was = atomic_load(&periodic->now);
    struct period_slot *slot;

    /* Another caller made the slot of a later stamp current meanwhile. */
    if (was != NULL && atomic_load(&was->stamp) > span->stamp)
        return SEQB_AGAIN;
    slot = periodic_slot(periodic, span);
    if (slot == NULL)
        return error_set(err, SEQB_TIMEOUT,
                         "sequence %s: stores owe answers for each of the last "
                         "%d stamps: they are slow, or the period is short",
                         periodic->front.key, PERIOD_SLOTS - 1);
    periodic_carry(periodic, slot, clock_now_ms());
    atomic_store_explicit(&periodic->now, slot, memory_order_release);
    if (was != NULL && was != slot)
        slot_end(was->sequence);
    (void)current_read(slot, out); /* it cannot change with the lock held */
    return SEQB_OK;
}

enum seqb_status periodic_find_current(struct periodic *periodic,
                                       int64_t until_ms,
                                       struct current_period *out,
                                       struct seqb_error *err)
{
    struct period_span span;
    int64_t time_ms;
    const struct seqb_sequence *front = &periodic->front;
    enum seqb_status status;

    if (sequence_admission(front) == SEQUENCE_ADMITTING)
        return sequence_admitting(front, SEQB_TIMEOUT, err);
    if (sequence_is_removed(front))
        return sequence_unlisted(front, err);
    status = guarded_clock_now(periodic_clock(periodic), &time_ms, err);
    if (status != SEQB_OK)
        return status;
    /* The time of a held clock stays within the stamp. */
    if (periodic_last(periodic, out) && time_ms >= out->span.begin_ms &&
        time_ms < out->span.end_ms)
        return SEQB_OK;
    period_span_at(periodic->front.options->period, time_ms, &span);
    status = guarded_clock_issue(periodic_clock(periodic), span.begin_ms,
                                 until_ms, err);
    if (status != SEQB_OK)
        return status;
    pthread_mutex_lock(&periodic->lock);
    status = periodic->is_closed
                 ? error_set(err, SEQB_CLOSED, "the broker is closing")
                 : current_make(periodic, &span, out, err);
    pthread_mutex_unlock(&periodic->lock);
    sequence_wake(&periodic->front); /* to prepare the next slot in time */
    return status;
}
