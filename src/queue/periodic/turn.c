/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is. A caller whose clock is within the current stamp looks at
 * nothing else; any other asks the guarded clock, and moves on to the stamp
 * that it says, once that is kept for the next start.
 */
#include "platform/clock.h"
#include "platform/error.h"
#include "queue/periodic/periodic.h"

/* Reads a term; false while it changes. */
static bool turn_read(struct term *term, struct turn *out)
{
    /* Pairs with the release in term_renew. */
    out->span.stamp = atomic_load_explicit(&term->stamp, memory_order_acquire);
    out->span.begin_ms =
        atomic_load_explicit(&term->begin_ms, memory_order_relaxed);
    out->span.end_ms =
        atomic_load_explicit(&term->end_ms, memory_order_relaxed);
    out->first_id = atomic_load_explicit(&term->first_id, memory_order_relaxed);
    out->term = term;
    return out->span.stamp != 0;
}

bool periodic_last(struct periodic *periodic, struct turn *out)
{
    struct term *term =
        atomic_load_explicit(&periodic->now, memory_order_acquire);

    return term != NULL && turn_read(term, out);
}

bool periodic_current(struct periodic *periodic, struct turn *out)
{
    return periodic_last(periodic, out) &&
           clock_wall_is_within(out->span.begin_ms, out->span.end_ms);
}

/* The fence keeps this look behind the taking. */
bool turn_holds(const struct turn *turn)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&turn->term->stamp, memory_order_relaxed) ==
           turn->span.stamp;
}

/* Those who wait for numbers of a stamp that is over look again. */
static void term_end(struct seqb_sequence *sequence)
{
    pthread_mutex_lock(&sequence->lock);
    atomic_store(&sequence->is_over, true);
    pthread_cond_broadcast(&sequence->filled);
    pthread_mutex_unlock(&sequence->lock);
    sequence_tell_ready(sequence);
}

/* With the lock held: the stamp's term becomes the current one. */
static enum seqb_status turn_make(struct periodic *periodic,
                                  const struct period_span *span,
                                  struct turn *out, struct seqb_error *err)
{
    struct term *was = atomic_load(&periodic->now);
    struct term *term;

    /* Another caller has come to a later stamp meanwhile. */
    if (was != NULL && atomic_load(&was->stamp) > span->stamp)
        return SEQB_AGAIN;
    term = periodic_term(periodic, span);
    if (term == NULL)
        return error_set(err, SEQB_TIMEOUT,
                         "sequence %s: stores owe answers for each of the last "
                         "%d stamps: they are slow, or the period is short",
                         periodic->front.key, TERMS - 1);
    periodic_carry(periodic, term, clock_now_ms());
    atomic_store_explicit(&periodic->now, term, memory_order_release);
    if (was != NULL && was != term)
        term_end(was->sequence);
    (void)turn_read(term, out); /* with the lock held it does not change */
    return SEQB_OK;
}

enum seqb_status periodic_turn(struct periodic *periodic, int64_t until_ms,
                               struct turn *out, struct seqb_error *err)
{
    struct period_span span;
    int64_t time_ms;
    enum seqb_status status = wall_now(periodic_wall(periodic), &time_ms, err);

    if (status != SEQB_OK)
        return status;
    /* A clock that is held stays within the stamp. */
    if (periodic_last(periodic, out) && time_ms >= out->span.begin_ms &&
        time_ms < out->span.end_ms)
        return SEQB_OK;
    period_span_at(periodic->front.options->period, time_ms, &span);
    status = wall_issue(periodic_wall(periodic), span.begin_ms, until_ms, err);
    if (status != SEQB_OK)
        return status;
    pthread_mutex_lock(&periodic->lock);
    status = periodic->is_closed
                 ? error_set(err, SEQB_CLOSED, "the broker is closing")
                 : turn_make(periodic, &span, out, err);
    pthread_mutex_unlock(&periodic->lock);
    sequence_wake(&periodic->front); /* to have the next one ready in time */
    return status;
}
