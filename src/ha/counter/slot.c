/* SPDX-License-Identifier: Apache-2.0 */
/* What a partition is asked for a counter, and what its answer means. */
#include "ha/counter/slot.h"

#include "ha/counter/sample.h"
#include "ha/counter/window.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* After a failure of its partition, a counter is asked again after this rest,
 * not at every tick. */
#define SLOT_REST_MS 100

/* The rest of a counter that granted all of this ms: until the next one. */
#define SLOT_AGAIN_MS 1

/* Refusals that one retry, or one look at health, checks at most. */
#define RETRY_LOOKS 16

/* --- asking --- */

bool slot_is_open(const struct slot *slot, int64_t now_ms)
{
    return !slot->is_busy && slot->at_ms <= now_ms;
}

/* A direct store that grants a value again that its counter granted before has
 * lost data. */
static int64_t slot_own_floor(const struct slot *slot)
{
    return slot_class(slot) == SEQB_DIRECT ? slot->last : 0;
}

/* Windows of neighbours that differ only in the lessor are on the same
 * level. */
static int64_t slot_level_floor(const struct slot *slot, int64_t want)
{
    const int32_t low = slot_pool(slot)->lessors.bits;
    const struct ha_counter *counter = slot->counter;
    const enum seqb_guarantee class = slot_class(slot);

    if (class != SEQB_WINDOWED)
        return fence_level_floor(class, counter->level[class],
                                 layout_counter_max(counter_spent_bits(counter),
                                                    counter->memory_bits),
                                 want);
    return fence_level_floor(class, counter->level[class] >> low,
                             slot_window_max(slot) >> low,
                             want >> counter_window_bits(counter))
           << low;
}

void slot_ask(struct slot *slot, int64_t want, int64_t now_ms)
{
    const enum seqb_guarantee class = slot_class(slot);
    const struct ha_counter *counter = slot->counter;

    slot->is_busy = true;
    slot->was_raised = false;
    slot->at_ms = now_ms;
    slot->resumed = (uint8_t)counter->pool->resumed;
    slot->want = want;
    slot->floor = max_of(slot_level_floor(slot, want), counter->floor[class]);
    slot->floor = max_of(slot->floor, slot_own_floor(slot));
}

/* --- waiting for the other partitions --- */

/* Whether `by` waits for this slot: it is of the same class, its level is not
 * known, and its partition may still report one. */
static bool slot_is_awaited(const struct slot *slot, const struct slot *by)
{
    const struct pool *pool = &slot->counter->pool->pool;

    if (slot->is_windowed != by->is_windowed || slot->is_waiting ||
        slot->last > 0)
        return false;
    if (slot->refusal != NULL && slot->refusal->kind != REFUSAL_SHARED)
        return false;
    return pool_is_usable(pool, slot->partition) ||
           pool->member[slot->partition].state == SEQB_PARTITION_STARTING;
}

bool slot_waits(struct slot *slot)
{
    const struct ha_counter *counter = slot->counter;

    slot->is_waiting = true;
    for (int32_t i = 0; i < counter->partitions; i++) {
        if (slot_is_awaited(&counter->slots[i], slot))
            return true;
    }
    return false;
}

/* --- the answer --- */

static struct refusals *slot_refusals(const struct slot *slot)
{
    return &slot->counter->pool->refusals[slot->partition];
}

static void slot_granted(struct slot *slot)
{
    struct ha_counter *counter = slot->counter;
    const int64_t last = slot_block_last(slot);
    const enum seqb_guarantee class = slot_class(slot);
    const int64_t level =
        class == SEQB_WINDOWED ? last >> counter_window_bits(counter) : last;

    counter->pool->pool.member[slot->partition].granted += slot->block.count;
    if (slot->was_raised)
        sample_jump(slot);
    slot->last = max_of(slot->last, last);
    counter->level[class] = max_of(counter->level[class], level);
}

/* True if the failure has to be reported, if the sequence is listed. */
static bool slot_failed(struct slot *slot, int64_t now_ms)
{
    struct pool *pool = &slot->counter->pool->pool;
    bool is_news;

    if (slot->refusal == NULL)
        slot->refusal = refusal_new(slot);
    if (slot->refusal == NULL)
        return false;
    is_news = refusal_note(slot_refusals(slot), slot->refusal, slot->why,
                           slot->is_refused, now_ms);
    if (slot->counter->is_unlisted)
        refusal_unlist(slot_refusals(slot), slot->refusal);
    pool->member[slot->partition].errors +=
        slot->is_refused && refusal_is_reported(slot->refusal);
    return is_news;
}

/* Marks the claims of the slot's store as compared, or as not available. */
static void slot_note_claims(const struct slot *slot)
{
    struct ha_counter *counter = slot->counter;

    if (slot->why == NULL || slot->is_refused ||
        slot->why->status == SEQB_AGAIN)
        counter->claims_read |= (uint64_t)1 << slot->partition;
}

