/* SPDX-License-Identifier: Apache-2.0 */
/* A growing array, sorted to find what came twice. */
#include "support/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "platform/minmax.h"

#define CAPACITY_FIRST 4096

void numbers_init(struct numbers *numbers)
{
    *numbers = (struct numbers){.values = NULL};
    pthread_mutex_init(&numbers->lock, NULL);
}

void numbers_fini(struct numbers *numbers)
{
    free(numbers->values);
    pthread_mutex_destroy(&numbers->lock);
}

/* With the lock held: makes room for `n` more. */
static void numbers_grow(struct numbers *numbers, size_t n)
{
    size_t capacity =
        numbers->capacity != 0 ? numbers->capacity : CAPACITY_FIRST;
    int64_t *values;

    if (numbers->count + n <= numbers->capacity)
        return;
    while (capacity < numbers->count + n)
        capacity *= 2;
    values = realloc(numbers->values, capacity * sizeof *values);
    if (values == NULL)
        abort();
    numbers->values = values;
    numbers->capacity = capacity;
}

void numbers_add(struct numbers *numbers, const int64_t *values, size_t n)
{
    if (n == 0)
        return;
    pthread_mutex_lock(&numbers->lock);
    numbers_grow(numbers, n);
    memcpy(numbers->values + numbers->count, values, n * sizeof *values);
    numbers->count += n;
    pthread_mutex_unlock(&numbers->lock);
}

size_t numbers_count(struct numbers *numbers)
{
    size_t count;

    pthread_mutex_lock(&numbers->lock);
    count = numbers->count;
    pthread_mutex_unlock(&numbers->lock);
    return count;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Puts sorted numbers among those before them, which are sorted too. From the
 * end, so that those below all of them stay where they are. */
static void merge(int64_t *values, size_t sorted, size_t count)
{
    const size_t size = (count - sorted) * sizeof *values;
    size_t left = count - sorted;
    int64_t *others = malloc(size);

    if (others == NULL)
        abort();
    memcpy(others, values + sorted, size);
    while (left > 0) {
        count--;
        values[count] = sorted > 0 && values[sorted - 1] > others[left - 1]
                            ? values[--sorted]
                            : others[--left];
    }
    free(others);
}

/* Those that were sorted before are at the beginning, and most of all where it
 * is asked again and again. */
static void sort(int64_t *values, size_t count)
{
    size_t sorted = 1;

    while (sorted < count && values[sorted - 1] <= values[sorted])
        sorted++;
    if (sorted >= count)
        return;
    qsort(values + sorted, count - sorted, sizeof *values, compare);
    merge(values, sorted, count);
}

size_t numbers_repeats(struct numbers *numbers)
{
    size_t repeats = 0;

    pthread_mutex_lock(&numbers->lock);
    sort(numbers->values, numbers->count);
    for (size_t i = 1; i < numbers->count; i++)
        repeats += numbers->values[i] == numbers->values[i - 1];
    pthread_mutex_unlock(&numbers->lock);
    return repeats;
}

int64_t numbers_highest(struct numbers *numbers)
{
    int64_t highest = 0;

    pthread_mutex_lock(&numbers->lock);
    for (size_t i = 0; i < numbers->count; i++)
        highest = max_of(highest, numbers->values[i]);
    pthread_mutex_unlock(&numbers->lock);
    return highest;
}

int64_t numbers_lowest(struct numbers *numbers, size_t before)
{
    int64_t lowest = INT64_MAX;

    pthread_mutex_lock(&numbers->lock);
    for (size_t i = before; i < numbers->count; i++)
        lowest = min_of(lowest, numbers->values[i]);
    pthread_mutex_unlock(&numbers->lock);
    return lowest;
}
