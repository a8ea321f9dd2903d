/* SPDX-License-Identifier: Apache-2.0 */
/* Raises counters whose store changed, and installs windows in cells. */
#include "ha/counter/mend.h"

#include "ha/counter/recall.h"
#include "ha/counter/window.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/chance.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* The highest value (for a lease: the highest window) that any partition
 * granted for this counter. A counter whose store changed begins above it, if
 * the broker knows more than the store. Leases of neighbours are raised by the
 * sync. */
static int64_t slot_level(const struct slot *slot)
{
    const enum seqb_guarantee class =
        slot->is_lease ? SEQB_WINDOWED : SEQB_DIRECT;
    struct ha_pool *pool = slot_pool(slot);
    int64_t level;

    if (slot->counter == NULL || slot_is_lessors(slot))
        return 0;
    pthread_mutex_lock(pool->lock);
    level = slot->counter->level[class];
    pthread_mutex_unlock(pool->lock);
    return level;
}

static int64_t failover_gap_of(struct ha_pool *pool)
{
    int64_t gap;

    pthread_mutex_lock(pool->lock);
    gap = pool->failover_gap;
    pthread_mutex_unlock(pool->lock);
    return gap;
}

/* How far the slot's counter may have gone back with its store. */
static int64_t slot_gap(const struct slot *slot)
{
    return slot->is_lease ? layout_window_gap(slot_lease_max(slot))
                          : failover_gap_of(slot_pool(slot));
}

/* What is known of a direct counter, for fence_raise_floor: the highest of what
 * this broker was granted, what it raised the counter to, now or before its
 * start, and the level of the other partitions. A level in the upper half of
 * the range is ignored: see fence_level_floor. */
static struct fence_mark slot_known(const struct worker *worker,
                                    const struct slot *slot,
                                    const struct seqb_request *reply)
{
    const int64_t level = slot_level(slot);
    const int64_t raised =
        raised_find(worker->raised, worker_name(worker), reply->counter);

    return (struct fence_mark){
        .value = max_of(max_of(slot->mark.value, raised),
                        level <= reply->limit / 2 ? level : 0)};
}

/* A base that was lost is set above all that this broker was granted from that
 * store, so that counters which nobody raises begin high enough, too. The
 * windows of an authority begin after the base as well, and must have room
 * left. */
static int64_t base_floor(const struct worker *worker, const struct slot *slot,
                          int64_t gap)
{
    const int64_t windows = slot_window_max(slot) / 2;
    const int64_t highest = worker->highest;
    int64_t floor = highest > INT64_MAX - gap ? INT64_MAX : highest + gap;

    if (highest == 0)
        return 0;
    if ((slot_pool(slot)->authority == worker || slot_is_lessors(slot)) &&
        floor > windows)
        floor = windows;
    return floor;
}

static uint64_t slot_chance(const struct slot *slot, int64_t value)
{
    const struct ha_counter *counter = slot->counter;

    if (counter == NULL || counter->attributes == NULL)
        return chance_bits();
    return layout_chance(chance_bits(), counter->attributes->useful,
                         slot_low_bits(slot), value);
}

/* A lessor is raised to its neighbours' level after each restart of its store,
 * and a partition that fell behind to the others' level. Both are routine. */
static bool is_level_raise(const struct slot *slot,
                           const struct seqb_request *reply)
{
    return slot_is_lessors(slot) || reply->status != SEQB_FENCED;
}

/* A cell that was lost may be in a window that another broker had leased
 * earlier: this is no fault. */
static bool is_elsewhere(const struct slot *slot,
                         const struct seqb_request *reply)
{
    return slot->is_windowed && reply->window != slot->mark.window;
}

static const char *raise_reason(const struct slot *slot,
                                const struct seqb_request *reply, bool is_level)
{
    if (reply->status == SEQB_FENCED)
        return reply->error.text;
    if (is_elsewhere(slot, reply))
        return "its window is below one that this broker was granted of";
    if (!is_level && slot->history == 0)
        return "its store went back: before its last start, this broker was "
               "granted more";
    return is_level ? "it had fallen behind"
                    : "its store changed, and others raised it less high";
}

