/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that were fetched ahead: each sequence has a ring, and one refill
 * thread of the queue fills all rings. This is the front header of this folder.
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
struct template; /* of the number folder; this folder only passes it on */

#define QUEUE_MEMORY_BITS_MAX 20

struct queue_sequence_options {
    const char *key;     /* NULL in the options of auto_sequences */
    int32_t pool;        /* index of a pool */
    int32_t memory_bits; /* 0 ... QUEUE_MEMORY_BITS_MAX */
    int32_t window_bits; /* of its windows; 0: those of the pool */
    int32_t deadline_ms;
    int32_t runway_ms;     /* hold what is used up in this time */
    int64_t max_unused;    /* numbers to hold at most */
    bool prefetch;         /* false: fetch only when somebody waits */
    bool warm;             /* queue_open waits until its ring is filled */
    int64_t idle_after_ms; /* when unused for so long, its stock goes to the
                              spool; 0: never */
    /* The counters start again with each period; NULL: never. */
    const struct period_rules *period;
    const struct bits_layout *ids; /* layout of the ids that are made of its
                                      numbers; NULL: no ids */
    /* Its ids are made from the time. The options are one of the queue's
     * `snowflakes`; NULL: no snowflake. */
    const struct lease_options *snowflake;
    /* When the ids of the current stamp are used up, callers wait for the next
     * stamp; false: they are refused. */
    bool full_waits;
    int64_t keep_periods;   /* old counters to keep, at least */
    const char *attributes; /* what its claim says besides the bits, for example
                               " period=day"; "" or NULL: nothing */
    /* Only in the options of auto_sequences: all reachable stores compare the
     * claim before any of them grants a number; false: each store compares it
     * before its own first grant. */
    bool claims_first;
    int32_t value_bits; /* values are below 2^value_bits: 53 if js_safe; 0:
                           63 bits. Ignored if `ids` is set */
    const struct template *template; /* NULL: it has none */
    int64_t width_numbers; /* of the template, see seqb_sequence_status */
    int64_t pool_numbers;  /* of the template and the pool; see
                              seqb_sequence_status */
    int64_t text_max; /* the greatest number that the template can write; 0:
                         it can write all */
};

/* The greatest number that the sequence's texts have room for; 0: they have
 * room for all. */
static inline int64_t
queue_useful_numbers(const struct queue_sequence_options *options)
{
    return options->width_numbers < INT64_MAX ? options->width_numbers : 0;
}

/* Options of the guarded clock. */
struct queue_clock_options {
    struct guard_rules rules;
    const char *broker; /* the broker that the clock belongs to */
    const char *path;   /* absolute path of the file that keeps up to when
                           stamps were issued */
    int32_t store;      /* index of a direct backend that keeps this too; -1:
                           none */
};

struct queue_options {
    int32_t interval_ms; /* between two polls of each ring in use */
    const struct queue_sequence_options *sequences;
    size_t sequence_count;
    const struct queue_sequence_options *automatic; /* NULL: none */
    const struct lease_options *snowflakes;         /* one for each pool with
                                                       snowflakes */
    size_t snowflake_count;
    const char *auto_pattern; /* fnmatch(3) of keys */
    int64_t auto_limit;       /* automatic sequences, at most */
    const char *spool_path;   /* file that keeps unused numbers while the broker
                                 is stopped; NULL: none */
    int32_t warm_timeout_ms;  /* how long queue_open waits for the warm
                                 sequences */
    const struct queue_clock_options *clock; /* NULL: no sequence has a
                                                period */
    /* Compares the template in use, `runs`, with the next one, as
     * template_compare does, which is above this folder. `*is_same`: nothing
     * changes. SEQB_LAYOUT, with the reason, if the sequence cannot change to
     * `next` while it serves. Neither template is NULL. */
    enum seqb_status (*compare_templates)(const struct template *runs,
                                          const struct template *next,
                                          bool *is_same,
                                          struct seqb_error *err);
};

/* Whether a queue that was opened with `options` must be opened again to serve
 * the sequence: because it has no clock for its period, or no worker id for its
 * snowflakes. */
static inline bool
queue_needs_restart(const struct queue_options *options,
                    const struct queue_sequence_options *sequence)
{
    return sequence->snowflake != NULL ||
           (sequence->period != NULL && options->clock == NULL);
}

/* Makes the listed sequences, claims their memory bits and starts the refill
 * thread. `ha` and `options` must outlive the queue. `*out` is set even on
 * failure, unless there was no memory for the queue itself: free it after
 * ha_close. */
enum seqb_status queue_open(const struct queue_options *options, struct ha *ha,
                            struct queue **out, struct seqb_error *err);

/*
 * Replaces the options of a queue while it serves. Pools are given by the
 * indexes of the queue's ha. First call queue_prepare, which makes and claims
 * the new sequences and waits for the stores; then queue_commit; then
 * queue_reload_free in any case.
 *
 * Errors: SEQB_LAYOUT, if the numbers of a sequence would change their meaning,
 * or a store knows a new sequence with other attributes; SEQB_AGAIN, if an
 * automatic sequence was made meanwhile under a listed key; SEQB_NO_MEMORY. On
 * failure nothing is changed. `*out` is set even then, unless there was no
 * memory for it. Each sequence that is refused for SEQB_LAYOUT is reported to
 * `refusals`, and the first one is the error. Stores are asked only if the
 * comparison refuses none.
 *
 * After the commit the options must last until the next commit. If
 * queue_keeps_options is true, which is asked last, they must last as long as
 * the queue, also after a failure: workers and the refill thread may still use
 * the sequences that would have been added. Only one reload at a time.
 *
 * queue_check only compares, and fails as queue_prepare does. It makes and
 * claims nothing: what the stores know of a new sequence is not looked at.
 */
