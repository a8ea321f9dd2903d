/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is simulated: the stores and servers of one pool, and how its brokers
 * are configured. Drawn from a seed, or set by a scenario.
 */
#pragma once

#include "engine.h"
#include "ha/ha.h"
#include "lease/lease.h"
#include "queue/queue.h"

#define SCENE_BACKENDS 9 /* eight partitions and an authority */
#define SCENE_BROKERS  3
#define SCENE_KEYS     3 /* two counters, and snowflakes */

enum scene_load { SCENE_STEADY, SCENE_BURSTS, SCENE_NIGHTS, SCENE_LOADS };

struct scene_backend {
    struct store store;
    struct net_server *server; /* its own, or an earlier one's */
    struct net_server own;
    char name[16];
    char host[16]; /* the server's name */
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
    int32_t callers;   /* of each broker */
    int64_t pause_us;  /* of a caller between two calls, usually */
    int64_t most;      /* numbers in one call */
    int64_t faulty_us; /* how long there are faults */
    int64_t fault_us;  /* between two of them, usually */
    bool has_surgery;  /* a store is made to go back */
    bool runs_out;     /* a sequence comes to its end */

    /* Of sequences with a period, and clocks: see clocks.h. */
    bool is_timed;
    bool has_ids;
    struct period_rules rules;
    struct bits_layout ids;
    struct guard_rules guard;
    int32_t preempt;

    struct lease_options flakes; /* of its snowflakes; lease_ms 0: none */

    const char *noted; /* what brokers note of their grants: ha's granted_path;
                          a true file. NULL: nothing */
};

void scene_draw(struct scene *scene, uint64_t seed);

/* One broker over four stores, direct or windowed; nothing happens to them. */
void scene_plain(struct scene *scene, uint64_t seed, bool is_windowed);

/* After world_begin; and before world_end. `without`: the guards that the
 * stores lack, of enum store_guard. */
void scene_init(struct scene *scene, int without);
void scene_fini(struct scene *scene);

/* Whether its engine is, and what leases in the pool: the claim says whether a
 * lessor is level. */
bool scene_is_windowed(const struct scene *scene, int32_t backend);
#define SCENE_SYNCED "synced/main"

/* Four stores that lease to each other, one of them one that may forget. */
void scene_neighbours(struct scene *scene, uint64_t seed);
