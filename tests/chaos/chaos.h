/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios of stores that come back changed: four brokers take numbers of one
 * counter continuously, a fault happens again and again, and no number may be
 * taken twice. No result depends on time: a scenario runs until the faults have
 * happened and each broker has taken enough numbers afterwards.
 *
 * SEQB_CHAOS_SEED repeats the choices of a run. With SEQB_CHAOS_LEAST, each
 * scenario runs until that many numbers were taken.
 */
#pragma once

#include "crowd.h"
#include "live/scene.h"
#include "support/servers.h"
#include "support/test.h"

struct chaos {
    struct scene *scene;
    struct crowd crowd;
    char topologies[2][256]; /* of the brokers with even and odd indexes */
    uint64_t seed;
    uint64_t random;      /* state of the random generator */
    struct crowd_key key; /* for the next start; "order" at first */
    int faults;           /* that have happened */
};

/* For cmocka: *state becomes a chaos. */
int chaos_setup(void **state);
int chaos_teardown(void **state);

#define CHAOS FIXTURE(struct chaos *chaos, chaos_setup, chaos_teardown)

/* chaos_topology writes the topology of all brokers. chaos_topology_odd then
 * writes another one for brokers with odd indexes, if these reach their stores
 * elsewhere. */
void chaos_topology(struct chaos *chaos, const char *text);
void chaos_topology_odd(struct chaos *chaos, const char *text);

/* chaos_start starts the brokers. chaos_stop ends them by SIGKILL. */
void chaos_start(struct chaos *chaos);
void chaos_stop(struct chaos *chaos);

/* Let each broker take numbers. _some: a random number of them. _if_any: the
 * same, but gives up if none arrive for seconds, because the store may be
 * refused. chaos_take: enough to be sure that they were granted after the
 * call. */
void chaos_take_some(struct chaos *chaos);
void chaos_take_if_any(struct chaos *chaos);
void chaos_take(struct chaos *chaos);

/* A random number in 0 ... n - 1. */
uint64_t chaos_random(struct chaos *chaos, uint64_t n);

/* Starts the brokers unless they run. Calls `fault` `times` times, and takes
 * numbers after each. Prints a summary. */
void chaos_run(struct chaos *chaos, const char *name, int times,
               void (*fault)(struct chaos *chaos));

/* --- a path that leads to one server or another, like a floating address
 * --- */

struct gate {
    char path[64]; /* of a unix socket */
};

/* Connections made from now on lead to `target`, a path. */
void gate_lead(struct gate *gate, const struct chaos *chaos, const char *name,
               const char *target);
