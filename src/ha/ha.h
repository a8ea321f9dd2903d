/* SPDX-License-Identifier: Apache-2.0 */
/*
 * High availability: backends behind worker threads, and pools of 2^n of them
 * that look like one source. The front header of this folder.
 *
 * A caller that wants numbers makes an ha_counter and asks it. What is granted
 * is delivered to the counter's sink on a worker's thread. Only ha_open and
 * ha_admit wait for a network on the calling thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>
#include <seqbroker/events.h>

#include "ha/lessor.h"
#include "store/store.h"

#define HA_BITS_MAX       STORE_BITS_MAX
#define HA_PARTITIONS_MAX STORE_PARTITIONS_MAX

struct ha;
struct ha_pool;
struct ha_counter;

enum ha_rescue {
    HA_RESCUE_BACKOFF, /* 100 ms, then doubling up to rescue_after */
    HA_RESCUE_FIXED    /* rescue_after each time */
};

struct ha_pool_options {
    struct layout layout;
    int32_t timeout_ms; /* a slower call counts as slow */
    int32_t slow_count; /* this many slow calls within slow_window:
                           quarantined */
    int32_t slow_window_ms;
    int32_t rescue_after_ms;
    enum ha_rescue rescue;
    int32_t check_interval_ms; /* a store that nobody asks for so long is
                                  checked by a look; 0: never */
};

/* All strings and arrays stay the caller's and live until ha_close. */
struct ha_options {
    const struct store_options *backends;
    size_t backend_count;
    const struct ha_pool_options *pools;
    size_t pool_count;
    int32_t open_timeout_ms;  /* how long ha_open waits for the backends */
    const char *granted_path; /* prefix of the files that keep up to where
                                 counters were granted; NULL: none */
    const char *raised_path;  /* the file that keeps how far counters were
                                 raised; NULL: none */
};

/*
 * The answer to one ask: `count` runs of 2^memory_bits numbers. In a pool of
 * 2^bits partitions, each run lies 2^bits runs after the one before. If
 * ha_counter_lessor_bits is not 0, a grant may continue past the end of its
 * window: the next window lies 2^lessor_bits windows further.
 */
struct ha_grant {
    int64_t first;
    int64_t count; /* runs granted; 0: it failed */
    bool is_void;  /* brokers give the sequence's numbers other meanings: do not
                      use earlier grants either */
};

/* Receives what is granted. It is the first member of the receiver's struct. */
struct ha_sink {
    /* Called on a worker's thread, once for each partition that was asked, and
     * also on another thread without a grant, if `is_void`; several calls may
     * run at once. It must not block. */
    void (*deliver)(struct ha_sink *sink, const struct ha_grant *grant);
};

/* See seqb_open for the errors. `*out` is for ha_close. */
enum seqb_status ha_open(const struct ha_options *options, struct ha **out,
                         struct seqb_error *err);

/* When it returns, nothing is delivered any more. Free the counters after it.
 * NULL is allowed. */
void ha_close(struct ha *ha);

/*
 * A reload: new options for pools and backends of the same names and layouts.
 * Pools and backends that the new options leave out continue unchanged. First
 * call ha_prepare, which may fail, then ha_commit or ha_reload_free. After
 * that, nothing of the options is used. One reload at a time. No call waits for
 * a network.
 */
struct ha_reload;
enum seqb_status ha_prepare(struct ha *ha, const struct ha_options *options,
                            struct ha_reload **out, struct seqb_error *err);
void ha_commit(struct ha_reload *reload);
void ha_reload_free(struct ha_reload *reload); /* NULL is allowed */

/* `out[i]` is the index of the pool that has the name of the options' i-th one;
 * -1: none has. */
void ha_map_pools(const struct ha *ha, const struct ha_options *options,
                  int32_t *out);

/* Call it when this process may have been resumed from an image of its memory.
 * What was asked for before is not delivered. Windows that were leased ahead
 * are dropped. Every connection is closed and opened again. Any thread may call
 * it; it does not wait. */
void ha_resumed(struct ha *ha);

