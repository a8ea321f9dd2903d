/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers fetched ahead: one ring a sequence, filled by one refill thread
 * a queue. The front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>
#include <seqbroker/counts.h>

#include "period/period.h"

struct ha;
struct lease_options; /* of the lease folder */
struct queue;
struct template; /* of the number folder: only handed on here */

#define QUEUE_MEMORY_BITS_MAX 20

struct queue_sequence_options {
    const char *key;     /* NULL in the options of auto_sequences */
    int32_t pool;        /* index of a pool */
    int32_t memory_bits; /* 0 ... QUEUE_MEMORY_BITS_MAX */
    int32_t window_bits; /* of its windows; 0: as the pool's */
    int32_t deadline_ms;
    int32_t runway_ms;     /* hold what is used up in so many ms */
    int64_t max_unused;    /* numbers: hold at most so many */
    bool prefetch;         /* false: fetch only when somebody waits */
    bool warm;             /* queue_open waits until its ring is filled */
    int64_t idle_after_ms; /* then its stock goes to the spool; 0: never */
    /* Its counters begin afresh with each period; NULL: never. What follows is
     * of those that do. */
    const struct period_rules *period;
    const struct bits_layout *ids; /* its numbers become such ids; NULL: no */
    const struct lease_options *snowflake; /* its numbers are made of the time:
                             one of the queue's snowflakes; NULL: no */
    bool full_waits;        /* for the next stamp, when this one's ids are used
                               up; else callers are refused */
    int64_t keep_periods;   /* so many old counters are kept, at least */
    const char *attributes; /* what is claimed of it besides the bits,
                          " period=day"; "" or NULL: nothing. Of those
                          without a period, too */
    bool claims_first;      /* automatic ones: their claim is compared by all
                               stores that can be reached before any gives a
                               number, not by each with its first one */
    int32_t value_bits;     /* its values are below 2^value_bits: 53 if js_safe;
                               0 is the usual 63. Not of those with `ids` */
    const struct template *template; /* NULL: it has none */
    int64_t width_numbers; /* of the template, see seqb_sequence_status */
    int64_t pool_numbers;  /* the same */
};

/* Numbers above it are too wide for the sequence's texts; 0: none is. */
static inline int64_t
queue_useful_numbers(const struct queue_sequence_options *options)
{
    return options->width_numbers < INT64_MAX ? options->width_numbers : 0;
}

/* Of the guarded clock. */
struct queue_clock_options {
    struct guard_rules rules;
    const char *broker; /* whose clock it is */
    const char *path;   /* absolute, of the file that keeps what was issued */
    int32_t store;      /* index of a direct backend that keeps it too; -1 */
};

struct queue_options {
    int32_t interval_ms; /* between two looks at every ring */
    const struct queue_sequence_options *sequences;
    size_t sequence_count;
    const struct queue_sequence_options *automatic; /* NULL: none */
    const struct lease_options *snowflakes; /* one a pool that has some */
    size_t snowflake_count;
    const char *auto_pattern; /* fnmatch(3) of keys */
    int64_t auto_limit;       /* at most so many sequences made by themselves */
    const char *spool_path;   /* keeps unused numbers over a stop; NULL: none */
    int32_t warm_timeout_ms;  /* how long queue_open waits for warm ones */
    const struct queue_clock_options *clock; /* NULL: nothing has a period */
    /* Whether a sequence may get another template while it serves, as
     * template_compare, which is above this folder. Neither is NULL. */
    enum seqb_status (*compare_templates)(const struct template *runs,
                                          const struct template *next,
                                          bool *is_same,
                                          struct seqb_error *err);
};

/* Whether a queue that was opened with such options cannot serve that sequence:
 * it has no clock for its period, or no worker id for its snowflakes. */
static inline bool
queue_needs_restart(const struct queue_options *options,
                    const struct queue_sequence_options *sequence)
{
    return sequence->snowflake != NULL ||
           (sequence->period != NULL && options->clock == NULL);
}

/* Makes the listed sequences, claims their memory bits, starts refilling.
 * `ha` and the options must outlive the queue. `*out` is set even on failure
 * unless that was SEQB_NO_MEMORY at once: free it after ha_close. */
enum seqb_status queue_open(const struct queue_options *options, struct ha *ha,
                            struct queue **out, struct seqb_error *err);

/*
 * Other options for a queue that serves, with pools by the ha's indexes. First
 * queue_prepare, which makes and claims what is new and waits for the stores;
 * then queue_commit, then queue_reload_free in any case. SEQB_LAYOUT: numbers
 * of a sequence would mean something else, or a store knows a new one
 * otherwise; SEQB_AGAIN: a sequence made itself meanwhile; SEQB_NO_MEMORY. On
 * failure nothing is changed. Once committed the options must last until the
 * next ones are, or if queue_keeps_options as long as the queue. One at a time.
 */
struct queue_reload;
enum seqb_status queue_prepare(struct queue *queue,
                               const struct queue_options *options,
                               struct queue_reload **out,
                               struct seqb_error *err);
bool queue_keeps_options(const struct queue_reload *reload);
enum seqb_status queue_commit(struct queue_reload *reload,
                              struct seqb_error *err);