static void raise_count(const struct worker *worker, struct ha_pool *pool)
{
    pthread_mutex_lock(pool->lock);
    for (int32_t i = 0; i < pool->members; i++)
        if (pool->workers[i] == worker)
            pool->pool.member[i].raises++;
    pthread_mutex_unlock(pool->lock);
}

static void report_raised(const struct worker *worker, const struct slot *slot,
                          const struct seqb_request *reply, bool is_level,
                          int64_t value)
{
    char reason[sizeof reply->error.text + 64];

    if (slot->counter == NULL && reply->status != SEQB_FENCED)
        return; /* a span of tickets above the last one */
    (void)text_format(reason, sizeof reason, "raised to %lld: %s",
                      (long long)value, raise_reason(slot, reply, is_level));
    if (is_level)
        slot_report_info(worker, slot, SEQB_EVENT_RAISED, reply->counter,
                         reason);
    else {
        raise_count(worker, slot_pool(slot));
        slot_report(worker, slot, SEQB_EVENT_RAISED, reply->counter, reason);
    }
}

/* Whether other brokers may be about to purge the slot's stamp, or have done
 * so. A raise would create the counter again. See purge.c for how far clocks
 * may differ. */
static bool is_over(const struct worker *worker, const struct slot *slot)
{
    const struct ha_stamp stamp = slot_stamp(slot);

    return stamp.digits != 0 &&
           connection_latest_ms(&worker->connection) - stamp.ends_ms >
               slot->counter->attributes->keep_ms / 2;
}

/* Ends a call for one counter. If it failed, either the store refuses this
 * counter, or the connection is lost. */
static void mend_end(struct worker *worker, struct slot *slot,
                     enum seqb_status status, const struct seqb_error *err)
{
    slot->is_refused = connection_was_refused(status);
    if (!slot->is_refused)
        worker_fail(worker, err, 0);
}

/* Call it before any value above the raise is asked for. Only the raise after a
 * change of the store is noted: a counter that merely fell behind is bound to
 * its store, and its origin shows if that goes back. */
static void raise_reported(struct worker *worker, const struct slot *slot,
                           const struct seqb_request *reply, int64_t value)
{
    if (reply->status == SEQB_FENCED)
        raised_note(worker->raised, worker_name(worker), reply->counter, value);
    report_raised(worker, slot, reply, is_level_raise(slot, reply), value);
}

/* Raises and binds a direct counter whose store changed, or whose block was at
 * or below the slot's floor. */
static enum seqb_status mend_raise(struct worker *worker, struct slot *slot,
                                   const struct seqb_request *reply,
                                   struct seqb_error *err)
{
    const int64_t gap = slot_is_lessors(slot) ? 0 : slot_gap(slot);
    const int64_t base_gap = worker_base_gap(worker);
    const struct fence_mark known = slot_known(worker, slot, reply);
    const int64_t floor = max_of(
        fence_raise_floor(&known, slot->floor, gap, reply), slot_level(slot));
    const struct seqb_raise raise = {
        .counter = reply->counter,
        .floor = floor,
        .gap = gap,
        .limit = reply->limit,
        .base_gap = base_gap,
        .base_floor = base_floor(worker, slot, base_gap),
        .base_ms = worker_base_ms(worker),
        .chance = slot_chance(slot, floor),
    };
    int64_t value;
    enum seqb_status status;

    slot->is_refused = true;
    if (is_over(worker, slot))
        return error_set(err, SEQB_EXHAUSTED, "counter %s: the period is over",
                         reply->counter);
    status = connection_raise(&worker->connection, &raise, &value, err);
    if (status == SEQB_OK)
        raise_reported(worker, slot, reply, value);
    mend_end(worker, slot, status, err);
    return status;
}

/* How long a windowed cell is needed: until its stamp is over, and then as long
 * as another broker's clock may lag. */
static int64_t slot_keep_s(const struct slot *slot)
{
    const struct ha_counter *counter = slot->counter;
    int64_t left_ms;

    if (counter->stamp.digits == 0)
        return 0;
    left_ms = counter->stamp.ends_ms - clock_wall_ms();
    return (max_of(left_ms, 0) + counter->attributes->keep_ms) / 1000 + 1;
}

