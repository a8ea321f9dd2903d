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

#define DATE_TEXT_MAX 64 /* bytes that a format makes */

/* What a format may tell of a date; a set of these. */
enum date_part {
    DATE_YEAR = 1 << 0,      /* %Y, or %y: two digits, of 2000 ... 2099 */
    DATE_MONTH = 1 << 1,     /* %m */
    DATE_DAY = 1 << 2,       /* %d */
    DATE_HOUR = 1 << 3,      /* %H, 00 ... 23 */
    DATE_MINUTE = 1 << 4,    /* %M */
    DATE_SECOND = 1 << 5,    /* %S */
    DATE_YEAR_DAY = 1 << 6,  /* %j, 001 ... 366 */
    DATE_WEEK_YEAR = 1 << 7, /* %G, or %g: of ISO 8601 */
    DATE_WEEK = 1 << 8,      /* %V, 01 ... 53 */
    DATE_WEEKDAY = 1 << 9,   /* %u, 1 is Monday ... 7 */
    DATE_QUARTER = 1 << 10,  /* %q, 1 ... 4: of a period of a quarter only */
};

/* One step of a format: a conversion, or a character as it is. */
struct date_step {
    char conversion; /* 'Y', ...; 0: the character */
    char character;
};

struct date_format {
    struct date_step steps[DATE_TEXT_MAX];
    size_t count;
    size_t length;  /* bytes of every text that it makes */
    unsigned tells; /* of enum date_part */
};

/* A stamp taken apart; what its unit does not have is 0. */
struct date_fields {
    int32_t year; /* of a week the ISO year */
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
 * %%, and %q. NULL text: the unit's digits as they are, %Y%m%d of a day.
 * SEQB_INVALID, with what was expected and in `*at` where the text is wrong: an
 * unknown conversion (%I: a 12-hour clock would repeat), one that the unit does
 * not have (a day has no hour), no conversion at all, too long.
 */
enum seqb_status date_format_make(const char *text, size_t length,
                                  enum period_unit unit,
                                  struct date_format *out, size_t *at,
                                  struct seqb_error *err);

/* What is missing to tell every stamp of the unit from every other, in words,
 * "the month, %m"; NULL if what `tells` names is enough. */
const char *date_missing(unsigned tells, enum period_unit unit);

void date_fields_of(enum period_unit unit, int64_t stamp,
                    struct date_fields *out);

/* Writes format->length bytes, no final 0. False if the date does not fit: %y
 * and %g need 2000 ... 2099. */
bool date_write(const struct date_format *format,
                const struct date_fields *fields, enum period_unit unit,
                char *out);

/* What was read of one or more formats so far; zeroed: nothing. */
struct date_seen {
    unsigned tells; /* of enum date_part */
    struct date_fields fields;
    int32_t year_day;
    int32_t week_year;
    int32_t weekday;
};

/* Reads format->length bytes. False if they are no such text, or contradict
 * what was seen. */
bool date_read(const struct date_format *format, const char *text,
               struct date_seen *seen);

/* The stamp of what was seen, which tells it (date_missing). False if there is
 * no such date: a 31st of February, a week 53 too many, %u or %j of another
 * day. Whether its zone skips it is not looked at: see period_span_of. */
bool date_stamp_of(const struct date_seen *seen, enum period_unit unit,
                   int64_t *stamp);
