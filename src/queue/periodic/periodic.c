/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a sequence with a period: opens and closes it, prepares its
 * slots ahead of their stamps, and empties them. */
#include "queue/periodic/periodic.h"

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* The slot of the next stamp is filled this long before its begin: 1/LEAD_PART
 * of a stamp, but at most LEAD_MOST_MS. */
#define LEAD_PART    4
#define LEAD_MOST_MS 2000

/* The clock keeps only this long before the next stamp begins that it may be
 * issued. A broker that starts in between finds its clock that far behind. */
#define KEEP_LEAD_MS 250

/* The longest time between two polls, since the clock may jump; and the time
 * between two polls near a change of the stamp. */
#define LOOK_MOST_MS 60000
#define LOOK_NEAR_MS 20

/* Old stamps are purged this often. */
#define PURGE_EVERY_MS 60000

static const struct period_rules *rules_of(const struct periodic *periodic)
{
    return periodic->front.options->period;
}

/* --- opening and closing --- */

static enum seqb_status periodic_open(const struct source_setup *setup,
                                      struct seqb_sequence **out,
                                      struct seqb_error *err)
{
    const enum seqb_status status = sequence_new(
        setup, &source_periodic, sizeof(struct periodic), out, err);

    if (status != SEQB_OK)
        return status;
    periodic_of(*out)->attributes = setup->attributes;
    pthread_mutex_init(&periodic_of(*out)->lock, NULL);
    return SEQB_OK;
}

static void periodic_free(struct seqb_sequence *front)
{
    struct periodic *periodic = periodic_of(front);

    for (int i = 0; i < PERIOD_SLOTS; i++)
        sequence_free(periodic->slots[i].sequence);
    pthread_mutex_destroy(&periodic->lock);
    sequence_free(front);
}

static void periodic_close(struct seqb_sequence *front)
{
    struct periodic *periodic = periodic_of(front);

    pthread_mutex_lock(&periodic->lock);
    periodic->is_closed = true;
    pthread_mutex_unlock(&periodic->lock);
    /* No slot is made after this. */
    for (int i = 0; i < PERIOD_SLOTS; i++) {
        if (periodic->slots[i].sequence != NULL)
            sequence_close(periodic->slots[i].sequence);
    }
    sequence_close(front);
}

static void periodic_on_ready(struct seqb_sequence *front,
                              void (*ready)(void *context), void *context)
{
    struct periodic *periodic = periodic_of(front);

    sequence_on_ready(front, ready, context);
    pthread_mutex_lock(&periodic->lock);
    for (int i = 0; i < PERIOD_SLOTS; i++) {
        if (periodic->slots[i].sequence != NULL)
            sequence_on_ready(periodic->slots[i].sequence, ready, context);
    }
    pthread_mutex_unlock(&periodic->lock);
}

static enum seqb_status periodic_permits(const struct seqb_sequence *front,
                                         enum source_use use,
                                         struct seqb_error *err)
{
    static const char *const reasons[] = {
        [SOURCE_SPOOL] = "they are over soon, and are not kept",
        [SOURCE_CURSOR] = "a cursor would hold its numbers beyond their stamp",
        [SOURCE_ADVANCE] =
            "its numbers begin afresh by themselves, and are not advanced",
    };

    return error_set(err, SEQB_INVALID, "sequence %s has a period: %s",
                     front->key, reasons[use]);
}

/* --- looking, on the refill thread --- */

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* With the lock held. */
static void drop_over(struct periodic *periodic)
{
    for (int i = 0; i < PERIOD_SLOTS; i++) {
        struct seqb_sequence *sequence = periodic->slots[i].sequence;

        if (sequence != NULL && atomic_load(&sequence->is_over))
            periodic->dropped += sequence_drop_all(sequence);
    }
}

/* Fills the slot of the stamp after the current one, which begins in `left_ms`.
 * Shortly before the begin, asks the clock to keep that it may be issued. */
static void prepare(struct periodic *periodic, int64_t begin_ms,
                    int64_t left_ms, int64_t now_ms)
{
    struct period_span span;
    struct period_slot *slot = NULL;

    period_span_at(rules_of(periodic), begin_ms, &span);
    if (left_ms <= KEEP_LEAD_MS)
        (void)guarded_clock_expect(periodic_clock(periodic), span.begin_ms);
    pthread_mutex_lock(&periodic->lock);
    if (!periodic->is_closed)
        slot = periodic_slot(periodic, &span);
    pthread_mutex_unlock(&periodic->lock);
    if (slot == NULL)
        return;
    periodic_carry(periodic, slot, now_ms);
    sequence_wake(slot->sequence);
}