/* Drops a cell whose window fell behind. */
static enum seqb_status mend_drop(struct worker *worker, struct slot *slot,
                                  const struct seqb_request *reply,
                                  struct seqb_error *err)
{
    const struct seqb_raise raise = {
        .counter = reply->counter, .floor = slot->floor, .limit = INT64_MAX};
    int64_t window;
    const enum seqb_status status =
        connection_raise(&worker->connection, &raise, &window, err);

    mend_end(worker, slot, status, err);
    return status;
}

/* How much the slot wants of the window that is installed in the cell, besides
 * the whole windows that it gets. */
static int64_t slot_part(const struct slot *slot, const struct windows *taken,
                         int64_t size)
{
    return min_of(slot->want - (taken->count - 1) * size, size);
}

/* The windows below the installed one belong to this broker alone, and are
 * granted whole. The slot is answered with them, and with the first `part`
 * values of the installed one. */
static void mend_answer(struct worker *worker, struct slot *slot,
                        const struct windows *taken, int64_t part,
                        const char *counter)
{
    const int32_t bits = counter_window_bits(slot->counter);

    slot->mark = (struct fence_mark){windows_last(taken), part - 1};
    slot->block =
        (struct seqb_block){.first = taken->first << bits,
                            .count = ((taken->count - 1) << bits) + part};
    if (part > 0)
        recall_note(worker, slot, counter);
    slot_answer(slot, false, NULL);
}

/* I2: sent once. If the call fails, the windows are lost. They are also lost if
 * another broker's window is in the cell: then the result is SEQB_AGAIN. If no
 * slot of the batch was asked, this call is the only evidence that the store is
 * well. */
static enum seqb_status mend_install(struct worker *worker, struct slot *slot,
                                     const struct seqb_window *window,
                                     int64_t *standing, struct seqb_error *err)
{
    const int64_t start_us = clock_now_us();
    enum seqb_status status;

    *standing = window->window;
    status = connection_install(&worker->connection, window, standing, err);
    slot->is_alone = status == SEQB_OK && *standing == window->window;
    if (status == SEQB_OK && worker->asked == 0)
        worker_note(worker, NULL, clock_now_us() - start_us);
    mend_end(worker, slot, status, err);
    if (status == SEQB_FENCED || (status == SEQB_OK && !slot->is_alone))
        return SEQB_AGAIN;
    if (slot->is_alone) {
        slot->mark = (struct fence_mark){window->window, FENCE_NOTHING.value};
        slot->history = worker->history;
    }
    return status;
}

/* The window that is given up: it is used up or fell behind. 0, none, if the
 * cell belongs to another history. */
static int64_t window_over(const struct seqb_request *reply)
{
    return reply->status == SEQB_FENCED ? 0 : max_of(reply->window, 0);
}

/*
 * Installs the last of the taken windows in the cell. It is above the window
 * there, so the windows before it are above all that any broker counts in; and
 * that the store accepted it proves that the store is the same one. "Not above
 * the window there" is no failure: the next round sees that window, and takes
 * later ones. An engine that cannot give up a window has to drop one that fell
 * behind first.
 */
static enum seqb_status window_put(struct worker *worker, struct slot *slot,
                                   const struct seqb_request *reply,
                                   const struct windows *taken, bool *is_done,
                                   struct seqb_error *err)
{
    int64_t part = 0;
    int64_t standing;
    const struct seqb_window window = {.counter = reply->counter,
                                       .window = windows_last(taken),
                                       .size = reply->limit,
                                       .keep_s = slot_keep_s(slot),
                                       .over = window_over(reply),
                                       .take =
                                           slot_part(slot, taken, reply->limit),
                                       .taken = &part};
    const enum seqb_status status =
        mend_install(worker, slot, &window, &standing, err);

    if (status == SEQB_AGAIN && reply->status == SEQB_OK &&
        standing == reply->window)
        return mend_drop(worker, slot, reply, err);
    if (part != window.take) /* the engine does not support it */
        part = 0;
    *is_done = status == SEQB_OK && (taken->count > 1 || part > 0);
    if (*is_done)
        mend_answer(worker, slot, taken, part, reply->counter);
    return status == SEQB_AGAIN ? SEQB_OK : status;
}

