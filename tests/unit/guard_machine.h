/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with scripted clocks, for tests of the guard. */
#pragma once

#include "period/guard.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)
#define NOON   (GUARD_SANE_MS + YEAR + 12 * HOUR)

static const struct guard_rules usual = {GUARD_HOLD, 10 * MINUTE, 5 * MINUTE};

/* Its boot clock is right; its wall clock is off by `off_ms`. */
struct machine {
    int64_t true_ms;
    int64_t off_ms;
};

static inline struct guard_reading reading_of(const struct machine *machine)
{
    return (struct guard_reading){machine->true_ms + machine->off_ms,
                                  machine->true_ms - NOON};
}
