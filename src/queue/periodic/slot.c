/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the slots of a sequence with a period, and gives them later stamps. */
#include "queue/periodic/periodic.h"

#include "platform/clock.h"

static bool slot_make(struct periodic *periodic, struct period_slot *slot)
{
    struct seqb_sequence *front = &periodic->front;
    const struct source_setup setup = {
        .context = front->context,
        .pool = ha_counter_pool(front->counter),
        .options = front->options,
        .attributes = periodic->attributes,
        .key = front->key,
        .settings = front->settings,
    };
    struct seqb_sequence *sequence;

    if (sequence_new(&setup, &source_plain, sizeof *sequence, &sequence,
                     NULL) != SEQB_OK)
        return false;
    pthread_mutex_lock(&front->ready_lock);
    sequence_on_ready(sequence, front->ready, front->ready_context);
    pthread_mutex_unlock(&front->ready_lock);
    sequence->may_stripe = true;
    ha_counter_join(sequence->counter, front->counter);
    slot->sequence = sequence;
    return true;
}

static int64_t first_id(const struct periodic *periodic,
                        const struct period_span *span)
{
    const struct bits_layout *ids = periodic->front.options->ids;
    const struct bits_parts parts = {.time_ms = span->begin_ms};
    int64_t id;

    if (ids == NULL || bits_compose(ids, &parts, &id, NULL) != SEQB_OK)
        return -1;
    return id;
}

/* Gives a slot a new stamp, so that its counter counts for that one. False if
 * asks of the old stamp are still in flight; the slot then has no stamp. */
static bool slot_renew(struct periodic *periodic, struct period_slot *slot,
                       const struct period_span *span)
{
    const struct ha_stamp stamp = {span->stamp, span->begin_ms, span->end_ms};
    struct seqb_sequence *sequence = slot->sequence;

    atomic_store(&slot->stamp, 0);
    atomic_store(&sequence->is_over, true);
    if (!ha_counter_restamp(sequence->counter, &stamp))
        return false;
    sequence_renew(sequence, &periodic->taken, &periodic->dropped);
    atomic_store_explicit(&slot->begin_ms, span->begin_ms,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->end_ms, span->end_ms, memory_order_relaxed);
    atomic_store_explicit(&slot->first_id, first_id(periodic, span),
                          memory_order_relaxed);
    atomic_store_explicit(&slot->stamp, span->stamp, memory_order_release);
    atomic_store(&sequence->is_over, false);
    return true;
}

static struct period_slot *slot_find(struct periodic *periodic, int64_t stamp)
{
    for (int i = 0; i < PERIOD_SLOTS; i++) {
        if (atomic_load(&periodic->slots[i].stamp) == stamp)
            return &periodic->slots[i];
    }
    return NULL;
}

struct period_slot *periodic_slot(struct periodic *periodic,
                                  const struct period_span *span)
{
    const struct period_slot *now = atomic_load(&periodic->now);
    struct period_slot *found = slot_find(periodic, span->stamp);

    if (found != NULL)
        return found;
    for (struct period_slot *slot = periodic->slots;
         slot < periodic->slots + PERIOD_SLOTS; slot++) {
        if (slot == now || atomic_load(&slot->stamp) > span->stamp)
            continue;
        if (slot->sequence == NULL && !slot_make(periodic, slot))
            return NULL;
        if (slot_renew(periodic, slot, span))
            return slot;
    }
    return NULL;
}

void periodic_carry(struct periodic *periodic, struct period_slot *to,
                    int64_t now_ms)
{
    const struct period_slot *from = atomic_load(&periodic->now);
    struct refill refill;

    if (from == NULL || from == to)
        return;
    pthread_mutex_lock(&from->sequence->lock);
    refill = from->sequence->refill;
    pthread_mutex_unlock(&from->sequence->lock);
    pthread_mutex_lock(&to->sequence->lock);
    refill_carry(&to->sequence->refill, &refill, now_ms);
    pthread_mutex_unlock(&to->sequence->lock);
}
