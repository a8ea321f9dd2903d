/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what it does, and stops when that is enough. */
#include "queue/hint.h"

#include <string.h>

#include "platform/text.h"

/* In pairs of letters that are compared; a glance at a key counts as some. */
#define WORK_MAX 65536
#define GLANCE   8

#define EDITS_MAX 2

static size_t gap_of(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

const char *hint_near(const struct queue_options *options, const char *key)
{
    const size_t length = strlen(key);
    const char *near = NULL;
    size_t work = 0;

    for (size_t i = 0; i < options->sequence_count && work < WORK_MAX; i++) {
        const char *other = options->sequences[i].key;
        const size_t other_length = strlen(other);

        work += GLANCE;
        if (gap_of(length, other_length) > EDITS_MAX)
            continue;
        work += length * other_length;
        if (text_distance(key, other) <= EDITS_MAX)
            near = other;
    }
    return near;
}
