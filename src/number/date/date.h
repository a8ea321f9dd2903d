/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps as dates in texts: formats of fixed width, written and read back.
 * Pure. The calendar itself is in src/period.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

#include "period/period.h"

#define DATE_TEXT_MAX 64 /* bytes of the longest date */

/* The parts of a date that a format may have; used as a set. */
enum date_part {
    DATE_YEAR = 1 << 0,      /* %Y, or %y: two digits for 2000 ... 2099 */
    DATE_MONTH = 1 << 1,     /* %m */
    DATE_DAY = 1 << 2,       /* %d */
    DATE_HOUR = 1 << 3,      /* %H, 00 ... 23 */
    DATE_MINUTE = 1 << 4,    /* %M */
    DATE_SECOND = 1 << 5,    /* %S */
    DATE_YEAR_DAY = 1 << 6,  /* %j, 001 ... 366 */
    DATE_WEEK_YEAR = 1 << 7, /* %G, or %g: of ISO 8601 */
    DATE_WEEK = 1 << 8,      /* %V, 01 ... 53 */
    DATE_WEEKDAY = 1 << 9,   /* %u, 1 is Monday ... 7 */
    DATE_QUARTER = 1 << 10,  /* %q, 1 ... 4: only for a period of a quarter */
};

/* One step of a format: a conversion, or a literal character. */
struct date_step {
    char conversion; /* 'Y', ...; 0: a literal character */
    char character;
};

struct date_format {
    struct date_step steps[DATE_TEXT_MAX];
    size_t count;
    size_t length;  /* bytes of every date that it writes */
    unsigned tells; /* its parts: a set of enum date_part */
};

/* A stamp as a date; fields that its unit does not have are 0. */
struct date_fields {
    int32_t year; /* for a week the ISO year */
    int32_t month;
    int32_t day;
    int32_t hour;
    int32_t minute;
    int32_t second;
    int32_t week;
    int32_t quarter;
};

/*
 * Makes a format of strftime's conversions %Y %y %m %d %H %M %S %j %G %g %V %u
 * %%, and of %q. NULL text: the unit's digits, for a day %Y%m%d. SEQB_INVALID,
 * with what was expected and the position of the error in `*at`: an unknown
 * conversion (%I: a 12-hour clock would repeat), one that the unit does not
 * have (a day has no hour), no conversion at all, or a format that is too long.
 */
enum seqb_status date_format_make(const char *text, size_t length,
                                  enum period_unit unit,
                                  struct date_format *out, size_t *at,
                                  struct seqb_error *err);

/* What has to be added so that every stamp of the unit has another date, in
 * words: "the month, %m". NULL if the parts in `tells` are enough. */
const char *date_missing(unsigned tells, enum period_unit unit);

void date_fields_of(enum period_unit unit, int64_t stamp,
                    struct date_fields *out);

/* Writes format->length bytes, without a final 0. False if the date does not
 * fit: %y and %g need 2000 ... 2099. */
bool date_write(const struct date_format *format,
                const struct date_fields *fields, enum period_unit unit,
                char *out);

/* What was read by one or more formats; zeroed: nothing. */
struct date_seen {
    unsigned tells; /* of enum date_part */
    struct date_fields fields;
    int32_t year_day;
    int32_t week_year;
    int32_t weekday;
};

/* Reads format->length bytes. False if they do not match the format, or
 * contradict what was read before. */
bool date_read(const struct date_format *format, const char *text,
               struct date_seen *seen);

/* The stamp of a date that has all parts it needs (date_missing). False if
 * there is no such date: a 31st of February, a week 53 that the year does not
 * have, a %u or %j of another day. It does not check whether the zone skips
 * that time: see period_span_of. */
bool date_stamp_of(const struct date_seen *seen, enum period_unit unit,
                   int64_t *stamp);
