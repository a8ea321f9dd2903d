/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from a seed. Each part of a run has a stream of its own, so
 * that a part that draws more numbers does not change what others draw. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* Stream number `stream` of a seed. */
struct random random_of(uint64_t seed, uint64_t stream);

uint64_t random_next(struct random *random);

/* A number in low ... high. */
int64_t random_between(struct random *random, int64_t low, int64_t high);

bool random_chance(struct random *random, int percent);

/* A waiting time with that mean, as between independent events; seldom much
 * longer. */
int64_t random_wait(struct random *random, int64_t mean);
