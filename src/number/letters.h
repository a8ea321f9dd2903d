/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of characters, a byte each. Private to this folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LETTERS_DIGITS "0123456789"
#define LETTERS_UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LETTERS_LOWER  "abcdefghijklmnopqrstuvwxyz"

#define LETTERS_WORDS 4 /* of 64 bits */

struct letters {
    uint64_t bits[LETTERS_WORDS];
};

static inline bool letters_have(const struct letters *letters, char c)
{
    const unsigned char at = (unsigned char)c;

    return (letters->bits[at / 64] >> at % 64 & 1) != 0;
}

static inline void letters_add(struct letters *letters, const char *text,
                               size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char at = (unsigned char)text[i];

        letters->bits[at / 64] |= UINT64_C(1) << at % 64;
    }
}

static inline void letters_join(struct letters *to, const struct letters *from)
{
    for (size_t i = 0; i < LETTERS_WORDS; i++)
        to->bits[i] |= from->bits[i];
}

static inline bool letters_meet(const struct letters *a,
                                const struct letters *b)
{
    for (size_t i = 0; i < LETTERS_WORDS; i++) {
        if ((a->bits[i] & b->bits[i]) != 0)
            return true;
    }
    return false;
}
