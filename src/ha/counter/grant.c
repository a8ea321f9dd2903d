/* SPDX-License-Identifier: Apache-2.0 */
/* Carries a batch of slots through one backend, as fence.c decides. */
#include "ha/claimed.h"
#include "ha/counter/mend.h"
#include "ha/counter/recall.h"
#include "ha/counter/window.h"
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* Reserve, drop a cell that fell behind, install a window, reserve. One more
 * round, in case another broker was faster and used up its own window. */
#define GRANT_ROUNDS 4

void grant_answer(struct slot *slot, struct seqb_error *why)
{
    slot_answer(slot, false, why);
}

/* The partition is well, and refuses only this counter. */
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
        return slot_lease_max(slot);
    if (slot->is_windowed)
        return (int64_t)1 << counter_window_bits(counter);
    return layout_counter_max(counter_spent_bits(counter),
                              counter->memory_bits);
}

/* The last known window of the slot's cell; a hint. */
static int64_t slot_hint(const struct slot *slot)
{
    return slot->is_windowed && slot->mark.window > 0 ? slot->mark.window
                                                      : SEQB_NO_WINDOW;
}

/* What distinguishes this counter from others of the same pool, partition and
 * key. */
static const char *slot_prefix(const struct worker *worker,
                               const struct slot *slot)
{
    if (slot->is_lease)
        return slot->counter == NULL ? "ticket/" : "window/";
    return slot->is_windowed && worker_guarantee(worker) == SEQB_DIRECT
               ? SEQB_CELL
               : "";
}

void grant_name(const struct worker *worker, const struct slot *slot, char *out,
                size_t size)
{
    const int64_t digits = slot_stamp(slot).digits;

    (void)text_format(out, size, "%s%s/%d/%s", slot_prefix(worker, slot),
                      slot_pool(slot)->name, (int)slot->partition,
                      slot_key(slot));
    if (digits != 0)
        (void)text_append(out, size, "@%lld", (long long)digits);
}

/* Answers the slots of pools that do not allow this backend to be asked now.
 * Returns how many are left. A probe only has slots of pools that do. */
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

/* In this order, because a pool may be retired while this broker is connected.
 * A later generation then either finds the claim, and refuses the key, or this
 * broker has issued no number of it. */
static enum seqb_status slot_admit(struct worker *worker,
                                   const struct slot *slot,
                                   struct seqb_error *err)
{
    const struct claim_attributes claimed = counter_claim(slot->counter);
    const enum seqb_status status =
        claim_sequence(&worker->connection, &claimed, err);

    if (status != SEQB_OK)
        return status;
    return claim_check_retired(&worker->connection, claimed.layout, err);
}

void counter_close(struct ha_counter *counter, int32_t partition,
                   struct seqb_error *why)
{
    struct slot *slot = &counter->slots[partition];

    pthread_mutex_lock(counter->pool->lock);
    slot_ask(slot, 0, clock_now_ms());
    pthread_mutex_unlock(counter->pool->lock);
    counter_void(counter, why->status);
    grant_refuse(slot, why);
}

/* Nothing is granted, and nothing is refused. */
static void grant_nothing(struct slot *slot, const char *why)
{
    struct seqb_error again;

    (void)error_set(&again, SEQB_AGAIN, "%s", why);
    grant_answer(slot, &again);
}

/* Compares the claims of sequences that were not compared on this connection.
 * Answers the slots that are refused, and returns how many are left.
 *
 * A sequence that was closed after it was asked for is not claimed: its claim
 * would say to every later start, and to brokers with the right settings, that
 * it was used in this pool with these settings. */
static size_t grant_admit(struct worker *worker, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        struct slot *slot = worker->batch[i];
        struct seqb_error err;
        enum seqb_status status = SEQB_OK;

        if (slot->counter != NULL && counter_is_closed(slot->counter)) {
            grant_nothing(slot, "the sequence was closed");
            continue;
        }
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
            counter_void(slot->counter, status);
            grant_refuse(slot, &err);
            continue;
        }
        slot->admitted_on = (uint32_t)worker->connection.serial;
        if (slot->want == 0)
            grant_nothing(slot, "the store was only asked for its claim");
        else
            worker->batch[left++] = slot;
    }
    return left;
}

/* The guard of a lessor: the statement that adds also compares whether the
 * lessor is level, in the term that the broker knows. */
static struct seqb_guard *slot_guard(struct worker *worker, size_t i)
{
    const struct slot *slot = worker->batch[i];
    struct seqb_guard *guard = &worker->guards[i];

