/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence: its ring, who waits for it, and its refill. Private to this
 * folder.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "ha/ha.h"
#include "queue/queue.h"
#include "queue/refill.h"
#include "queue/ring.h"
#include "queue/stripe.h"

/* Looked at again so soon while somebody waits, or just after an ask. */
#define SEQUENCE_SOON_MS 2

/* Fetches overlap and hedges answer twice: up to so many times as much. */
#define SEQUENCE_ROOM 2

struct keeper;
struct periodic;
struct wiped;

struct seqb_sequence {
    struct ha_sink sink; /* first: grants are delivered to it */
    struct ring *ring;
    /* NULL while it is not busy. The release with which they appear pairs with
     * the takers' acquire. */
    _Atomic(struct stripes *) stripes;
    struct queue *queue;
    struct ha_counter *counter;
    const struct queue_sequence_options *options;
    const char *key;           /* the counter's */
    struct periodic *periodic; /* of one with a period, whose own ring stays
                                  empty; NULL: it has none */

    /* From here on it is written: on lines apart from the ring's address. */

    /* Threads in calls that found the ring empty, and whether a ready call is
     * owed. Sequentially consistent: a taker announces itself and looks at the
     * ring, a delivery fills the ring and looks here; one of them must see the
     * other. */
    _Alignas(RING_LINE) atomic_int waiters;
    atomic_bool is_armed;
    _Atomic int64_t waits; /* calls that found the ring empty; a statistic */

    /* It is of a stamp that is over: nothing is asked for, or waited for. */
    atomic_bool is_over;

    /* A caller wants so many numbers at once, or none; 0: no one does. */
    _Atomic int64_t wish;

    pthread_mutex_t lock; /* guards pushing, closing, and what follows */
    pthread_cond_t filled;
    bool is_closed;
    struct refill refill;
    struct refill_plan asked; /* the last plan that asked for something */
    int64_t low;              /* of the last plan ... */
    int64_t target;           /* ... as is this */
    int64_t floor;            /* no run that begins at or below it is pushed */
    uint64_t granted;      /* numbers pushed, less those dropped by an order */
    uint64_t consumed;     /* the most that was ever taken of them */
    struct stripes *spare; /* that were made, in use or not; NULL: never */

    uint64_t seen;   /* of consumed, when the keeper looked last ... */
    int64_t seen_ms; /* ... and since when it is that */

    /* Whether the spool may have numbers of it, and it is used since. Relaxed
     * is enough: they carry nothing; the default order costs nothing here. */
    atomic_bool may_be_kept;
    atomic_bool is_missed;
    bool is_wanted; /* of the spool, by its keeper, whose own this is */

    pthread_mutex_t ready_lock; /* held while ready runs */
    void (*ready)(void *context);
    void *ready_context;

    int64_t turn_ms; /* of one with a period: when the refill thread, whose own
                        this is, is to look again; INT64_MAX: when woken */

    /* Guarded by the queue's lock. */
    bool is_woken;
    bool is_active; /* looked at in every interval */
    struct seqb_sequence *next_active;
};

/* Its counters' numbers are below 2^that. */
static inline int32_t
options_value_bits(const struct queue_sequence_options *options)
{
    if (options->ids != NULL)
        return options->ids->counter;
    return options->value_bits == 0 ? BITS_ALL : options->value_bits;
}

enum seqb_status sequence_new(struct queue *queue, struct ha_pool *pool,
                              const struct queue_sequence_options *options,
                              const char *key, struct seqb_sequence **out,
                              struct seqb_error *err);
void sequence_free(struct seqb_sequence *sequence);

/* Answers everybody who waits, now and later, with SEQB_CLOSED; returns when
 * nobody waits any more, so that the sequence may be freed. */
void sequence_close(struct seqb_sequence *sequence);

/* With the lock held: whom the refill is called by next. */
void sequence_set_mark(struct seqb_sequence *sequence);

/* On the refill thread: plans, and asks. True while it wants to be looked at
 * again in the next interval, or at `*next_ms` if that is sooner. */
bool sequence_refill(struct seqb_sequence *sequence, int64_t now_ms,
                     int64_t *next_ms);

