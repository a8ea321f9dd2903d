/* SPDX-License-Identifier: Apache-2.0 */
/*
 * High availability: backends behind worker threads, and pools of 2^n of them
 * that look like one source. The front header of this folder.
 *
 * Whoever wants numbers makes an ha_counter and asks it; what was granted is
 * delivered to the counter's sink on a worker's thread. Nothing here waits for
 * a network on the asking thread, but ha_open and ha_admit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>
#include <seqbroker/backend.h>

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
    int32_t slow_count; /* so many within slow_window: quarantined */
    int32_t slow_window_ms;
    int32_t rescue_after_ms;
    enum ha_rescue rescue;
};

/* All strings and arrays stay the caller's and live until ha_close. */
struct ha_options {
    const struct store_options *backends;
    size_t backend_count;
    const struct ha_pool_options *pools;
    size_t pool_count;
    int32_t open_timeout_ms; /* how long ha_open waits for the backends */
    const char *raised_path; /* keeps up to where counters were raised; NULL:
                                nothing does */
};

/*
 * The answer to one ask, as numbers: those of runs of 2^memory_bits numbers,
 * each of which lies 2^bits runs after the one before, where the pool has
 * 2^bits partitions. Where ha_counter_lessor_bits is not 0 a grant may go on
 * past the end of its window: the next one lies 2^lessor_bits windows further.
 */
struct ha_grant {
    int64_t first;
    int64_t count; /* runs granted; 0: it failed */
    bool is_void;  /* brokers give the sequence's numbers other meanings: what
                      was granted before is not to be used either */
};

/* Who takes delivery; the first member of the taker's struct. */
struct ha_sink {
    /* On a worker's thread, concurrent with itself, once for each partition
     * that was asked. Must not block. */
    void (*deliver)(struct ha_sink *sink, const struct ha_grant *grant);
};

/* See seqb_open for the errors. `*out` is for ha_close. */
enum seqb_status ha_open(const struct ha_options *options, struct ha **out,
                         struct seqb_error *err);

/* No delivery comes after it. Counters must be freed after it. Takes NULL. */
void ha_close(struct ha *ha);

/* This process may have been resumed from an image of its memory: what was
 * asked for before is not delivered, windows that were leased ahead are
 * dropped, and every connection is closed and made again. Any thread; does not
 * wait. */
void ha_resumed(struct ha *ha);

/* The i-th pool, in the options' order. */
struct ha_pool *ha_pool_at(struct ha *ha, size_t i);

/* It has 2^bits partitions. */
int32_t ha_pool_bits(const struct ha_pool *pool);

size_t ha_pool_count(const struct ha *ha);

/* What gives the pool's numbers their meaning, as every store of it keeps it.
 * Owned by the pool. */
const char *ha_pool_layout(const struct ha_pool *pool);

/* How a partition's origin is known. */
enum ha_origin {
    HA_ORIGIN_NONE, /* not at all, or its store went back: see POISONED */
    HA_ORIGIN_PAST, /* as it was when it was connected last */
    HA_ORIGIN_NOW   /* of a partition that may be asked */
};

/* Copies the origin of a partition's store; `out` has SEQB_ORIGIN_SIZE. */
enum ha_origin ha_pool_origin(struct ha_pool *pool, int32_t partition,
                              char *out);

/* A direct store by its place: a partition of a pool, which counts by itself or
 * leases to its neighbours, or past the last one the pool's authority. */
struct ha_place {
    size_t pool;
    int32_t member;
};

/* The i-th place of a direct store, authorities before partitions; false past
 * the last. */
bool ha_place_at(const struct ha *ha, size_t i, struct ha_place *out);

struct ha_ticket {
    int64_t value;                 /* 1 or more; the first one of a span */
    int64_t count;                 /* 1, or as many as the span has */
    char origin[SEQB_ORIGIN_SIZE]; /* of the store that it is from; the same
                                      for all stores of neighbours */
};

/*
 * Takes the next value, ever, of the store's own counter `name`, which is of
 * the form of a key but shares nothing with that sequence. As long as the
 * origin is the same no value comes twice, and with one taker none is skipped.
 * That of a lessor is noted at a neighbour before this returns, so that it does
 * not come twice if one of the stores goes back.
 * Waits until `until_ms`; a ticket that comes too late is lost. SEQB_LAYOUT
 * if there is no such place, or another store stands there; SEQB_UNAVAILABLE,
 * SEQB_CLOSED, SEQB_NO_MEMORY.
 */
