/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence's counter in every partition of its pool: who is asked next,
 * what was granted, why nothing is.
 */
#include <stdlib.h>

#include "ha/startup.h"
#include "ha/window.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"

/* A counter that alone failed (its partition is well) is asked again after
 * this, not at every tick. */
#define SLOT_REST_MS 100

/* An ask older than this, or than three usual delays, no longer counts as
 * coming: another partition is asked too. */
#define FRESH_MIN_MS 2

static bool slot_is_open(const struct slot *slot, int64_t now_ms)
{
    return !slot->is_busy && slot->closed == SEQB_OK &&
           slot->rest_until_ms <= now_ms;
}

/* With the pool's lock held: remembers how the answer went. */
static void slot_note(struct slot *slot)
{
    struct ha_counter *counter = slot->counter;
    const struct seqb_error *why = slot->why;
    const int64_t last = slot->block.first + slot->block.count - 1;

    free(slot->reason);
    slot->reason = NULL;
    if (why == NULL) {
        counter->pool->pool.member[slot->partition].granted +=
            slot->block.count;
        if (last > counter->level)
            counter->level = last;
        return;
    }
    slot->reason = text_copy_of(why->text);
    if (why->status == SEQB_EXHAUSTED || why->status == SEQB_LAYOUT)
        slot->closed = why->status;
    else
        slot->rest_until_ms = clock_now_ms() + SLOT_REST_MS;
}

/* On the worker's thread: the slot was answered. */
static void slot_done(struct slot *slot)
{
    struct ha_counter *counter = slot->counter;
    const struct ha_pool_options *options = counter->pool->options;
    struct ha_grant grant = {0};
    bool has_closed;

    pthread_mutex_lock(&counter->pool->lock);
    slot_note(slot);
    has_closed = slot->closed != SEQB_OK;
    pthread_mutex_unlock(&counter->pool->lock);
    if (has_closed)
        log_line(SEQB_LOG_ERROR,
                 "event=%s pool=%s partition=%d key=%s reason=\"%s\"",
                 slot->why->status == SEQB_EXHAUSTED ? "exhausted" : "layout",
                 options->name, (int)slot->partition, counter->key,
                 slot->why->text);
    if (slot->why == NULL) {
        grant.first = layout_number(slot->block.first, slot->partition,
                                    options->bits, counter->memory_bits);
        grant.step = (int64_t)1 << (options->bits + counter->memory_bits);
        grant.count = slot->block.count;
    }
    counter->sink->deliver(counter->sink, &grant);
    /* Only now: runs between a slot and a ring would be asked for again. */
    pthread_mutex_lock(&counter->pool->lock);
    slot->is_busy = false;
    pthread_mutex_unlock(&counter->pool->lock);
}

static enum seqb_status slot_init(struct ha_counter *counter, int32_t i,
                                  struct seqb_error *err)
{
    const struct worker *worker = counter->pool->workers[i];
    struct slot *slot = &counter->slots[i];

    *slot = (struct slot){.counter = counter,
                          .partition = i,
                          .done = slot_done,
                          .mark = FENCE_NOTHING};
    if (worker->options->ops->guarantee == SEQB_DIRECT)
        return SEQB_OK;
    slot->windows = window_source_new(slot);
    if (slot->windows == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         counter->key);
    return SEQB_OK;
}

enum seqb_status ha_counter_new(struct ha_pool *pool, const char *key,
                                int32_t memory_bits, struct ha_sink *sink,
                                struct ha_counter **out, struct seqb_error *err)
{
    const int32_t partitions = 1 << pool->options->bits;
    struct ha_counter *counter = calloc(
        1, sizeof *counter + (size_t)partitions * sizeof counter->slots[0]);

    if (counter == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         key);
    counter->pool = pool;
    counter->sink = sink;
    counter->memory_bits = memory_bits;
    counter->partitions = partitions;
    (void)text_copy(counter->key, sizeof counter->key, key);
    for (int32_t i = 0; i < partitions; i++) {
        if (slot_init(counter, i, err) != SEQB_OK) {
            ha_counter_free(counter);
            return SEQB_NO_MEMORY;
        }
    }
    *out = counter;
    return SEQB_OK;
}

void ha_counter_free(struct ha_counter *counter)
{
    if (counter == NULL)
        return;
    for (int32_t i = 0; i < counter->partitions; i++) {
        window_source_free(counter->slots[i].windows);
        free(counter->slots[i].reason);
    }
    free(counter);
}

enum seqb_status ha_counter_admit(struct ha_counter *counter,
                                  struct seqb_error *err)
{
    return startup_admit(counter, err);
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
        n += pool->member[i].state == SEQB_PARTITION_UP && (skip >> i & 1) == 0;
    return n;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* With the pool's lock held: marks the slots to be asked and lists them. */
static int32_t counter_choose(struct ha_counter *counter, int64_t count,
                              enum ha_spread spread, int64_t now_ms,
                              struct slot **chosen)
{
    struct pool *pool = &counter->pool->pool;
    uint64_t skip = counter_skip(counter, now_ms);
    /* No more in all than was asked for: the asker has a bound to keep. */
    const int32_t parts = spread == HA_ASK_ALL
                              ? (int32_t)min_of(count_usable(pool, skip), count)
                              : 1;
    int32_t n = 0;

