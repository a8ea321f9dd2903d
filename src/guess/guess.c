/* SPDX-License-Identifier: Apache-2.0 */
/* The distance of a word from a name; see guess.h. */
#include "guess/guess.h"

#include <string.h>

#define NAME_MAX_GUESSED 16

/* Beyond this, it is another word. */
#define DISTANCE_MAX       2
#define SHORT_DISTANCE_MAX 1
#define SHORT              4 /* letters */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many edits lead from `a` to `b`: a letter more, less or changed, or two
 * neighbours exchanged (optimal string alignment). `b` has at most
 * NAME_MAX_GUESSED letters. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MAX_GUESSED + 1]; /* of the last letters of `a` */
    const size_t length = strlen(b);
    size_t i = 0;

    for (size_t j = 0; j <= length; j++)
        rows[0][j] = j;
    while (a[i++] != '\0') {
        const size_t *before = rows[(i + 1) % 3]; /* of i - 2 */
        const size_t *above = rows[(i + 2) % 3];  /* of i - 1 */
        size_t *row = rows[i % 3];

        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]),
                           least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[(i - 1) % 3][length];
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
