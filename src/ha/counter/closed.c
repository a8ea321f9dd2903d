/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What closes a sequence for good: a store knows it by other settings. The
 * counters of one sequence, one for each stamp at hand, are a ring, so that
 * all of them are closed.
 */
#include "ha/counter/counter.h"

void ha_counter_join(struct ha_counter *counter, struct ha_counter *other)
{
    pthread_mutex_lock(other->pool->lock);
    counter->is_void = other->is_void;
    counter->is_unlisted = other->is_unlisted;
    counter->next = other->next;
    other->next = counter;
    pthread_mutex_unlock(other->pool->lock);
}

/* With the pool's lock held. */
static void ring_void(struct ha_counter *counter)
{
    struct ha_counter *each = counter;

    do {
        each->is_void = true;
        each = each->next;
    } while (each != counter);
}

static struct ha_counter *ring_next(const struct ha_counter *counter)
{
    struct ha_counter *next;

    pthread_mutex_lock(counter->pool->lock);
    next = counter->next;
    pthread_mutex_unlock(counter->pool->lock);
    return next;
}

/* The other counters of the sequence learn it now, since they may be asked for
 * nothing more. */
static void ring_report(const struct ha_counter *counter)
{
    const struct ha_grant none = {.is_void = true};

    for (struct ha_counter *each = ring_next(counter); each != counter;
         each = ring_next(each))
        each->sink->deliver(each->sink, &none);
}

void counter_void(struct ha_counter *counter, enum seqb_status status)
{
    bool is_news;

    if (status != SEQB_LAYOUT)
        return;
    pthread_mutex_lock(counter->pool->lock);
    is_news = !counter->is_void;
    ring_void(counter);
    pthread_mutex_unlock(counter->pool->lock);
    if (is_news)
        ring_report(counter);
}

bool counter_is_closed(const struct ha_counter *counter)
{
    bool is_void;

    pthread_mutex_lock(counter->pool->lock);
    is_void = counter->is_void;
    pthread_mutex_unlock(counter->pool->lock);
    return is_void;
}

const struct slot *slot_that_closed(const struct ha_counter *counter, int32_t i)
{
    const struct ha_counter *each = counter;

    do {
        if (slot_closed(&each->slots[i]) == SEQB_LAYOUT)
            return &each->slots[i];
        each = each->next;
    } while (each != counter);
    return NULL;
}

/* With the pool's lock held: whether an answer for the sequence is still to be
 * noted. */
static bool ring_is_busy(const struct ha_counter *counter)
{
    const struct ha_counter *each = counter;
    bool is_busy = false;

    do {
        for (int32_t i = 0; i < each->partitions; i++)
            is_busy |= each->slots[i].is_busy;
        each = each->next;
    } while (each != counter);
    return is_busy;
}

bool counter_closing_is_noted(const struct ha_counter *counter)
{
    for (int32_t i = 0; counter->is_void && i < counter->partitions; i++) {
        if (slot_that_closed(counter, i) != NULL)
            return true;
    }
    return counter->is_void && !ring_is_busy(counter);
}
