/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may be asked: the states of a pool's partitions, quarantine and rescue.
 * Pure: plain structs, no lock, no clock; the owner's lock guards a pool.
 */
#pragma once

#include "ha/ha.h"

/* Past the last partition's index: an authority that is no partition. */
#define POOL_MEMBERS_MAX (HA_PARTITIONS_MAX + 1)

#define POOL_FIRST_PROBE_MS 100 /* rest before the first probe */
#define POOL_URGE_REST_MS   500 /* at least this between two urged probes */

struct pool_member {
    enum seqb_partition_state state;
    int64_t since_ms;
    int64_t next_probe_ms; /* read only if quarantined */
    int64_t last_probe_ms; /* begin of the last probe */
    int64_t rest_ms;       /* before the next probe, if this one fails */
    int64_t slow_since_ms; /* begin of the span that slow_in_span counts */
    int32_t slow_in_span;
    int64_t latency_us; /* moving average; 0: none yet */
    int64_t granted;
    int64_t errors;
    int64_t slow;
    char reason[256];
    char server[SEQB_SERVER_SIZE]; /* this and what follows as last opened */
    char domain[SEQB_DOMAIN_SIZE];
    char loss[SEQB_LOSS_SIZE];
};

struct pool {
    const struct ha_pool_options *options;
    int32_t partitions;
    int32_t members; /* partitions, and the authority if it is none */
    int32_t turn;    /* the partition whose turn is next */
    struct pool_member member[POOL_MEMBERS_MAX];
};

/* What an outcome did; a change of state is logged once. */
enum pool_event {
    POOL_NOTHING,
    POOL_WENT_UP,
    POOL_QUARANTINED, /* not again by each probe that fails */
    POOL_REFUSED
};

void pool_init(struct pool *pool, const struct ha_pool_options *options,
               int32_t members, int64_t now_ms);

/* A connection was made: keeps what the backend says of its server. */
void pool_connected(struct pool *pool, int32_t i,
                    const struct seqb_backend *backend);

/* The next partition in turn that is up and not in `skip` (bit i: partition
 * i), or -1. */
int32_t pool_pick(struct pool *pool, uint64_t skip);

/* Whether any partition is up and not in `skip`. */
bool pool_has_usable(const struct pool *pool, uint64_t skip);

/* A call was answered after `elapsed_us`; slow ones may quarantine. */
enum pool_event pool_succeeded(struct pool *pool, int32_t i, int64_t elapsed_us,
                               int64_t now_ms);

/* A call failed; the status's blame decides what becomes of the member. */
enum pool_event pool_failed(struct pool *pool, int32_t i,
                            const struct seqb_error *why, int64_t elapsed_us,
                            int64_t now_ms);

/* When the member's next probe is due; INT64_MAX if none is. */
int64_t pool_probe_at(const struct pool *pool, int32_t i);

void pool_probe_begins(struct pool *pool, int32_t i, int64_t now_ms);

/*
 * Somebody waits and no partition outside `skip` is up: of those that rest, an
 * authority among them, the least recently probed is probed now, though not
 * more often than every POOL_URGE_REST_MS. Returns it, or -1 if none may be.
 */
int32_t pool_urge(struct pool *pool, uint64_t skip, int64_t now_ms);
