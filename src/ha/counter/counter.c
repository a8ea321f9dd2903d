/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence's counter in every partition of its pool: which partition is asked
 * next, what was granted, and why nothing is granted.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/counter/sample.h"
#include "ha/counter/window.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

enum seqb_status ha_counter_new(struct ha_pool *pool, const char *key,
                                int32_t memory_bits, struct ha_sink *sink,
                                struct ha_counter **out, struct seqb_error *err)
{
    const int32_t partitions = 1 << pool->options->layout.bits;
    const size_t key_size = strlen(key) + 1;
    struct ha_counter *counter =
        calloc(1, sizeof *counter + key_size +
                      (size_t)partitions * sizeof counter->slots[0]);

    if (counter == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         key);
    counter->pool = pool;
    counter->sink = sink;
    counter->next = counter;
    counter->memory_bits = (int8_t)memory_bits;
    counter->partitions = (int16_t)partitions;
    atomic_init(&counter->runs_out, SAMPLE_NEVER);
    counter->key = memcpy(&counter->slots[partitions], key, key_size);
    for (int32_t i = 0; i < partitions; i++)
        slot_init(&counter->slots[i], counter, i);
    *out = counter;
    return SEQB_OK;
}

void ha_counter_free(struct ha_counter *counter)
{
    if (counter == NULL)
        return;
    for (int32_t i = 0; i < counter->partitions; i++) {
        window_source_free(counter->slots[i].windows);
        refusal_free(counter->slots[i].refusal);
    }
    free(counter->sample);
    free(counter->purge);
    free(counter);
}

/* --- asking --- */

bool ha_counter_has_past(const struct ha_counter *counter)
{
    return counter->pool->options->layout.generation > 1;
}

/* Bit i: partition i is not to be asked for this counter now. */
static uint64_t counter_skip(const struct ha_counter *counter, int64_t now_ms)
{
    uint64_t skip = 0;

    for (int32_t i = 0; i < counter->pool->pool.partitions; i++) {
        if (!slot_is_open(&counter->slots[i], now_ms))
            skip |= (uint64_t)1 << i;
    }
    return skip;
}

static int32_t count_usable(const struct pool *pool, uint64_t skip)
{
    int32_t n = 0;

    for (int32_t i = 0; i < pool->partitions; i++)
        n += pool_is_usable(pool, i) && (skip >> i & 1) == 0;
    return n;
}

bool counter_ask_claims(struct ha_counter *counter, int64_t now_ms)
{
    bool is_waiting = false;

    if (counter->attributes == NULL || !counter->attributes->asks_first)
        return false;
    for (int32_t i = 0; i < counter->pool->pool.partitions; i++) {
        struct slot *slot = &counter->slots[i];

        if ((counter->claims_read >> i & 1) != 0 ||
            !pool_is_usable(&counter->pool->pool, i))
            continue;
        if (slot_is_open(slot, now_ms)) {
            slot_ask(slot, 0, now_ms);
            slot->is_busy = worker_push(counter->pool->workers[i], &slot->job);
        }
        is_waiting |= slot->is_busy;
    }
    return is_waiting;
}

/* With the pool's lock held: posts the slots to ask. Returns how many runs were
 * asked for. */
static int64_t counter_post(struct ha_counter *counter, int64_t count,
                            enum ha_spread spread, int64_t now_ms)
{
    struct pool *pool = &counter->pool->pool;
    uint64_t skip = counter_skip(counter, now_ms);
    const uint64_t hanging = pool_hanging(counter->pool, now_ms);
    const bool all = spread == HA_ASK_ALL;
    /* Not more in all than was asked for: the caller has to keep a bound. */
    const int32_t parts =
        all ? (int32_t)min_of(count_usable(pool, skip), count) : 1;
    int64_t asked = 0;

    for (int32_t n = 0; n < parts; n++) {
        int32_t i = pool_pick(pool, skip | hanging, all, now_ms);
        struct slot *slot;

        if (i < 0)
            i = pool_pick(pool, skip, all, now_ms);
        if (i < 0)
            break;
        slot = &counter->slots[i];
        slot_ask(slot,
                 min_of(count / parts + (n < count % parts), SEQB_GRANT_MAX),
                 now_ms);
        skip |= (uint64_t)1 << i;
        if (worker_push(counter->pool->workers[i], &slot->job))
            asked += slot->want;
    }
    return asked;
}

int64_t ha_counter_ask(struct ha_counter *counter, int64_t count,
                       enum ha_spread spread, int64_t now_ms)
{
    struct ha_pool *pool = counter->pool;
    int32_t forced = -1;
    int64_t asked = 0;
    bool is_waiting;

