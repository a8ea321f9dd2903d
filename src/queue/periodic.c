/* SPDX-License-Identifier: Apache-2.0 */
/* The terms of a sequence with a period: made, made ready ahead of their
 * stamps, emptied, and looked at. */
#include "queue/periodic.h"

#include <stdlib.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"

/* The next stamp's term is filled so long before its begin: a part of the
 * stamp, no more than that. */
#define LEAD_PART    4
#define LEAD_MOST_MS 2000

/* That it may be issued is kept only so long before: a start in between finds
 * its clock that far behind. */
#define KEEP_LEAD_MS 250

/* Between two looks at most, as the clock may leap; and near the turn. */
#define LOOK_MOST_MS 60000
#define LOOK_NEAR_MS 20

/* Old stamps are purged so often, and none is that is younger. */
#define PURGE_EVERY_MS 60000
#define KEEP_LEAST_MS  INT64_C(3600000)

static const struct period_rules *rules_of(const struct periodic *periodic)
{
    return periodic->front->options->period;
}

/* --- terms --- */

static bool term_make(struct periodic *periodic, struct term *term)
{
    struct seqb_sequence *front = periodic->front;
    struct seqb_sequence *sequence;

    if (sequence_new(front->queue, ha_counter_pool(front->counter),
                     front->options, front->key, &sequence, NULL) != SEQB_OK)
        return false;
    ha_counter_agree(sequence->counter, &periodic->agreed);
    pthread_mutex_lock(&front->ready_lock);
    queue_on_ready(sequence, front->ready, front->ready_context);
    pthread_mutex_unlock(&front->ready_lock);
    term->sequence = sequence;
    return true;
}

/* What it counts from here on is of the new stamp: nothing of the old one's is
 * under way any more, or it is not changed. */
static bool term_renew(struct periodic *periodic, struct term *term,
                       const struct period_span *span)
{
    const struct ha_stamp stamp = {span->stamp, span->begin_ms, span->end_ms};
    struct seqb_sequence *sequence = term->sequence;

    atomic_store(&term->stamp, 0);
    atomic_store(&sequence->is_over, true);
    if (!ha_counter_restamp(sequence->counter, &stamp))
        return false;
    sequence_renew(sequence, &periodic->taken, &periodic->dropped);
    atomic_store_explicit(&term->begin_ms, span->begin_ms,
                          memory_order_relaxed);
    atomic_store_explicit(&term->end_ms, span->end_ms, memory_order_relaxed);
    atomic_store_explicit(&term->stamp, span->stamp, memory_order_release);
    atomic_store(&sequence->is_over, false);
    return true;
}

static struct term *term_find(struct periodic *periodic, int64_t stamp)
{
    for (int i = 0; i < TERMS; i++) {
        if (atomic_load(&periodic->terms[i].stamp) == stamp)
            return &periodic->terms[i];
    }
    return NULL;
}

struct term *periodic_term(struct periodic *periodic,
                           const struct period_span *span)
{
    const struct term *now = atomic_load(&periodic->now);
    struct term *found = term_find(periodic, span->stamp);

    for (int i = 0; found == NULL && i < TERMS; i++) {
        struct term *term = &periodic->terms[i];

        if (term == now || atomic_load(&term->stamp) > span->stamp)
            continue;
        if (term->sequence == NULL && !term_make(periodic, term))
            return NULL;
        if (term_renew(periodic, term, span))
            found = term;
    }
    return found;
}

void periodic_carry(struct periodic *periodic, struct term *to, int64_t now_ms)
{
    const struct term *from = atomic_load(&periodic->now);
    struct refill refill;

    if (from == NULL || from == to)
        return;
    pthread_mutex_lock(&from->sequence->lock);
    refill = from->sequence->refill;
    pthread_mutex_unlock(&from->sequence->lock);
    pthread_mutex_lock(&to->sequence->lock);
    refill_carry(&to->sequence->refill, &refill, now_ms);
    pthread_mutex_unlock(&to->sequence->lock);
}

/* --- opening and closing --- */

