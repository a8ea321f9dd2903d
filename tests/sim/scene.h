/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is simulated: the stores and servers of one pool, and the configuration
 * of its brokers. Drawn from a seed, or set by a scenario.
 */
#pragma once

#include "engine.h"
#include "ha/ha.h"
#include "lease/lease.h"
#include "queue/queue.h"

#define SCENE_BACKENDS    9 /* eight partitions and an authority */
#define SCENE_BROKERS     3
#define SCENE_SYNCED      "synced/main" /* the claim that a lessor is level */
#define SCENE_GENERATIONS 3             /* of a pool that is migrated */
#define SCENE_KEYS        3             /* two counters, and snowflakes */

enum scene_load { SCENE_STEADY, SCENE_BURSTS, SCENE_NIGHTS, SCENE_LOADS };

struct scene_backend {
    struct store store;
    struct net_server *server; /* its own, or an earlier backend's */
    struct net_server own;
    char name[16];
    char host[16]; /* the server's name */
};

/* What only some seeds have, see extras.h. */
struct scene_extras {
    bool is_on;
    bool has_state;   /* each broker has a state directory ... */
    bool loses_state; /* ... which may be lost, or be put back */
    bool goes_back;   /* stores go back while the only broker is down */
    bool has_cursors;
    bool is_advanced; /* an operator advances a sequence */
    bool is_reloaded; /* brokers are reloaded, without their last sequence */
    int64_t gaps[SCENE_BROKERS];    /* failover_gap of each broker */
    int64_t skew_ms[SCENE_BROKERS]; /* of their clocks, when these do not
                                       step */
};

/* What only some seeds have, see moves.h. */
struct scene_moves {
    bool is_on;
    bool only_neighbours; /* each of the layouts has neighbours */
    int64_t gap;          /* failover_gap */
    bool has_two;         /* each has two direct stores or more */
    struct ha_pool_options pools[SCENE_GENERATIONS];
    struct queue_sequence_options sequences[SCENE_GENERATIONS][SCENE_KEYS];
};

struct scene {
    uint64_t seed;
    int32_t brokers;
    int32_t backend_count;
    struct scene_backend backends[SCENE_BACKENDS];
    struct ha_pool_options pool;
    struct queue_sequence_options sequences[SCENE_KEYS];
    int32_t keys;
    int32_t connect_timeout_ms;

    enum scene_load load;
    int32_t callers;   /* per broker */
    int64_t pause_us;  /* mean pause of a caller between two calls */
    int64_t most;      /* the most numbers in one call */
    int64_t faulty_us; /* how long faults happen */
    int64_t fault_us;  /* mean time between two faults */
    bool has_surgery;  /* an operator sets a store back */
    bool has_steps;    /* the brokers' clocks step ... */
    bool steps_back;   /* ... only back */
    bool uses_ahead;   /* snowflakes used times that are still to come */
    bool runs_out;     /* a sequence is used up */

    /* Sequences with a period, and clocks: see clocks.h. */
    bool is_timed;
    bool has_ids;
    struct period_rules rules;
    struct bits_layout ids;
    struct guard_rules guard;
    int32_t preempt;

    /* Of its snowflakes; lease_ms 0: it has none. */
    struct lease_options flakes;

    struct scene_extras extras;
    struct scene_moves moves;

    const char *noted; /* The brokers' granted_path (see struct ha_options), a
                          real file. NULL: none. */
};

void scene_draw(struct scene *scene, uint64_t seed);

/* One broker over four stores, direct or windowed, without faults. */
void scene_plain(struct scene *scene, uint64_t seed, bool is_windowed);

/* Call scene_init after world_begin, and scene_fini before world_end. `without`
 * is the set of guards (enum store_guard) that the stores lack. */
void scene_init(struct scene *scene, int without);
void scene_fini(struct scene *scene);

/* Whether the backend's engine is windowed. */
bool scene_is_windowed(const struct scene *scene, int32_t backend);

/* The layout of that generation, by index. */
const struct layout *scene_layout(const struct scene *scene,
                                  int32_t generation);

/* Four stores that lease to each other, one of which may lose its data. */
void scene_neighbours(struct scene *scene, uint64_t seed);