/* The i-th pool, in the options' order. */
struct ha_pool *ha_pool_at(struct ha *ha, size_t i);

/* It has 2^bits partitions. */
int32_t ha_pool_bits(const struct ha_pool *pool);

size_t ha_pool_count(const struct ha *ha);

/* The layout of the pool's numbers, as every store of the pool keeps it. Owned
 * by the pool. */
const char *ha_pool_layout(const struct ha_pool *pool);

/* Whether the text is the layout of an earlier generation of the pool. */
bool ha_pool_had_layout(const struct ha_pool *pool, const char *text);

/* How a partition's origin is known. */
enum ha_origin {
    HA_ORIGIN_NONE, /* not at all, or its store went back: see POISONED */
    HA_ORIGIN_PAST, /* as it was when it was connected last */
    HA_ORIGIN_NOW   /* of a partition that may be asked */
};

/* Copies the origin of a partition's store; `out` has SEQB_ORIGIN_SIZE. */
enum ha_origin ha_pool_origin(struct ha_pool *pool, int32_t partition,
                              char *out);

/* A direct store, named by its pool and its index there: a partition that
 * counts by itself or leases to its neighbours. The index after the last
 * partition is the pool's authority. */
struct ha_place {
    size_t pool;
    int32_t member;
};

/* The i-th direct store, authorities before partitions. False if there is no
 * i-th one. */
bool ha_place_at(const struct ha *ha, size_t i, struct ha_place *out);

struct ha_ticket {
    int64_t value;                 /* 1 or more; the first one of a span */
    int64_t count;                 /* 1, or as many as the span has */
    char origin[SEQB_ORIGIN_SIZE]; /* of the store that it is from; the same
                                      for all stores of neighbours */
};

/*
 * Takes the next value of the store's own counter `name`. The name has the form
 * of a key, but no sequence uses the counter. While the origin is the same, no
 * value comes twice, and with one taker no value is skipped. A lessor's value
 * is noted at a neighbour before this call returns: if one of the stores goes
 * back, the value does not come twice.
 * Waits until `until_ms`. A ticket that comes later is lost. SEQB_LAYOUT: there
 * is no such place, or another store is there. SEQB_UNAVAILABLE, SEQB_CLOSED,
 * SEQB_NO_MEMORY.
 */
enum seqb_status ha_ticket(struct ha *ha, struct ha_place place,
                           const char *name, int64_t until_ms,
                           struct ha_ticket *out, struct seqb_error *err);

/* Consecutive values of such a counter. */
struct ha_span {
    struct ha_place place;
    const char *name;
    int64_t above; /* the values lie above it */
    int64_t want;  /* at most this many, 1 or more */
};

/* The same for the next values above a given one. The values in between are
 * skipped. */
enum seqb_status ha_ticket_span(struct ha *ha, const struct ha_span *span,
                                int64_t until_ms, struct ha_ticket *out,
                                struct seqb_error *err);

/* A counter of the pool. `sink` must outlive ha_close. */
enum seqb_status ha_counter_new(struct ha_pool *pool, const char *key,
                                int32_t memory_bits, struct ha_sink *sink,
                                struct ha_counter **out,
                                struct seqb_error *err);
void ha_counter_free(struct ha_counter *counter);

/*
 * Claims the bits of all these counters in every backend that can be reached,
 * and waits for the answers. A counter that was used with other bits, or in
 * another pool, is closed: its availability is SEQB_LAYOUT. If all counters
 * are, this call returns SEQB_LAYOUT, and need not close them. All backends
 * work at the same time. The call stops waiting for a backend that makes no
 * progress. Only one call at a time.
 *
 * If no store of its pool knows a counter, and a store of another pool did not
 * answer whether it does, nothing is claimed: the counter is unasked. So it is
 * if the topology has several pools and no store of its own pool that keeps
 * claims could be asked. Do not ask it for numbers before another call has
 * admitted it.
 */
enum seqb_status ha_admit(struct ha *ha, struct ha_counter *const *counters,
                          size_t count, struct seqb_error *err);