static int64_t keep_ms_of(const struct queue_sequence_options *options)
{
    static const int64_t lengths_ms[] = {
        [PERIOD_SECOND] = 1000,
        [PERIOD_MINUTE] = 60000,
        [PERIOD_HOUR] = 3600000,
        [PERIOD_DAY] = 86400000,
        [PERIOD_WEEK] = 7 * INT64_C(86400000),
        [PERIOD_MONTH] = 31 * INT64_C(86400000),
        [PERIOD_QUARTER] = 92 * INT64_C(86400000),
        [PERIOD_YEAR] = 366 * INT64_C(86400000),
    };
    const int64_t keep_ms =
        options->keep_periods * lengths_ms[options->period->unit];

    return keep_ms > KEEP_LEAST_MS ? keep_ms : KEEP_LEAST_MS;
}

enum seqb_status periodic_open(struct seqb_sequence *front, struct wall *wall,
                               struct seqb_error *err)
{
    const struct queue_sequence_options *options = front->options;
    struct periodic *periodic = calloc(1, sizeof *periodic);

    if (periodic == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         front->key);
    pthread_mutex_init(&periodic->lock, NULL);
    periodic->front = front;
    periodic->wall = wall;
    periodic->keep_ms = keep_ms_of(options);
    periodic->agreed = (struct ha_terms){
        .claim = options->terms == NULL ? "" : options->terms,
        .value_bits = options_value_bits(options),
        .keep_ms = periodic->keep_ms,
    };
    ha_counter_agree(front->counter, &periodic->agreed);
    front->periodic = periodic;
    return SEQB_OK;
}

void periodic_free(struct periodic *periodic)
{
    if (periodic == NULL)
        return;
    for (int i = 0; i < TERMS; i++)
        sequence_free(periodic->terms[i].sequence);
    pthread_mutex_destroy(&periodic->lock);
    free(periodic);
}

void periodic_close(struct periodic *periodic)
{
    pthread_mutex_lock(&periodic->lock);
    periodic->is_closed = true;
    pthread_mutex_unlock(&periodic->lock);
    /* No term is made from here on. */
    for (int i = 0; i < TERMS; i++) {
        if (periodic->terms[i].sequence != NULL)
            sequence_close(periodic->terms[i].sequence);
    }
}

void periodic_on_ready(struct periodic *periodic, void (*ready)(void *context),
                       void *context)
{
    pthread_mutex_lock(&periodic->lock);
    for (int i = 0; i < TERMS; i++) {
        if (periodic->terms[i].sequence != NULL)
            queue_on_ready(periodic->terms[i].sequence, ready, context);
    }
    pthread_mutex_unlock(&periodic->lock);
}

/* --- looking, on the refill thread --- */

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* With the lock held. */
static void drop_over(struct periodic *periodic)
{
    for (int i = 0; i < TERMS; i++) {
        struct seqb_sequence *sequence = periodic->terms[i].sequence;

        if (sequence != NULL && atomic_load(&sequence->is_over))
            periodic->dropped += sequence_drop_rest(sequence);
    }
}

/* The stamp after the current one, which begins so soon, has its term filled;
 * that it is issued is to be kept. */
static void prepare(struct periodic *periodic, int64_t begin_ms,
                    int64_t left_ms, int64_t now_ms)
{
    struct period_span span;
    struct term *term = NULL;

    period_span_at(rules_of(periodic), begin_ms, &span);
    if (left_ms <= KEEP_LEAD_MS)
        (void)wall_expect(periodic->wall, span.begin_ms);
    pthread_mutex_lock(&periodic->lock);
    if (!periodic->is_closed)
        term = periodic_term(periodic, &span);
    pthread_mutex_unlock(&periodic->lock);
    if (term == NULL)
        return;
    periodic_carry(periodic, term, now_ms);
    queue_wake(term->sequence);
}

static void purge(struct periodic *periodic, int64_t time_ms, int64_t now_ms)
{
    struct period_span keep;

    const bool is_first = periodic->purged_ms == 0;

    if (!is_first && now_ms - periodic->purged_ms < PURGE_EVERY_MS)
        return;
    periodic->purged_ms = now_ms;
    if (is_first)
        return; /* what the clock says at the start may be corrected soon */
    period_span_at(rules_of(periodic), time_ms - periodic->keep_ms, &keep);
    ha_counter_purge(
        periodic->front->counter,
        &(struct ha_stamp){keep.stamp, keep.begin_ms, keep.end_ms});
}

