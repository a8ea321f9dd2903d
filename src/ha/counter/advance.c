/* SPDX-License-Identifier: Apache-2.0 */
/* An operator advances a counter: a floor for every partition, and a run from
 * each, so that the stores are above the floor, too. */
#include "ha/counter/source.h"
#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/thread.h"

#define LOOK_MS 50 /* between two looks at whether the broker closes */

/* --- the floor --- */

/* With the pool's lock held. */
static int64_t counter_highest(const struct ha_counter *counter)
{
    const int memory_bits = (unsigned char)counter->memory_bits;
    int64_t highest = 0;

    for (int32_t i = 0; i < counter->partitions; i++) {
        const int64_t last = counter->slots[i].last;
        int64_t number;

        if (last == 0)
            continue;
        number = layout_number(last, i, counter->pool->options->layout.bits,
                               memory_bits) |
                 (((int64_t)1 << memory_bits) - 1);
        if (number > highest)
            highest = number;
    }
    return highest;
}

int64_t ha_counter_highest(struct ha_counter *counter)
{
    struct ha_pool *pool = counter->pool;
    int64_t highest;

    pthread_mutex_lock(pool->lock);
    highest = counter_highest(counter);
    pthread_mutex_unlock(pool->lock);
    return highest;
}

/* The highest number that every partition can still exceed. */
static int64_t counter_bound(const struct ha_counter *counter)
{
    const struct ha_pool_options *pool = counter->pool->options;
    const int32_t spent_bits = counter_spent_bits(counter);
    const int32_t low_bits = pool->layout.bits + counter->memory_bits;
    const int32_t window_bits = counter_window_bits(counter);
    const int64_t windows =
        layout_window_max(spent_bits, counter->memory_bits, window_bits);

    for (int32_t i = 0; i < counter->partitions; i++) {
        if (slot_class(&counter->slots[i]) == SEQB_WINDOWED)
            return (windows << (window_bits + low_bits)) - 1;
    }
    return (layout_counter_max(spent_bits, counter->memory_bits) << low_bits) -
           1;
}

/* With the pool's lock held. */
static enum seqb_status advance_check(const struct ha_counter *counter,
                                      int64_t to, struct seqb_error *err)
{
    const int64_t highest = counter_highest(counter);
    const int64_t bound = counter_bound(counter);

    if (to < 1)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: %lld is no number: they are 1 or more",
                         counter->key, (long long)to);
    if (to > bound)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: %lld is beyond its bits: it can be "
                         "advanced to %lld at most",
                         counter->key, (long long)to, (long long)bound);
    if (to <= highest)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: numbers up to %lld were granted "
                         "already, and it never goes back: advance it beyond "
                         "that, not to %lld",
                         counter->key, (long long)highest, (long long)to);
    return SEQB_OK;
}

/* Skips the whole value, or window, that the number lies in. */
enum seqb_status ha_counter_advance(struct ha_counter *counter, int64_t to,
                                    struct seqb_error *err)
{
    struct ha_pool *pool = counter->pool;
    const int64_t value =
        to >> (pool->options->layout.bits + counter->memory_bits);
    const int64_t window = value >> counter_window_bits(counter);
    enum seqb_status status;

    pthread_mutex_lock(pool->lock);
    status = advance_check(counter, to, err);
    if (status == SEQB_OK && value > counter->floor[SEQB_DIRECT])
        counter->floor[SEQB_DIRECT] = value;
    if (status == SEQB_OK && window > counter->floor[SEQB_WINDOWED])
        counter->floor[SEQB_WINDOWED] = window;
    pthread_mutex_unlock(pool->lock);
    return status;
}

/* --- raising the stores; the pool's lock is held unless noted --- */

static bool slot_is_above(const struct slot *slot)
{
    const struct ha_counter *counter = slot->counter;
    const enum seqb_guarantee class = slot_class(slot);
    const int64_t last = class == SEQB_WINDOWED
                             ? slot->last >> counter_window_bits(counter)
                             : slot->last;

    /* An exhausted slot grants nothing any more. */
    return last > counter->floor[class] || slot_closed(slot) == SEQB_EXHAUSTED;
}

static bool slot_may_rise(const struct slot *slot)
{
    return !slot_is_above(slot) && slot_closed(slot) == SEQB_OK &&
           pool_is_usable(&slot->counter->pool->pool, slot->partition);
}

/* Asks the slots that are below the floor and were not asked yet, or had to
 * wait for those. Before that, all stores are asked for their claims. */
