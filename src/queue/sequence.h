/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence: its ring, who waits for it, and its refill. A source makes it,
 * and may put more behind it. Private to this folder.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "ha/ha.h"
#include "queue/queue.h"
#include "queue/refill.h"
#include "queue/ring.h"
#include "queue/source.h"
#include "queue/stripe.h"

/* Looked at again so soon while somebody waits, or just after an ask. */
#define SEQUENCE_SOON_MS 2

/* Fetches overlap and hedges answer twice: up to so many times as much. */
#define SEQUENCE_ROOM 2

/* What a reload may change of a sequence, at any moment: whoever reads two of
 * them may have one of before. The default order costs readers nothing. */
struct sequence_settings {
    _Atomic int32_t deadline_ms;
    _Atomic int32_t runway_ms;
    _Atomic int64_t max_unused;
    _Atomic int64_t idle_after_ms;
    atomic_bool prefetch;
    atomic_bool warm;
    atomic_bool full_waits;
    atomic_bool is_removed; /* it is not listed any more: it asks for nothing,
                               and refuses calls */
    /* It made itself, and was granted no number yet: it is counted in the
     * context. */
    atomic_bool is_without_number;
    /* The options whose template its texts have, and what follows from that;
     * constant as long as the queue. Their release pairs with the acquire of
     * who makes or reads a text. */
    _Atomic(const struct queue_sequence_options *) texts;
};

/* What a sequence is made from that was not there when the queue was opened:
 * its options would not last as long as it does. */
struct sequence_own {
    struct queue_sequence_options options;
    struct ha_counter_attributes attributes;
};

struct seqb_sequence {
    struct ha_sink sink; /* first: grants are delivered to it */
    struct ring *ring;
    /* NULL while it is not busy. The release with which they appear pairs with
     * the takers' acquire. */
    _Atomic(struct stripes *) stripes;
    const struct source *source;
    struct source_context *context;
    struct ha_counter *counter;
    const struct queue_sequence_options *options;
    struct sequence_settings *settings;    /* of a slot: its front's */
    const char *key;                       /* the counter's */
    struct sequence_settings own_settings; /* unused in a slot */
    struct sequence_own *own; /* freed with it; NULL: its options are constant
                                 as long as the queue */

    /* From here on it is written: on lines apart from the ring's address. */

    /* Threads in calls that found the ring empty, and whether a ready call is
     * owed. Sequentially consistent: a taker announces itself and looks at the
     * ring, a delivery fills the ring and looks here; one of them must see the
     * other. */
    _Alignas(RING_LINE) atomic_int waiters;
    atomic_bool is_armed;

    /* It is of a stamp that is over: nothing is asked for, or waited for. */
    atomic_bool is_over;

    /* Refused at the start by a store that knows it with other attributes;
     * constant after that. */
    bool is_refused;
    _Atomic int64_t waits; /* calls that found the ring empty; a statistic */

    /* A caller wants so many numbers at once, or none; 0: no one does. */
    _Atomic int64_t wanted;

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

    uint64_t seen;   /* of consumed, when the flusher looked last ... */
    int64_t seen_ms; /* ... and since when it is that */

    /* Whether the spool may have numbers of it, and it is used since. Relaxed
     * is enough: they carry nothing; the default order costs nothing here. */
    atomic_bool may_be_kept;
    atomic_bool is_missed;
    bool may_stripe; /* constant: its callers need not see the ring change */
    bool is_wanted;  /* by the spool; its flusher reads and writes this */

    pthread_mutex_t ready_lock; /* held while ready runs */
    void (*ready)(void *context);
    void *ready_context;

    int64_t poll_ms; /* the refill thread's: when it looks again though the
                        sequence is in no list; INT64_MAX: when woken */

    /* Guarded by the agenda's lock. */
    bool is_woken;
    bool is_active; /* looked at in every interval */
    struct seqb_sequence *next_active;
};

/* What its numbers mean. */
struct queue_meaning sequence_meaning(const struct seqb_sequence *sequence);

/* Its counters' numbers are below 2^that. */
static inline int32_t
options_value_bits(const struct queue_sequence_options *options)
{
    if (options->ids != NULL)
        return options->ids->counter;
    return options->value_bits == 0 ? BITS_ALL : options->value_bits;
}

static inline bool sequence_is_removed(const struct seqb_sequence *sequence)
{
    return atomic_load_explicit(&sequence->settings->is_removed,
                                memory_order_relaxed);
}

/* The options whose template is in use. Any thread. */
static inline const struct queue_sequence_options *
sequence_texts(const struct seqb_sequence *sequence)
{
    return atomic_load_explicit(&sequence->settings->texts,
                                memory_order_acquire);
}

/* From now on its texts have the options' template, which must last as long as
 * the queue. Any thread. */
void sequence_set_texts(struct seqb_sequence *sequence,
                        const struct queue_sequence_options *options);

/* From now on it has the options' settings, but for its template. Any thread.
 */
void sequence_set(struct seqb_sequence *sequence,
                  const struct queue_sequence_options *options);

/* It is not listed any more: who waits is answered, and what it holds is
 * dropped unless it is to be kept. */
void sequence_remove(struct seqb_sequence *sequence, bool is_kept);

/* SEQB_UNKNOWN_KEY, since it was removed. */
enum seqb_status sequence_unlisted(const struct seqb_sequence *sequence,
                                   struct seqb_error *err);