/* Keeps the result of the answer. True if it has to be reported, if the
 * sequence is listed. */
static bool slot_note(struct slot *slot, int64_t now_ms)
{
    struct refusal *refusal = slot->refusal;
    bool is_news;

    slot_note_claims(slot);
    if (slot->why != NULL && slot->why->status == SEQB_AGAIN)
        return false;
    slot->is_waiting = false;
    if (slot->why != NULL)
        return slot_failed(slot, now_ms);
    slot_granted(slot);
    slot->refusal = NULL;
    is_news = slot->was_final;
    slot->was_final = false;
    if (refusal != NULL)
        is_news |= refusal_end(slot_refusals(slot), refusal, now_ms);
    return is_news;
}

/* When the slot that was answered may be asked again. */
static int64_t slot_rest_until(const struct slot *slot, int64_t now_ms)
{
    if (slot->why == NULL)
        return 0;
    if (slot->why->status == SEQB_AGAIN)
        return now_ms + SLOT_AGAIN_MS;
    if (slot_closed(slot) != SEQB_OK)
        return INT64_MAX;
    return now_ms + (slot->is_refused && slot->refusal != NULL
                         ? slot->refusal->rest_ms
                         : SLOT_REST_MS);
}

static enum seqb_event_kind event_of(const struct seqb_error *why)
{
    if (why == NULL)
        return SEQB_EVENT_COUNTER_RECOVERED;
    if (why->status == SEQB_EXHAUSTED)
        return SEQB_EVENT_EXHAUSTED;
    return why->status == SEQB_LAYOUT ? SEQB_EVENT_LAYOUT
                                      : SEQB_EVENT_COUNTER_REFUSED;
}

/* With no lock held. The watchdog has to run again: a refusal that begins or
 * ends has a retry to be planned. */
static void slot_report_news(const struct slot *slot)
{
    const struct worker *worker = slot->counter->pool->workers[slot->partition];

    slot_report(worker, slot, event_of(slot->why), NULL,
                slot->why != NULL ? slot->why->text : "granted again");
    watchdog_expect(worker->connection.watchdog, 0);
}

/* With the pool's lock held: whether the slot was asked before this process was
 * resumed from an image of its memory. Another copy of the process may have got
 * and used the same answer. */
static bool slot_is_stale(const struct slot *slot)
{
    return slot->resumed != (uint8_t)slot->counter->pool->resumed;
}

/* On the worker's thread: the slot was answered. */
static void slot_done(struct slot *slot)
{
    struct ha_counter *counter = slot->counter;
    const struct ha_pool_options *options = counter->pool->options;
    const int64_t now_ms = clock_now_ms();
    struct ha_grant grant = {.count = 0};
    char reason[SAMPLE_REASON_SIZE];
    bool runs_out = false;
    bool is_stale;
    bool is_news;
    bool is_ended;

    pthread_mutex_lock(counter->pool->lock);
    is_news = slot_note(slot, now_ms) && !counter->is_unlisted;
    slot->is_reporting = is_news && slot->why != NULL;
    is_stale = slot_is_stale(slot);
    grant.is_void = counter->is_void;
    pthread_mutex_unlock(counter->pool->lock);
    if (is_news)
        slot_report_news(slot);
    if (slot->why == NULL && !grant.is_void && !is_stale) {
        grant.first = layout_number(slot->block.first, slot->partition,
                                    options->layout.bits, counter->memory_bits);
        grant.count = slot->block.count;
    }
    counter->sink->deliver(counter->sink, &grant);
    /* Cleared only now: while runs are between a slot and a ring, they would be
     * asked for again. */
    pthread_mutex_lock(counter->pool->lock);
    if (sample_is_due(counter, slot->at_ms))
        runs_out = sample_take(counter, slot->at_ms, reason);
    is_ended = slot->end_is_due;
    slot->is_reporting = false;
    slot->end_is_due = false;
    slot->is_busy = false;
    slot->at_ms = slot_rest_until(slot, clock_now_ms());
    if (counter->advancing > 0)
        pthread_cond_broadcast(&counter->pool->answered);
    pthread_mutex_unlock(counter->pool->lock);
    if (is_ended)
        slot_report(counter->pool->workers[slot->partition], slot,
                    SEQB_EVENT_COUNTER_RECOVERED, NULL, HA_UNLISTED);
    if (runs_out)
        ha_counter_report(counter, SEQB_EVENT_FORECAST, reason);
}

void slot_init(struct slot *slot, struct ha_counter *counter, int32_t partition)
{
    *slot = (struct slot){
        .counter = counter,
        .partition = (int8_t)partition,
        .is_windowed = pool_is_windowed(counter->pool, partition),
        .done = slot_done,
        .mark = FENCE_NOTHING,
    };
}

