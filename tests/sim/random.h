/* SPDX-License-Identifier: Apache-2.0 */
/* Chance that a seed decides: each part of a run has a stream of its own, so
 * that one that draws more does not change what the others draw. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* The stream number `stream` of a seed. */
struct random random_of(uint64_t seed, uint64_t stream);

uint64_t random_next(struct random *random);

/* low ... high */
int64_t random_between(struct random *random, int64_t low, int64_t high);

bool random_chance(struct random *random, int percent);

/* Around `mean`, seldom much more; as waits between independent events. */
int64_t random_wait(struct random *random, int64_t mean);