/* It made itself. Nobody else knows it yet. */
static inline void sequence_set_without_number(struct seqb_sequence *sequence)
{
    atomic_store(&sequence->settings->is_without_number, true);
    atomic_fetch_add(&sequence->context->without_number, 1);
}

/* It is not counted any more. Any thread. */
static inline void sequence_has_number(struct seqb_sequence *sequence)
{
    atomic_bool *is_without = &sequence->settings->is_without_number;

    if (atomic_load_explicit(is_without, memory_order_relaxed) &&
        atomic_exchange(is_without, false))
        atomic_fetch_sub(&sequence->context->without_number, 1);
}

/* Makes a sequence at the begin of `size` zeroed bytes, for a source that keeps
 * more behind it. */
enum seqb_status sequence_new(const struct source_setup *setup,
                              const struct source *source, size_t size,
                              struct seqb_sequence **out,
                              struct seqb_error *err);
void sequence_free(struct seqb_sequence *sequence);

/* Answers everybody who waits, now and later, with SEQB_CLOSED; returns when
 * nobody waits any more, so that the sequence may be freed. */
void sequence_close(struct seqb_sequence *sequence);

/* The refill thread looks at the sequence now. Any thread. */
static inline void sequence_wake(struct seqb_sequence *sequence)
{
    agenda_wake(&sequence->context->agenda, sequence);
}

/* It is used: what the spool may have of it is wanted now. */
static inline void sequence_miss(struct seqb_sequence *sequence)
{
    if (atomic_load(&sequence->may_be_kept) &&
        !atomic_exchange(&sequence->is_missed, true))
        wakeup_set(&sequence->context->flusher);
}

void sequence_on_ready(struct seqb_sequence *sequence,
                       void (*ready)(void *context), void *context);

/* With the lock held: whom the refill is called by next. */
void sequence_set_mark(struct seqb_sequence *sequence);

/* What a look at a sequence found, and did. */
struct sequence_poll {
    int64_t stock;
    int64_t late_ms; /* what is under way is late then; INT64_MAX: nothing is */
    bool is_short;   /* more is wanted, whether it could be asked for or not */
    bool is_starved;
    bool is_used; /* it is worth another look in the next interval */
};

/* With the lock held, so that nothing is asked for twice: plans, and asks.
 * Nothing if the sequence is over. */
struct sequence_poll sequence_ask(struct seqb_sequence *sequence,
                                  int64_t now_ms);

/* On the refill thread: the same. True while it wants to be looked at again in
 * the next interval, or at `*next_ms` if that is sooner. */
bool sequence_refill(struct seqb_sequence *sequence, int64_t now_ms,
                     int64_t *next_ms);

/* On a worker's thread: what was granted comes into the ring. */
void sequence_deliver(struct ha_sink *sink, const struct ha_grant *grant);

/* Both with the lock held: numbers come into the ring, false if it is full; and
 * those that wait look again. */
bool sequence_push(struct seqb_sequence *sequence, int64_t first,
                   uint64_t count);
void sequence_wake_waiters(struct seqb_sequence *sequence);

/* With the lock held: what it holds is dropped, and what comes later if it
 * begins at or below `floor`; how many numbers that was. */
uint64_t sequence_drop_below(struct seqb_sequence *sequence, int64_t floor);

/* All that it holds is dropped; how many numbers that was. */
int64_t sequence_drop_all(struct seqb_sequence *sequence);

/* Pushes numbers that were taken and not used back into the ring, also after
 * the close. Those that do not fit are a gap. */
void sequence_give_back(struct seqb_sequence *sequence,
                        const struct ring_slice *slice);

/* The same for all that its stripes hold; returns how many slices. */
size_t sequence_gather(struct seqb_sequence *sequence);

/* Pushes numbers that the spool has kept. */
void sequence_put(struct seqb_sequence *sequence, int64_t first,
                  uint64_t count);

/* Whether so many blocks of the spool, of so many numbers, are welcome. */
bool sequence_has_capacity(struct seqb_sequence *sequence, uint32_t blocks,
                           int64_t numbers);

/* Whether its ring holds numbers and nobody has taken any for idle_after; to
 * be asked from time to time, by one thread. */
bool sequence_is_idle(struct seqb_sequence *sequence, int64_t now_ms);

/* After the close: waits until all that was asked for is answered, until
 * `until_ms` at most. */
void sequence_finish(struct seqb_sequence *sequence, int64_t until_ms);

/* Has a ready call made that is owed. */
void sequence_notify_ready(struct seqb_sequence *sequence);

/* Of a slot, once nothing is asked for any more: begins again with an empty
 * ring. Adds what was taken and what was left to the sums. */
void sequence_renew(struct seqb_sequence *sequence, int64_t *taken,
                    int64_t *dropped);

void sequence_status(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_status *out);

/* Asks the processor for the memory that sequence_counts reads. */
static inline void sequence_ask_ahead(const struct seqb_sequence *sequence)
{
    const struct ring *ring = sequence->ring;

    __builtin_prefetch((const void *)&sequence->waits, 1);
    __builtin_prefetch(&sequence->lock, 1); /* it is written: locked */
    __builtin_prefetch(&sequence->refill);
    __builtin_prefetch(&sequence->granted);
    __builtin_prefetch((const void *)&ring->head);
    __builtin_prefetch((const void *)&ring->newest);
    __builtin_prefetch(&ring->segments[0]);
    __builtin_prefetch(&ring->segments[2]);
    ha_counter_ask_ahead(sequence->counter);
}

/* Takes no lock but the sequence's own. */
void sequence_counts(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_counts *out);