    pthread_mutex_lock(pool->lock);
    pool->recent = counter;
    is_waiting = counter_ask_claims(counter, now_ms);
    if (!is_waiting && !counter->is_void)
        asked = counter_post(counter, count, spread, now_ms);
    if (asked == 0 && !is_waiting)
        forced = pool_force_probe(&pool->pool, counter_skip(counter, now_ms),
                                  now_ms);
    pthread_mutex_unlock(pool->lock);
    if (forced >= 0)
        worker_wake(pool->workers[forced]);
    return asked;
}

static int64_t pool_delay_ms(const struct pool *pool)
{
    int64_t sum_us = 0;
    int64_t n = 0;

    for (int32_t i = 0; i < pool->partitions; i++) {
        if (!pool_is_usable(pool, i))
            continue;
        sum_us += pool->member[i].latency_us;
        n++;
    }
    return n == 0 ? 0 : sum_us / n / 1000;
}

void ha_counter_view(struct ha_counter *counter, int64_t now_ms,
                     struct ha_view *out)
{
    struct ha_pool *pool = counter->pool;

    pthread_mutex_lock(pool->lock);
    *out = (struct ha_view){.delay_ms = pool_delay_ms(&pool->pool),
                            .late_ms = INT64_MAX,
                            .is_closed = counter->is_void};
    for (int32_t i = 0; i < pool->pool.partitions; i++) {
        const struct slot *slot = &counter->slots[i];
        int64_t late_ms;

        if (!slot->is_busy)
            continue;
        late_ms = slot->at_ms + pool_patience_ms(&pool->pool, i) + 1;
        out->all += slot->want;
        if (now_ms >= late_ms)
            continue;
        out->fresh += slot->want;
        out->late_ms = min_of(out->late_ms, late_ms);
    }
    pthread_mutex_unlock(pool->lock);
}

/* Why partition i grants this counter nothing now; NULL if it may be asked. */
static const char *slot_trouble(const struct ha_counter *counter, int32_t i,
                                int64_t now_ms)
{
    const struct slot *slot = &counter->slots[i];
    const struct pool_member *member = &counter->pool->pool.member[i];
    const char *words = seqb_partition_state_name(member->state);
    const struct slot *closed =
        counter->is_void ? slot_that_closed(counter, i) : NULL;

    if (closed != NULL)
        return refusal_reason(closed->refusal);
    /* Never again, or until a retry succeeds. */
    if (slot_closed(slot) != SEQB_OK || (refusal_is_reported(slot->refusal) &&
                                         pool_state_is_usable(member->state)))
        return refusal_reason(slot->refusal);
    if (pool_state_is_usable(member->state))
        return slot_is_open(slot, now_ms) || slot->is_busy ||
                       slot->refusal == NULL
                   ? NULL
                   : refusal_reason(slot->refusal);
    return member->reason[0] != '\0' ? member->reason : words;
}

/* With the pool's lock held: fills `err` with the reason of every partition. */
static enum seqb_status describe_trouble(const struct ha_counter *counter,
                                         enum seqb_status status,
                                         int64_t now_ms, struct seqb_error *err)
{
    const struct ha_pool *pool = counter->pool;

    if (counter->awaited == AWAITS_OWN_POOL && status != SEQB_LAYOUT)
        (void)error_set(err, status,
                        "sequence %s is new in pool %s, and no store of that "
                        "pool that keeps it has noted it",
                        counter->key, pool->options->layout.name);
    else
        (void)error_set(err, status, "sequence %s: %s", counter->key,
                        seqb_status_text(status));
    for (int32_t i = 0; err != NULL && i < pool->pool.partitions; i++) {
        const char *why = slot_trouble(counter, i, now_ms);

        if (why != NULL)
            (void)text_append(err->text, sizeof err->text,
                              "; partition %d (%s): %.*s", (int)i,
                              worker_name(pool->workers[i]),
                              pool_reason_bytes(&pool->pool, i, why), why);
    }
    return status;
}

/* With the pool's lock held: a pool of the worker that is not the counter's. */
static const struct worker_membership *
membership_elsewhere(const struct worker *worker,
                     const struct ha_counter *counter)
{
    const struct worker_membership *membership = worker->memberships;

    while (membership->pool == counter->pool)
        membership++;
    return membership;
}

/* With the pool's lock held: it waits for a store of another pool. */
static enum seqb_status describe_unasked(const struct ha_counter *counter,
                                         struct seqb_error *err)
{
    const struct worker *awaited =
        &counter->pool->workers[0]->all[counter->awaited - 1];
    const struct worker_membership *membership =
        membership_elsewhere(awaited, counter);
    const struct ha_pool *other = membership->pool;
    const struct pool_member *member = &other->pool.member[membership->member];
    const char *why = member->reason;

