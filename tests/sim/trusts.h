/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only seeds from TRUSTS_FROM on have: an operator who states that the
 * store of a lessor did not go back, by src/offline as it is; and snowflakes of
 * brokers whose wall clocks are wrong and step, while the stores that lease
 * worker ids go back. See README.md.
 */
#pragma once

#include "run.h"

#define TRUSTS_FROM 5000000

static inline bool trusts_are_drawn(uint64_t seed)
{
    return seed >= TRUSTS_FROM;
}

/* Gives the scene neighbours, or one store that leases worker ids. */
void trusts_draw(struct scene *scene, uint64_t seed);

/* Sets all clocks right: who is behind others makes no snowflakes before it
 * has caught up. */
void trusts_settle(struct run *run);

/* From now on lessors that wait are trusted, as drawn from the scene's seed. */
void trusts_schedule(struct run *run);