    if (!slot_is_lessors(slot))
        return NULL;
    *guard = (struct seqb_guard){
        .name = slot_pool(slot)->synced,
        .text = slot->counter == NULL
                    ? ((const struct ticket_slot *)slot)->nonce
                    : window_lease_nonce(slot)};
    return guard;
}

/* Moves the slots whose cells are to be asked to the front, and returns how
 * many they are. The others get a window at once. In a probe all are asked. */
static size_t grant_sort(struct worker *worker, size_t n)
{
    size_t asked = 0;

    for (size_t i = 0; i < n; i++) {
        struct slot *slot = worker->batch[i];

        if (window_is_spent(slot) && !worker->is_probing)
            continue;
        worker->batch[i] = worker->batch[asked];
        worker->batch[asked++] = slot;
    }
    return asked;
}

static void grant_request(struct worker *worker, size_t i)
{
    struct slot *slot = worker->batch[i];

    grant_name(worker, slot, worker->names[i], sizeof worker->names[i]);
    if (slot->is_lease && slot->counter != NULL)
        window_lease_begins(slot, worker->names[i]);
    worker->requests[i] = (struct seqb_request){
        .counter = worker->names[i],
        .want = window_wanted(slot),
        .limit = slot_limit(slot),
        .begins_ms = slot_stamp(slot).begins_ms,
        .guard = slot_guard(worker, i),
        .window = slot_hint(slot),
        .status = i < worker->asked ? SEQB_OK : SEQB_EXHAUSTED};
}

static enum seqb_status grant_ask(struct worker *worker, struct seqb_error *err)
{
    const int64_t start_us = clock_now_us();
    enum seqb_status status;

    if (worker->asked == 0)
        return SEQB_OK;
    status = connection_reserve(&worker->connection, worker->requests,
                                worker->asked, err);
    if (status == SEQB_OK)
        worker_note(worker, NULL, clock_now_us() - start_us);
    return status;
}

/* One call of the engine for the slots whose cells are asked. False if the call
 * failed, or if the store is no more the pool's: then all slots of the batch
 * are answered. */
static bool grant_reserve(struct worker *worker, size_t n)
{
    const int64_t start_us = clock_now_us();
    struct seqb_error err;

    for (size_t i = 0; i < n; i++)
        grant_request(worker, i);
    if (grant_ask(worker, &err) == SEQB_OK &&
        claimed_compare(worker, n, &err) == SEQB_OK)
        return true;
    /* Replies before the failure are acknowledged. They become gaps, because
     * using them would need a second code path. */
    worker_fail(worker, &err, clock_now_us() - start_us);
    answer_all(worker, n, &err);
    return false;
}

static void grant_poison(struct worker *worker, struct slot *slot,
                         const struct seqb_request *reply,
                         struct seqb_error *err)
{
    struct seqb_error why;
    const bool is_raised = mend_poisoned(worker, slot, reply, &why) == SEQB_OK;

    (void)error_set(err, SEQB_POISONED,
                    "counter %s went back: granted %lld after %lld; the store "
                    "lost what it had acknowledged; see docs/guarantees.md; %s",
                    reply->counter, (long long)reply->block.first,
                    (long long)slot->mark.value,
                    is_raised ? "the counter was raised above that" : why.text);
    worker_fail(worker, err, 0);
}

/* Whether this block directly follows the slot's last one in its cell, so that
 * no other broker was granted a part. */
static bool is_next(const struct slot *slot, const struct seqb_request *reply)
{
    return reply->block.first ==
           (reply->window == slot->mark.window ? slot->mark.value + 1 : 0);
}

static void grant_accept(struct worker *worker, struct slot *slot,
                         const struct seqb_request *reply)
{
    slot->is_alone = slot->is_alone && is_next(slot, reply);
    slot->mark = fence_advance(reply, slot_class(slot));
    slot->history = worker->history;
    slot->block = reply->block;
    /* Leases of neighbours are protected by the sync, not by the base. */
    if (!slot->is_windowed && !slot_is_lessors(slot) &&
        slot->mark.value > worker->highest)
        worker->highest = slot->mark.value;
    if (slot->is_windowed)
        slot->block.first |= reply->window
                             << counter_window_bits(slot->counter);
    recall_note(worker, slot, reply->counter);
    grant_answer(slot, NULL);
}

/* Whether the level of the other partitions decides how high the slot's counter
 * is raised. A lessor is raised by the sync, and a ticket has no level. */
static bool has_level(const struct slot *slot)
{
    return !slot->is_windowed && slot->counter != NULL &&
           !slot_is_lessors(slot);
}

/* Answers the slot with SEQB_AGAIN, and returns true, if the level of the other
 * partitions has to be known first. */
