/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which partition may be asked: the states of a pool's partitions, quarantine
 * and rescue. Pure: plain structs, no lock, no clock; the owner's lock guards a
 * pool.
 *
 *   starting -> up <-> suspect           suspect: a call passed a time-out
 *   these, ramping -> quarantined        it failed, was too slow, or by order
 *   quarantined <-> probing              until enough probes have succeeded
 *   probing -> ramping -> up             up at once if no other one is usable
 *   any -> refused, poisoned             by what the store says
 *   any other -> drained                 by order
 *   drained, refused, poisoned -> quarantined, with a probe due now: by order
 *
 * An order is an operator's. A reload that changes the backend rescues a
 * refused member as an order does.
 */
#pragma once

#include "ha/ha.h"
#include "platform/text.h"

/* The partitions, and an authority that is no partition. */
#define POOL_MEMBERS_MAX (HA_PARTITIONS_MAX + 1)

#define POOL_SLOW_COUNT_MAX 64

#define POOL_FIRST_PROBE_MS 100   /* rest before the first probe */
#define POOL_NEXT_PROBE_MS  100   /* from one that succeeds to the next */
#define POOL_PROBES_TO_RISE 2     /* probes that must succeed in a row */
#define POOL_RAMP_MS        5000  /* from a small share of the turns to all */
#define POOL_CALM_MS        30000 /* if up for less, the next rest is longer */
#define POOL_FORCE_REST_MS  500   /* at least, between two forced probes */

/* The longest rest between the worker's own reservations of a store that does
 * not answer and stays usable, because it is the last one. With nobody calling,
 * health may say for so long after its recovery that it does not answer. */
#define POOL_UNANSWERED_REST_MS 8000

/* Bytes of a member's reason in a text with those of other members. */
#define POOL_REASON_BRIEF 255

#define POOL_NO_CALL (-1) /* in `evaluated_ms`: no call is counted */

struct pool_member {
    enum seqb_partition_state state;
    int64_t since_ms;
    int64_t well_since_ms; /* when it last became usable */
    int64_t next_probe_ms; /* read only if quarantined */
    int64_t last_probe_ms; /* when the last probe began */
    int64_t next_look_ms;  /* no look before then; read only if usable */
    int64_t rest_ms;       /* the present rest between probes */
    int32_t successes;     /* probes that succeeded in a row */
    bool is_forced;        /* the next probe is a forced one */
    bool is_ordered;       /* an operator quarantined it, and no failure since
                              then was reported */
    int32_t credit;        /* of turns while ramping, in 256ths */
    int64_t evaluated_ms;  /* begin of the hanging call that `evaluated` is of;
                              POOL_NO_CALL: none */
    int32_t evaluated;     /* time-outs of that call that were counted */
    bool is_silent;        /* a time-out passed since its store last answered */
    int32_t unanswered;    /* time-outs passed since its store last answered a
                              reservation; at most POOL_SLOW_COUNT_MAX */
    bool is_stuck;     /* slow_count of these were passed within slow_window;
                          until a reservation is answered */
    int32_t slow_next; /* index in slow_at_ms of the next entry */
    int64_t slow_at_ms[POOL_SLOW_COUNT_MAX]; /* ring of the latest time-outs */
    int64_t latency_us;                      /* moving average; 0: none yet */
    int64_t granted;
    int64_t errors;
    int64_t slow;
    int64_t ejections; /* changes from usable to quarantined */
    int64_t raises;    /* of counters whose store had changed or gone back */
    char reason[SEQB_ERROR_TEXT_SIZE];
    char server[SEQB_SERVER_SIZE]; /* this and the next three: of the last
                                      connect */
    char domain[SEQB_DOMAIN_SIZE];
    char loss[SEQB_LOSS_SIZE];
    char origin[SEQB_ORIGIN_SIZE];
};

struct pool {
    const struct ha_pool_options *options;
    int32_t partitions;
    int32_t members; /* the partitions, and the authority if it is not one of
                        them */
    int32_t next;    /* the partition whose turn is next */
    uint64_t random; /* for the jitter of the rests */
    struct pool_member member[POOL_MEMBERS_MAX];
};

/* How many bytes of `why` to put into a text with those of other members. A
 * member's own reason may be long, so it is cut to leave room for the others.
 * No character is cut in two. */
static inline int pool_reason_bytes(const struct pool *pool, int32_t i,
                                    const char *why)
{
    return (int)text_part(why, why == pool->member[i].reason
                                   ? POOL_REASON_BRIEF
                                   : SEQB_ERROR_TEXT_SIZE);
}

/* A change of a member's state, to be reported once. from == to: no change,
 * unless it has another reason now. */
struct pool_change {
    enum seqb_partition_state from;
    enum seqb_partition_state to;
    bool is_for_another_reason; /* no operator's any more: it failed */
};

static inline bool pool_change_is_news(struct pool_change change)
{
    return change.from != change.to || change.is_for_another_reason;
}

/* `seed` is for the jitter of the rests. */
void pool_init(struct pool *pool, const struct ha_pool_options *options,
               int32_t members, uint64_t seed, int64_t now_ms);

/* A connection was made: keeps what the backend reports about its server. */
void pool_connected(struct pool *pool, int32_t i,
                    const struct seqb_backend *backend);

/* Whether a member in that state may be asked. */
static inline bool pool_state_is_usable(enum seqb_partition_state state)
{
    return state == SEQB_PARTITION_UP || state == SEQB_PARTITION_SUSPECT ||
           state == SEQB_PARTITION_RAMPING;
}

static inline bool pool_is_usable(const struct pool *pool, int32_t i)
{
    return pool_state_is_usable(pool->member[i].state);
}

/* Bit i of `skip`: not partition i. */
static inline bool pool_may_pick(const struct pool *pool, uint64_t skip,
                                 int32_t i)
{
    return pool_is_usable(pool, i) && (skip >> i & 1) == 0;
}

/* Whether any partition is usable and not in `skip` (bit i: partition i). */
bool pool_has_usable(const struct pool *pool, uint64_t skip);

/* A call was answered after `elapsed_us`. Too many slow calls quarantine the
 * member. */
struct pool_change pool_succeeded(struct pool *pool, int32_t i,
                                  int64_t elapsed_us, int64_t now_ms);

/* The same for a look. It does not count for the latency, because a look takes
 * another time than a reservation. It rescues nothing, and does not show that
 * reservations are answered. */
struct pool_change pool_looked(struct pool *pool, int32_t i, int64_t elapsed_us,
                               int64_t now_ms);

/* A call failed. The blame of its status decides the member's next state. */
struct pool_change pool_failed(struct pool *pool, int32_t i,
                               const struct seqb_error *why, int64_t elapsed_us,
                               int64_t now_ms);

/*
 * Call it from time to time. A call that has been under way since `call_ms`
 * (-1: none is) counts as slow once for each time-out that it passes. Also
 * makes the changes of state that depend on time alone. `*next_ms`: when to
 * call again; INT64_MAX if nothing will change by itself.
 */
struct pool_change pool_evaluate(struct pool *pool, int32_t i, int64_t call_ms,
                                 int64_t now_ms, int64_t *next_ms);
