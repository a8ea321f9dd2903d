/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts stamps to dates and back. The calendar is in src/period: its spans
 * in UTC are used.
 */
#include "number/date/date.h"

#include <assert.h>

#include "number/date/date_parts.h"

#define DAY_MS INT64_C(86400000)

#define YEAR_MONTH_DAY (DATE_YEAR | DATE_MONTH | DATE_DAY)
#define CLOCK          (DATE_HOUR | DATE_MINUTE | DATE_SECOND)

static void day_fields(uint32_t date, struct date_fields *out)
{
    out->year = (int32_t)(date / 10000);
    out->month = (int32_t)(date / 100 % 100);
    out->day = (int32_t)(date % 100);
}

/* Two parts of 32 bits are divided faster than 64 bits. */
static void clock_fields(uint32_t date, uint32_t time, struct date_fields *out)
{
    day_fields(date, out);
    out->hour = (int32_t)(time / 10000);
    out->minute = (int32_t)(time / 100 % 100);
    out->second = (int32_t)(time % 100);
}

void date_fields_of(enum period_unit unit, int64_t stamp,
                    struct date_fields *out)
{
    const uint64_t digits = (uint64_t)stamp;
    const uint32_t few = (uint32_t)digits;

    *out = (struct date_fields){.year = 0};
    switch (unit) {
    case PERIOD_NONE:
        break;
    case PERIOD_SECOND:
        clock_fields((uint32_t)(digits / 1000000), (uint32_t)(digits % 1000000),
                     out);
        break;
    case PERIOD_MINUTE:
        clock_fields((uint32_t)(digits / 10000),
                     (uint32_t)(digits % 10000) * 100, out);
        break;
    case PERIOD_HOUR:
        clock_fields((uint32_t)(digits / 100), (uint32_t)(digits % 100) * 10000,
                     out);
        break;
    case PERIOD_DAY:
        day_fields(few, out);
        break;
    case PERIOD_WEEK:
        out->year = (int32_t)(few / 100);
        out->week = (int32_t)(few % 100);
        break;
    case PERIOD_MONTH:
        out->year = (int32_t)(few / 100);
        out->month = (int32_t)(few % 100);
        break;
    case PERIOD_QUARTER:
        out->year = (int32_t)(few / 10);
        out->quarter = (int32_t)(few % 10);
        break;
    case PERIOD_YEAR:
        out->year = (int32_t)few;
        break;
    }
}

static const struct period_rules *rules_of(enum period_unit unit)
{
    static const struct period_rules rules[] = {
        [PERIOD_DAY] = {PERIOD_DAY, NULL, 1, 1},
        [PERIOD_WEEK] = {PERIOD_WEEK, NULL, 1, 1},
        [PERIOD_YEAR] = {PERIOD_YEAR, NULL, 1, 1},
    };

    return &rules[unit];
}

static int64_t day_stamp(const struct date_fields *fields)
{
    return (fields->year * INT64_C(100) + fields->month) * 100 + fields->day;
}

bool date_complete(struct date_seen *day)
{
    struct period_span span;
    struct period_span other;

    if (!period_span_of(rules_of(PERIOD_DAY), day_stamp(&day->fields), &span))
        return false;
    period_span_at(rules_of(PERIOD_YEAR), span.begin_ms, &other);
    day->year_day = (int32_t)((span.begin_ms - other.begin_ms) / DAY_MS) + 1;
    period_span_at(rules_of(PERIOD_WEEK), span.begin_ms, &other);
    day->week_year = (int32_t)(other.stamp / 100);
    day->fields.week = (int32_t)(other.stamp % 100);
    day->weekday = (int32_t)((span.begin_ms - other.begin_ms) / DAY_MS) + 1;
    return true;
}

/* Finds the day by its month and day, or by its position in the year or week.
 * Values that do not exist may give another day; the caller compares it with
 * what was read (day_is_as_seen). */
static bool day_find(const struct date_seen *seen, struct date_seen *out)
{
    const bool is_of_year =
        (seen->tells & DATE_YEAR_DAY) != 0 && (seen->tells & DATE_YEAR) != 0;
    const struct date_fields *fields = &seen->fields;
    struct period_span span;
    int64_t stamp;
    int64_t days;

    *out = (struct date_seen){.fields = *fields};
    if ((seen->tells & YEAR_MONTH_DAY) == YEAR_MONTH_DAY)
        return date_complete(out);
    stamp = is_of_year ? fields->year
                       : seen->week_year * INT64_C(100) + fields->week;
    days = is_of_year ? seen->year_day : seen->weekday;
    if (!period_span_of(rules_of(is_of_year ? PERIOD_YEAR : PERIOD_WEEK), stamp,
                        &span))
        return false;
    period_span_at(rules_of(PERIOD_DAY), span.begin_ms + (days - 1) * DAY_MS,
                   &span);
    day_fields((uint32_t)span.stamp, &out->fields);
    return date_complete(out);
}

static bool day_is_as_seen(const struct date_seen *day,
                           const struct date_seen *seen)
{
    static const char letters[] = "YmdjGVu";

    for (size_t i = 0; letters[i] != '\0'; i++) {
        const struct date_conversion *conversion =
            &date_conversions[(unsigned char)letters[i]];

        if ((seen->tells & conversion->part) != 0 &&
            date_value((const char *)&day->fields, conversion) !=
                date_value((const char *)&seen->fields, conversion))
            return false;
    }
    return true;
}

static bool day_of(const struct date_seen *seen, int64_t *stamp)
{
    struct date_seen day;

    *stamp = day_stamp(&seen->fields);
    if ((seen->tells & ~(unsigned)CLOCK) == YEAR_MONTH_DAY)
        return period_has_day(*stamp);
    if (!day_find(seen, &day) || !day_is_as_seen(&day, seen))
        return false;
    *stamp = day_stamp(&day.fields);
    return true;
}

static int64_t clock_append(int64_t stamp, enum period_unit unit,
                            const struct date_fields *fields)
{
    if (unit <= PERIOD_HOUR)
        stamp = stamp * 100 + fields->hour;
    if (unit <= PERIOD_MINUTE)
        stamp = stamp * 100 + fields->minute;
    if (unit == PERIOD_SECOND)
        stamp = stamp * 100 + fields->second;
    return stamp;
}

bool date_stamp_of(const struct date_seen *seen, enum period_unit unit,
                   int64_t *stamp)
{
    const int64_t year = seen->fields.year;
    struct period_span span;

    assert(date_missing(seen->tells, unit) == NULL);
    switch (unit) {
    case PERIOD_NONE:
        return false;
    case PERIOD_WEEK:
        *stamp = seen->week_year * INT64_C(100) + seen->fields.week;
        return period_span_of(rules_of(unit), *stamp, &span);
    case PERIOD_MONTH:
        *stamp = year * 100 + seen->fields.month;
        return true;
    case PERIOD_QUARTER:
        *stamp = year * 10 + seen->fields.quarter;
        return true;
    case PERIOD_YEAR:
        *stamp = year;
        return true;
    default:
        if (!day_of(seen, stamp))
            return false;
        *stamp = clock_append(*stamp, unit, &seen->fields);
        return true;
    }
}
