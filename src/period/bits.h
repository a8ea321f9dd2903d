/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time-ordered ids: time | shard | counter, the time in units since an epoch.
 * A snowflake is one whose unit is a ms and whose shard is the worker. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/status.h>

#define BITS_ALL 63 /* of a number */

struct bits_layout {
    int64_t epoch_ms; /* ms since 1970 */
    int64_t unit_ms;  /* 1, 1000, 60000, 3600000 or 86400000 */
    int32_t time;     /* bits, at least 1; together no more than 63 */
    int32_t shard;    /* bits, or 0 */
    int32_t counter;  /* bits, at least 1 */
};

struct bits_parts {
    int64_t time_ms; /* when the id's unit of time begins, ms since 1970 */
    int64_t shard;
    int64_t counter;
};

/* SEQB_INVALID, with what is wrong, unless the bits fit into 63. */
enum seqb_status bits_check(const struct bits_layout *layout,
                            struct seqb_error *err);

/*
 * The id of the parts. SEQB_INVALID: the time is before the epoch, or the
 * shard does not fit; SEQB_EXHAUSTED: the time or the counter does not fit any
 * more. The text says the range.
 */
enum seqb_status bits_compose(const struct bits_layout *layout,
                              const struct bits_parts *parts, int64_t *out,
                              struct seqb_error *err);

/* The same of the id of that time, with shard 0 and counter 0: without a
 * division. False if that id is -1, or something does not fit. */
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

/* Takes an id apart: any number has parts. */
void bits_take_apart(const struct bits_layout *layout, int64_t id,
                     struct bits_parts *out);

/* The first time that does not fit any more, ms since 1970; INT64_MAX if that
 * is beyond it. */
int64_t bits_end_ms(const struct bits_layout *layout);

static inline int64_t bits_shard_max(const struct bits_layout *layout)
{
    return ((int64_t)1 << layout->shard) - 1;
}

static inline int64_t bits_counter_max(const struct bits_layout *layout)
{
    return ((int64_t)1 << layout->counter) - 1;
}