void queue_reload_free(struct queue_reload *reload); /* NULL is allowed */

/* Two steps, since grants come until the ha is closed: queue_stop answers the
 * waiting callers and ends refilling, then ha_close, then queue_free. Both
 * take NULL. */
void queue_stop(struct queue *queue);
void queue_free(struct queue *queue);

/* Whether this is a forked child, where nothing of the queue may be used. */
bool queue_is_forked(const struct queue *queue);

/* The functions of seqbroker.h that have the same names. */
enum seqb_status queue_find(struct queue *queue, const char *key,
                            struct seqb_sequence **out, struct seqb_error *err);
enum seqb_status queue_next(struct seqb_sequence *sequence, int64_t *out,
                            struct seqb_error *err);
enum seqb_status queue_try_next(struct seqb_sequence *sequence, int64_t *out,
                                struct seqb_error *err);

/* What seqb_take_options say, read and checked. */
struct queue_take {
    int64_t *out;
    size_t count;
    size_t *taken;            /* some will do; NULL: all of them or none */
    int64_t shard;            /* of ids */
    bool is_sharded;          /* else it is 0, and there need not be ids */
    bool is_contiguous;       /* all or none; `taken` is not used */
    struct seqb_stamp *stamp; /* all of one; NULL: they need not be */
    int64_t until_ms;         /* by clock_now_ms; 0: the usual deadline */
};

/* SEQB_INVALID, and how to get them, if no stamp has so many ids. */
enum seqb_status queue_check_stamp(const struct seqb_sequence *sequence,
                                   size_t count, struct seqb_error *err);

enum seqb_status queue_take(struct seqb_sequence *sequence,
                            const struct queue_take *take,
                            struct seqb_error *err);
enum seqb_status queue_try_take(struct seqb_sequence *sequence,
                                const struct queue_take *take,
                                struct seqb_error *err);
enum seqb_status queue_cursor_open(struct seqb_sequence *sequence, size_t slice,
                                   struct seqb_cursor **out,
                                   struct seqb_error *err);
enum seqb_status queue_cursor_refill(struct seqb_cursor *cursor, int64_t *out,
                                     struct seqb_error *err);
void queue_cursor_close(struct seqb_cursor *cursor);
void queue_on_ready(struct seqb_sequence *sequence,
                    void (*ready)(void *context), void *context);
void queue_decode(const struct seqb_sequence *sequence, int64_t value,
                  struct seqb_decoded *out);

/* What a key's numbers mean: those of its sequence, or of the one that it would
 * have. Valid in the call only. */
struct queue_meaning {
    const struct queue_sequence_options *options;
    const struct template *template; /* in use now: not that of the options */
    const struct ha_pool *pool;
    const char *key;
};

void queue_meaning_decode(const struct queue_meaning *meaning, int64_t value,
                          struct seqb_decoded *out);

/* Whether a sequence of that meaning ever gives what is asked for: SEQB_INVALID
 * if the count, the run or the shard is none of its own. */
enum seqb_status queue_check_take(const struct queue_meaning *meaning,
                                  const struct queue_take *take,
                                  struct seqb_error *err);

/* Calls `use` with it, and makes no sequence. SEQB_UNKNOWN_KEY, SEQB_INVALID,
 * SEQB_FORKED; or what `use` returns. */
enum seqb_status queue_look_up(
    struct queue *queue, const char *key,
    enum seqb_status (*use)(void *context, const struct queue_meaning *meaning,
                            struct seqb_error *err),
    void *context, struct seqb_error *err);
int64_t queue_deadline_ms(const struct seqb_sequence *sequence);
const char *queue_key(const struct seqb_sequence *sequence);

/* The template in use now; NULL: it has none. A reload may put another one in
 * its place at any moment: a text is made with one that was read once. It is
 * valid as long as the queue. */
const struct template *queue_template(const struct seqb_sequence *sequence);

/* See seqb_clock. */
void queue_clock(struct queue *queue, struct seqb_clock_status *out);

/* See seqb_highest. */
enum seqb_status queue_highest(struct queue *queue, const char *key,
                               int64_t *out, struct seqb_error *err);

/* See seqb_advance. */
enum seqb_status queue_advance(struct queue *queue, const char *key, int64_t to,
                               struct seqb_error *err);
void queue_status(struct queue *queue, struct seqb_sequence_status *out,
                  size_t capacity, size_t *count);

/* See seqb_count_sequences: returns how many were copied; and seqb_sequence_at:
 * false if there is none. */
size_t queue_counts(struct queue *queue, size_t first,
                    struct seqb_sequence_counts *out, size_t capacity);
bool queue_status_at(struct queue *queue, size_t index,
                     struct seqb_sequence_status *out);

/* See seqb_workers and seqb_get_health. */
enum seqb_status queue_workers(struct queue *queue, struct seqb_worker *out,
                               size_t capacity, size_t *count,
                               struct seqb_error *err);
/* See seqb_worker_leases. */
void queue_worker_leases(struct queue *queue, struct seqb_worker_lease *out,
                         size_t capacity, size_t *count);
enum seqb_health queue_health(struct queue *queue, char *reason, size_t size);
