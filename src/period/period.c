/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The span of a period that an instant is in, and the span that a stamp names.
 * A span is computed in local time by the calendar, and converted to instants
 * by the zone: it begins when its first local second is reached, and ends when
 * the first one of the next span is.
 */
#include "period/period.h"

#include <assert.h>
#include <string.h>

#include "period/date.h"
#include "period/zone.h"

#define YEAR_MIN         1970 /* of PERIOD_MIN_MS and PERIOD_MAX_MS */
#define YEAR_MAX         9999
#define SECOND_MS        1000
#define MONTHS_A_QUARTER 3

/* A span in local time. */
struct local_span {
    int64_t stamp;
    int64_t from; /* seconds */
    int64_t to;
};

static const struct {
    const char *name;
    int digits;   /* of a stamp */
    int64_t most; /* the largest number of so many digits */
} units[] = {
    [PERIOD_NONE] = {"none", 0, 0},
    [PERIOD_SECOND] = {"second", 14, INT64_C(99999999999999)},
    [PERIOD_MINUTE] = {"minute", 12, INT64_C(999999999999)},
    [PERIOD_HOUR] = {"hour", 10, INT64_C(9999999999)},
    [PERIOD_DAY] = {"day", 8, 99999999},
    [PERIOD_WEEK] = {"week", 6, 999999},
    [PERIOD_MONTH] = {"month", 6, 999999},
    [PERIOD_QUARTER] = {"quarter", 5, 99999},
    [PERIOD_YEAR] = {"year", 4, 9999},
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

const char *period_unit_name(enum period_unit unit)
{
    return units[unit].name;
}

bool period_unit_parse(const char *text, enum period_unit *out)
{
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strcmp(text, units[i].name) == 0) {
            *out = (enum period_unit)i;
            return true;
        }
    }
    return false;
}

int period_stamp_digits(enum period_unit unit)
{
    return units[unit].digits;
}

static int64_t date_stamp(int64_t days)
{
    const struct date date = date_of_days(days);

    return (date.year * 100 + date.month) * 100 + date.day;
}

/* A day, or a part of a day: its seconds are the same on every day. */
static const int64_t clock_lengths[] = {[PERIOD_SECOND] = 1,
                                        [PERIOD_MINUTE] = 60,
                                        [PERIOD_HOUR] = 3600,
                                        [PERIOD_DAY] = DATE_DAY_S};

static struct local_span clock_span(enum period_unit unit, int64_t local)
{
    const int64_t day = floor_div(local, DATE_DAY_S);
    const int64_t from = local - floor_mod(local, clock_lengths[unit]);
    const int64_t second = from - day * DATE_DAY_S;
    int64_t stamp = date_stamp(day);

    if (unit <= PERIOD_HOUR)
        stamp = stamp * 100 + second / 3600;
    if (unit <= PERIOD_MINUTE)
        stamp = stamp * 100 + second / 60 % 60;
    if (unit == PERIOD_SECOND)
        stamp = stamp * 100 + second % 60;
    return (struct local_span){stamp, from, from + clock_lengths[unit]};
}

static struct local_span days_span(int64_t stamp, int64_t from, int64_t to)
{
    return (struct local_span){stamp, from * DATE_DAY_S, to * DATE_DAY_S};
}

/* A week belongs to the year of its Thursday. */
static struct local_span week_span(int64_t day)
{
    const int64_t monday = day - date_weekday(day);
    const int64_t thursday = monday + 3;
    const int64_t year = date_of_days(thursday).year;
    const int64_t week = (thursday - date_to_days(year, 1, 1)) / 7 + 1;

    return days_span(year * 100 + week, monday, monday + 7);
}

static struct local_span month_span(int64_t day)
{
    const struct date date = date_of_days(day);

    return days_span(date.year * 100 + date.month,
                     date_to_days(date.year, date.month, 1),
                     date_to_days(date.year, date.month + 1, 1));
}

/* `months` of a year that begins where the rules say: 12, or the 3 of a
 * quarter. */
static struct local_span year_span(const struct period_rules *rules,
                                   int64_t day, int64_t months)
{
    const struct date date = date_of_days(day);
    const int64_t passed = 12 * date.year + date.month - rules->year_month -
                           (date.day < rules->year_day);
    const int64_t year = floor_div(passed, 12);
    const int64_t part = floor_mod(passed, 12) / months;
    const int64_t month = rules->year_month + part * months;

    return days_span(months == 12 ? year : year * 10 + part + 1,
                     date_to_days(year, month, rules->year_day),
                     date_to_days(year, month + months, rules->year_day));
}

static struct local_span local_span_at(const struct period_rules *rules,
                                       int64_t local)
{
    const int64_t day = floor_div(local, DATE_DAY_S);

    switch (rules->unit) {
    case PERIOD_WEEK:
        return week_span(day);
    case PERIOD_MONTH:
        return month_span(day);
    case PERIOD_QUARTER:
        return year_span(rules, day, MONTHS_A_QUARTER);
    case PERIOD_YEAR:
        return year_span(rules, day, 12);
    default:
        return clock_span(rules->unit, local);
    }
}