struct queue_reload;
/* Called with locks held: it must not call the queue. */
struct queue_refusals {
    void (*add)(void *context, const struct seqb_error *why);
    void *context;
};
enum seqb_status queue_check(struct queue *queue,
                             const struct queue_options *options,
                             const struct queue_refusals *refusals,
                             struct seqb_error *err);
/* `refusals` may be NULL. */
enum seqb_status queue_prepare(struct queue *queue,
                               const struct queue_options *options,
                               const struct queue_refusals *refusals,
                               struct queue_reload **out,
                               struct seqb_error *err);
bool queue_keeps_options(const struct queue_reload *reload);
enum seqb_status queue_commit(struct queue_reload *reload,
                              struct seqb_error *err);
void queue_reload_free(struct queue_reload *reload); /* NULL is allowed */

/* The thread that closes the broker, before queue_stop, while other threads may
 * be in a call that waits for stores: such a call ends soon, as if they did not
 * answer. queue_stop then waits for a store until `keep_until_ms` to keep
 * unused numbers, if that is later than usual. */
void queue_end_waits(struct queue *queue, int64_t keep_until_ms);

/* Stopping takes two calls, because grants arrive until the ha is closed:
 * queue_stop answers the waiting callers and ends refilling, then comes
 * ha_close, then queue_free. NULL is allowed in both. */
void queue_stop(struct queue *queue);
void queue_free(struct queue *queue);

/* Whether this process is a forked child, where nothing of the queue may be
 * used. */
bool queue_is_forked(const struct queue *queue);

/* SEQB_FORKED, with what to do about it. */
enum seqb_status queue_forked(struct seqb_error *err);

/* As the functions of seqbroker.h with the same names. */
enum seqb_status queue_find(struct queue *queue, const char *key,
                            struct seqb_sequence **out, struct seqb_error *err);
enum seqb_status queue_next(struct seqb_sequence *sequence, int64_t *out,
                            struct seqb_error *err);
enum seqb_status queue_try_next(struct seqb_sequence *sequence, int64_t *out,
                                struct seqb_error *err);

/* The contents of seqb_take_options, checked. */
struct queue_take {
    int64_t *out;
    size_t count;
    size_t *taken;            /* out: how many were taken, fewer are enough;
                                 NULL: all or none */
    int64_t shard;            /* of the ids */
    bool is_sharded;          /* false: `shard` is 0, and the sequence need not
                                 have ids */
    bool is_contiguous;       /* all or none; `taken` is not used */
    struct seqb_stamp *stamp; /* out: the one stamp of all numbers; NULL: they
                                 may be of several */
    int64_t until_ms;         /* by clock_now_ms; 0: the sequence's deadline */
};

/* SEQB_INVALID if `count` is more than the ids of one stamp; the text says how
 * to get them. */
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

/* What the numbers of a key mean. The key's sequence exists, or would be made
 * automatically. Valid during the call only. */
struct queue_meaning {
    const struct queue_sequence_options *options;
    const struct template *template; /* in use now; a reload may have replaced
                                        that of the options */
    const struct ha_pool *pool;
    const char *key;
};

void queue_meaning_decode(const struct queue_meaning *meaning, int64_t value,
                          struct seqb_decoded *out);

/* SEQB_INVALID if a sequence with this meaning can never give what is asked
 * for: because of the count, the length of the run, or the shard. */
enum seqb_status queue_check_take(const struct queue_meaning *meaning,
                                  const struct queue_take *take,
                                  struct seqb_error *err);

/* Calls `use` with the meaning of a key. Makes no sequence. Returns
 * SEQB_UNKNOWN_KEY, SEQB_INVALID, SEQB_FORKED, or what `use` returns. */
enum seqb_status queue_look_up(
    struct queue *queue, const char *key,
    enum seqb_status (*use)(void *context, const struct queue_meaning *meaning,
                            struct seqb_error *err),
    void *context, struct seqb_error *err);

/* A text was refused, because its number, which is of this stamp, does not fit
 * the template. */
void queue_refused_text(struct seqb_sequence *sequence, int64_t number,
                        const struct seqb_stamp *stamp);
int64_t queue_deadline_ms(const struct seqb_sequence *sequence);
const char *queue_key(const struct seqb_sequence *sequence);

/* The template in use now; NULL: none. A reload may replace it at any moment,
 * so read it once for each text. It is valid as long as the queue. */
const struct template *queue_template(const struct seqb_sequence *sequence);

/* The rest is for the operator's calls: seqb_clock, seqb_highest, seqb_advance,
 * seqb_sequences, seqb_sequence_at, seqb_count_sequences, seqb_workers,
 * seqb_worker_leases and seqb_get_health. */
void queue_clock(struct queue *queue, struct seqb_clock_status *out);
enum seqb_status queue_highest(struct queue *queue, const char *key,
                               int64_t *out, struct seqb_error *err);
enum seqb_status queue_advance(struct queue *queue, const char *key, int64_t to,
                               struct seqb_error *err);
void queue_status(struct queue *queue, struct seqb_sequence_status *out,
                  size_t capacity, size_t *count);
enum seqb_status queue_status_at(struct queue *queue, size_t index,
                                 struct seqb_sequence_status *out);

/* Returns how many were copied. */
size_t queue_counts(struct queue *queue, size_t first,
                    struct seqb_sequence_counts *out, size_t capacity);
enum seqb_status queue_workers(struct queue *queue, struct seqb_worker *out,
                               size_t capacity, size_t *count,
                               struct seqb_error *err);
void queue_worker_leases(struct queue *queue, struct seqb_worker_lease *out,
                         size_t capacity, size_t *count);
enum seqb_health queue_health(struct queue *queue, char *reason, size_t size);
