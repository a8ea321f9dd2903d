/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which time and which counter the next values of a snowflake have, so that
 * none comes twice and none is lower than one before: within the lease of the
 * worker id, and however the wall clock leaps. Pure: the clocks' readings are
 * passed in. All times in ms.
 */
#pragma once

#include <stdint.h>

/* What the bits leave room for; times since 1970. */
struct flake_rules {
    int64_t first_ms;  /* the first time that may be given */
    int64_t end_ms;    /* the first one that does not fit any more */
    int64_t ms_values; /* that a ms has */
};

/* Of a worker id, as in struct seqb_window. */
struct flake_lease {
    int64_t above;
    int64_t upto;
    int64_t until_ms; /* CLOCK_BOOTTIME; 0: there is no lease */
};

struct flake_now {
    int64_t wall_ms; /* since 1970 */
    int64_t boot_ms; /* CLOCK_BOOTTIME */
};

/* What was given last; {0} is nothing. */
struct flake_last {
    int64_t time_ms;
    int64_t values;  /* of that ms, the lowest ones */
    int64_t boot_ms; /* when the first of them was given */
};

/* Values counter ... counter + count - 1 of one ms. */
struct flake_block {
    int64_t time_ms;
    int64_t counter;
    int64_t count;
};

enum flake_verdict {
    FLAKE_GIVE,
    FLAKE_AGAIN,  /* nothing more is left of this ms: ask in the next one */
    FLAKE_BEHIND, /* the wall clock, by block->time_ms less it */
    FLAKE_OVER,   /* the time does not fit any more */
    FLAKE_FENCED  /* there is no lease, or it has ended */
};

/*
 * The next values, at most `want` (1 or more); `last` is changed only by
 * FLAKE_GIVE. While the wall clock is behind what was given, time goes on by
 * the boot clock, a ms a ms, as far as the lease allows.
 */
enum flake_verdict flake_next(const struct flake_rules *rules,
                              const struct flake_lease *lease,
                              struct flake_now now, int64_t want,
                              struct flake_last *last,
                              struct flake_block *block);