/* A span of local time as instants. */
static void span_bring(const struct period_zone *zone, struct local_span local,
                       struct period_span *out)
{
    if (zone != NULL) {
        local.from = zone_reach(zone, local.from);
        local.to = zone_reach(zone, local.to);
    }
    *out = (struct period_span){local.stamp, local.from * SECOND_MS,
                                local.to * SECOND_MS};
}

void period_span_at(const struct period_rules *rules, int64_t ms,
                    struct period_span *out)
{
    const struct period_zone *zone = rules->zone;
    int64_t at;

    if (rules->unit == PERIOD_NONE) {
        *out = (struct period_span){0, PERIOD_MIN_MS, INT64_MAX};
        return;
    }
    assert(rules->unit < PERIOD_QUARTER ||
           (rules->year_month >= 1 && rules->year_month <= 12 &&
            rules->year_day >= 1 && rules->year_day <= 28));
    if (ms < PERIOD_MIN_MS)
        ms = PERIOD_MIN_MS;
    if (ms > PERIOD_MAX_MS)
        ms = PERIOD_MAX_MS;
    at = ms / SECOND_MS;
    if (zone != NULL)
        at = zone_local(zone, at);
    span_bring(zone, local_span_at(rules, at), out);
}

/* Removes the last two digits, and returns them. */
static int64_t pair_take(int64_t *digits)
{
    const int64_t pair = *digits % 100;

    *digits /= 100;
    return pair;
}

static bool day_exists(int64_t year, int64_t month, int64_t day)
{
    return month >= 1 && month <= 12 && day >= 1 &&
           day <= date_month_days(year, month);
}

bool period_has_day(int64_t stamp)
{
    int64_t year = stamp;
    const int64_t day = pair_take(&year);
    const int64_t month = pair_take(&year);

    return year >= YEAR_MIN && year <= YEAR_MAX && day_exists(year, month, day);
}

static bool clock_span_of(enum period_unit unit, int64_t stamp,
                          struct local_span *out)
{
    int64_t year = stamp;
    const int64_t second = unit == PERIOD_SECOND ? pair_take(&year) : 0;
    const int64_t minute = unit <= PERIOD_MINUTE ? pair_take(&year) : 0;
    const int64_t hour = unit <= PERIOD_HOUR ? pair_take(&year) : 0;
    const int64_t day = pair_take(&year);
    const int64_t month = pair_take(&year);
    int64_t from;

    if (second > 59 || minute > 59 || hour > 23 ||
        !day_exists(year, month, day))
        return false;
    from = date_to_days(year, month, day) * DATE_DAY_S +
           (hour * 60 + minute) * 60 + second;
    *out = (struct local_span){stamp, from, from + clock_lengths[unit]};
    return true;
}

/* January 4 is in the first week of every year. */
static int64_t week_begin(int64_t year, int64_t week)
{
    const int64_t day = date_to_days(year, 1, 4);

    return day - date_weekday(day) + (week - 1) * 7;
}

/* Digits that are no valid week, month or quarter give the span of another
 * stamp. */
static bool local_span_of(const struct period_rules *rules, int64_t stamp,
                          struct local_span *out)
{
    const int64_t month = rules->year_month;
    const int64_t day = rules->year_day;

    switch (rules->unit) {
    case PERIOD_WEEK:
        *out = week_span(week_begin(stamp / 100, stamp % 100));
        break;
    case PERIOD_MONTH:
        *out = month_span(date_to_days(stamp / 100, stamp % 100, 1));
        break;
    case PERIOD_QUARTER:
        *out = year_span(
            rules,
            date_to_days(stamp / 10,
                         month + (stamp % 10 - 1) * MONTHS_A_QUARTER, day),
            MONTHS_A_QUARTER);
        break;
    case PERIOD_YEAR:
        *out = year_span(rules, date_to_days(stamp, month, day), 12);
        break;
    default:
        return clock_span_of(rules->unit, stamp, out);
    }
    return out->stamp == stamp;
}

bool period_span_of(const struct period_rules *rules, int64_t stamp,
                    struct period_span *out)
{
    struct local_span local;
    struct period_span span;

    if (rules->unit == PERIOD_NONE && stamp == 0) {
        period_span_at(rules, PERIOD_MIN_MS, out);
        return true;
    }
    if (rules->unit == PERIOD_NONE || stamp < 0 ||
        stamp > units[rules->unit].most || !local_span_of(rules, stamp, &local))
        return false;
    span_bring(rules->zone, local, &span);
    /* A skipped local time is reached when the time that follows it is: its
     * span is empty. */
    if (span.begin_ms >= span.end_ms || span.end_ms <= PERIOD_MIN_MS ||
        span.begin_ms > PERIOD_MAX_MS)
        return false;
    *out = span;
    return true;
}
