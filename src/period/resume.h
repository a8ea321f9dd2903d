/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this process may have been resumed from an image of its memory: a
 * machine that was put back with its memory, a checkpoint of the process. Its
 * clocks that count go on where the image was made, the date does not. Pure.
 *
 * Rates that are corrected (NTP) change both clocks alike, and so does a
 * machine that sleeps. What moves one of them alone is that the date was set,
 * by a leap second or by hand, or an image.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "platform/clock.h"

/* More than a leap second and the small steps of an NTP client. Lower steps add
 * up, and are noticed when they come to this. */
#define RESUME_APART_MS 2000

/* The wall clock less the boot clock lies between these, as it was first read,
 * or after the last leap. */
struct resume {
    int64_t least_ms;
    int64_t most_ms;
};

void resume_init(struct resume *resume, const struct clock_pair *now);

/* True if the clocks leapt apart since the first reading, or since it was true
 * last; `*apart_ms` is by how much at least, below 0 if the wall clock went
 * back. A thread that rests while it reads the clocks is no leap. */
bool resume_read(struct resume *resume, const struct clock_pair *now,
                 int64_t *apart_ms);
