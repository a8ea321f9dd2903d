/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the time and the counter of the next snowflakes: no value comes
 * twice, and none is lower than one before. They stay within the lease of the
 * worker id, and do not follow a wall clock that jumps. Pure: the clocks'
 * readings are passed in. All times in ms.
 */
#pragma once

#include <stdint.h>

/* The limits that the bits set. Times in ms since 1970. */
struct flake_rules {
    int64_t first_ms;  /* the first time that may be used */
    int64_t end_ms;    /* the first time that does not fit any more */
    int64_t ms_values; /* how many values a ms has */
};

/* The lease of a worker id. Ids have times later than `above` and at most
 * `upto`; ms since 1970. */
struct flake_lease {
    int64_t above;
    int64_t upto;
    int64_t until_ms; /* CLOCK_BOOTTIME; 0: there is no lease */
};

struct flake_now {
    int64_t wall_ms; /* since 1970 */
    int64_t boot_ms; /* CLOCK_BOOTTIME */
};

/* What was issued last; {0}: nothing yet. */
struct flake_last {
    int64_t time_ms;
    int64_t values;  /* how many values of that ms, the lowest ones */
    int64_t boot_ms; /* when the first of them was issued */
};

/* Values counter ... counter + count - 1 of one ms. */
struct flake_block {
    int64_t time_ms;
    int64_t counter;
    int64_t count;
};

enum flake_verdict {
    FLAKE_GIVE,
    FLAKE_AGAIN,  /* this ms is used up: ask again in the next one */
    FLAKE_BEHIND, /* the wall clock is behind by block->time_ms less its time */
    FLAKE_OVER,   /* the time does not fit any more */
    FLAKE_FENCED  /* there is no lease, or it has ended */
};

/*
 * Decides the next values, at most `want`, which is 1 or more. `last` changes
 * only with FLAKE_GIVE. While the wall clock is behind the last issued time,
 * time advances with the boot clock, one ms per ms, as far as the lease allows.
 */
enum flake_verdict flake_next(const struct flake_rules *rules,
                              const struct flake_lease *lease,
                              struct flake_now now, int64_t want,
                              struct flake_last *last,
                              struct flake_block *block);
