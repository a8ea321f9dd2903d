/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the numbers of a sequence come from. source_plain: a ring that a
 * counter fills. source_periodic: a ring and a counter for each stamp.
 * source_snowflake: ids that are made when they are taken. Callers take from
 * the sequence's own ring first, without a call into its source; a source that
 * has its numbers elsewhere leaves that ring empty. Private to this folder.
 */
#pragma once

#include "ha/ha.h"
#include "queue/agenda.h"
#include "queue/queue.h"
#include "queue/wakeup.h"

struct generator;
struct sequence_settings;
struct guarded_clock;
struct fork_wiped;

/* What the sequences of a queue share. */
struct source_context {
    struct agenda agenda;      /* of the refill thread */
    struct wakeup flusher;     /* of the thread that exchanges with the spool */
    struct fork_wiped *memory; /* where rings, stripes and cursors are */
    struct guarded_clock *clock; /* NULL: nothing has a period */
    _Atomic int32_t interval_ms; /* between two looks at each sequence; as the
                                    settings of a sequence */

    /* Times that this process may have been resumed from an image of its
     * memory. Relaxed: it says nothing about other memory. */
    _Atomic uint32_t resumed;

    /* Sequences that made themselves and were granted no number yet. */
    _Atomic int64_t without_number;

    struct generator *generators; /* by the index of its snowflakes: */
    const struct lease_options *snowflakes;
};

/* What a sequence is made from. All outlives it but the setup itself, and the
 * key. */
struct source_setup {
    struct source_context *context;
    struct ha_pool *pool;
    const struct queue_sequence_options *options;
    const struct ha_counter_attributes *attributes;
    const char *key;
    struct sequence_settings *settings; /* shared; NULL: it has its own */
};

/* Uses that let numbers leave a sequence before they are handed out, or move
 * its counter. */
enum source_use {
    SOURCE_SPOOL,  /* unused numbers are kept over a stop */
    SOURCE_CURSOR, /* one thread holds a slice */
    SOURCE_ADVANCE /* an operator raises the counter */
};

#define SOURCE_STEPS 3

struct source {
    /* Makes a sequence; `*out` is touched only on success. SEQB_NO_MEMORY. */
    enum seqb_status (*open)(const struct source_setup *setup,
                             struct seqb_sequence **out,
                             struct seqb_error *err);

    /* Takes all that is asked for, and waits for it until the deadline. The
     * caller has set the stamp to that of a sequence that has none. */
    enum seqb_status (*take)(struct seqb_sequence *sequence,
                             const struct queue_take *take,
                             struct seqb_error *err);

    /* The same without waiting. SEQB_AGAIN: the ready function is called when
     * there is more. */
    enum seqb_status (*try_take)(struct seqb_sequence *sequence,
                                 const struct queue_take *take,
                                 struct seqb_error *err);

    /* SEQB_OK, or SEQB_INVALID with the reason. Constant for a sequence. */
    enum seqb_status (*permits)(const struct seqb_sequence *sequence,
                                enum source_use use, struct seqb_error *err);

    /* On the refill thread, when the sequence is woken or due: gets more
     * numbers. True while it wants to be looked at in the next interval, or at
     * `*next_ms` if that is sooner. */
    bool (*refill)(struct seqb_sequence *sequence, int64_t now_ms,
                   int64_t *next_ms);

    /* On the refill thread: drops all numbers that it holds; returns how many.
     * NULL: it holds none. */
    int64_t (*drop)(struct seqb_sequence *sequence);

    /* Waits as a caller does, and takes nothing. False if there are not enough
     * numbers by `until_ms`. */
    bool (*warm)(struct seqb_sequence *sequence, int64_t until_ms);

    void (*status)(struct seqb_sequence *sequence, int64_t now_ms,
                   struct seqb_sequence_status *out);

    /* The numbers of the status alone, as those of seqb_count_sequences. */
    void (*counts)(struct seqb_sequence *sequence, int64_t now_ms,
                   struct seqb_sequence_counts *out);

    /* Asks the processor for the memory that `counts` reads, in SOURCE_STEPS
     * steps from 0 on: in each that which the one before made known. NULL: it
     * is all the sequence's own. */
    void (*ask_ahead)(const struct seqb_sequence *sequence, int step);
    void (*on_ready)(struct seqb_sequence *sequence,
                     void (*ready)(void *context), void *context);

    /* Answers who waits, now and later, with SEQB_CLOSED; returns when nobody
     * does. Frees nothing: grants still come. */
    void (*close)(struct seqb_sequence *sequence);
    void (*free)(struct seqb_sequence *sequence);
};

extern const struct source source_plain;
extern const struct source source_periodic;
extern const struct source source_snowflake;
