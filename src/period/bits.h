/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time-ordered ids: time | shard | counter. The time counts units since an
 * epoch. A snowflake is such an id whose unit is 1 ms and whose shard is the
 * worker id. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/status.h>

#define BITS_ALL 63 /* bits of a number */

struct bits_layout {
    int64_t epoch_ms; /* ms since 1970 */
    int64_t unit_ms;  /* 1, 1000, 60000, 3600000 or 86400000 */
    int32_t time;     /* bits, at least 1; all three have at most 63 together */
    int32_t shard;    /* bits, or 0 */
    int32_t counter;  /* bits, at least 1 */
};

struct bits_parts {
    int64_t time_ms; /* begin of the id's unit of time, ms since 1970 */
    int64_t shard;
    int64_t counter;
};

/* SEQB_INVALID, with what is wrong, unless the layout is valid and its bits fit
 * into 63. */
enum seqb_status bits_check(const struct bits_layout *layout,
                            struct seqb_error *err);

/*
 * Makes the id of the parts. SEQB_INVALID: the time is before the epoch, or the
 * shard does not fit. SEQB_EXHAUSTED: the time or the counter does not fit. The
 * error text says the range.
 */
enum seqb_status bits_compose(const struct bits_layout *layout,
                              const struct bits_parts *parts, int64_t *out,
                              struct seqb_error *err);

/* Makes an id without a division. `begin` is the id of its time with shard 0
 * and counter 0. False if `begin` is negative, or shard or counter does not
 * fit. */
static inline bool bits_compose_at(const struct bits_layout *layout,
                                   int64_t begin, int64_t shard,
                                   int64_t counter, int64_t *out)
{
    if (begin < 0 || (uint64_t)shard >> layout->shard != 0 ||
        (uint64_t)counter >> layout->counter != 0)
        return false;
    *out = begin | shard << layout->counter | counter;
    return true;
}

/* Takes an id apart. Every number has parts; the sign bit is ignored. */
void bits_take_apart(const struct bits_layout *layout, int64_t id,
                     struct bits_parts *out);

/* The first time that does not fit any more, in ms since 1970; INT64_MAX if it
 * does not fit into an int64_t. */
int64_t bits_end_ms(const struct bits_layout *layout);

static inline int64_t bits_shard_max(const struct bits_layout *layout)
{
    return ((int64_t)1 << layout->shard) - 1;
}

static inline int64_t bits_counter_max(const struct bits_layout *layout)
{
    return ((int64_t)1 << layout->counter) - 1;
}
