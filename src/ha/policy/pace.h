/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast one broker uses up the windows of a slot, and how many it leases at
 * once. The windows of one lease call are a run, which is what half a minute
 * needs. Pure.
 *
 * A window that is not above the window in the cell cannot be used any more. So
 * where brokers share a cell, or one of them falls behind, the rest of its run
 * is lost. The next run is then no longer than the part of that run that was
 * used, or than one grant needs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PACE_NEED_MS 30000 /* how long a run is to last */
#define PACE_GROWTH  4     /* times the last run, at most */

struct pace {
    int64_t since_ms; /* start of the count in `used`; valid if `has_begun` */
    int64_t used;     /* windows used up since then */
    int64_t last;     /* usable windows of the last run */
    bool has_begun;   /* a window was taken */
};

/* How many windows to lease now, 1 ... `most`: enough for `need_ms`, and at
 * least `least`, which are taken at once. */
int64_t pace_run(const struct pace *pace, int64_t least, int64_t need_ms,
                 int64_t most, int64_t now_ms);

/* A run of `count` windows was leased. */
void pace_leased(struct pace *pace, int64_t count, int64_t now_ms);

/* `count` windows of the run were taken, because those before are used up. All
 * of these but the last one are used at once. */
void pace_taken(struct pace *pace, int64_t count, int64_t now_ms);

/* The rest of a run is too low to be used, after `count` of its windows were
 * taken. */
void pace_dropped(struct pace *pace, int64_t count);

/* Whether to lease the next run, when `left` windows of `run` are left. */
bool pace_is_low(int64_t left, int64_t run);