void slot_renew(struct slot *slot)
{
    struct refusal *refusal = slot->refusal;

    if (slot->counter->is_void && slot_closed(slot) == SEQB_LAYOUT)
        return; /* the reason is shown for all stamps */
    if (refusal != NULL && refusal->kind == REFUSAL_LASTING) {
        refusal_unlist(slot_refusals(slot), refusal);
    } else if (refusal != NULL) {
        slot->was_final |= refusal->kind == REFUSAL_FINAL;
        refusal_drop(slot_refusals(slot), refusal);
        slot->refusal = NULL;
    }
    slot->mark = FENCE_NOTHING;
    slot->is_recalled = false;
    slot->last = 0;
    slot->at_ms = 0;
    slot->is_waiting = false;
    window_renew(slot);
}

/* --- refusals --- */

bool slot_unlist(struct slot *slot)
{
    const bool was_reported =
        refusal_is_reported(slot->refusal) || slot->was_final;

    slot->end_is_due = slot->is_reporting;
    if (slot->refusal != NULL)
        refusal_unlist(slot_refusals(slot), slot->refusal);
    slot->was_final = false;
    return was_reported && !slot->is_reporting;
}

bool slot_list(struct slot *slot, int64_t now_ms)
{
    if (slot->refusal == NULL)
        return false;
    if (slot_closed(slot) == SEQB_LAYOUT) {
        const bool was_reported_once = slot->end_is_due;

        slot->end_is_due = false;
        refusal_list(slot_refusals(slot), slot->refusal, now_ms);
        return !was_reported_once;
    }
    refusal_drop(slot_refusals(slot), slot->refusal);
    slot->refusal = NULL;
    if (!slot->is_busy)
        slot->at_ms = 0;
    return false;
}

bool slot_is_over(const struct slot *slot)
{
    const struct ha_stamp *stamp = &slot->counter->stamp;

    return stamp->digits != 0 && stamp->ends_ms <= clock_wall_ms();
}

/* Returns the slot if it is to be asked. */
static struct slot *slot_try(struct refusal *refusal, int64_t now_ms)
{
    struct slot *slot = refusal->slot;

    if (slot_is_over(slot))
        refusal_unlist(slot_refusals(slot), refusal);
    else if (!slot->is_busy && slot_closed(slot) == SEQB_OK &&
             !counter_awaits_claims(slot->counter)) {
        slot_ask(slot, 1, now_ms);
        return slot;
    }
    return NULL;
}

/* Returns the first slot that is to be asked, if there is one within a few
 * turns of this round. `*turns`: how many were used. */
static struct slot *slot_try_next(struct refusals *refusals, int64_t now_ms,
                                  int32_t *turns)
{
    struct slot *slot = NULL;

    do {
        struct refusal *refusal = refusals_next(refusals, now_ms);

        if (refusal == NULL)
            return NULL;
        (*turns)++;
        slot = slot_try(refusal, now_ms);
    } while (slot == NULL && *turns < RETRY_LOOKS &&
             !refusals_round_is_over(refusals));
    return slot;
}

struct slot *slot_retry(struct ha_pool *pool, int32_t i, int64_t now_ms,
                        int64_t *next_ms)
{
    struct refusals *refusals = &pool->refusals[i];
    struct slot *slot;
    int32_t turns = 0;

    *next_ms = INT64_MAX;
    if (!pool_is_usable(&pool->pool, i))
        return NULL; /* wait for its state to change, which is evaluated */
    slot = slot_try_next(refusals, now_ms, &turns);
    if (refusals->first == NULL)
        return NULL; /* all of them were over */
    if (turns > 0)
        refusals_rest(refusals, turns, now_ms);
    *next_ms = refusals->retry_ms;
    return slot;
}

void slot_refusals_report(const struct ha_pool *pool, int32_t i, char *out,
                          size_t size)
{
    const struct refusals *refusals = &pool->refusals[i];
    const struct refusal *first = refusals->first;

    if (refusals->count > 1)
        (void)text_append(out, size, "refuses %lld counters, first ",
                          (long long)refusals->count);
    else
        (void)text_append(out, size, "refuses counter ");
    (void)text_append(out, size, "%s: %s", first->slot->counter->key,
                      refusal_reason(first));
}

/* Whether each partition that may be asked refuses the counter. */
static bool is_unserved(const struct ha_counter *counter)
{
    for (int32_t i = 0; i < counter->partitions; i++) {
        if (pool_is_usable(&counter->pool->pool, i) &&
            !refusal_is_reported(counter->slots[i].refusal))
            return false;
    }
    return true;
}

const char *slot_refusals_unserved(const struct ha_pool *pool, int32_t i)
{
    const struct refusal *refusal = pool->refusals[i].first;

    for (int n = 0; n < RETRY_LOOKS && refusal != NULL; n++) {
        if (is_unserved(refusal->slot->counter))
            return refusal->slot->counter->key;
        refusal = refusal->next;
    }
    return NULL;
}