/* Pushes numbers that were taken and not used back into the ring. Those that
 * do not fit, or come after the close, are a gap. */
void sequence_give_back(struct seqb_sequence *sequence,
                        const struct ring_slice *slice);

/* The same for all that its stripes hold; returns how many slices. */
size_t sequence_gather(struct seqb_sequence *sequence);

/* Pushes numbers that the spool has kept. */
void sequence_put(struct seqb_sequence *sequence, int64_t first,
                  uint64_t count);

/* Whether so many blocks of the spool, of so many numbers, are welcome. */
bool sequence_has_place(struct seqb_sequence *sequence, uint32_t blocks,
                        int64_t numbers);

/* Whether its ring holds numbers and nobody has taken any for idle_after; to
 * be asked from time to time, by one thread. */
bool sequence_is_idle(struct seqb_sequence *sequence, int64_t now_ms);

/* After the close: waits until all that was asked for is answered, until
 * `until_ms` at most. */
void sequence_settle(struct seqb_sequence *sequence, int64_t until_ms);

/* Has a ready call made that is owed. */
void sequence_tell_ready(struct seqb_sequence *sequence);

/* Takes all away that its ring holds, as of a term that is over; returns how
 * many numbers. */
int64_t sequence_drop_rest(struct seqb_sequence *sequence);

/* Of a term, once nothing is asked for any more: begins anew with an empty
 * ring. Adds what was taken and what was left to the sums. */
void sequence_renew(struct seqb_sequence *sequence, int64_t *taken,
                    int64_t *dropped);

/* Of take.c: a call found the ring empty: from begin to end it counts as
 * waiting, and the sequence is not freed. */
void sequence_wait_begin(struct seqb_sequence *sequence);
void sequence_wait_end(struct seqb_sequence *sequence);

/* Of take.c, between these two: waits until the ring holds something; for
 * nothing if it is over (SEQB_AGAIN). */
enum seqb_status sequence_wait(struct seqb_sequence *sequence, int64_t until_ms,
                               struct seqb_error *err);

/* Of take.c: takes up to `count` numbers that are there. */
size_t sequence_take_some(struct seqb_sequence *sequence, size_t count,
                          int64_t *out);

/* Of take.c: the ring was found empty by a caller who does not wait: has it
 * refilled, and owes a ready call. */
enum seqb_status sequence_again(struct seqb_sequence *sequence,
                                struct seqb_error *err);

/* Of take.c: when a call that begins now is to end. */
int64_t sequence_until(const struct seqb_sequence *sequence);

/* Of take.c: fills in SEQB_FORKED. */
enum seqb_status sequence_forked(struct seqb_error *err);

/* Of take.c: takes a slice of up to `count` numbers, waiting for the first of
 * them up to the deadline. */
enum seqb_status sequence_take_slice(struct seqb_sequence *sequence,
                                     uint64_t count, struct ring_slice *out,
                                     struct seqb_error *err);

void sequence_status(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_status *out);

/* Of queue.c: has the refill thread look at the sequence now. Any thread. */
void queue_wake(struct seqb_sequence *sequence);

/* Likewise: has the thread look at it again then, if nobody wakes it before. */
void queue_turn_at(struct queue *queue, int64_t turn_ms);

/* Likewise: tells the keeper that a sequence is used whose numbers the spool
 * may have. */
void queue_miss(struct queue *queue);

/* Likewise: visits some sequences with the catalog locked, from `*at` on, which
 * is moved behind them; false when there are no more. */
bool queue_visit(struct queue *queue, size_t *at,
                 void (*visit)(void *context, struct seqb_sequence *sequence),
                 void *context);

/* Likewise: the sequence of a key if it is there, else NULL. */
struct seqb_sequence *queue_peek(struct queue *queue, const char *key);

/* Likewise: NULL if there is no spool. */
struct keeper *queue_keeper(struct queue *queue);

/* Likewise: ms between two looks at each sequence. */
int32_t queue_interval_ms(const struct queue *queue);

/* Likewise: where rings, stripes and cursors lie. */
struct wiped *queue_memory(struct queue *queue);