/* Its availability is SEQB_UNAVAILABLE while it is unasked. */
bool ha_counter_is_unasked(struct ha_counter *counter);

#define HA_KNOWN_MAX 64

/* Whether a store of the pool that can be reached has the claim of a sequence
 * with that key. Asks about all keys, HA_KNOWN_MAX at most, in one call of each
 * store, changes nothing, and waits as ha_admit does. */
void ha_known(struct ha *ha, struct ha_pool *pool, const char *const *keys,
              size_t count, bool *is_known);

/* Any thread, when the broker closes: from now on no answer of a store is
 * waited for longer than `until_ms`, and what takes several steps at a store
 * ends after the present one. It may be called again, with a later time. */
void ha_end_waits(struct ha *ha, int64_t until_ms);

/* That time; INT64_MAX: the broker does not close. */
int64_t ha_limit_ms(const struct ha *ha);

/* A number that changes when other backends become usable. */
uint64_t ha_usable(struct ha *ha);

/* Why what was refused to a sequence is over. */
#define HA_UNLISTED "the topology no longer lists the sequence"

/* Which numbers of a sequence can become texts. */
struct ha_texts {
    int64_t max;   /* greater numbers have no text; 0: every number has one */
    int64_t stock; /* numbers that were granted and are not taken yet */
};

/* The attributes of a counter that are not the usual ones. */
struct ha_counter_attributes {
    const char *claim;   /* claimed after the bits: " period=day", or "" */
    int32_t value_bits;  /* its numbers are below 2^value_bits; 63 is usual */
    int32_t window_bits; /* its windows hold 2^window_bits values; 0: as many as
                            the pool's */
    int64_t useful;      /* numbers above it are too wide for the texts; 0: none
                            is */
    int64_t keep_ms;     /* its stamps are kept so long after they are over */
    /* Any thread, with the pool's lock held. NULL: every number has a text. */
    void (*texts)(const struct ha_sink *sink, struct ha_texts *out);
    bool asks_first; /* every store that may be asked compares the claim before
                        the first number; false: ha_admit has done it */
};

/* Call it before the counter is admitted or asked for numbers. The attributes
 * must outlive the counter. */
void ha_counter_set_attributes(struct ha_counter *counter,
                               const struct ha_counter_attributes *attributes);

/*
 * The new counter is of the same sequence as the other one, as those of its
 * stamps are: a store that has the sequence with other settings closes all of
 * them. Call it before the counter is asked. Free them together.
 */
void ha_counter_join(struct ha_counter *counter, struct ha_counter *other);

/*
 * Whether the topology lists the counter's sequence; a new counter's is listed.
 * While it is not, nothing that a store refuses to the sequence is shown,
 * retried or reported, and what was reported ends (COUNTER_RECOVERED). Hold no
 * lock that a listener of events may need.
 */
void ha_counter_set_listed(struct ha_counter *counter, bool is_listed);

/* A period that has a counter of its own in the stores: "KEY@DIGITS". */
struct ha_stamp {
    int64_t digits; /* 0: none */
    int64_t begins_ms;
    int64_t ends_ms;
};

/*
 * Makes it the counter of another stamp, in the state of a new counter. False
 * while an ask is under way for it; then nothing is changed. No other thread
 * may use the counter during this call.
 */
bool ha_counter_restamp(struct ha_counter *counter,
                        const struct ha_stamp *stamp);

/*
 * The stamps before `keep` are over. Every direct store deletes some of their
 * counters of this key, in the background. Call it now and then. What one call
 * deletes was noted by an earlier one.
 */
void ha_counter_purge(struct ha_counter *counter, const struct ha_stamp *keep);

/* Whether the pool had another layout before, with sequences in it. */
bool ha_counter_has_past(const struct ha_counter *counter);

/* Which partitions are asked. */
enum ha_spread {
    HA_ASK_ONE, /* the next partition in turn */
    HA_ASK_ALL  /* every usable partition that is not busy with this counter */
};

