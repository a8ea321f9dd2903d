/* SPDX-License-Identifier: Apache-2.0 */
/* Leases windows ahead of need, from the authority or from neighbours. */
#include "ha/counter/window.h"

#include <stdlib.h>

#include "ha/counter/source.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/thread.h"

/* Stamps shorter than this get no second window ahead of need. */
#define SPARE_LEAST_MS INT64_C(3600000)

/* A cell is given up for whole windows if it has at most 1/64 of what is
 * wanted. */
#define SPENT_PART 64

/* On the authority's thread: the lease was answered. */
static void lease_done(struct slot *lease)
{
    struct window_source *source = source_of(lease);

    pthread_mutex_lock(source->lock);
    source->is_asked = false;
    if (lease->why == NULL)
        source_leased(source, lease->block.first, 1, lease->block.count);
    source_result(source, lease->is_refused, lease->why);
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(source->lock);
}

static struct window_source *source_new(struct slot *slot)
{
    struct window_source *source = calloc(1, sizeof *source);

    if (source == NULL)
        return NULL;
    source->authority = slot->counter->pool->authority;
    source->lease = (struct slot){.counter = slot->counter,
                                  .partition = slot->partition,
                                  .is_lease = true,
                                  .done = lease_done,
                                  .mark = FENCE_NOTHING};
    source->lock = slot->counter->pool->lock;
    condition_init(&source->changed);
    if (source->authority != NULL)
        return source;
    source->lease.done = lease_answered;
    source->neighbours = lease_new(source);
    if (source->neighbours != NULL)
        return source;
    window_source_free(source);
    return NULL;
}

/* How many leases of the slot fit into the pool's bits and the sequence's
 * texts. */
static int64_t useful_leases(const struct slot *lease)
{
    const struct ha_counter *counter = lease->counter;
    const int32_t low_bits = slot_low_bits(lease);
    const int64_t most = slot_lease_max(lease);

    if (counter->attributes == NULL || counter->attributes->useful == 0 ||
        low_bits >= LAYOUT_BITS_ALL)
        return most;
    return min_of(counter->attributes->useful >> low_bits, most);
}

/* How many windows the slot takes at once: those that it wants whole, and one
 * for the cell. */
static int64_t slot_windows(const struct slot *slot)
{
    const struct ha_counter *counter = slot->counter;

    return counter_grants_windows(counter)
               ? 1 + (slot->want >> counter_window_bits(counter))
               : 1;
}

/* With the lock held: how many windows to lease now. `least` of them are taken
 * at once. A run is useless after the end of its stamp. An authority leases
 * single windows, because the gap that it leaves after its store changed counts
 * windows. */
static int64_t run_size(const struct window_source *source, int64_t least)
{
    const struct slot *lease = &source->lease;
    const struct ha_stamp *stamp = &lease->counter->stamp;
    const int32_t window_bits = counter_window_bits(lease->counter);
    int64_t need_ms = PACE_NEED_MS;

    if (source->neighbours == NULL)
        return 1;
    if (stamp->digits != 0)
        need_ms = min_of(need_ms, (stamp->ends_ms - stamp->begins_ms) / 2);
    return pace_run(&source->pace, least, need_ms,
                    layout_run_most(window_bits, useful_leases(lease)),
                    clock_now_ms());
}

/* With the lock held: asks for a lease, unless one is under way. */
static void lease_ask(struct window_source *source, int64_t least,
                      int64_t floor)
{
    struct seqb_error why;

    if (source->is_asked)
        return;
    source_result(source, false, NULL);
    source->lease.want = run_size(source, least);
    if (source->neighbours != NULL) {
        lease_begin(source, floor);
        return;
    }
    source->is_asked = true;
    source->lease.floor = floor;
    source->resumed = source->lease.counter->pool->resumed;
    if (!worker_push(source->authority, &source->lease.job)) {
        source->is_asked = false;
        (void)error_set(&why, SEQB_CLOSED, "the broker is closing");
        source_result(source, false, &why);
    }
}

/* With the lock held: waits for the lease under way. False if it is not
 * answered at the deadline. */
static bool lease_wait(struct window_source *source, int64_t deadline_ms)
{
    while (source->is_asked) {
        if (!condition_wait(&source->changed, source->lock, deadline_ms))
            return !source->is_asked;
    }
    return true;
}

static enum seqb_status authority_fails(const struct window_source *source,
                                        struct seqb_error *err)
{
    const char *why =
        source->why != NULL ? source->why : seqb_status_text(source->status);

