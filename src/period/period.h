/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time for sequences: the stamps of a period in a time zone, ids made of time,
 * and the clock that never goes back. Pure, except that a zone is read from a
 * file. This is the front header of the folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

#include "period/bits.h"
#include "period/flake_time.h"
#include "period/guard.h"
#include "period/resume.h"

enum period_unit {
    PERIOD_NONE,
    PERIOD_SECOND,
    PERIOD_MINUTE,
    PERIOD_HOUR,
    PERIOD_DAY,
    PERIOD_WEEK, /* ISO 8601: begins on Monday */
    PERIOD_MONTH,
    PERIOD_QUARTER,
    PERIOD_YEAR
};

/* The rules of a time zone. Constant once made: any thread may use it. */
struct period_zone;

/*
 * Reads a zone by its IANA name ("Europe/Berlin") from the system's database
 * ($TZDIR, or /usr/share/zoneinfo). "UTC" needs no file. SEQB_INVALID: not a
 * valid name, no such zone, or a damaged file. SEQB_NO_MEMORY.
 */
enum seqb_status period_zone_open(const char *name, struct period_zone **out,
                                  struct seqb_error *err);
void period_zone_close(struct period_zone *zone); /* NULL is allowed */

struct period_rules {
    enum period_unit unit;
    const struct period_zone *zone; /* NULL is UTC */
    int32_t year_month; /* 1 ... 12: the month in which a year begins ... */
    int32_t year_day;   /* 1 ... 28: ... and its day; quarters count from it */
};

/* The instants from begin_ms up to, not including, end_ms; ms since 1970. */
struct period_span {
    int64_t stamp; /* its local date as digits; see struct seqb_stamp */
    int64_t begin_ms;
    int64_t end_ms;
};

/* The instants that have a stamp: the years 1970 ... 9999. */
#define PERIOD_MIN_MS INT64_C(0)
#define PERIOD_MAX_MS INT64_C(253402214400000) /* 9999-12-31T00:00Z */

/*
 * The span that an instant is in. An instant out of range is first moved to the
 * range's end. Spans follow each other without a gap, and their stamps
 * increase. Where the local clock is set back, the last local second before the
 * change lasts until that local time has come again. A local time that is
 * skipped has no span. A year's stamp is that of the calendar year in which it
 * begins.
 */
void period_span_at(const struct period_rules *rules, int64_t ms,
                    struct period_span *out);

/* The span of a stamp. False if there is none: the digits are no stamp, the day
 * does not exist, or the local hour is skipped. */
bool period_span_of(const struct period_rules *rules, int64_t stamp,
                    struct period_span *out);

/* Whether the calendar has a day, given as the stamp of a day. A zone may still
 * skip it. It takes less time than period_span_of. */
bool period_has_day(int64_t stamp);

/* The unit's name, such as "day"; and the unit of a name, false if no unit has
 * it. */
const char *period_unit_name(enum period_unit unit);
bool period_unit_parse(const char *text, enum period_unit *out);

/* How many digits every stamp of the unit has; 0 for PERIOD_NONE. */
int period_stamp_digits(enum period_unit unit);
