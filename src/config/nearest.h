/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the known word nearest to an unknown one. */
#pragma once

struct nearest {
    const char *word; /* the unknown one */
    const char *best; /* NULL: none is near */
    int distance;
};

/* Weighs one known word (NULL is none); the nearest stands in `best`. */
void nearest_weigh(struct nearest *nearest, const char *known);

#define NEAREST_HINT_SIZE 96

/* ": did you mean 'x'?" into `out`, or `otherwise` if none is near. Returns
 * `out`. */
const char *nearest_hint(const struct nearest *nearest, const char *otherwise,
                         char out[NEAREST_HINT_SIZE]);
