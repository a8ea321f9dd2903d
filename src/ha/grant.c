/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out what fence.c decides. */
#include "ha/grant.h"

#include "ha/tenant.h"
#include "ha/window.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* Reserve, drop a cell that fell behind, put a window into it, reserve; once
 * more if another broker was faster and used up what it had installed. */
#define GRANT_ROUNDS 4

void grant_answer(struct slot *slot, struct seqb_error *why)
{
    slot->why = why;
    slot->done(slot);
}

static void answer_all(struct worker *worker, size_t n,
                       const struct seqb_error *why)
{
    struct seqb_error copy = *why;

    for (size_t i = 0; i < n; i++)
        grant_answer(worker->batch[i], &copy);
}

static int64_t slot_window_max(const struct slot *slot)
{
    const struct layout *layout = &slot_pool(slot)->options->layout;
    const struct ha_counter *counter = slot->counter;

    if (counter == NULL)
        return layout_window_max(layout->bits, 0, layout->window_bits);
    return layout_window_max(counter_spent_bits(counter), counter->memory_bits,
                             layout->window_bits);
}

static int64_t slot_limit(const struct slot *slot)
{
    const struct ha_counter *counter = slot->counter;

    if (slot->is_lease)
        return slot_window_max(slot);
    if (slot->is_windowed)
        return (int64_t)1 << counter->pool->options->layout.window_bits;
    return layout_counter_max(counter_spent_bits(counter),
                              counter->memory_bits);
}

/* Of the period that the slot's counter is of; digits 0: none. */
static struct ha_stamp slot_stamp(const struct slot *slot)
{
    return slot->counter == NULL ? (struct ha_stamp){.digits = 0}
                                 : slot->counter->stamp;
}

static void slot_name(const struct slot *slot, char *out, size_t size)
{
    const struct layout *layout = &slot_pool(slot)->options->layout;
    const int64_t digits = slot_stamp(slot).digits;
    const char *lease = slot->counter == NULL ? "ticket/" : "window/";
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(layout->name, layout->generation, name, sizeof name);
    (void)text_format(out, size, "%s%s/%d/%s", slot->is_lease ? lease : "",
                      name, (int)slot->partition, slot_key(slot));
    if (digits != 0)
        (void)text_append(out, size, "@%lld", (long long)digits);
}

/* Answers the slots of pools that do not ask this backend now; returns how
 * many are left. A probe is of those that do. */
static size_t grant_permit(struct worker *worker, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        struct slot *slot = worker->batch[i];
        struct seqb_error err;

        if (worker->is_probing ||
            worker_may_work(worker, slot_pool(slot), &err))
            worker->batch[left++] = slot;
        else
            grant_answer(slot, &err);
    }
    return left;
}

static enum seqb_status slot_admit(struct worker *worker,
                                   const struct slot *slot,
                                   struct seqb_error *err)
{
    const struct claim_terms claimed = counter_claim(slot->counter);

    return claim_sequence(&worker->connection, &claimed, err);
}

/* Compares the sequences' claims where this connection has not yet; answers
 * the slots that are refused and returns how many are left. */
static size_t grant_admit(struct worker *worker, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        struct slot *slot = worker->batch[i];
        struct seqb_error err;
        enum seqb_status status = SEQB_OK;

        if (slot->counter != NULL &&
            slot->admitted_on != (uint32_t)worker->connection.serial)
            status = slot_admit(worker, slot, &err);
        if (status != SEQB_OK && status != SEQB_LAYOUT) {
            worker_fail(worker, &err, 0);
            answer_all(worker, left, &err);
            for (; i < n; i++)
                grant_answer(worker->batch[i], &err);
            return 0;
        }
        if (status == SEQB_LAYOUT) {
            grant_answer(slot, &err);
            continue;
        }
        slot->admitted_on = (uint32_t)worker->connection.serial;
        worker->batch[left++] = slot;
    }
    return left;
}

