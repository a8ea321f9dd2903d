/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may be asked: the states of a pool's partitions, quarantine and rescue.
 * Pure: plain structs, no lock, no clock; the owner's lock guards a pool.
 *
 *   starting -> up <-> suspect     suspect: slow calls count against it
 *   up, suspect, ramping -> quarantined -> probing -> ramping -> up
 *   drained and back by an operator; refused and poisoned until one rescues
 */
#pragma once

#include "ha/ha.h"
#include "platform/text.h"

/* Past the last partition's index: an authority that is no partition. */
#define POOL_MEMBERS_MAX (HA_PARTITIONS_MAX + 1)

#define POOL_SLOW_COUNT_MAX 64

#define POOL_FIRST_PROBE_MS 100 /* rest before the first probe */
#define POOL_NEXT_PROBE_MS                                                     \
    100                          /* between a probe that succeeds and the next \
                                  */
#define POOL_PROBES_TO_RISE 2    /* so many must succeed in a row */
#define POOL_RAMP_MS        5000 /* from a small share of the turns to all */
#define POOL_CALM_MS        30000 /* up for less: the next rest is longer */
#define POOL_FORCE_REST_MS  500   /* at least this between two forced probes */

/* Bytes of a member's reason where those of several stand in one text. */
#define POOL_REASON_BRIEF 255

#define POOL_NO_CALL (-1) /* in evaluated_ms: no call is counted */

struct pool_member {
    enum seqb_partition_state state;
    int64_t since_ms;
    int64_t well_since_ms; /* when it came to be usable last */
    int64_t next_probe_ms; /* read only if quarantined */
    int64_t last_probe_ms; /* begin of the last probe */
    int64_t next_look_ms;  /* no look before; read only if usable */
    int64_t rest_ms;       /* before the next probe, if this one fails */
    int32_t successes;     /* probes that succeeded in a row */
    bool is_forced;        /* the probe comes before its time */
    int32_t credit;        /* of turns while ramping, in 256ths */
    int64_t evaluated_ms;  /* begin of the hanging call that judged counts;
                           POOL_NO_CALL: of none */
    int32_t evaluated;     /* time-outs of it that were counted */
    bool is_silent;        /* a time-out was passed since its store answered */
    int32_t slow_next;     /* where in slow_at_ms the next is noted */
    int64_t slow_at_ms[POOL_SLOW_COUNT_MAX]; /* the latest, in a ring */
    int64_t latency_us;                      /* moving average; 0: none yet */
    int64_t granted;
    int64_t errors;
    int64_t slow;
    int64_t ejections; /* from usable to quarantined */
    char reason[SEQB_ERROR_TEXT_SIZE];
    char server[SEQB_SERVER_SIZE]; /* this and what follows as last opened */
    char domain[SEQB_DOMAIN_SIZE];
    char loss[SEQB_LOSS_SIZE];
    char origin[SEQB_ORIGIN_SIZE];
};

struct pool {
    const struct ha_pool_options *options;
    int32_t partitions;
    int32_t members; /* partitions, and the authority if it is none */
    int32_t next;    /* the partition whose turn is next */
    uint64_t random; /* of the rests' jitter */
    struct pool_member member[POOL_MEMBERS_MAX];
};

/* How many bytes of `why` belong in a text with those of other members: a
 * member's own reason may be long, and leaves room for the others. No character
 * is cut in two. */
static inline int pool_reason_bytes(const struct pool *pool, int32_t i,
                                    const char *why)
{
    return (int)text_part(why, why == pool->member[i].reason
                                   ? POOL_REASON_BRIEF
                                   : SEQB_ERROR_TEXT_SIZE);
}

/* A change of a member's state, to be told once; from == to: none. */
struct pool_change {
    enum seqb_partition_state from;
    enum seqb_partition_state to;
};

/* `seed` decides the jitter of the rests. */
void pool_init(struct pool *pool, const struct ha_pool_options *options,
               int32_t members, uint64_t seed, int64_t now_ms);

/* A connection was made: keeps what the backend says of its server. */
void pool_connected(struct pool *pool, int32_t i,
                    const struct seqb_backend *backend);

/* Whether one in that state may be asked. */
static inline bool pool_state_is_usable(enum seqb_partition_state state)
{
    return state == SEQB_PARTITION_UP || state == SEQB_PARTITION_SUSPECT ||
           state == SEQB_PARTITION_RAMPING;
}

/* A call was answered after `elapsed_us`; slow ones may quarantine. */
struct pool_change pool_succeeded(struct pool *pool, int32_t i,
                                  int64_t elapsed_us, int64_t now_ms);

/* The same for a look, which says nothing of how long a reservation takes, and
 * rescues nothing. */
struct pool_change pool_looked(struct pool *pool, int32_t i, int64_t elapsed_us,
                               int64_t now_ms);

/* A call failed; the status's blame decides what becomes of the member. */
struct pool_change pool_failed(struct pool *pool, int32_t i,
                               const struct seqb_error *why, int64_t elapsed_us,
                               int64_t now_ms);

/*
 * To be called from time to time: a call that has been under way since
 * `call_ms` (-1: none is) counts as slow once for each time-out that it
 * passes; what time alone changes is changed. `*next_ms`: when to look again,
 * INT64_MAX if nothing will change by itself.
 */
struct pool_change pool_evaluate(struct pool *pool, int32_t i, int64_t call_ms,
                                 int64_t now_ms, int64_t *next_ms);
