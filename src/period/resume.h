/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices that this process may have been resumed from an image of its memory:
 * a machine that was restored with its memory, or a checkpoint of the process.
 * The boot clock then continues from where the image was made, and the date
 * does not. Pure.
 *
 * A clock whose rate is corrected (NTP) changes both clocks alike, and so does
 * a machine that sleeps. Only three things move one of the clocks alone: a leap
 * second, a date that was set by hand, or an image.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "platform/clock.h"

/* More than a leap second and the small steps of an NTP client. Smaller steps
 * add up, and are noticed when they reach this. */
#define RESUME_APART_MS 2000

/* The wall clock minus the boot clock is between these two, as it was first
 * read or after the last jump. */
struct resume {
    int64_t least_ms;
    int64_t most_ms;
};

void resume_init(struct resume *resume, const struct clock_pair *now);

/* True if the clocks moved apart since the first reading, or since it last
 * returned true. `*apart_ms` is by how much at least; it is negative if the
 * wall clock went back. A thread that is suspended between its readings of the
 * clocks causes no false alarm. */
bool resume_read(struct resume *resume, const struct clock_pair *now,
                 int64_t *apart_ms);