static enum seqb_status mend_window(struct worker *worker, struct slot *slot,
                                    const struct seqb_request *reply,
                                    bool *is_done, struct seqb_error *err)
{
    struct windows taken;
    const enum seqb_status status =
        window_take(slot, fence_window_floor(&slot->mark, slot->floor, reply),
                    worker->mend_until_ms, &taken, err);

    if (status == SEQB_AGAIN) {
        *is_done = true;
        slot_answer(slot, false, err);
        return SEQB_OK;
    }
    *is_done = status == SEQB_OK && taken.count == 0; /* it waits */
    if (status != SEQB_OK || *is_done)
        return status;
    return window_put(worker, slot, reply, &taken, is_done, err);
}

enum seqb_status mend_counter(struct worker *worker, struct slot *slot,
                              enum fence_verdict verdict,
                              const struct seqb_request *reply,
                              struct seqb_error *err)
{
    bool is_done = false;
    enum seqb_status status;

    if (!connection_is_open(&worker->connection))
        return error_set(err, SEQB_UNAVAILABLE, CONNECTION_LOST);
    slot->was_raised |= verdict == FENCE_RAISE;
    if (slot->is_windowed)
        status = mend_window(worker, slot, reply, &is_done, err);
    else
        status = mend_raise(worker, slot, reply, err);
    if (is_done)
        return SEQB_OK;
    return status == SEQB_OK ? SEQB_AGAIN : status;
}

/* Above all that is known; by the gap, because other brokers may have been
 * granted more; and by chance, so that the next store that goes back is raised
 * to another value. */
static int64_t poisoned_floor(const struct worker *worker,
                              const struct slot *slot,
                              const struct seqb_request *reply)
{
    const struct fence_mark known = slot_known(worker, slot, reply);
    const int64_t highest = max_of(known.value, slot_level(slot));
    const struct seqb_raise raise = {.gap = slot_gap(slot),
                                     .limit = reply->limit,
                                     .chance = slot_chance(slot, highest)};

    if (highest > raise.limit - raise.gap)
        return raise.limit;
    return highest + raise.gap + seqb_raise_spread(&raise, highest + raise.gap);
}

static enum seqb_status raise_above(struct worker *worker,
                                    const struct slot *slot,
                                    const struct seqb_request *reply,
                                    int64_t *value, struct seqb_error *err)
{
    const struct seqb_raise raise = {
        .counter = reply->counter,
        .floor = slot->is_windowed ? slot->mark.window
                                   : poisoned_floor(worker, slot, reply),
        .limit = slot->is_windowed ? INT64_MAX : reply->limit};
    const enum seqb_status status =
        connection_raise(&worker->connection, &raise, value, err);

    if (status == SEQB_OK && !slot->is_windowed)
        raised_note(worker->raised, worker_name(worker), reply->counter,
                    *value);
    return status;
}

enum seqb_status mend_poisoned(struct worker *worker, const struct slot *slot,
                               const struct seqb_request *reply,
                               struct seqb_error *err)
{
    int64_t value;

    /* Another counter of the batch may have lost the connection. */
    if (!connection_is_open(&worker->connection))
        return error_set(err, SEQB_UNAVAILABLE, CONNECTION_LOST);
    return raise_above(worker, slot, reply, &value, err);
}

enum seqb_status mend_lower(struct worker *worker, struct slot *slot,
                            const struct seqb_request *reply,
                            struct seqb_error *err)
{
    int64_t value;
    enum seqb_status status;

    if (!connection_is_open(&worker->connection))
        return error_set(err, SEQB_UNAVAILABLE, CONNECTION_LOST);
    status = raise_above(worker, slot, reply, &value, err);
    if (status == SEQB_OK)
        report_raised(worker, slot, reply, is_elsewhere(slot, reply), value);
    slot->was_raised = true;
    mend_end(worker, slot, status, err);
    return status == SEQB_OK ? SEQB_AGAIN : status;
}
