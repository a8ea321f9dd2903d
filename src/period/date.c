/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calendar. Years begin on March 1 here, so that the leap day is the last
 * day of its year and the lengths of the months follow a rule.
 */
#include "period/date.h"

/* From 0000-03-01 to 1970-01-01. */
#define EPOCH_DAYS 719468

/* Days from 0000-03-01 to March 1 of a year. */
static int64_t year_begins(int64_t year)
{
    return 365 * year + floor_div(year, 4) - floor_div(year, 100) +
           floor_div(year, 400);
}

/* Days from March 1 to the begin of the n-th month after March: the lengths 31,
 * 30, 31, 30, 31 repeat. */
static int64_t month_begins(int64_t n)
{
    return (153 * n + 2) / 5;
}

int64_t date_to_days(int64_t year, int64_t month, int64_t day)
{
    const int64_t months = 12 * year + month - 3;

    return year_begins(floor_div(months, 12)) +
           month_begins(floor_mod(months, 12)) + day - 1 - EPOCH_DAYS;
}

struct date date_of_days(int64_t days)
{
    const int64_t all = days + EPOCH_DAYS;
    int64_t year = floor_div(all * 400, DATE_CYCLE_DAYS);
    int64_t rest;
    int64_t n;

    /* The year estimated by the mean length is right, or one too small. */
    if (year_begins(year + 1) <= all)
        year++;
    rest = all - year_begins(year);
    n = (5 * rest + 2) / 153;
    return (struct date){n < 10 ? year : year + 1,
                         (int32_t)(n < 10 ? n + 3 : n - 9),
                         (int32_t)(rest - month_begins(n) + 1)};
}

int date_weekday(int64_t days)
{
    return (int)floor_mod(days + 3, 7); /* 1970-01-01 was a Thursday */
}

bool date_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int date_month_days(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && date_is_leap(year));
}