static void raise_post(struct ha_counter *counter, uint64_t *asked)
{
    if (counter_ask_claims(counter, clock_now_ms()))
        return;
    for (int32_t i = 0; i < counter->partitions; i++) {
        struct slot *slot = &counter->slots[i];

        if (!slot_may_rise(slot) || slot->is_busy ||
            ((*asked >> i & 1) != 0 && !slot->is_waiting))
            continue;
        slot_ask(slot, 1, clock_now_ms());
        *asked |= (uint64_t)1 << i;
        (void)worker_push(counter->pool->workers[i], &slot->job);
    }
}

static bool raise_is_pending(const struct ha_counter *counter)
{
    for (int32_t i = 0; i < counter->partitions; i++) {
        if (slot_may_rise(&counter->slots[i]) && counter->slots[i].is_busy)
            return true;
    }
    return false;
}

/* With the pool's lock held: waits a moment for an answer. False if the time is
 * over, or the broker closes. */
static bool raise_rest(struct ha_pool *pool, int64_t until_ms)
{
    const int64_t now_ms = clock_now_ms();
    const int64_t latest_ms =
        min_of(until_ms, atomic_load_explicit(pool->workers[0]->limit_ms,
                                              memory_order_relaxed));

    if (now_ms >= latest_ms)
        return false;
    (void)condition_wait(&pool->answered, pool->lock,
                         min_of(latest_ms, now_ms + LOOK_MS));
    return true;
}

/* A slot that is busy when this begins may have been asked for values that are
 * too low, so it is asked again after its answer. Each slot is asked once. */
static void raise_all(struct ha_counter *counter, int64_t until_ms)
{
    struct ha_pool *pool = counter->pool;
    uint64_t asked = 0;
    bool in_time = true;

    counter->advancing++;
    raise_post(counter, &asked);
    while (in_time && raise_is_pending(counter)) {
        in_time = raise_rest(pool, until_ms);
        raise_post(counter, &asked);
    }
    counter->advancing--;
}

/* The highest window that was granted or leased. */
static int64_t windows_level(const struct ha_counter *counter)
{
    int64_t level = counter->level[SEQB_WINDOWED];

    for (int32_t i = 0; i < counter->partitions; i++) {
        if (counter->slots[i].windows != NULL)
            level = max_of(level, source_last(counter->slots[i].windows));
    }
    return level;
}

/* A cell above the floor does not show whether its authority is, which may have
 * been put back. So the slots are asked once more, above all known windows:
 * each of them needs a new lease then. Neighbours are level with each other. A
 * level in the upper half of the range is ignored: see fence_level_floor. */
static void raise_authority(struct ha_counter *counter, int64_t until_ms)
{
    const int64_t level = windows_level(counter);

    if (counter->pool->authority == NULL ||
        level > slot_window_max(&counter->slots[0]) / 2)
        return;
    counter->floor[SEQB_WINDOWED] =
        max_of(counter->floor[SEQB_WINDOWED], level);
    raise_all(counter, until_ms);
}

static const char *slot_why_low(const struct slot *slot)
{
    const struct pool_member *member =
        &slot->counter->pool->pool.member[slot->partition];

    if (!pool_state_is_usable(member->state))
        return member->reason[0] != '\0'
                   ? member->reason
                   : seqb_partition_state_name(member->state);
    if (slot->is_busy)
        return "no answer in time";
    return slot->refusal != NULL ? refusal_reason(slot->refusal)
                                 : "asked in vain";
}

static enum seqb_status raise_evaluate(const struct ha_counter *counter,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < counter->partitions; i++) {
        const struct slot *slot = &counter->slots[i];
        const char *why;

        if (slot_is_above(slot))
            continue;
        if (status == SEQB_OK)
            status = error_set(err, SEQB_UNAVAILABLE,
                               "sequence %s is advanced, but not in every "
                               "store; this broker raises the others before it "
                               "uses them",
                               counter->key);
        why = slot_why_low(slot);
        (void)text_append(err->text, sizeof err->text,
                          "; partition %d (%s): %.*s", (int)i,
                          worker_name(counter->pool->workers[i]),
                          pool_reason_bytes(&counter->pool->pool, i, why), why);
    }
    return status;
}

enum seqb_status ha_counter_raise(struct ha_counter *counter, int64_t until_ms,
                                  struct seqb_error *err)
{
    struct ha_pool *pool = counter->pool;
    struct seqb_error why;
    enum seqb_status status;
    int64_t floor;

    pthread_mutex_lock(pool->lock);
    raise_all(counter, until_ms);
    raise_authority(counter, until_ms);
    status = raise_evaluate(counter, &why);
    floor = counter->floor[SEQB_DIRECT];
    pthread_mutex_unlock(pool->lock);
    if (status == SEQB_OK)
        (void)text_format(why.text, sizeof why.text,
                          "by an operator, beyond counter value %lld",
                          (long long)floor);
    ha_counter_report(counter, SEQB_EVENT_ADVANCED, why.text);
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}
