/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which span of a period an instant is in. A span is worked out in local time
 * by the calendar, then brought back to instants by the zone: it begins when
 * its first local second is reached, and ends when the next one's is.
 */
#include "period/period.h"

#include <assert.h>
#include <string.h>

#include "period/date.h"
#include "period/zone.h"

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
    int digits; /* of a stamp */
} units[] = {
    [PERIOD_NONE] = {"none", 0},      [PERIOD_SECOND] = {"second", 14},
    [PERIOD_MINUTE] = {"minute", 12}, [PERIOD_HOUR] = {"hour", 10},
    [PERIOD_DAY] = {"day", 8},        [PERIOD_WEEK] = {"week", 6},
    [PERIOD_MONTH] = {"month", 6},    [PERIOD_QUARTER] = {"quarter", 5},
    [PERIOD_YEAR] = {"year", 4},
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

/* A part of a day, or a day: as many seconds on every day. */
static struct local_span clock_span(enum period_unit unit, int64_t local)
{
    static const int64_t lengths[] = {[PERIOD_SECOND] = 1,
                                      [PERIOD_MINUTE] = 60,
                                      [PERIOD_HOUR] = 3600,
                                      [PERIOD_DAY] = DATE_DAY_S};
    const int64_t day = floor_div(local, DATE_DAY_S);
    const int64_t from = local - floor_mod(local, lengths[unit]);
    const int64_t second = from - day * DATE_DAY_S;
    int64_t stamp = date_stamp(day);

    if (unit <= PERIOD_HOUR)
        stamp = stamp * 100 + second / 3600;
    if (unit <= PERIOD_MINUTE)
        stamp = stamp * 100 + second / 60 % 60;
    if (unit == PERIOD_SECOND)
        stamp = stamp * 100 + second % 60;
    return (struct local_span){stamp, from, from + lengths[unit]};
}

static struct local_span days_span(int64_t stamp, int64_t from, int64_t to)
{
    return (struct local_span){stamp, from * DATE_DAY_S, to * DATE_DAY_S};
}

/* A week is of the year that its Thursday is in. */
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

/* `months` of a year that begins where the rules say: all, or a quarter. */
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

void period_span_at(const struct period_rules *rules, int64_t ms,
                    struct period_span *out)
{
    const struct period_zone *zone = rules->zone;
    struct local_span local;
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
    local = local_span_at(rules, zone == NULL ? at : zone_local(zone, at));
    if (zone != NULL) {
        local.from = zone_reach(zone, local.from);
        local.to = zone_reach(zone, local.to);
    }
    *out = (struct period_span){local.stamp, local.from * SECOND_MS,
                                local.to * SECOND_MS};
}
