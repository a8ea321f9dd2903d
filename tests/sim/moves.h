/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only seeds from MOVES_FROM on have: a pool that is migrated from one
 * generation to the next, by src/offline as it is, while brokers of any
 * generation run or start, and stores are put back to before it. See README.md.
 */
#pragma once

#include "run.h"

#define MOVES_FROM 4000000
#define MOVES_TO   4999999

static inline bool moves_are_drawn(uint64_t seed)
{
    return seed >= MOVES_FROM && seed <= MOVES_TO;
}

/* Gives the scene several generations of its pool. */
void moves_draw(struct scene *scene, uint64_t seed);

/* Chooses the generation that this broker knows. */
void moves_set(struct machine *machine, struct broker *broker);

/* From now on an operator migrates the pool, and some migrations are cut off,
 * as drawn from the scene's seed. */
void moves_schedule(struct run *run);

/* Runs without faults until the last migration has finished, and all brokers
 * serve with its layout. */
void moves_settle(struct run *run);

/* Whether the store may be put back to that past with another origin: what it
 * granted since is below the gap, and it did not go back meanwhile. */
bool moves_may_put_back(const struct run *run, const struct store *store,
                        int32_t past);
