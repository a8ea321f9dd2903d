/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out what fence.c decides. */
#include "ha/grant.h"

#include "ha/mend.h"
#include "ha/tenant.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* Reserve, drop a cell that fell behind, put a window into it, reserve; once
 * more if another broker was faster and used up what it had installed. */
#define GRANT_ROUNDS 4

static void slot_answer(struct slot *slot, bool is_refused,
                        struct seqb_error *why)
{
    slot->is_refused = is_refused;
    slot->why = why;
    slot->done(slot);
}

void grant_answer(struct slot *slot, struct seqb_error *why)
{
    slot_answer(slot, false, why);
}

/* The partition is well, and refuses this counter alone. */
static void grant_refuse(struct slot *slot, struct seqb_error *why)
{
    slot_answer(slot, true, why);
}

static void answer_all(struct worker *worker, size_t n,
                       const struct seqb_error *why)
{
    struct seqb_error copy = *why;

    for (size_t i = 0; i < n; i++)
        grant_answer(worker->batch[i], &copy);
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
        if (!connection_was_refused(status)) {
            worker_fail(worker, &err, 0);
            answer_all(worker, left, &err);
            for (; i < n; i++)
                grant_answer(worker->batch[i], &err);
            return 0;
        }
        if (status != SEQB_OK) {
            grant_refuse(slot, &err);
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

/* Acts on one reply. SEQB_OK: answered; SEQB_AGAIN: mended, ask again; else
 * the slot fails with it, alone if it `is_refused`. */
static enum seqb_status grant_judge(struct worker *worker, struct slot *slot,
                                    const struct seqb_request *reply,
                                    struct seqb_error *err)
{
    const enum seqb_guarantee guarantee = worker_guarantee(worker);
    const enum fence_verdict verdict =
        fence_judge(guarantee, &slot->mark, slot->floor, reply);

    slot->is_refused = false;
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
        return mend_counter(worker, slot, verdict, reply, err);
    default:
        /* A call had no time for it; a local engine fences all at once. */
        slot->is_refused =
            reply->status != SEQB_AGAIN && reply->status != SEQB_FENCED;
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
            slot_answer(slot, slot->is_refused, &err);
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

/* Those that are left: mended again and again, or never reached in time. */
static void grant_give_up(struct worker *worker, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct slot *slot = worker->batch[i];
        struct seqb_error err;

        (void)error_set(&err, SEQB_FENCED,
                        "no valid counter after %d rounds: other brokers or "
                        "the store's loss were faster",
                        GRANT_ROUNDS);
        if (!connection_is_open(&worker->connection))
            (void)error_set(&err, SEQB_UNAVAILABLE, CONNECTION_LOST);
        slot_answer(slot,
                    slot->is_refused && connection_is_open(&worker->connection),
                    &err);
    }
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
    grant_give_up(worker, n);
}