static bool grant_waits(struct slot *slot, const struct seqb_request *reply)
{
    struct seqb_error again;
    bool waits;

    if (!has_level(slot) || reply->status != SEQB_FENCED)
        return false;
    pthread_mutex_lock(slot_pool(slot)->lock);
    waits = slot_waits(&slot->counter->slots[slot->partition]);
    pthread_mutex_unlock(slot_pool(slot)->lock);
    if (!waits)
        return false;
    (void)error_set(&again, SEQB_AGAIN,
                    "its store changed: the other partitions are asked first");
    grant_answer(slot, &again);
    return true;
}

/* Whether the store is below what this broker knows, without a fault that an
 * operator has to repair. Direct: the store became another one meanwhile, and
 * other brokers raised the counter without knowing this broker's grants. Or the
 * store went back before this broker was opened, and this broker has granted
 * nothing of it since. A window below the last one is at best another broker's,
 * which leased it earlier. */
static bool is_lower(const struct worker *worker, const struct slot *slot,
                     enum fence_verdict verdict,
                     const struct seqb_request *reply)
{
    if (verdict == FENCE_POISON)
        return slot->is_windowed ? slot->history == 0
                                 : slot->history != worker->history;
    return slot->is_windowed && reply->status == SEQB_OK &&
           reply->window < slot->mark.window;
}

/* Acts on one reply. SEQB_OK: the slot was answered, or it waits for a
 * window and no longer belongs to this thread. SEQB_AGAIN: repaired, ask
 * again. Any other status: the slot fails with it; only this counter does
 * if `is_refused`. */
static enum seqb_status grant_evaluate(struct worker *worker, struct slot *slot,
                                       const struct seqb_request *reply,
                                       struct seqb_error *err)
{
    const enum seqb_guarantee guarantee = slot_class(slot);
    const enum fence_verdict verdict =
        fence_evaluate(guarantee, &slot->mark, slot->floor, reply);

    slot->is_refused = false;
    slot->is_unlevel = reply->status == SEQB_FENCED && reply->guard != NULL &&
                       reply->guard->has_failed;
    if (slot->is_unlevel)
        return error_copy(err, &reply->error);
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
    if (is_lower(worker, slot, verdict, reply))
        return mend_lower(worker, slot, reply, err);
    switch (verdict) {
    case FENCE_ACCEPT:
        grant_accept(worker, slot, reply);
        return SEQB_OK;
    case FENCE_POISON:
        grant_poison(worker, slot, reply, err);
        return SEQB_POISONED;
    case FENCE_RAISE:
    case FENCE_WINDOW:
        if (grant_waits(slot, reply))
            return SEQB_OK;
        return mend_counter(worker, slot, verdict, reply, err);
    default:
        /* SEQB_AGAIN: the call had no time left for this counter. */
        slot->is_refused = reply->status != SEQB_AGAIN;
        return error_copy(err, &reply->error);
    }
}

/* Acts on every reply. Returns how many slots are to be asked again. */
static size_t grant_finish(struct worker *worker, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        struct slot *slot = worker->batch[i];
        struct seqb_error err;
        enum seqb_status status;

        recall_mark(worker, slot, worker->requests[i].counter);
        /* Without this, half of a run would be skipped by a raise, and all
         * other partitions would follow to that level. */
        if (slot->is_lease)
            fence_trim(&slot->mark, slot->floor, &worker->requests[i]);
        status = grant_evaluate(worker, slot, &worker->requests[i], &err);
        if (status == SEQB_AGAIN)
            worker->batch[left++] = slot;
        else if (status != SEQB_OK)
            slot_answer(slot, slot->is_refused, &err);
    }
    return left;
}

/* Reads the store's wall clock now and then, when the store is known to
 * answer. */
static void grant_poll(struct worker *worker)
{
    struct seqb_error err;

    if (connection_is_open(&worker->connection) &&
        connection_clock_is_due(&worker->connection) &&
        connection_read_clock(&worker->connection, &err) != SEQB_OK)
        worker_fail(worker, &err, 0);
}

/* Answers the slots that are left: repaired without success in every round, or
 * the connection was lost. */
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
    /* The claims were read, and all slots were refused by them: the backend is
     * well. */
    if (n == 0 && connection_is_open(&worker->connection))
        worker_note(worker, NULL, clock_now_us() - start_us);
    for (int round = 0; n > 0 && round < GRANT_ROUNDS; round++) {
        worker->asked = round == 0 ? grant_sort(worker, n) : n;
        if (!grant_reserve(worker, n))
            return;
        n = grant_finish(worker, n);
        grant_poll(worker);
        if (n > 0 && !connection_is_open(&worker->connection))
            break;
    }
    grant_give_up(worker, n);
}