    if (source->status == SEQB_EXHAUSTED || source->status == SEQB_AGAIN)
        return error_set(err, source->status, "%s", why);
    return error_set(
        err, source->is_refused ? source->status : SEQB_UNAVAILABLE,
        "no window: authority %s: %s", worker_name(source->authority),
        source->is_asked ? "no answer in time" : why);
}

/* A short stamp may be over before it needs a second window. */
static bool has_spares(const struct window_source *source)
{
    const struct ha_stamp *stamp = &source->lease.counter->stamp;

    return stamp->digits == 0 || source->pace.used > 0 ||
           stamp->ends_ms - stamp->begins_ms >= SPARE_LEAST_MS;
}

/* With the lock held: takes the next windows for the slot. Leases the next run
 * in the background when half of this run is used. */
static struct windows spare_take(struct window_source *source,
                                 const struct slot *slot)
{
    const struct windows taken = source_next(source, slot_windows(slot));

    if (source->after.left == 0 && has_spares(source) &&
        pace_is_low(source->run.left, run_size(source, 1)))
        lease_ask(source, 1, max_of(windows_last(&taken), source_last(source)));
    return taken;
}

/* With the lock held: drops windows up to `floor`. If none is left, leases a
 * run. */
static void spare_seek(struct window_source *source, const struct slot *slot,
                       int64_t floor)
{
    source_drop(source, floor);
    if (source->run.left == 0)
        lease_ask(source, slot_windows(slot), floor);
}

static enum seqb_status source_take(struct slot *slot, int64_t floor,
                                    int64_t deadline_ms, struct windows *out,
                                    struct seqb_error *err)
{
    struct window_source *source = slot->windows;
    enum seqb_status status = SEQB_OK;

    pthread_mutex_lock(source->lock);
    spare_seek(source, slot, floor);
    while (source->run.left == 0) {
        if (!lease_wait(source, deadline_ms) || source->status != SEQB_OK) {
            status = authority_fails(source, err);
            break;
        }
        spare_seek(source, slot, floor);
    }
    if (status == SEQB_OK)
        *out = spare_take(source, slot);
    pthread_mutex_unlock(source->lock);
    return status;
}

/* The same in a pool with neighbours: if there is no spare window, the slot is
 * put aside. Do not touch it after the lock is released. */
static enum seqb_status source_take_later(struct slot *slot, int64_t floor,
                                          struct windows *out,
                                          struct seqb_error *err)
{
    struct window_source *source = slot->windows;
    enum seqb_status status = SEQB_OK;

    pthread_mutex_lock(source->lock);
    spare_seek(source, slot, floor);
    if (source->run.left > 0) {
        *out = spare_take(source, slot);
    } else if (source->is_asked) {
        source->neighbours->waiting = slot;
    } else {
        status = error_set(err, source->status, "%s",
                           source->why != NULL ? source->why : "no window");
        slot->is_refused = source->is_refused;
    }
    pthread_mutex_unlock(source->lock);
    return status;
}

/* Whether more windows that are granted whole are leased for the slot, and not
 * used yet. */
static bool is_at_hand(const struct slot *slot)
{
    const struct window_source *source = slot->windows;
    bool are_left;

    if (source == NULL || !counter_grants_windows(slot->counter))
        return false;
    pthread_mutex_lock(source->lock);
    are_left = source->run.left > 1;
    pthread_mutex_unlock(source->lock);
    return are_left;
}

/* Whether the slot's cell counts in a window of this broker, which was granted
 * all of it so far, as far as the broker knows. */
static bool is_own(const struct slot *slot)
{
    return slot->is_windowed && slot->is_alone && slot->mark.window > 0;
}

static int64_t rest_of(const struct slot *slot)
{
    return ((int64_t)1 << counter_window_bits(slot->counter)) - 1 -
           slot->mark.value;
}

bool window_is_spent(const struct slot *slot)
{
    return is_own(slot) &&
           (rest_of(slot) == 0 ||
            (rest_of(slot) <= slot->want / SPENT_PART && is_at_hand(slot)));
}

int64_t window_wanted(const struct slot *slot)
{
    return is_own(slot) && rest_of(slot) > 0 ? min_of(slot->want, rest_of(slot))
                                             : slot->want;
}

enum seqb_status window_take(struct slot *slot, int64_t floor,
                             int64_t deadline_ms, struct windows *out,
                             struct seqb_error *err)
{
    enum seqb_status status;

    out->count = 0;
    if (slot->windows == NULL)
        slot->windows = source_new(slot);
    if (slot->windows == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         slot->counter->key);
    if (slot->windows->neighbours != NULL)
        return source_take_later(slot, floor, out, err);
    status = source_take(slot, floor, deadline_ms, out, err);
    slot->is_refused = status != SEQB_UNAVAILABLE;
    return status;
}
