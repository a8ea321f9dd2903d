/* SPDX-License-Identifier: Apache-2.0 */
/* Check digits as the standards define them, to compare the implementation
 * with. */
#pragma once

#include <stddef.h>

#include "number/check_digit.h"

#define CHECK_ALGORITHMS (CHECK_JD + 1)

extern const char check_alphabet[];

struct check_definition {
    /* The check of a text that has only digits and letters it reads: the check
     * character as a place in the alphabet, or the two check digits as a
     * number. */
    int (*check)(const char *text, size_t length);
    size_t base; /* number of characters of the alphabet that it reads */
};

extern const struct check_definition check_definitions[CHECK_ALGORITHMS];

/* Applies Verhoeff's permutation `times` times. */
int verhoeff_permuted(int digit, size_t times);