/* One call of the engine for the whole batch; false if it failed, then all
 * are answered. */
static bool grant_reserve(struct worker *worker, size_t n)
{
    const int64_t start_us = clock_now_us();
    struct seqb_error err;

    for (size_t i = 0; i < n; i++) {
        struct slot *slot = worker->batch[i];

        slot_name(slot, worker->names[i], sizeof worker->names[i]);
        worker->requests[i] =
            (struct seqb_request){.counter = worker->names[i],
                                  .want = slot->want,
                                  .limit = slot_limit(slot),
                                  .begins_ms = slot_stamp(slot).begins_ms,
                                  .window = SEQB_NO_WINDOW};
    }
    if (connection_reserve(&worker->connection, worker->requests, n, &err) ==
        SEQB_OK) {
        worker_note(worker, NULL, clock_now_us() - start_us);
        return true;
    }
    /* What was answered before it broke is acknowledged, and yet not worth a
     * second path: it becomes a gap. */
    worker_fail(worker, &err, clock_now_us() - start_us);
    answer_all(worker, n, &err);
    return false;
}

/* The highest value that any partition granted this counter: one whose store
 * changed begins above it, if the broker knows more than the store does. */
static int64_t slot_level(const struct slot *slot)
{
    struct ha_pool *pool = slot_pool(slot);
    int64_t level;

    if (slot->is_lease)
        return 0; /* windows are counted apart */
    pthread_mutex_lock(&pool->lock);
    level = slot->counter->level[SEQB_DIRECT];
    pthread_mutex_unlock(&pool->lock);
    return level;
}

/* A base that is gone becomes higher than whatever this broker was granted
 * there, so that counters which nobody raises begin high enough, too. Windows
 * begin after the base as well, and must have room left. */
static int64_t base_floor(const struct worker *worker, const struct slot *slot,
                          int64_t gap)
{
    const int64_t windows = slot_window_max(slot) / 2;
    const int64_t highest = worker->highest;
    int64_t floor = highest > INT64_MAX - gap ? INT64_MAX : highest + gap;

    if (highest == 0)
        return 0;
    if (slot_pool(slot)->authority == worker && floor > windows)
        floor = windows;
    return floor;
}

static void tell_raised(const struct worker *worker, const struct slot *slot,
                        const struct seqb_request *reply, int64_t value)
{
    char reason[sizeof reply->error.text + 64];

    (void)text_format(reason, sizeof reason, "raised to %lld: %s",
                      (long long)value,
                      reply->status == SEQB_FENCED ? reply->error.text
                                                   : "it had fallen behind");
    slot_tell(worker, slot, SEQB_EVENT_RAISED, reply->counter, reason);
}

/* Whether others may be about to purge the slot's stamp, or have done so: to
 * raise it would make it anew. See purge.c for how far clocks differ. */
static bool is_over(const struct worker *worker, const struct slot *slot)
{
    const struct ha_stamp stamp = slot_stamp(slot);

    return stamp.digits != 0 &&
           connection_latest_ms(&worker->connection) - stamp.ends_ms >
               slot->counter->terms->keep_ms / 2;
}

/* Raises and binds a direct counter whose store changed, or whose block lay
 * at or below the slot's floor. */
static enum seqb_status mend_raise(struct worker *worker, struct slot *slot,
                                   const struct seqb_request *reply,
                                   struct seqb_error *err)
{
    const int64_t failover_gap = slot_pool(slot)->options->layout.failover_gap;
    const int64_t gap = slot->is_lease ? WINDOW_GAP : failover_gap;
    const struct seqb_raise raise = {
        .counter = reply->counter,
        .floor = max_of(fence_raise_floor(&slot->mark, slot->floor, gap, reply),
                        slot_level(slot)),
        .gap = gap,
        .limit = reply->limit,
        .base_gap = failover_gap,
        .base_floor = base_floor(worker, slot, failover_gap),
        .base_ms = connection_base_ms(&worker->connection),
    };
    int64_t value;
    enum seqb_status status;

