/* SPDX-License-Identifier: Apache-2.0 */
/* Composes ids that are made of time, and takes them apart. */
#include "period/bits.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include "platform/error.h"

static const int64_t unit_lengths[] = {1, 1000, 60000, 3600000, 86400000};

static bool is_unit(int64_t unit_ms)
{
    for (size_t i = 0; i < sizeof unit_lengths / sizeof unit_lengths[0]; i++) {
        if (unit_ms == unit_lengths[i])
            return true;
    }
    return false;
}

enum seqb_status bits_check(const struct bits_layout *layout,
                            struct seqb_error *err)
{
    if (layout->time < 1 || layout->counter < 1 || layout->shard < 0)
        return error_set(err, SEQB_INVALID,
                         "ids need at least 1 bit of time and 1 of counter; "
                         "time %" PRId32 ", shard %" PRId32
                         " and counter %" PRId32 " do not do",
                         layout->time, layout->shard, layout->counter);
    if ((int64_t)layout->time + layout->shard + layout->counter > BITS_ALL)
        return error_set(
            err, SEQB_INVALID,
            "%" PRId32 " bits of time, %" PRId32 " of shard and %" PRId32
            " of counter are more than %d: take some off",
            layout->time, layout->shard, layout->counter, BITS_ALL);
    if (!is_unit(layout->unit_ms))
        return error_set(err, SEQB_INVALID,
                         "%" PRId64 " ms is no unit of ids: take a ms, a "
                         "second, a minute, an hour or a day",
                         layout->unit_ms);
    if (layout->epoch_ms < 0)
        return error_set(err, SEQB_INVALID, "the epoch of ids is before 1970");
    return SEQB_OK;
}

static int64_t highest(int32_t bits)
{
    return ((int64_t)1 << bits) - 1;
}

enum seqb_status bits_compose(const struct bits_layout *layout,
                              const struct bits_parts *parts, int64_t *out,
                              struct seqb_error *err)
{
    int64_t time;

    if (parts->time_ms < layout->epoch_ms)
        return error_set(err, SEQB_INVALID,
                         "the time %" PRId64
                         " is before the ids' epoch, %" PRId64 " ms since 1970",
                         parts->time_ms, layout->epoch_ms);
    if (parts->shard < 0 || parts->shard > bits_shard_max(layout))
        return error_set(err, SEQB_INVALID,
                         "shard %" PRId64 " is not in 0 ... %" PRId64,
                         parts->shard, bits_shard_max(layout));
    if (parts->counter < 0)
        return error_set(err, SEQB_INVALID,
                         "counter %" PRId64 " is not in 0 ... %" PRId64,
                         parts->counter, bits_counter_max(layout));
    if (parts->counter > bits_counter_max(layout))
        return error_set(err, SEQB_EXHAUSTED,
                         "counter %" PRId64 " is not in 0 ... %" PRId64,
                         parts->counter, bits_counter_max(layout));
    time = (parts->time_ms - layout->epoch_ms) / layout->unit_ms;
    if (time > highest(layout->time))
        return error_set(err, SEQB_EXHAUSTED,
                         "time %" PRId64 " is not in 0 ... %" PRId64
                         ": the ids' last date is over",
                         time, highest(layout->time));
    *out = ((time << layout->shard) | parts->shard) << layout->counter |
           parts->counter;
    return SEQB_OK;
}

/* The epoch plus the units; INT64_MAX if the sum is larger. */
static int64_t time_after(const struct bits_layout *layout, int64_t units)
{
    const int64_t room = INT64_MAX - layout->epoch_ms;

    if (units > room / layout->unit_ms)
        return INT64_MAX;
    return layout->epoch_ms + units * layout->unit_ms;
}

/* The sign bit belongs to no part. */
void bits_take_apart(const struct bits_layout *layout, int64_t id,
                     struct bits_parts *out)
{
    const int64_t bits = id & INT64_MAX;
    const int64_t units = bits >> layout->counter >> layout->shard;

    *out = (struct bits_parts){
        time_after(layout, units),
        bits >> layout->counter & bits_shard_max(layout),
        bits & bits_counter_max(layout),
    };
}

int64_t bits_end_ms(const struct bits_layout *layout)
{
    return time_after(layout, (int64_t)1 << layout->time);
}
