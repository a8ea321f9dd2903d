/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence: its ring, the callers that wait for it, and its refill. A
 * source makes the sequence, and may hold more data behind it. Private to this
 * folder.
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

/* The sequence is polled again after this time while a caller waits, and just
 * after an ask. */
#define SEQUENCE_SOON_MS 2

/* The ring may hold this many times max_unused: asks overlap, and a hedged ask
 * is answered twice. */
#define SEQUENCE_ROOM 2

/* Whether the stores may be asked for numbers of a sequence that is automatic,
 * or that waits for stores of other pools. */
enum sequence_admission {
    SEQUENCE_ADMITTED,  /* also every other sequence */
    SEQUENCE_ADMITTING, /* the stores are asked whether they know it */
    SEQUENCE_REFUSED    /* a store knows it with other settings, or in another
                           pool */
};

/* The settings of a sequence that a reload may change at any moment. A reader
 * of two of them may get an old one and a new one. The default memory order
 * costs readers nothing. */
struct sequence_settings {
    _Atomic int32_t deadline_ms;
    _Atomic int32_t runway_ms;
    _Atomic int64_t max_unused;
    _Atomic int64_t idle_after_ms;
    atomic_bool prefetch;
    atomic_bool warm;
    atomic_bool full_waits;
    atomic_bool is_removed; /* the topology no longer lists it: it asks for
                               nothing, and refuses calls */
    /* An automatic sequence that was granted no number yet. The context counts
     * these. */
    atomic_bool is_without_number;
    atomic_uchar admission; /* enum sequence_admission, see admitter.h */
    /* The options that the template of its texts, and what follows from that
     * template, are taken from. They are constant as long as the queue. The
     * release store pairs with the acquire load of a thread that makes or reads
     * a text. */
    _Atomic(const struct queue_sequence_options *) texts;
};

/* What a sequence that was added after queue_open is made from: a copy, because
 * the options of a reload may not last as long as the sequence. */
struct sequence_own {
    struct queue_sequence_options options;
    struct ha_counter_attributes attributes;
};

struct seqb_sequence {
    struct ha_sink sink; /* receives the grants. It must be the first member */
    struct ring *ring;
    /* NULL while the sequence is not busy. The release store pairs with the
     * takers' acquire load. */
    _Atomic(struct stripes *) stripes;
    const struct source *source;
    struct source_context *context;
    struct ha_counter *counter;
    const struct queue_sequence_options *options;
    struct sequence_settings *settings;    /* of a period slot: its front's */
    const char *key;                       /* owned by the counter */
    struct sequence_settings own_settings; /* unused in a period slot */
    struct sequence_own *own; /* freed with the sequence; NULL: its options are
                                 constant as long as the queue */
    /* In the list of abandoned sequences, which only reloads use; or in a list
     * of the admitter. */
    struct seqb_sequence *next_aside;

    /* The following members are written. They are on other cache lines than the
     * ring's address. */

    /* The threads in calls that found the ring empty, and whether the ready
     * function is to be called. Sequentially consistent: a taker announces
     * itself here and then checks the ring; a delivery fills the ring and then
     * checks here. One of them must see the other. */
    _Alignas(RING_LINE) atomic_int waiters;
    atomic_bool is_armed;

    /* Its stamp is over: it asks for nothing, and nobody waits for it. */
    atomic_bool is_over;

    /* At the start a store refused it, because the store's claim has other
     * attributes. Constant after that. */
    bool is_refused;
    bool is_put_off; /* it waits for a store of another pool. This and the
                        next one are the admitter's own */
    bool is_waiting; /* and it is listed: one of admitter.waiting */
    bool is_closed;  /* the lock guards it */

    /* The numbers that a caller wants at once, all or none; 0: no caller
     * does. */
    _Atomic int64_t wanted;

    pthread_mutex_t lock; /* guards pushing, closing, and the members up to
                             `seen_ms` */
    uint64_t granted;     /* numbers pushed, less those that were dropped */
    uint64_t consumed;    /* the most of them that were ever taken */
    struct refill refill; /* on one cache line with those */
    pthread_cond_t filled;
    struct refill_plan asked; /* the last plan that asked for numbers */
    int64_t low;              /* of the last plan, as is `target` */
    int64_t target;
    int64_t floor;         /* runs that begin at or below it are not
                              pushed */
    struct stripes *spare; /* the memory of the stripes, in use or not; NULL:
                              never made */

    uint64_t seen;   /* numbers consumed when the flusher polled last */
    int64_t seen_ms; /* since when `seen` is unchanged */

    /* Whether the spool may have numbers of the sequence, and whether it was
     * used since. Relaxed would be enough, because no other memory depends on
     * them; the default order costs nothing here. */
    atomic_bool may_be_kept;
    atomic_bool is_missed;
    bool may_stripe; /* constant: its callers may take from stripes */
    bool is_wanted;  /* the spool is to be searched for its numbers; only the
                        flusher reads and writes this */