static void purge(struct periodic *periodic, int64_t time_ms, int64_t now_ms)
{
    struct period_span keep;

    const bool is_first = periodic->purged_ms == 0;

    if (!is_first && now_ms - periodic->purged_ms < PURGE_EVERY_MS)
        return;
    periodic->purged_ms = now_ms;
    if (is_first)
        return; /* the clock may still be corrected after the start */
    period_span_at(rules_of(periodic), time_ms - periodic->attributes->keep_ms,
                   &keep);
    ha_counter_purge(
        periodic->front.counter,
        &(struct ha_stamp){keep.stamp, keep.begin_ms, keep.end_ms});
}

/* Callers got SEQB_AGAIN because no slot was current, and only this poll can
 * call them: calls the ready function once a slot is. */
static void help_armed(struct periodic *periodic)
{
    struct seqb_sequence *front = &periodic->front;
    struct current_period current;

    if (!atomic_load(&front->is_armed) ||
        current_may_come(periodic_find_current(periodic, 0, &current, NULL)))
        return;
    sequence_notify_ready(front);
}

int64_t periodic_ahead_ms(int64_t begin_ms, int64_t end_ms, int64_t time_ms)
{
    const int64_t left_ms = end_ms - time_ms;
    const int64_t lead_ms =
        at_most((end_ms - begin_ms) / LEAD_PART, LEAD_MOST_MS);

    if (left_ms <= 0)
        return INT64_MAX;
    return left_ms > lead_ms ? left_ms - lead_ms : 0;
}

/* Prepares the next stamp if it is time. Returns the ms until the next poll. If
 * no caller asked for a number of the present stamp, it never became current,
 * and the next one is not prepared. */
static int64_t prepare_ahead(struct periodic *periodic, int64_t time_ms,
                             int64_t now_ms)
{
    struct period_slot *now = atomic_load(&periodic->now);
    int64_t end_ms;
    int64_t wait_ms;

    if (now == NULL)
        return INT64_MAX;
    end_ms = atomic_load(&now->end_ms);
    wait_ms = periodic_ahead_ms(atomic_load(&now->begin_ms), end_ms, time_ms);
    if (wait_ms > 0)
        return wait_ms;
    prepare(periodic, end_ms, end_ms - time_ms, now_ms);
    return LOOK_NEAR_MS;
}

/* Returns when to poll again; INT64_MAX: after a caller has asked. */
static int64_t periodic_poll(struct periodic *periodic, int64_t now_ms)
{
    struct current_period current;
    int64_t time_ms;
    int64_t wait_ms;

    help_armed(periodic);
    if (periodic->front.settings->warm &&
        periodic_find_current(periodic, 0, &current, NULL) == SEQB_OK)
        sequence_wake(current.slot->sequence);
    pthread_mutex_lock(&periodic->lock);
    drop_over(periodic);
    pthread_mutex_unlock(&periodic->lock);
    if (guarded_clock_now(periodic_clock(periodic), &time_ms, NULL) != SEQB_OK)
        return now_ms + LOOK_NEAR_MS;
    purge(periodic, time_ms, now_ms);
    wait_ms = prepare_ahead(periodic, time_ms, now_ms);
    if (atomic_load(&periodic->front.is_armed))
        wait_ms = at_most(wait_ms, LOOK_NEAR_MS);
    return wait_ms == INT64_MAX ? INT64_MAX
                                : now_ms + at_most(wait_ms, LOOK_MOST_MS);
}

/* The front is not in the agenda's list: it is polled again at its poll_ms. */
static bool periodic_refill(struct seqb_sequence *front, int64_t now_ms,
                            int64_t *next_ms)
{
    *next_ms = INT64_MAX;
    if (sequence_admission(front) != SEQUENCE_ADMITTED)
        return false; /* it is woken when it is settled */
    front->poll_ms = periodic_poll(periodic_of(front), now_ms);
    if (front->poll_ms != INT64_MAX)
        agenda_poll_at(&front->context->agenda, front->poll_ms);
    return false;
}

static int64_t periodic_drop(struct seqb_sequence *front)
{
    struct periodic *periodic = periodic_of(front);
    int64_t dropped = 0;

    pthread_mutex_lock(&periodic->lock);
    for (int i = 0; i < PERIOD_SLOTS; i++) {
        if (periodic->slots[i].sequence == NULL)
            continue;
        dropped += sequence_drop_all(periodic->slots[i].sequence);
        sequence_wake(periodic->slots[i].sequence); /* to call who armed it */
    }
    periodic->dropped += dropped;
    pthread_mutex_unlock(&periodic->lock);
    return dropped;
}

