/* SPDX-License-Identifier: Apache-2.0 */
/* Random bits from the system. */
#pragma once

#include <stdint.h>
#include <sys/random.h>

/* 0 if the system has none. With getrandom that does not happen once the system
 * is up. */
static inline uint64_t chance_bits(void)
{
    uint64_t bits = 0;

    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        return 0;
    return bits;
}
