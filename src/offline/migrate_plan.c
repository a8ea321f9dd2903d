/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here can overflow: a number never has more than 63 bits. */
#include "offline/migrate.h"

#include <assert.h>

#include "store/store.h"

int32_t migrate_low_bits(const struct migrate_shape *shape, bool is_windowed)
{
    return shape->bits + shape->memory_bits +
           (is_windowed ? shape->window_bits + shape->lessor_bits : 0);
}

int64_t migrate_limit(const struct migrate_shape *shape, bool is_windowed)
{
    return INT64_MAX >>
           (shape->unused_bits + migrate_low_bits(shape, is_windowed));
}

/* The most windows of one lease: neighbours lease runs. */
static int64_t run_of(const struct migrate_shape *shape)
{
    return shape->lessor_bits == 0
               ? 1
               : layout_run_most(shape->window_bits,
                                 migrate_limit(shape, true));
}

/* The margin in units of the counter. A partial window counts as a whole one,
 * and at least one more lease is always possible. One lessor may make all of
 * them. */
static int64_t margin_of(const struct migrate_shape *shape, bool is_windowed)
{
    return is_windowed ? (shape->margin >> shape->window_bits) + run_of(shape)
                       : shape->margin;
}

int64_t migrate_window_limit(const struct migrate_shape *shape)
{
    return INT64_MAX >> (shape->unused_bits + migrate_low_bits(shape, true) -
                         shape->lessor_bits);
}

int64_t migrate_last_number(const struct migrate_shape *shape,
                            int32_t partition, bool is_windowed, int64_t v)
{
    const int64_t limit = migrate_limit(shape, is_windowed);
    const int64_t margin = margin_of(shape, is_windowed);
    const int64_t run = (int64_t)1 << shape->memory_bits;
    const int32_t window_bits = shape->window_bits + shape->lessor_bits;

    assert(v >= 0 && v <= limit);
    v = v > limit - margin ? limit : v + margin;
    if (is_windowed)
        v = v << window_bits | (((int64_t)1 << window_bits) - 1);
    return layout_number(v, partition, shape->bits, shape->memory_bits) +
           (run - 1);
}

bool migrate_floor(const struct migrate_shape *shape, bool is_windowed,
                   int64_t last, int64_t *floor)
{
    *floor = last >> migrate_low_bits(shape, is_windowed);
    return *floor < migrate_limit(shape, is_windowed);
}

int64_t migrate_capacity(const struct migrate_shape *old, bool old_is_windowed,
                         const struct migrate_shape *new_shape,
                         bool new_is_windowed)
{
    /* `end` is the first number that does not fit in the new layout, since the
     * last value, or lease, has to stay free. */
    const int64_t end = migrate_limit(new_shape, new_is_windowed)
                        << migrate_low_bits(new_shape, new_is_windowed);
    const int64_t values = end >> migrate_low_bits(old, old_is_windowed);
    const int64_t room = values - 1 - margin_of(old, old_is_windowed);

    return room < -1 ? -1 : room;
}