enum seqb_status ha_ticket(struct ha *ha, struct ha_place place,
                           const char *name, int64_t until_ms,
                           struct ha_ticket *out, struct seqb_error *err);

/* Values of such a counter, one after the other. */
struct ha_span {
    struct ha_place place;
    const char *name;
    int64_t above; /* all of them are */
    int64_t want;  /* at most so many, 1 or more */
};

/* The same for the next values that are above some value; those in between are
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
 * Claims the bits of all these counters in every backend that can be
 * reached, waiting for the answers. A counter that was used with others, or in
 * another pool, is closed: its outlook is SEQB_LAYOUT. If all are, that is
 * returned, and none needs to be closed. The backends go through them side by
 * side; one that does not get on for a while is waited for no more. One call at
 * a time.
 */
enum seqb_status ha_admit(struct ha *ha, struct ha_counter *const *counters,
                          size_t count, struct seqb_error *err);

/* What a counter has besides a key, if that is more than usual. */
struct ha_counter_attributes {
    const char *claim;   /* claimed after the bits, " period=day"; "" */
    int32_t value_bits;  /* its numbers are below 2^value_bits; 63 is usual */
    int32_t window_bits; /* its windows hold 2^window_bits values; 0: as many as
                            the pool's */
    int64_t useful;      /* numbers above it are too wide; 0: none is */
    int64_t keep_ms;     /* its stamps are kept so long after they are over */
    bool asks_first; /* every store that may be asked compares the claim before
                        the first number; else ha_admit has seen to that */
};

/* Before it is admitted or asked first. The terms must outlive it. */
void ha_counter_set_attributes(struct ha_counter *counter,
                               const struct ha_counter_attributes *attributes);

/* A period, of which a counter is in the stores: "KEY@DIGITS". */
struct ha_stamp {
    int64_t digits; /* 0: none */
    int64_t begins_ms;
    int64_t ends_ms;
};

/*
 * Makes it the counter of another stamp, as new as it was when it was made.
 * False, and nothing is changed, while anything is under way for it. Nobody
 * else may use it in this call.
 */
bool ha_counter_restamp(struct ha_counter *counter,
                        const struct ha_stamp *stamp);

/*
 * The stamps before `keep` are over: has every direct store forget some of the
 * counters of its key, in the background; to be called now and then. What is
 * forgotten in one call was noted in an earlier one.
 */
void ha_counter_purge(struct ha_counter *counter, const struct ha_stamp *keep);

/* Whether its pool had another layout before, with sequences of then. */
bool ha_counter_has_past(const struct ha_counter *counter);

/* How an ask is to be spread. */
enum ha_spread {
    HA_ASK_ONE, /* the next partition in turn */
    HA_ASK_ALL  /* every usable partition that is not busy with this counter */
};

/*
 * Asks for `count` runs in all. Returns for how many runs, which is 0 if no
 * partition can be asked now. Each partition asked delivers exactly once.
 */
int64_t ha_counter_ask(struct ha_counter *counter, int64_t count,
                       enum ha_spread spread, int64_t now_ms);