    while (n < parts) {
        const int32_t i = pool_pick(pool, skip);
        struct slot *slot;

        if (i < 0)
            break;
        slot = &counter->slots[i];
        slot->is_busy = true;
        slot->asked_ms = now_ms;
        slot->want =
            min_of(count / parts + (n < count % parts), SEQB_GRANT_MAX);
        skip |= (uint64_t)1 << i;
        chosen[n++] = slot;
    }
    return n;
}

static int64_t post_all(struct ha_counter *counter, struct slot **chosen,
                        int32_t n)
{
    int64_t asked = 0;

    for (int32_t i = 0; i < n; i++) {
        struct slot *slot = chosen[i];
        const int64_t want = slot->want;

        if (worker_post(counter->pool->workers[slot->partition], &slot->job))
            asked += want; /* the slot is the worker's now */
    }
    return asked;
}

int64_t ha_counter_ask(struct ha_counter *counter, int64_t count,
                       enum ha_spread spread, int64_t now_ms)
{
    struct ha_pool *pool = counter->pool;
    struct slot *chosen[HA_PARTITIONS_MAX];
    int32_t urged = -1;
    int32_t n;

    pthread_mutex_lock(&pool->lock);
    pool->recent = counter;
    n = counter_choose(counter, count, spread, now_ms, chosen);
    if (n == 0)
        urged = pool_urge(&pool->pool, counter_skip(counter, now_ms), now_ms);
    pthread_mutex_unlock(&pool->lock);
    if (urged >= 0)
        worker_wake(pool->workers[urged]);
    return post_all(counter, chosen, n);
}

static int64_t pool_delay_ms(const struct pool *pool)
{
    int64_t sum_us = 0;
    int64_t n = 0;

    for (int32_t i = 0; i < pool->partitions; i++) {
        if (pool->member[i].state != SEQB_PARTITION_UP)
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
    int64_t fresh_ms;

    pthread_mutex_lock(&pool->lock);
    *out = (struct ha_view){.delay_ms = pool_delay_ms(&pool->pool)};
    fresh_ms = 3 * out->delay_ms;
    if (fresh_ms < FRESH_MIN_MS)
        fresh_ms = FRESH_MIN_MS;
    for (int32_t i = 0; i < pool->pool.partitions; i++) {
        const struct slot *slot = &counter->slots[i];

        if (!slot->is_busy)
            continue;
        out->all += slot->want;
        if (now_ms - slot->asked_ms <= fresh_ms)
            out->fresh += slot->want;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Why partition i gives this counter nothing now, or NULL if it may. */
static const char *slot_trouble(const struct ha_counter *counter, int32_t i,
                                int64_t now_ms)
{
    const struct slot *slot = &counter->slots[i];
    const struct pool_member *member = &counter->pool->pool.member[i];
    const char *words = seqb_partition_state_name(member->state);

    if (slot->closed != SEQB_OK || member->state == SEQB_PARTITION_UP) {
        /* One that has closed may still be busy with telling so. */
        if (slot->closed == SEQB_OK &&
            (slot_is_open(slot, now_ms) || slot->is_busy))
            return NULL;
        return slot->reason != NULL ? slot->reason
                                    : seqb_status_text(slot->closed);
    }
    return member->reason[0] != '\0' ? member->reason : words;
}

/* With the pool's lock held: fills `err` with every partition's reason. */
static enum seqb_status tell_trouble(const struct ha_counter *counter,
                                     enum seqb_status status, int64_t now_ms,
                                     struct seqb_error *err)
{
    const struct ha_pool *pool = counter->pool;

    (void)error_set(err, status, "sequence %s: %s", counter->key,
                    seqb_status_text(status));
    for (int32_t i = 0; err != NULL && i < pool->pool.partitions; i++)
        (void)text_append(err->text, sizeof err->text,
                          "; partition %d (%s): %s", (int)i,
                          pool->workers[i]->options->options.name,
                          slot_trouble(counter, i, now_ms));
    return status;
}

enum seqb_status ha_counter_outlook(struct ha_counter *counter,
                                    struct seqb_error *err)
{
    struct ha_pool *pool = counter->pool;
    const int64_t now_ms = clock_now_ms();
    enum seqb_status status = SEQB_UNAVAILABLE;
    int32_t closed = 0;

    pthread_mutex_lock(&pool->lock);
    for (int32_t i = 0; i < pool->pool.partitions; i++) {
        const enum seqb_status why = counter->slots[i].closed;

        if (slot_trouble(counter, i, now_ms) == NULL)
            status = SEQB_OK;
        closed += why != SEQB_OK;
    }
    if (closed == pool->pool.partitions)
        status = counter->slots[0].closed;
    if (status != SEQB_OK)
        status = tell_trouble(counter, status, now_ms, err);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

void ha_counter_decode(const struct ha_counter *counter, int64_t value,
                       struct seqb_decoded *out)
{
    layout_decode(value, counter->pool->options->bits, counter->memory_bits,
                  out);
}

const char *ha_counter_pool_name(const struct ha_counter *counter)
{
    return counter->pool->options->name;
}
