/* SPDX-License-Identifier: Apache-2.0 */
/* Samples in their order, for medians and the like. */
#pragma once

#include <stdlib.h>

static inline int samples_compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

static inline void samples_sort(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, samples_compare);
}

/* Sorts them. */
static inline double samples_median(double *samples, size_t count)
{
    samples_sort(samples, count);
    return samples[count / 2];
}