    if (pool_state_is_usable(member->state))
        why = "it did not answer";
    else if (why[0] == '\0')
        why = seqb_partition_state_name(member->state);
    return error_set(err, SEQB_UNAVAILABLE,
                     "sequence %s is new in pool %s, and backend %s of pool %s "
                     "cannot be asked whether that pool has issued its "
                     "numbers: %.*s; bring that backend back; if it is gone "
                     "for good, see \"A sequence waits for another pool\" in "
                     "docs/operations.md",
                     counter->key, counter->pool->options->layout.name,
                     worker_name(awaited), other->options->layout.name,
                     pool_reason_bytes(&other->pool, membership->member, why),
                     why);
}

bool ha_counter_is_unasked(struct ha_counter *counter)
{
    bool is_unasked;

    pthread_mutex_lock(counter->pool->lock);
    is_unasked = counter->awaited != 0;
    pthread_mutex_unlock(counter->pool->lock);
    return is_unasked;
}

bool ha_pool_answers(struct ha_pool *pool)
{
    bool answers = false;

    pthread_mutex_lock(pool->lock);
    for (int32_t i = 0; i < pool->pool.partitions; i++)
        answers |=
            pool_is_usable(&pool->pool, i) && !pool->pool.member[i].is_silent;
    pthread_mutex_unlock(pool->lock);
    return answers;
}

enum seqb_status ha_counter_availability(struct ha_counter *counter,
                                         struct seqb_error *err)
{
    struct ha_pool *pool = counter->pool;
    const int64_t now_ms = clock_now_ms();
    enum seqb_status status = SEQB_UNAVAILABLE;
    int32_t closed = 0;

    pthread_mutex_lock(pool->lock);
    for (int32_t i = 0; i < pool->pool.partitions; i++) {
        if (slot_trouble(counter, i, now_ms) == NULL)
            status = SEQB_OK;
        closed += slot_closed(&counter->slots[i]) != SEQB_OK;
    }
    if (counter_closing_is_noted(counter))
        status = SEQB_LAYOUT;
    else if (closed == pool->pool.partitions)
        status = slot_closed(&counter->slots[0]);
    if (counter->awaited == AWAITS_OWN_POOL && status == SEQB_OK)
        status = SEQB_UNAVAILABLE;
    if (counter->awaited != 0 && counter->awaited != AWAITS_OWN_POOL &&
        status != SEQB_LAYOUT)
        status = describe_unasked(counter, err);
    else if (status != SEQB_OK)
        status = describe_trouble(counter, status, now_ms, err);
    pthread_mutex_unlock(pool->lock);
    return status;
}

void ha_pool_decode(const struct ha_pool *pool, int32_t memory_bits,
                    int64_t value, struct seqb_decoded *out)
{
    layout_decode(value, pool->options->layout.bits, memory_bits, out);
}

void ha_counter_hold(struct ha_counter *counter, int64_t number)
{
    struct seqb_decoded decoded;
    struct slot *slot;
    enum seqb_guarantee class;
    int64_t level;

    ha_pool_decode(counter->pool, counter->memory_bits, number, &decoded);
    slot = &counter->slots[decoded.partition];
    class = slot_class(slot);
    level = decoded.counter;
    if (class == SEQB_WINDOWED)
        level >>= counter_window_bits(counter);
    pthread_mutex_lock(counter->pool->lock);
    slot->last = max_of(slot->last, decoded.counter);
    counter->level[class] = max_of(counter->level[class], level);
    pthread_mutex_unlock(counter->pool->lock);
}

struct ha_pool *ha_counter_pool(const struct ha_counter *counter)
{
    return counter->pool;
}

uint32_t ha_counter_partitions(const struct ha_counter *counter)
{
    return (uint32_t)1 << counter->pool->options->layout.bits;
}

int32_t ha_counter_window_bits(const struct ha_counter *counter)
{
    for (int32_t i = 0; i < counter->partitions; i++) {
        if (counter->slots[i].is_windowed)
            return counter_window_bits(counter);
    }
    return 0;
}

int32_t ha_counter_lessor_bits(const struct ha_counter *counter)
{
    return counter_grants_windows(counter) ? counter->pool->lessors.bits : 0;
}

const char *ha_counter_key(const struct ha_counter *counter)
{
    return counter->key;
}

const char *ha_counter_pool_name(const struct ha_counter *counter)
{
    return counter->pool->options->layout.name;
}
