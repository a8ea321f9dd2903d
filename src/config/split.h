/* SPDX-License-Identifier: Apache-2.0 */
/* How 63 bits are split over time, shard (or worker) and counter: what the
 * ids of a sequence and a snowflake have in common. */
#pragma once

#include "config/mistakes.h"
#include "config/schema.h"
#include "period/period.h"

/* Where the settings of one stand, and what they are called. */
struct split {
    int line; /* of the group that they are in */
    const struct draft_text *epoch;
    const struct draft_number *time;
    const struct draft_number *shard;
    const struct draft_number *counter;
    const char *time_name;
    const char *shard_name;
    const char *counter_name;
    int64_t unit_ms; /* 0: a wrong one was reported */
};

struct split split_of_ids(const struct draft_ids *ids);
struct split split_of_snowflake(const struct draft_backend *backend);

/* False if the epoch was reported as wrong. */
bool split_layout(const struct split *split, struct bits_layout *out);

/* Adds a mistake if the bits do not fit, or the time is not of this day: yet
 * to begin, over, or over soon; a warning if it ends within ten years. */
void split_check(const struct split *split, int64_t now_ms,
                 struct mistakes *mistakes);

/* "second" of "s": the period that ids of that unit have. */
const char *split_period(const char *unit);
