/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses which name was meant by an unknown word, for the command lines of
 * both programs. */
#pragma once

#include <stddef.h>

/* The name nearest to the word. Names are compared one after the other. */
struct guess {
    const char *word;
    const char *best; /* NULL: no name is near */
    size_t distance;
};

void guess_weigh(struct guess *guess, const char *name);