    if (is_over(worker, slot))
        return error_set(err, SEQB_EXHAUSTED, "counter %s: the period is over",
                         reply->counter);
    status = connection_raise(&worker->connection, &raise, &value, err);
    if (status == SEQB_OK)
        tell_raised(worker, slot, reply, value);
    return status;
}

/* How long a windowed cell is of use: until its stamp is over, and then as long
 * as some broker's clock may say that it is not. */
static int64_t slot_keep_s(const struct slot *slot)
{
    const struct ha_counter *counter = slot->counter;
    int64_t left_ms;

    if (counter->stamp.digits == 0)
        return 0;
    left_ms = counter->stamp.ends_ms - clock_wall_ms();
    return (max_of(left_ms, 0) + counter->terms->keep_ms) / 1000 + 1;
}

/* Drops a cell whose window fell behind. */
static enum seqb_status mend_drop(struct worker *worker, struct slot *slot,
                                  const struct seqb_request *reply,
                                  struct seqb_error *err)
{
    const struct seqb_raise raise = {
        .counter = reply->counter, .floor = slot->floor, .limit = INT64_MAX};
    int64_t window;

    return connection_raise(&worker->connection, &raise, &window, err);
}

/* Puts a fresh window into the cell. "Not above the one that stands" is
 * no failure: the next round sees that one, and takes a later window. */
static enum seqb_status mend_window(struct worker *worker, struct slot *slot,
                                    const struct seqb_request *reply,
                                    struct seqb_error *err)
{
    struct seqb_window window = {.counter = reply->counter,
                                 .size = reply->limit,
                                 .keep_s = slot_keep_s(slot)};
    int64_t standing;
    enum seqb_status status =
        window_take(slot, fence_window_floor(&slot->mark, slot->floor, reply),
                    worker->mend_until_ms, &window.window, err);

    if (status != SEQB_OK)
        return status;
    /* I2: sent once. If it fails, the window is lost with it. */
    status = connection_install(&worker->connection, &window, &standing, err);
    return status == SEQB_FENCED ? SEQB_OK : status;
}

static void grant_poison(struct worker *worker, struct slot *slot,
                         const struct seqb_request *reply,
                         struct seqb_error *err)
{
    (void)error_set(err, SEQB_POISONED,
                    "counter %s went back: granted %lld after %lld; the store "
                    "lost what it had acknowledged; see docs/guarantees.md",
                    reply->counter, (long long)reply->block.first,
                    (long long)slot->mark.value);
    worker_fail(worker, err, 0);
}

static void grant_accept(struct worker *worker, struct slot *slot,
                         const struct seqb_request *reply)
{
    const int32_t window_bits = slot_pool(slot)->options->layout.window_bits;

    slot->mark = fence_advance(reply, slot_class(slot));
    slot->block = reply->block;
    if (!slot->is_windowed && slot->mark.value > worker->highest)
        worker->highest = slot->mark.value;
    if (slot->is_windowed)
        slot->block.first |= reply->window << window_bits;
    if (worker->tenant != NULL)
        tenant_used(worker->tenant, slot->mark.value);
    grant_answer(slot, NULL);
}

static enum seqb_status grant_mend(struct worker *worker, struct slot *slot,
                                   enum fence_verdict verdict,
                                   const struct seqb_request *reply,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    if (!connection_is_open(&worker->connection))
        return error_set(err, SEQB_UNAVAILABLE, "the connection was lost");
    if (verdict == FENCE_WINDOW)
        status = mend_window(worker, slot, reply, err);
    else if (slot->is_windowed)
        status = mend_drop(worker, slot, reply, err);
    else
        status = mend_raise(worker, slot, reply, err);
    slot->was_raised |= verdict == FENCE_RAISE;
    if (status == SEQB_OK)
        return SEQB_AGAIN;
    if (status_blame(status) == BLAME_BACKEND)
        worker_fail(worker, err, 0);
    return status;
}

