/* SPDX-License-Identifier: Apache-2.0 */
/* Random bits from the system. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>

#include "platform/text.h"

#define CHANCE_ID_SIZE 33

/* 0 if the system has none. With getrandom that does not happen once the system
 * is up. */
static inline uint64_t chance_bits(void)
{
    uint64_t bits = 0;

    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        return 0;
    return bits;
}

/* 128 random bits as hexadecimal digits. False if the system has none. */
static inline bool chance_id(char out[static CHANCE_ID_SIZE])
{
    unsigned char bytes[(CHANCE_ID_SIZE - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)text_append(out, CHANCE_ID_SIZE, "%02x", bytes[i]);
    return true;
}