/* What is under way for a counter, and how soon answers come. */
struct ha_view {
    int64_t fresh;    /* runs asked for not long ago: they will come */
    int64_t all;      /* runs asked for and not yet answered */
    int64_t delay_ms; /* that a reservation usually takes */
    int64_t late_ms;  /* when the next of them would no longer be fresh, by
                         clock_now_ms; INT64_MAX: none */
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

/* That number was granted to the pool before, and is to be handed out now: its
 * counter may grant none like it any more. */
void ha_counter_hold(struct ha_counter *counter, int64_t number);

/* The counter value, partition and memory part of a number. */
void ha_counter_decode(const struct ha_counter *counter, int64_t value,
                       struct seqb_decoded *out);

struct ha_pool *ha_counter_pool(const struct ha_counter *counter);
uint32_t ha_counter_partitions(const struct ha_counter *counter);
const char *ha_counter_key(const struct ha_counter *counter);

/* 0: none of its partitions counts in windows. */
int32_t ha_counter_window_bits(const struct ha_counter *counter);

/* 0: what is granted at once lies in one window, or in none. */
int32_t ha_counter_lessor_bits(const struct ha_counter *counter);
const char *ha_counter_pool_name(const struct ha_counter *counter);

/*
 * Nothing whose number is at or below `to` is asked for any more; what was
 * asked for before may still be delivered. SEQB_INVALID if a number at or
 * above `to` was granted already, or `to` is beyond the bits. Does not wait.
 */
enum seqb_status ha_counter_advance(struct ha_counter *counter, int64_t to,
                                    struct seqb_error *err);

/*
 * Takes a run of every usable partition that is not above what the counter
 * was advanced to, so that its store is. Waits for that until `until_ms`.
 * SEQB_UNAVAILABLE, with the reasons, if some are not.
 */
enum seqb_status ha_counter_raise(struct ha_counter *counter, int64_t until_ms,
                                  struct seqb_error *err);

/* See seqb_sequence_status. */
int64_t ha_counter_runs_out_ms(struct ha_counter *counter, int64_t now_ms);

/* A value that a store keeps. */
struct ha_entry {
    int32_t backend; /* index of a direct one */
    const char *name;
    int64_t value; /* >= 0; 0 only looks */
};

/*
 * Keeps the highest value ever kept under the name: what stands there becomes
 * at least `value`, durably, and is told. No counter is touched. Waits until
 * `until_ms`. SEQB_UNAVAILABLE, with the reason; SEQB_CLOSED, SEQB_NO_MEMORY.
 */
enum seqb_status ha_note(struct ha *ha, const struct ha_entry *entry,
                         int64_t until_ms, int64_t *standing,
                         struct seqb_error *err);

/*
 * The wall clocks of the stores, of those that have one and were seen: the
 * middle one of them, so that no single one that is wrong leads or stops a
 * broker; and how many there are. Each is read when its store is connected, and
 * now and then when it is used; as ms to be added to our boot clock, by which
 * it goes on in between, so that no step of our wall clock is one of theirs.
 */
int32_t ha_clocks(struct ha *ha, int64_t *wall_ms);

#define HA_TEXT_SIZE 640 /* of a text that a store keeps */

/* A text that a direct store keeps under a name. */
struct ha_text {
    int32_t member; /* of the pool, whose store it is */
    const char *name;
    const char *expected; /* is replaced if it stands there; "": nothing */
    const char *text;     /* by this; NULL: it is only looked at */
    const char *origin;   /* that the store must have; NULL or "": any */
};

struct ha_answer {
    char standing[HA_TEXT_SIZE]; /* "": nothing */
    char origin[SEQB_ORIGIN_SIZE];
    int64_t latest_ms; /* the later one of the store's wall clock and ours */
};

/*
 * Looks at a text, or replaces it in one atomic step. Waits until `until_ms`;
 * what is answered later has its effect all the same. SEQB_FENCED: the store
 * has another origin, which is in `out`; nothing was changed. SEQB_CLOSED,
 * SEQB_NO_MEMORY; any other status: no answer, with the reason.
 */
enum seqb_status ha_text(struct ha_pool *pool, const struct ha_text *about,
                         int64_t until_ms, struct ha_answer *out,
                         struct seqb_error *err);

/* How long a member's store may take to connect and to answer. */
int64_t ha_text_patience_ms(const struct ha_pool *pool, int32_t member);

/* Whether it is a member of the pool whose store is direct. The members are
 * its partitions, and past the last one an authority that is none. */
bool ha_pool_keeps(const struct ha_pool *pool, int32_t member);

/* The member that leases worker ids: the authority, else the first direct
 * partition. In a pool with neighbours each of its lessors does, some ids each,
 * in the order of `i`. -1: there is none, or no `i`-th. */
int32_t ha_pool_lessor(const struct ha_pool *pool, int32_t i);
bool ha_pool_has_neighbours(const struct ha_pool *pool);

const char *ha_pool_member_name(const struct ha_pool *pool, int32_t member);

/* As its options say. */
const struct layout *ha_pool_shape(const struct ha_pool *pool);

/* How a lessor of a pool with neighbours is, as this broker knows. */
enum ha_lessor_state {
    HA_LESSOR_UNKNOWN, /* nobody has looked, or it cannot be asked */
    HA_LESSOR_LEVEL,   /* it may lease */
    HA_LESSOR_SYNCING, /* it was restarted or away, and is being made level */
    HA_LESSOR_WAITING  /* the same, but a store cannot be asked */
};

/* The names live as long as the ha. */
struct ha_lessor {
    const char *pool;
    const char *backend;
    const char *waits_for; /* the backend that cannot be asked; NULL: none */
    int32_t partition;
    enum ha_lessor_state state;
    int64_t since_ms;          /* for so long */
    int64_t leases_per_minute; /* of this broker, of late */
};

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
