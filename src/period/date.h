/* SPDX-License-Identifier: Apache-2.0 */
/* Days since 1970-01-01, and dates of the Gregorian calendar of any year.
 * Private to this folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DATE_DAY_S      INT64_C(86400)
/* After 400 years the calendar repeats, weekdays included. */
#define DATE_CYCLE_DAYS INT64_C(146097)

struct date {
    int64_t year;
    int32_t month; /* 1 ... 12 */
    int32_t day;   /* 1 ... 31 */
};

/* Division that rounds down, for times before 1970. `b` is positive. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static inline int64_t floor_mod(int64_t a, int64_t b)
{
    return a - floor_div(a, b) * b;
}

/* The day of a date. `month` may be outside 1 ... 12: month 13 is January of
 * the next year. */
int64_t date_to_days(int64_t year, int64_t month, int64_t day);

struct date date_of_days(int64_t days);

/* 0 is Monday. */
int date_weekday(int64_t days);

bool date_is_leap(int64_t year);

/* `month` is 1 ... 12. */
int date_month_days(int64_t year, int64_t month);
