/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast one broker uses up the windows of a slot, and how many it leases at
 * once: a run, what half a minute needs. Pure.
 *
 * A window that is not above the one in the cell cannot be used any more. So
 * where brokers share a cell, or one falls behind, the rest of a run is lost,
 * and the next run is no longer than what was used of that one, or than one
 * grant needs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PACE_NEED_MS 30000 /* that a run is for */
#define PACE_GROWTH  4     /* a run is at most so many times the last one */

struct pace {
    int64_t since_ms; /* windows are counted since then; read if `has_begun` */
    int64_t used;     /* windows used up since */
    int64_t last;     /* windows of the last run, or those of it that were of
                         use */
    bool has_begun;   /* a window was taken */
};

/* How many windows are leased now, 1 ... `most`: `need_ms` is to be bridged,
 * and `least` are taken at once. */
int64_t pace_run(const struct pace *pace, int64_t least, int64_t need_ms,
                 int64_t most, int64_t now_ms);

/* A run of so many came. */
void pace_leased(struct pace *pace, int64_t count, int64_t now_ms);

/* So many windows of it were taken, as those before are used up; and all of
 * these but the last one are used at once. */
void pace_taken(struct pace *pace, int64_t count, int64_t now_ms);

/* All that was left of a run is too low; `count` of it were taken. */
void pace_dropped(struct pace *pace, int64_t count);

/* Whether the next run is to be leased, with so many windows left. */
bool pace_is_low(int64_t left, int64_t run);
