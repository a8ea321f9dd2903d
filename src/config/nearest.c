/* SPDX-License-Identifier: Apache-2.0 */
/* The longer a word, the more slips of the finger are believed. */
#include "config/nearest.h"

#include <string.h>

#include "platform/text.h"

static int most_edits(const char *word)
{
    const size_t length = strlen(word);

    if (length < 4)
        return length > 1;
    return length < 8 ? 2 : 3;
}

void nearest_weigh(struct nearest *nearest, const char *known)
{
    int distance;

    if (known == NULL)
        return;
    distance = text_distance(nearest->word, known);
    if (distance > most_edits(known))
        return;
    if (nearest->best != NULL && nearest->distance <= distance)
        return;
    nearest->best = known;
    nearest->distance = distance;
}

const char *nearest_hint(const struct nearest *nearest, const char *otherwise,
                         char out[NEAREST_HINT_SIZE])
{
    if (nearest->best == NULL)
        (void)text_copy(out, NEAREST_HINT_SIZE, otherwise);
    else
        (void)text_format(out, NEAREST_HINT_SIZE, ": did you mean '%s'?",
                          nearest->best);
    return out;
}
