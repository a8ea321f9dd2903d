/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence with a period. What callers have is its front, which holds no
 * numbers; they are in a few terms, each an inner sequence with a ring and a
 * counter of its own, for one stamp. A term whose stamp is over is made that
 * of a later one. Private to the files of this source.
 *
 * From the bottom up: periodic_term.c makes terms; periodic_turn.c decides
 * which one is current; periodic_take.c takes; periodic.c is the source, and
 * makes terms ready ahead of their stamps.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "queue/sequence_take.h"
#include "queue/wall/wall.h"

/* The one that is current, the next one, and two whose answers may still be
 * under way. */
#define TERMS 4

struct term {
    struct seqb_sequence *sequence; /* NULL: not made yet; then constant */
    /* Whose numbers the ring holds, as digits; 0: none's, or it is changing.
     * Never the same twice. Who takes a number looks before and after: the
     * release of a new stamp comes after all of the old one's numbers are
     * gone, and before the first one of its own. */
    _Atomic int64_t stamp;
    _Atomic int64_t begin_ms; /* of that stamp */
    _Atomic int64_t end_ms;
    _Atomic int64_t first_id; /* that of shard 0 and counter 0; -1: none fits */
};

struct periodic {
    struct seqb_sequence front;        /* first */
    const struct ha_terms *attributes; /* of its counters */

    /* NULL: no number was ever asked for. */
    _Atomic(struct term *) now;

    pthread_mutex_t lock; /* guards the making and changing of terms */
    struct term terms[TERMS];
    bool is_closed;
    int64_t taken;   /* numbers of terms that have changed since */
    int64_t dropped; /* numbers that were not taken while their stamp lasted */

    /* The refill thread's own. */
    int64_t purged_ms;
};

/* A term at one moment: what was read of it. */
struct turn {
    struct term *term;
    struct period_span span;
    int64_t first_id;
};

static inline struct periodic *periodic_of(struct seqb_sequence *front)
{
    return (struct periodic *)front;
}

static inline struct wall *periodic_wall(const struct periodic *periodic)
{
    return periodic->front.context->wall;
}

/*
 * Of periodic_term.c, with the lock held: the term of that span, with nothing
 * in its ring if it was none before; NULL if all are busy with earlier ones,
 * which passes, or memory is short.
 */
struct term *periodic_term(struct periodic *periodic,
                           const struct period_span *span);

/* Of it too: has the term's refill reckon with what the current one's callers
 * use, if that is another one. */
void periodic_carry(struct periodic *periodic, struct term *to, int64_t now_ms);

/*
 * Of periodic_turn.c: whose turn it is now. SEQB_OK; SEQB_AGAIN: not yet
 * known, until a clock has caught up or something is kept; SEQB_TIMEOUT: not
 * yet either, no term is free; SEQB_CLOCK, with the reason. Waits for what is
 * to be kept until `until_ms`; a moment that is past: does not wait.
 */
enum seqb_status periodic_turn(struct periodic *periodic, int64_t until_ms,
                               struct turn *out, struct seqb_error *err);

/* Whether a later call of that one may go otherwise. */
static inline bool turn_may_come(enum seqb_status status)
{
    return status == SEQB_AGAIN || status == SEQB_TIMEOUT;
}

/* Of it too: the current term if the machine's clock is within its span, which
 * is all there is to it, nearly always. */
bool periodic_current(struct periodic *periodic, struct turn *out);

/* Of it too: the term that was current last; false if there is none. */
bool periodic_last(struct periodic *periodic, struct turn *out);

/* Whether what was taken of the term since is of the turn's stamp. */
bool turn_holds(const struct turn *turn);

/* Of periodic_take.c: as those of the source. */
enum seqb_status periodic_next(struct seqb_sequence *front, int64_t *out,
                               struct seqb_error *err);
enum seqb_status periodic_take(struct seqb_sequence *front,
                               const struct queue_take *take,
                               struct seqb_error *err);
enum seqb_status periodic_try_take(struct seqb_sequence *front,
                                   const struct queue_take *take,
                                   struct seqb_error *err);
