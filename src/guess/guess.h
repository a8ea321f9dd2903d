/* SPDX-License-Identifier: Apache-2.0 */
/* Which name is likely meant by a word that is none, for the command lines of
 * both programs. */
#pragma once

#include <stddef.h>

/* The name that a word is nearest to, weighed one after the other. */
struct guess {
    const char *word;
    const char *best; /* NULL: none is near */
    size_t distance;
};

void guess_weigh(struct guess *guess, const char *name);