/*
 * Asks for `count` runs in all. Returns how many were asked for, 0 if no
 * partition can be asked now. Each partition that is asked delivers once.
 */
int64_t ha_counter_ask(struct ha_counter *counter, int64_t count,
                       enum ha_spread spread, int64_t now_ms);

/* The asks that are not answered yet, and how soon answers come. */
struct ha_view {
    int64_t fresh;    /* runs asked for not long ago: they will come */
    int64_t all;      /* runs asked for and not yet answered */
    int64_t delay_ms; /* of a usual reservation */
    int64_t late_ms;  /* when the next of the fresh ones becomes late, by
                         clock_now_ms; INT64_MAX: none */
    bool is_closed;   /* as of ha_grant.is_void: no ask will ever be granted */
};

void ha_counter_view(struct ha_counter *counter, int64_t now_ms,
                     struct ha_view *out);

/*
 * Whether asking makes sense: SEQB_OK if a partition is usable or busy with
 * this counter, else SEQB_UNAVAILABLE, SEQB_EXHAUSTED or SEQB_LAYOUT with
 * each partition's reason.
 */
enum seqb_status ha_counter_availability(struct ha_counter *counter,
                                         struct seqb_error *err);

/* Whether at least one partition is usable and let no call pass its time-out
 * since its store last answered. */
bool ha_pool_answers(struct ha_pool *pool);

/* The number was granted before, and is handed out now. The counter must not
 * grant it again. */
void ha_counter_hold(struct ha_counter *counter, int64_t number);

/* The counter value, partition and memory part of a number. */
void ha_pool_decode(const struct ha_pool *pool, int32_t memory_bits,
                    int64_t value, struct seqb_decoded *out);

struct ha_pool *ha_counter_pool(const struct ha_counter *counter);
uint32_t ha_counter_partitions(const struct ha_counter *counter);
const char *ha_counter_key(const struct ha_counter *counter);

/* 0: none of its partitions counts in windows. */
int32_t ha_counter_window_bits(const struct ha_counter *counter);

/* Not 0: a grant may consist of several windows, see ha_grant. */
int32_t ha_counter_lessor_bits(const struct ha_counter *counter);
const char *ha_counter_pool_name(const struct ha_counter *counter);

/*
 * No number at or below `to` is asked for any more. What was asked for before
 * may still be delivered. SEQB_INVALID if a number at or above `to` was granted
 * already, or `to` is beyond the bits. Does not wait.
 */
enum seqb_status ha_counter_advance(struct ha_counter *counter, int64_t to,
                                    struct seqb_error *err);

/*
 * Raises every usable partition above what the counter was advanced to, by
 * taking a run of it. Waits until `until_ms`. SEQB_UNAVAILABLE, with the
 * reasons, if some are not above it.
 */
enum seqb_status ha_counter_raise(struct ha_counter *counter, int64_t until_ms,
                                  struct seqb_error *err);

/* The highest number granted since the open; 0 if none was. */
int64_t ha_counter_highest(struct ha_counter *counter);

/* See seqb_sequence_status. */
int64_t ha_counter_runs_out_ms(struct ha_counter *counter, int64_t now_ms);

/* The same in whole minutes, computed at most once a minute. Takes a lock only
 * to compute it, and only if the last result was an end. */
int64_t ha_counter_last_runs_out_ms(struct ha_counter *counter, int64_t now_ms);

/* Reports an event of the whole sequence. Call it with no lock held. */
void ha_counter_report(const struct ha_counter *counter,
                       enum seqb_event_kind kind, const char *reason);

/* Prefetches the memory that ha_counter_last_runs_out_ms reads. */
void ha_counter_prefetch(const struct ha_counter *counter);

/* A value that a store keeps. */
struct ha_entry {
    int32_t backend; /* index of a direct backend */
    const char *name;
    int64_t value; /* >= 0; 0 only reads */
};

/*
 * Keeps the highest value under the name: the stored value becomes at least
 * `value`, durably. `*standing` is what is stored then. No counter is changed.
 * Waits until `until_ms`. SEQB_UNAVAILABLE, with the reason; SEQB_CLOSED,
 * SEQB_NO_MEMORY.
 */
