/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the numbers of a sequence come from. source_plain: one counter fills
 * the sequence's ring. source_periodic: a ring and a counter for each stamp.
 * source_snowflake: ids that are made when they are taken. Callers take from
 * the sequence's own ring first, without a call to its source. A source that
 * holds its numbers elsewhere leaves that ring empty. Private to this folder.
 */
#pragma once

#include "ha/ha.h"
#include "queue/agenda.h"
#include "queue/queue.h"
#include "queue/wakeup.h"
#include "queue/width.h"

struct generator;
struct sequence_settings;
struct guarded_clock;
struct fork_wiped;

/* What all sequences of a queue share. */
struct source_context {
    struct agenda agenda;        /* of the refill thread */
    struct wakeup flusher;       /* of the thread that exchanges with the
                                    spool */
    struct fork_wiped *memory;   /* holds rings, stripes and cursors */
    struct guarded_clock *clock; /* NULL: no sequence has a period */
    _Atomic int32_t interval_ms; /* between two polls of an active sequence; a
                                    reload may change it at any moment */

    /* How often this process may have been resumed from an image of its memory.
     * Relaxed, because no other memory depends on it. */
    _Atomic uint32_t resumed;

    /* Automatic sequences that were granted no number yet. */
    _Atomic int64_t without_number;

    struct widths widths;

    struct generator *generators; /* by the index of the generator's options in
                                     `snowflakes` */
    const struct lease_options *snowflakes;
};

/* What a sequence is made from. Everything that it points to outlives the
 * sequence, except for the key and the setup itself. */
struct source_setup {
    struct source_context *context;
    struct ha_pool *pool;
    const struct queue_sequence_options *options;
    const struct ha_counter_attributes *attributes;
    const char *key;
    struct sequence_settings *settings; /* shared with another sequence; NULL:
                                           the sequence has its own */
};

/* Uses that take numbers out of a sequence before callers get them, or that
 * move its counter. */
enum source_use {
    SOURCE_SPOOL,  /* unused numbers are kept over a stop */
    SOURCE_CURSOR, /* one thread holds a slice */
    SOURCE_ADVANCE /* an operator raises the counter */
};

#define SOURCE_STEPS 3

struct source {
    /* Makes a sequence. SEQB_NO_MEMORY. `*out` is set only on success. */
    enum seqb_status (*open)(const struct source_setup *setup,
                             struct seqb_sequence **out,
                             struct seqb_error *err);

    /* Takes all numbers that are asked for, and waits for them until the
     * deadline. The caller has already set the stamp to what it is for a source
     * without stamps. */
    enum seqb_status (*take)(struct seqb_sequence *sequence,
                             const struct queue_take *take,
                             struct seqb_error *err);

    /* The same without waiting. SEQB_AGAIN: the ready function is called when
     * there are more. */
    enum seqb_status (*try_take)(struct seqb_sequence *sequence,
                                 const struct queue_take *take,
                                 struct seqb_error *err);

    /* SEQB_OK, or SEQB_INVALID with the reason. Constant for a sequence. */
    enum seqb_status (*permits)(const struct seqb_sequence *sequence,
                                enum source_use use, struct seqb_error *err);

    /* On the refill thread, when the sequence was woken or is due: gets more
     * numbers. True while the sequence is to be polled in the next interval, or
     * at `*next_ms` if that is sooner. INT64_MAX: it is not sooner. */
    bool (*refill)(struct seqb_sequence *sequence, int64_t now_ms,
                   int64_t *next_ms);

    /* On the refill thread: drops all numbers that the sequence holds, and
     * returns how many. NULL: it never holds any. */
    int64_t (*drop)(struct seqb_sequence *sequence);

    /* Waits as a caller does, and takes nothing. False if there are not enough
     * numbers at `until_ms`. */
    bool (*warm)(struct seqb_sequence *sequence, int64_t until_ms);

    void (*status)(struct seqb_sequence *sequence, int64_t now_ms,
                   struct seqb_sequence_status *out);

    /* Only the counts of the status, as seqb_count_sequences shows them. */
    void (*counts)(struct seqb_sequence *sequence, int64_t now_ms,
                   struct seqb_sequence_counts *out);

    /* Prefetches the memory that `counts` reads, in SOURCE_STEPS steps from 0
     * on: each step reads pointers that the step before it prefetched. NULL:
     * all of it is in the sequence, its ring and its counter. */
    void (*prefetch_counts)(const struct seqb_sequence *sequence, int step);
    void (*on_ready)(struct seqb_sequence *sequence,
                     void (*ready)(void *context), void *context);

    /* Answers all callers that wait, now and later, with SEQB_CLOSED, and
     * returns when none waits. Frees nothing, because grants still arrive. */
    void (*close)(struct seqb_sequence *sequence);
    void (*free)(struct seqb_sequence *sequence);
};

extern const struct source source_plain;
extern const struct source source_periodic;
extern const struct source source_snowflake;