/* Callers were told to try again, and nobody else would tell them when: what
 * they asked for is asked for now. */
static void help_armed(struct periodic *periodic)
{
    struct seqb_sequence *front = periodic->front;
    struct turn turn;

    if (!atomic_load(&front->is_armed) ||
        periodic_turn(periodic, 0, &turn, NULL) == SEQB_AGAIN)
        return;
    sequence_tell_ready(front);
}

/* How long until the next stamp is to be made ready; none is if nobody has
 * asked for a number of this one, which would have made it the current one. */
static int64_t look_ahead(struct periodic *periodic, int64_t time_ms,
                          int64_t now_ms)
{
    struct term *now = atomic_load(&periodic->now);
    int64_t left_ms;
    int64_t lead_ms;

    if (now == NULL)
        return INT64_MAX;
    left_ms = atomic_load(&now->end_ms) - time_ms;
    lead_ms = at_most(
        (atomic_load(&now->end_ms) - atomic_load(&now->begin_ms)) / LEAD_PART,
        LEAD_MOST_MS);
    if (left_ms > lead_ms)
        return left_ms - lead_ms;
    if (left_ms <= 0)
        return INT64_MAX;
    prepare(periodic, time_ms + left_ms, left_ms, now_ms);
    return LOOK_NEAR_MS;
}

int64_t periodic_look(struct periodic *periodic, int64_t now_ms)
{
    struct turn turn;
    int64_t time_ms;
    int64_t wait_ms;

    help_armed(periodic);
    if (periodic->front->options->warm &&
        periodic_turn(periodic, 0, &turn, NULL) == SEQB_OK)
        queue_wake(turn.term->sequence);
    pthread_mutex_lock(&periodic->lock);
    drop_over(periodic);
    pthread_mutex_unlock(&periodic->lock);
    if (wall_now(periodic->wall, &time_ms, NULL) != SEQB_OK)
        return now_ms + LOOK_NEAR_MS;
    purge(periodic, time_ms, now_ms);
    wait_ms = look_ahead(periodic, time_ms, now_ms);
    if (atomic_load(&periodic->front->is_armed))
        wait_ms = at_most(wait_ms, LOOK_NEAR_MS);
    return wait_ms == INT64_MAX ? INT64_MAX
                                : now_ms + at_most(wait_ms, LOOK_MOST_MS);
}

/* --- for people --- */

static int64_t sum_taken(const struct periodic *periodic, int64_t now_ms)
{
    int64_t taken = periodic->taken;

    for (int i = 0; i < TERMS; i++) {
        struct seqb_sequence_status term;

        if (periodic->terms[i].sequence == NULL)
            continue;
        sequence_status(periodic->terms[i].sequence, now_ms, &term);
        taken += term.taken;
    }
    return taken;
}

/* Those ids end when their time does. */
static int64_t ends_ms(const struct bits_layout *ids)
{
    const int64_t end_ms = ids == NULL ? INT64_MAX : bits_end_ms(ids);

    return end_ms == INT64_MAX ? INT64_MAX : end_ms - clock_wall_ms();
}

void periodic_status(struct periodic *periodic, int64_t now_ms,
                     struct seqb_sequence_status *out)
{
    const struct queue_sequence_options *options = periodic->front->options;
    const int64_t waits = out->waits;
    struct turn turn;

    pthread_mutex_lock(&periodic->lock);
    if (periodic_last(periodic, &turn)) {
        sequence_status(turn.term->sequence, now_ms, out);
        out->stamp = (struct seqb_stamp){turn.span.stamp, turn.span.begin_ms,
                                         turn.span.end_ms};
    }
    out->taken = sum_taken(periodic, now_ms);
    out->dropped = periodic->dropped;
    pthread_mutex_unlock(&periodic->lock);
    out->waits += waits;
    out->runs_out_ms = ends_ms(options->ids);
    (void)text_copy(out->period, sizeof out->period,
                    period_unit_name(options->period->unit));
}