/* The refill thread polls the front, and has the slot filled. */
static bool periodic_warm(struct seqb_sequence *front, int64_t until_ms)
{
    struct current_period current;

    return periodic_find_current(periodic_of(front), until_ms, &current,
                                 NULL) == SEQB_OK &&
           sequence_warm(current.slot->sequence, until_ms);
}

/* --- for people --- */

/* With the lock held. Counts since the start are sums over all slots and over
 * all stamps that they had. The rest is that of the current slot. */
static void sum_counts(struct periodic *periodic, int64_t now_ms,
                       struct seqb_sequence_counts *out)
{
    struct seqb_sequence *front = &periodic->front;
    const struct period_slot *now = atomic_load(&periodic->now);
    int64_t taken = periodic->taken;
    int64_t waits =
        atomic_load_explicit(&front->ring->waits, memory_order_relaxed);

    *out = (struct seqb_sequence_counts){.runway_ms = INT64_MAX,
                                         .runs_out_ms = INT64_MAX};
    for (int i = 0; i < PERIOD_SLOTS; i++) {
        struct seqb_sequence_counts slot;

        if (periodic->slots[i].sequence == NULL)
            continue;
        sequence_counts(periodic->slots[i].sequence, now_ms, &slot);
        taken += slot.taken;
        waits += slot.waits;
        if (&periodic->slots[i] == now)
            *out = slot;
    }
    out->taken = taken;
    out->waits = waits;
    out->dropped = periodic->dropped;
}

/* In how many ms the time no longer fits in the ids. */
static int64_t ends_ms(const struct bits_layout *ids)
{
    const int64_t end_ms = ids == NULL ? INT64_MAX : bits_end_ms(ids);

    return end_ms == INT64_MAX ? INT64_MAX
                               : max_of(end_ms - clock_wall_ms(), 0);
}

static void periodic_status(struct seqb_sequence *front, int64_t now_ms,
                            struct seqb_sequence_status *out)
{
    struct periodic *periodic = periodic_of(front);
    const struct queue_sequence_options *options = front->options;
    struct seqb_sequence_counts counts;
    struct current_period current;

    sequence_status(front, now_ms, out);
    pthread_mutex_lock(&periodic->lock);
    if (periodic_last(periodic, &current)) {
        sequence_status(current.slot->sequence, now_ms, out);
        out->stamp = (struct seqb_stamp){
            current.span.stamp, current.span.begin_ms, current.span.end_ms};
    }
    sum_counts(periodic, now_ms, &counts);
    pthread_mutex_unlock(&periodic->lock);
    out->taken = counts.taken;
    out->waits = counts.waits;
    out->dropped = counts.dropped;
    out->runs_out_ms = at_most(out->runs_out_ms, ends_ms(options->ids));
    (void)text_copy(out->period, sizeof out->period,
                    period_unit_name(options->period->unit));
}

static void periodic_counts(struct seqb_sequence *front, int64_t now_ms,
                            struct seqb_sequence_counts *out)
{
    struct periodic *periodic = periodic_of(front);

    pthread_mutex_lock(&periodic->lock);
    sum_counts(periodic, now_ms, out);
    pthread_mutex_unlock(&periodic->lock);
    out->runs_out_ms = at_most(out->runs_out_ms, ends_ms(front->options->ids));
}

/* Prefetches the front and the current slot. Few sequences have a second
 * slot. */
static void periodic_prefetch_counts(const struct seqb_sequence *front,
                                     int step)
{
    const struct periodic *periodic = (const struct periodic *)front;
    const struct period_slot *now;

    if (step == 0) {
        __builtin_prefetch((const void *)&front->ring->head);
        __builtin_prefetch(&periodic->lock, 1); /* written, because it is
                                                   locked */
        for (int i = 0; i < PERIOD_SLOTS; i++)
            __builtin_prefetch(&periodic->slots[i]);
        __builtin_prefetch(&periodic->taken);
        return;
    }
    now = atomic_load(&periodic->now);
    if (now == NULL)
        return;
    if (step == 1)
        __builtin_prefetch(now->sequence);
    else
        sequence_prefetch_counts(now->sequence);
}

const struct source source_periodic = {
    .open = periodic_open,
    .take = periodic_take,
    .try_take = periodic_try_take,
    .permits = periodic_permits,
    .refill = periodic_refill,
    .drop = periodic_drop,
    .warm = periodic_warm,
    .status = periodic_status,
    .counts = periodic_counts,
    .prefetch_counts = periodic_prefetch_counts,
    .on_ready = periodic_on_ready,
    .close = periodic_close,
    .free = periodic_free,
};
