/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios of stores that come back changed: four brokers take numbers of
 * one counter all the while, something happens again and again, and no number
 * may come twice. No verdict depends on time: a scenario goes on until so
 * much happened and each broker took so many numbers after it.
 *
 * SEQB_CHAOS_SEED repeats the choices of a run; SEQB_CHAOS_LEAST has each
 * scenario go on until so many numbers were taken.
 */
#pragma once

#include "crowd.h"
#include "live/scene.h"
#include "support/servers.h"
#include "support/test.h"

struct chaos {
    struct scene *scene;
    struct crowd crowd;
    char topologies[2][256]; /* what the even and the odd brokers read */
    uint64_t seed;
    uint64_t random;      /* the generator's state */
    struct crowd_key key; /* of the next start; "order" at first */
    int faults;           /* that happened */
};

/* For cmocka: *state is a chaos. */
int chaos_setup(void **state);
int chaos_teardown(void **state);

#define CHAOS FIXTURE(struct chaos *chaos, chaos_setup, chaos_teardown)

/* Writes the topology of all brokers; or that of the even ones, if the odd
 * ones see their stores in other places. */
void chaos_topology(struct chaos *chaos, const char *text);
void chaos_topology_odd(struct chaos *chaos, const char *text);

/* Starts the brokers; ends those that run, by SIGKILL. */
void chaos_start(struct chaos *chaos);
void chaos_stop(struct chaos *chaos);

/* Takes numbers: some, a random number of them, by each broker; as many unless
 * none come for seconds, where the store may be refused; and enough to be sure
 * that none of the last ones was held before. */
void chaos_take_some(struct chaos *chaos);
void chaos_take_if_any(struct chaos *chaos);
void chaos_take(struct chaos *chaos);

/* 0 ... n - 1 */
uint64_t chaos_random(struct chaos *chaos, uint64_t n);

/* Starts the brokers unless they run; lets `fault` happen `times` times, with
 * numbers taken after each; tells what it was. */
void chaos_run(struct chaos *chaos, const char *name, int times,
               void (*fault)(struct chaos *chaos));

/* --- a place that leads to one server or another, as a floating address
 * does --- */

struct gate {
    char path[64]; /* of a unix socket */
};

/* Lets those that connect from now on get to `target`, a path. */
void gate_lead(struct gate *gate, const struct chaos *chaos, const char *name,
               const char *target);