    pthread_mutex_t ready_lock; /* held while `ready` runs */
    void (*ready)(void *context);
    void *ready_context;

    /* Only the refill thread uses it: when to poll the sequence while it is not
     * in the agenda's list; INT64_MAX: not until it is woken. */
    int64_t poll_ms;

    _Atomic(struct width *) width; /* NULL: it refused no text yet */

    /* The agenda's lock guards these. */
    bool is_woken;
    bool is_active; /* polled in every interval */
    struct seqb_sequence *next_active;
};

/* What the sequence's numbers mean. */
struct queue_meaning sequence_meaning(const struct seqb_sequence *sequence);

/* The numbers of its counters are below 2 to this power. */
static inline int32_t
options_value_bits(const struct queue_sequence_options *options)
{
    if (options->ids != NULL)
        return options->ids->counter;
    return options->value_bits == 0 ? BITS_ALL : options->value_bits;
}

/* The acquire load pairs with the release store in sequence_settle. */
static inline enum sequence_admission
sequence_admission(const struct seqb_sequence *sequence)
{
    return atomic_load_explicit(&sequence->settings->admission,
                                memory_order_acquire);
}

/* It refuses calls, with sequence_unlisted. */
static inline bool sequence_is_removed(const struct seqb_sequence *sequence)
{
    return atomic_load_explicit(&sequence->settings->is_removed,
                                memory_order_relaxed) ||
           sequence_admission(sequence) == SEQUENCE_REFUSED;
}

/* The options that the template in use is taken from. Any thread. */
static inline const struct queue_sequence_options *
sequence_texts(const struct seqb_sequence *sequence)
{
    return atomic_load_explicit(&sequence->settings->texts,
                                memory_order_acquire);
}

/* From now on the sequence's texts have the template of `options`, which must
 * last as long as the queue. Any thread. */
void sequence_set_texts(struct seqb_sequence *sequence,
                        const struct queue_sequence_options *options);

/* As ha_counter_attributes.texts. */
void sequence_read_texts(const struct ha_sink *sink, struct ha_texts *out);

/* Sets the settings to those of `options`, except for the template. Any
 * thread. */
void sequence_set(struct seqb_sequence *sequence,
                  const struct queue_sequence_options *options);

/* The topology no longer lists the sequence: answers the callers that wait, and
 * drops the numbers that it holds unless `is_kept`. */
void sequence_remove(struct seqb_sequence *sequence, bool is_kept);

/* Tells the sequence's pool whether the topology lists it. Reports events: hold
 * no lock. */
void sequence_set_listed(struct seqb_sequence *sequence, bool is_listed);

/* The stores have answered: tells the callers that wait. The reason of a
 * refusal is the counter's. */
void sequence_settle(struct seqb_sequence *sequence,
                     enum sequence_admission admission);

/* Whether it is not settled because it waits for a store of another pool. */
bool sequence_is_unasked(const struct seqb_sequence *sequence);

/* `status`, for a sequence that is not settled yet. */
enum seqb_status sequence_admitting(const struct seqb_sequence *sequence,
                                    enum seqb_status status,
                                    struct seqb_error *err);

/* SEQB_UNKNOWN_KEY, for a sequence that was removed; SEQB_LAYOUT, for one that
 * was refused. */
enum seqb_status sequence_unlisted(const struct seqb_sequence *sequence,
                                   struct seqb_error *err);

/* Counts an automatic sequence as one without a number. No other thread knows
 * it yet. */
static inline void sequence_set_without_number(struct seqb_sequence *sequence)
{
    atomic_store(&sequence->settings->is_without_number, true);
    atomic_fetch_add(&sequence->context->without_number, 1);
}

/* Ends that count when the sequence gets its first number. Any thread. */
static inline void sequence_has_number(struct seqb_sequence *sequence)
{
    atomic_bool *is_without = &sequence->settings->is_without_number;

    if (atomic_load_explicit(is_without, memory_order_relaxed) &&
        atomic_exchange(is_without, false))
        atomic_fetch_sub(&sequence->context->without_number, 1);
}

/* Makes a sequence at the begin of `size` zeroed bytes, for a source that holds
 * more data behind it. */
enum seqb_status sequence_new(const struct source_setup *setup,
                              const struct source *source, size_t size,
                              struct seqb_sequence **out,
                              struct seqb_error *err);
void sequence_free(struct seqb_sequence *sequence);

/* Answers all callers that wait, now and later, with SEQB_CLOSED. Returns when
 * none waits, so that the sequence may be freed. */
void sequence_close(struct seqb_sequence *sequence);