enum seqb_status ha_note(struct ha *ha, const struct ha_entry *entry,
                         int64_t until_ms, int64_t *standing,
                         struct seqb_error *err);

/*
 * The median of the stores' wall clocks, so that one wrong clock neither leads
 * nor stops a broker. Returns how many clocks are known. A store's clock is
 * read when the store is connected, and now and then while it is used. It is
 * kept as ms to be added to our boot clock, and advances by that in between: a
 * step of our wall clock does not move it.
 */
int32_t ha_clocks(struct ha *ha, int64_t *wall_ms);

/* This broker has begun a period that begins at that time, or will soon. From
 * now on no store that lost counters begins that period at 1 again, also if our
 * clock goes back. Any thread. */
void ha_begun(struct ha *ha, int64_t begins_ms);

#define HA_TEXT_SIZE 640 /* of a text that a store keeps */

/* A text that a direct store keeps under a name. */
struct ha_text {
    int32_t member; /* of the pool, whose store it is */
    const char *name;
    const char *expected; /* replaced if it is stored; "": none is stored */
    const char *text;     /* the new one; NULL: it is only read */
    const char *origin;   /* that the store must have; NULL or "": any */
};

struct ha_answer {
    char standing[HA_TEXT_SIZE]; /* "": nothing */
    char origin[SEQB_ORIGIN_SIZE];
    int64_t latest_ms; /* the later one of the store's wall clock and ours */
};

/*
 * Reads a text, or replaces it in one atomic step. Waits until `until_ms`; a
 * call that is answered later may still have taken effect. SEQB_FENCED: the
 * store has another origin, which is in `out`; nothing was changed.
 * SEQB_CLOSED, SEQB_NO_MEMORY; any other status: there was no answer, with the
 * reason.
 */
enum seqb_status ha_text(struct ha_pool *pool, const struct ha_text *about,
                         int64_t until_ms, struct ha_answer *out,
                         struct seqb_error *err);

/* How long a member's store may take to connect and to answer. */
int64_t ha_text_patience_ms(const struct ha_pool *pool, int32_t member);

/* Whether the member's store is direct. The members are the partitions, and
 * after them an authority that is no partition. */
bool ha_pool_keeps(const struct ha_pool *pool, int32_t member);

/* The member that leases worker ids: the authority, else the first direct
 * partition. In a pool with neighbours each lessor leases some of the ids, in
 * the order of `i`. -1: there is none, or no `i`-th. */
int32_t ha_pool_lessor(const struct ha_pool *pool, int32_t i);
bool ha_pool_has_neighbours(const struct ha_pool *pool);

const char *ha_pool_member_name(const struct ha_pool *pool, int32_t member);

/* The layout of the pool's options. */
const struct layout *ha_pool_shape(const struct ha_pool *pool);

/* Fills `out` with at most `capacity` lessors, pool by pool; `*count` is how
 * many there are. */
void ha_lessors(struct ha *ha, struct ha_lessor *out, size_t capacity,
                size_t *count);

/* "unknown", "level", "syncing", "waiting". */
const char *ha_lessor_state_name(enum ha_lessor_state state);

/* See seqb_command and seqb_get_health. */
enum seqb_status ha_command(struct ha *ha, const char *pool, int32_t partition,
                            enum seqb_order order, struct seqb_error *err);
enum seqb_health ha_health(struct ha *ha, char *reason, size_t size);

/* See seqb_on_event. */
void ha_on_event(struct ha *ha,
                 void (*callback)(void *context,
                                  const struct seqb_event *event),
                 void *context);

/* See seqb_partitions. */
void ha_status(struct ha *ha, struct seqb_partition_status *out,
               size_t capacity, size_t *count);

/* See seqb_partition_reason. */
enum seqb_status ha_reason(struct ha *ha, const char *pool, int32_t partition,
                           char out[SEQB_REASON_SIZE], struct seqb_error *err);
