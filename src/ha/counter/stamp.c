/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that start again with each stamp: their attributes, and the change
 * to another stamp. */
#include <stdlib.h>

#include "ha/counter/counter.h"
#include "ha/counter/sample.h"
#include "ha/counter/window.h"
#include "ha/ha.h"

void ha_counter_set_attributes(struct ha_counter *counter,
                               const struct ha_counter_attributes *attributes)
{
    counter->attributes = attributes;
}

/* With the pool's lock held: no worker has a slot or lease of it, and no caller
 * is about to ask. */
static bool is_idle(struct ha_counter *counter)
{
    for (int32_t i = 0; i < counter->partitions; i++) {
        const struct slot *slot = &counter->slots[i];

        if (slot->is_busy || window_is_asked(slot))
            return false;
    }
    return counter->advancing == 0;
}

static void counter_renew(struct ha_counter *counter)
{
    for (int32_t i = 0; i < counter->partitions; i++)
        slot_renew(&counter->slots[i]);
    for (size_t i = 0; i < CLASSES; i++) {
        counter->level[i] = 0;
        counter->floor[i] = 0;
    }
    free(counter->sample);
    counter->sample = NULL;
    atomic_store_explicit(&counter->runs_out, SAMPLE_NEVER,
                          memory_order_relaxed);
}

bool ha_counter_restamp(struct ha_counter *counter,
                        const struct ha_stamp *stamp)
{
    bool is_done;

    pthread_mutex_lock(counter->pool->lock);
    is_done = is_idle(counter);
    if (is_done) {
        counter->stamp = *stamp;
        counter_renew(counter);
    }
    pthread_mutex_unlock(counter->pool->lock);
    return is_done;
}