/* Has the refill thread poll the sequence now. Any thread. */
static inline void sequence_wake(struct seqb_sequence *sequence)
{
    agenda_wake(&sequence->context->agenda, sequence);
}

/* The sequence is used: has the flusher fetch what the spool may have of it. */
static inline void sequence_miss(struct seqb_sequence *sequence)
{
    if (atomic_load(&sequence->may_be_kept) &&
        sequence_admission(sequence) == SEQUENCE_ADMITTED &&
        !atomic_exchange(&sequence->is_missed, true))
        wakeup_set(&sequence->context->flusher);
}

void sequence_on_ready(struct seqb_sequence *sequence,
                       void (*ready)(void *context), void *context);

/* With the lock held: sets the ring's low-water mark, whose taker wakes the
 * refill thread. */
void sequence_set_mark(struct seqb_sequence *sequence);

/* The result of polling a sequence. */
struct sequence_poll {
    int64_t stock;
    int64_t late_ms; /* when the next ask in flight becomes late; INT64_MAX:
                        none does */
    bool is_short;   /* more is needed, whether it could be asked for or not */
    bool is_starved;
    bool is_used; /* it is to be polled in the next interval */
};

/* With the lock held, so that nothing is asked for twice: plans and asks. Does
 * nothing if the sequence is over, was removed, or is not admitted yet. */
struct sequence_poll sequence_ask(struct seqb_sequence *sequence,
                                  int64_t now_ms);

/* The same on the refill thread. True while the sequence is to be polled in the
 * next interval, or at `*next_ms` if that is sooner. INT64_MAX: it is not
 * sooner. */
bool sequence_refill(struct seqb_sequence *sequence, int64_t now_ms,
                     int64_t *next_ms);

/* On a worker's thread: pushes a grant into the ring. */
void sequence_deliver(struct ha_sink *sink, const struct ha_grant *grant);

/* Both with the lock held: sequence_push pushes numbers into the ring, false if
 * it is full; sequence_wake_waiters has the waiting callers check the ring
 * again. */
bool sequence_push(struct seqb_sequence *sequence, int64_t first,
                   uint64_t count);
void sequence_wake_waiters(struct seqb_sequence *sequence);

/* With the lock held: drops the numbers that the sequence holds, and from now
 * on those that arrive and begin at or below `floor`. Returns how many it
 * held. */
uint64_t sequence_drop_below(struct seqb_sequence *sequence, int64_t floor);

/* Drops the numbers that the sequence holds; returns how many. */
int64_t sequence_drop_all(struct seqb_sequence *sequence);

/* Pushes numbers that were taken and not used back into the ring, also after
 * the close. Those that do not fit are a gap. */
void sequence_give_back(struct seqb_sequence *sequence,
                        const struct ring_slice *slice);

/* The same for all numbers that its stripes hold; returns how many slices. */
size_t sequence_gather(struct seqb_sequence *sequence);

/* Pushes numbers that the spool has kept. */
void sequence_put(struct seqb_sequence *sequence, int64_t first,
                  uint64_t count);

/* Whether the ring has room for this many blocks of the spool, with this many
 * numbers in all. */
bool sequence_has_capacity(struct seqb_sequence *sequence, uint32_t blocks,
                           int64_t numbers);

/* Whether the sequence holds numbers, and nobody took any for idle_after_ms.
 * True at once for a removed sequence that holds some. One thread has to ask
 * from time to time. */
bool sequence_is_idle(struct seqb_sequence *sequence, int64_t now_ms);

/* After the close: waits until all asks are answered, but not longer than until
 * `until_ms`. */
void sequence_finish(struct seqb_sequence *sequence, int64_t until_ms);

/* Calls the ready function if it is to be called. */
void sequence_notify_ready(struct seqb_sequence *sequence);

/* For a period slot that has no asks in flight: starts again with an empty
 * ring. Adds the numbers that were taken and those that were left to the
 * sums. */
void sequence_renew(struct seqb_sequence *sequence, int64_t *taken,
                    int64_t *dropped);

void sequence_status(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_status *out);

/* Prefetches the memory that sequence_counts reads. */
static inline void
sequence_prefetch_counts(const struct seqb_sequence *sequence)
{
    const struct ring *ring = sequence->ring;

    __builtin_prefetch(&sequence->lock, 1); /* written, because it is locked */
    __builtin_prefetch(&sequence->granted); /* and `refill` */
    __builtin_prefetch((const void *)&ring->head);
    __builtin_prefetch((const void *)&ring->newest);
    __builtin_prefetch(&ring->segments[0]);
    __builtin_prefetch(&ring->segments[2]);
    ha_counter_prefetch(sequence->counter);
}

/* Takes only the sequence's lock. */
void sequence_counts(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_counts *out);
