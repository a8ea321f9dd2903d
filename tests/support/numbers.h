/* SPDX-License-Identifier: Apache-2.0 */
/* Collects all numbers that a test was given, to find those given twice. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct numbers {
    pthread_mutex_t lock; /* guards all members below */
    int64_t *values;
    size_t count;
    size_t capacity;
};

void numbers_init(struct numbers *numbers);
void numbers_fini(struct numbers *numbers);

/* Thread-safe. Aborts the program when out of memory. */
void numbers_add(struct numbers *numbers, const int64_t *values, size_t n);

size_t numbers_count(struct numbers *numbers);

/* How many of the numbers are repeats; sorts them. */
size_t numbers_repeats(struct numbers *numbers);

/* The largest number, 0 if there is none. numbers_lowest returns the smallest
 * of those that were added after the first `before`, INT64_MAX without one. */
int64_t numbers_highest(struct numbers *numbers);
int64_t numbers_lowest(struct numbers *numbers, size_t before);