/* Acts on one reply. SEQB_OK: answered; SEQB_AGAIN: mended, ask again; else
 * the slot fails with it. */
static enum seqb_status grant_judge(struct worker *worker, struct slot *slot,
                                    const struct seqb_request *reply,
                                    struct seqb_error *err)
{
    const enum seqb_guarantee guarantee = worker_guarantee(worker);
    const enum fence_verdict verdict =
        fence_judge(guarantee, &slot->mark, slot->floor, reply);

    if (reply->status == SEQB_OK &&
        !fence_is_sane(guarantee, slot_window_max(slot), reply)) {
        (void)error_set(err, SEQB_PROTOCOL,
                        "counter %s: granted %lld from %lld, which was not "
                        "asked for",
                        reply->counter, (long long)reply->block.count,
                        (long long)reply->block.first);
        worker_fail(worker, err, 0);
        return SEQB_PROTOCOL;
    }
    /* Its time has to go on: that is for another call. */
    if (reply->status == SEQB_AGAIN && guarantee == SEQB_LOCAL) {
        *err = reply->error;
        grant_answer(slot, err);
        return SEQB_OK;
    }
    switch (verdict) {
    case FENCE_ACCEPT:
        grant_accept(worker, slot, reply);
        return SEQB_OK;
    case FENCE_POISON:
        grant_poison(worker, slot, reply, err);
        return SEQB_POISONED;
    case FENCE_RAISE:
    case FENCE_WINDOW:
        return grant_mend(worker, slot, verdict, reply, err);
    default:
        return error_copy(err, &reply->error);
    }
}

/* Acts on every reply; returns how many slots are to be asked again. */
static size_t grant_settle(struct worker *worker, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        struct slot *slot = worker->batch[i];
        struct seqb_error err;
        const enum seqb_status status =
            grant_judge(worker, slot, &worker->requests[i], &err);

        if (status == SEQB_AGAIN)
            worker->batch[left++] = slot;
        else if (status != SEQB_OK)
            grant_answer(slot, &err);
    }
    return left;
}

/* Now and then, where the store is known to answer: its wall clock. */
static void grant_look(struct worker *worker)
{
    struct seqb_error err;

    if (connection_is_open(&worker->connection) &&
        connection_clock_is_due(&worker->connection) &&
        connection_read_clock(&worker->connection, &err) != SEQB_OK)
        worker_fail(worker, &err, 0);
}

void grant_run(struct worker *worker, size_t n)
{
    const int64_t start_us = clock_now_us();
    struct seqb_error err;

    n = grant_permit(worker, n);
    if (n == 0)
        return;
    if (!connection_is_verified(&worker->connection) &&
        (!worker_may_connect(worker, &err) ||
         worker_connect(worker, &err) != SEQB_OK)) {
        answer_all(worker, n, &err);
        return;
    }
    worker->mend_until_ms =
        clock_now_ms() + worker->connection.options->options.timeout_ms;
    n = grant_admit(worker, n);
    /* All were refused, by claims that were read: the backend is well. */
    if (n == 0 && connection_is_open(&worker->connection))
        worker_note(worker, NULL, clock_now_us() - start_us);
    if (n > 0 && worker->tenant != NULL && !tenant_is_ready(worker, &err)) {
        answer_all(worker, n, &err);
        return;
    }
    for (int round = 0; n > 0 && round < GRANT_ROUNDS; round++) {
        if (!grant_reserve(worker, n))
            return;
        n = grant_settle(worker, n);
        grant_look(worker);
        if (n > 0 && !connection_is_open(&worker->connection))
            break;
    }
    (void)error_set(&err, SEQB_UNAVAILABLE,
                    "no valid counter after %d rounds: other brokers or "
                    "the store's loss were faster",
                    GRANT_ROUNDS);
    answer_all(worker, n, &err);
}
