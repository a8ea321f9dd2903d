/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here overflows: a number never has more than 63 bits. */
#include "offline/migrate_plan.h"

#include <assert.h>

#include "store/store.h"

/* Bits of a number below the counter's value, or below the window. */
static int32_t low_bits(const struct migrate_shape *shape, bool is_windowed)
{
    return shape->bits + shape->memory_bits +
           (is_windowed ? shape->window_bits : 0);
}

/* The margin in what the counter counts: windows begun count as whole ones,
 * and one at least may always be leased. */
static int64_t margin_of(const struct migrate_shape *shape, bool is_windowed)
{
    return is_windowed ? (shape->margin >> shape->window_bits) + 1
                       : shape->margin;
}

int64_t migrate_limit(const struct migrate_shape *shape, bool is_windowed)
{
    return INT64_MAX >> (shape->unused_bits + low_bits(shape, is_windowed));
}

int64_t migrate_last_number(const struct migrate_shape *shape,
                            int32_t partition, bool is_windowed, int64_t v)
{
    const int64_t limit = migrate_limit(shape, is_windowed);
    const int64_t margin = margin_of(shape, is_windowed);
    const int64_t run = (int64_t)1 << shape->memory_bits;

    assert(v >= 0 && v <= limit);
    v = v > limit - margin ? limit : v + margin;
    if (is_windowed)
        v = v << shape->window_bits | (((int64_t)1 << shape->window_bits) - 1);
    return layout_number(v, partition, shape->bits, shape->memory_bits) +
           (run - 1);
}

bool migrate_floor(const struct migrate_shape *shape, bool is_windowed,
                   int64_t last, int64_t *floor)
{
    *floor = last >> low_bits(shape, is_windowed);
    return *floor < migrate_limit(shape, is_windowed);
}

int64_t migrate_room(const struct migrate_shape *old, bool old_is_windowed,
                     const struct migrate_shape *new_shape,
                     bool new_is_windowed)
{
    /* The first number that has no place in the new layout: its last value, or
     * window, is the one that must be left. */
    const int64_t end = migrate_limit(new_shape, new_is_windowed)
                        << low_bits(new_shape, new_is_windowed);
    const int64_t values = end >> low_bits(old, old_is_windowed);
    const int64_t room = values - 1 - margin_of(old, old_is_windowed);

    return room < -1 ? -1 : room;
}
