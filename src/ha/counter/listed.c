/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stores refuse to a sequence while the topology does not list it. The
 * counters of its stamps are a ring, and all of them get the mark.
 */
#include <stdlib.h>

#include "ha/counter/counter.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/text.h"

/* What has to be reported of one partition. */
struct news {
    bool is_due;
    char *reason; /* why it refuses the sequence; NULL: no memory for it, or it
                     need not any more */
};

/* With the pool's lock held: the slots of partition i. */
static void partition_set_listed(struct ha_counter *counter, int32_t i,
                                 bool is_listed, struct news *out)
{
    const int64_t now_ms = clock_now_ms();
    struct ha_counter *each = counter;

    do {
        struct slot *slot = &each->slots[i];

        if (!is_listed) {
            out->is_due |= slot_unlist(slot);
        } else if (slot_list(slot, now_ms)) {
            free(out->reason);
            out->reason = text_copy_of(refusal_reason(slot->refusal));
            out->is_due = true;
        }
        each = each->next;
    } while (each != counter);
}

/* With the pool's lock held. True if that changes. */
static bool ring_set_listed(struct ha_counter *counter, bool is_listed)
{
    struct ha_counter *each = counter;

    if (counter->is_unlisted != is_listed)
        return false;
    do {
        each->is_unlisted = !is_listed;
        each = each->next;
    } while (each != counter);
    return true;
}

/* With no lock held. */
static void news_report(const struct ha_counter *counter, int32_t i,
                        bool is_listed, const char *reason)
{
    if (!is_listed)
        reason = HA_UNLISTED;
    else if (reason == NULL)
        reason = seqb_status_text(SEQB_LAYOUT);
    slot_report(counter->pool->workers[i], &counter->slots[i],
                is_listed ? SEQB_EVENT_LAYOUT : SEQB_EVENT_COUNTER_RECOVERED,
                NULL, reason);
}

/* The lock is held from the mark to the last slot: whether an answer that comes
 * meanwhile is reported depends on the mark, and what is reported here depends
 * on the slots. */
void ha_counter_set_listed(struct ha_counter *counter, bool is_listed)
{
    struct ha_pool *pool = counter->pool;
    struct news news[HA_PARTITIONS_MAX] = {{.reason = NULL}};

    pthread_mutex_lock(pool->lock);
    if (ring_set_listed(counter, is_listed)) {
        for (int32_t i = 0; i < counter->partitions; i++)
            partition_set_listed(counter, i, is_listed, &news[i]);
    }
    pthread_mutex_unlock(pool->lock);
    for (int32_t i = 0; i < counter->partitions; i++) {
        if (news[i].is_due)
            news_report(counter, i, is_listed, news[i].reason);
        free(news[i].reason);
    }
}
