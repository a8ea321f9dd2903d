/* SPDX-License-Identifier: Apache-2.0 */
/* Check digits as the standards define them, to compare with. */
#pragma once

#include <stddef.h>

#include "number/check_digit.h"

#define CHECK_ALGORITHMS (CHECK_JD + 1)

extern const char check_alphabet[];

struct check_definition {
    /* Of a text that has nothing else in it: its check character as a place in
     * the alphabet, or its two digits as a number. */
    int (*check)(const char *text, size_t length);
    size_t base; /* how many letters of the alphabet it reads */
};

extern const struct check_definition check_definitions[CHECK_ALGORITHMS];

/* Verhoeff's permutation, applied as often. */
int verhoeff_permuted(int digit, size_t times);
