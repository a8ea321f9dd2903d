/* SPDX-License-Identifier: Apache-2.0 */
/* A counter that is mixed (splitmix64's constants). */
#include "random.h"

#include <math.h>

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

struct random random_of(uint64_t seed, uint64_t stream)
{
    return (struct random){mix(mix(seed + 1) + stream)};
}

uint64_t random_next(struct random *random)
{
    random->state += 0x9e3779b97f4a7c15U;
    return mix(random->state);
}

int64_t random_between(struct random *random, int64_t low, int64_t high)
{
    return low + (int64_t)(random_next(random) % (uint64_t)(high - low + 1));
}

bool random_chance(struct random *random, int percent)
{
    return random_between(random, 0, 99) < percent;
}

int64_t random_wait(struct random *random, int64_t mean)
{
    const double part = (double)(random_next(random) >> 11) / 0x1p53;

    return (int64_t)(-log(1 - part) * (double)mean);
}
