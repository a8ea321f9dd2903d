/* SPDX-License-Identifier: Apache-2.0 */
/* The distance of a word from a name; see guess.h. */
#include "guess/guess.h"

#include <string.h>

#define NAME_MAX_GUESSED 16

/* Beyond this, it is another word. */
#define DISTANCE_MAX       2
#define SHORT_DISTANCE_MAX 1
#define SHORT              4 /* letters */

/* The number of single-letter edits from `a` to `b`; `b` has at most
 * NAME_MAX_GUESSED letters. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_GUESSED + 1];
    const size_t length = strlen(b);

    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length];
}

static size_t distance_max(const char *a, const char *b)
{
    return strlen(a) <= SHORT || strlen(b) <= SHORT ? SHORT_DISTANCE_MAX
                                                    : DISTANCE_MAX;
}

void guess_weigh(struct guess *guess, const char *name)
{
    const size_t distance = strlen(name) <= NAME_MAX_GUESSED
                                ? edit_distance(guess->word, name)
                                : DISTANCE_MAX + 1;

    /* a name with every letter changed is another word, too */
    if (distance > distance_max(guess->word, name) ||
        distance >= strlen(name) ||
        (guess->best != NULL && guess->distance <= distance))
        return;
    guess->best = name;
    guess->distance = distance;
}
