/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of every unit, as tables: the calendar, and changes of the clock. What
 * must hold of all spans is left to test_period_spans.
 */
#include <inttypes.h>
#include <time.h>

#include "platform/text.h"
#include "support/test.h"
#include "zone_expect.h"

/* "stamp begin end", the instants in UTC. */
static void tell(const struct period_span *span, char *out, size_t size)
{
    const int64_t ends[] = {span->begin_ms, span->end_ms};

    (void)text_format(out, size, "%" PRId64, span->stamp);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        const time_t at = ends[i] / 1000;
        char text[32];
        struct tm tm;

        assert_int_equal(at * 1000, ends[i]);
        assert_non_null(gmtime_r(&at, &tm));
        assert_true(strftime(text, sizeof text, "%F %T", &tm) > 0);
        assert_true(text_append(out, size, " %s", text));
    }
}

struct row {
    const char *zone;
    enum period_unit unit;
    const char *at;
    const char *span;
};

static void expect_rows(const struct row *rows, size_t n, int32_t year_month,
                        int32_t year_day)
{
    for (size_t i = 0; i < n; i++) {
        struct period_zone *zone = zone_expect_named(rows[i].zone);
        const struct period_rules rules = {rows[i].unit, zone, year_month,
                                           year_day};
        struct period_span span;
        char text[96];

        period_span_at(&rules, zone_utc(rows[i].at) * 1000, &span);
        tell(&span, text, sizeof text);
        assert_string_equal(text, rows[i].span);
        period_zone_close(zone);
    }
}

TEST(every_unit_has_its_stamp)
{
    static const struct row rows[] = {
        {"UTC", PERIOD_SECOND, "2026-11-21 23:59:59",
         "20261121235959 2026-11-21 23:59:59 2026-11-22 00:00:00"},
        {"UTC", PERIOD_MINUTE, "2026-11-21 23:59:59",
         "202611212359 2026-11-21 23:59:00 2026-11-22 00:00:00"},
        {"UTC", PERIOD_HOUR, "2026-11-21 07:59:59",
         "2026112107 2026-11-21 07:00:00 2026-11-21 08:00:00"},
        {"UTC", PERIOD_DAY, "2026-11-21 07:59:59",
         "20261121 2026-11-21 00:00:00 2026-11-22 00:00:00"},
        {"UTC", PERIOD_WEEK, "2026-11-21 07:59:59",
         "202647 2026-11-16 00:00:00 2026-11-23 00:00:00"},
        {"UTC", PERIOD_MONTH, "2024-02-29 07:59:59",
         "202402 2024-02-01 00:00:00 2024-03-01 00:00:00"},
        {"UTC", PERIOD_MONTH, "2026-12-31 23:59:59",
         "202612 2026-12-01 00:00:00 2027-01-01 00:00:00"},
        {"UTC", PERIOD_QUARTER, "2026-11-21 07:59:59",
         "20264 2026-10-01 00:00:00 2027-01-01 00:00:00"},
        {"UTC", PERIOD_QUARTER, "2026-01-01 00:00:00",
         "20261 2026-01-01 00:00:00 2026-04-01 00:00:00"},
        {"UTC", PERIOD_YEAR, "2026-11-21 07:59:59",
         "2026 2026-01-01 00:00:00 2027-01-01 00:00:00"},
    };

    expect_rows(rows, COUNT_OF(rows), 1, 1);
}

/* Years whose first days are of the old year's last week, and the like. */
TEST(weeks_are_those_of_iso_8601)
{
    static const struct row rows[] = {
        {"UTC", PERIOD_WEEK, "2009-01-01 00:00:00",
         "200901 2008-12-29 00:00:00 2009-01-05 00:00:00"},
        {"UTC", PERIOD_WEEK, "2010-01-03 23:59:59",
         "200953 2009-12-28 00:00:00 2010-01-04 00:00:00"},
        {"UTC", PERIOD_WEEK, "2018-12-31 00:00:00",
         "201901 2018-12-31 00:00:00 2019-01-07 00:00:00"},
        {"UTC", PERIOD_WEEK, "2020-12-31 00:00:00",
         "202053 2020-12-28 00:00:00 2021-01-04 00:00:00"},
        {"UTC", PERIOD_WEEK, "2021-01-03 23:59:59",
         "202053 2020-12-28 00:00:00 2021-01-04 00:00:00"},
        {"UTC", PERIOD_WEEK, "2021-01-04 00:00:00",
         "202101 2021-01-04 00:00:00 2021-01-11 00:00:00"},
        {"UTC", PERIOD_WEEK, "2027-01-01 00:00:00",
         "202653 2026-12-28 00:00:00 2027-01-04 00:00:00"},
        {"Europe/Berlin", PERIOD_WEEK, "2026-12-27 23:00:00",
         "202653 2026-12-27 23:00:00 2027-01-03 23:00:00"},
        {"Europe/Berlin", PERIOD_WEEK, "2026-03-29 21:59:59",
         "202613 2026-03-22 23:00:00 2026-03-29 22:00:00"},
    };

    expect_rows(rows, COUNT_OF(rows), 1, 1);
}

TEST(year_may_begin_on_a_day_of_its_own)
{
    static const struct row april[] = {
        {"UTC", PERIOD_YEAR, "2026-04-05 23:59:59",
         "2025 2025-04-06 00:00:00 2026-04-06 00:00:00"},
        {"UTC", PERIOD_YEAR, "2026-04-06 00:00:00",
         "2026 2026-04-06 00:00:00 2027-04-06 00:00:00"},
        {"UTC", PERIOD_YEAR, "2026-01-01 00:00:00",
         "2025 2025-04-06 00:00:00 2026-04-06 00:00:00"},
        {"UTC", PERIOD_QUARTER, "2026-07-05 00:00:00",
         "20261 2026-04-06 00:00:00 2026-07-06 00:00:00"},
        {"UTC", PERIOD_QUARTER, "2026-10-06 00:00:00",
         "20263 2026-10-06 00:00:00 2027-01-06 00:00:00"},
        {"UTC", PERIOD_QUARTER, "2027-01-06 00:00:00",
         "20264 2027-01-06 00:00:00 2027-04-06 00:00:00"},
        {"Europe/London", PERIOD_YEAR, "2026-04-05 22:59:59",
         "2025 2025-04-05 23:00:00 2026-04-05 23:00:00"},
        /* the other units know nothing of it */
        {"UTC", PERIOD_MONTH, "2026-04-05 23:59:59",
         "202604 2026-04-01 00:00:00 2026-05-01 00:00:00"},
        {"UTC", PERIOD_WEEK, "2026-04-05 23:59:59",
         "202614 2026-03-30 00:00:00 2026-04-06 00:00:00"},
    };
    static const struct row december[] = {
        {"UTC", PERIOD_YEAR, "2026-12-27 00:00:00",
         "2025 2025-12-28 00:00:00 2026-12-28 00:00:00"},
        {"UTC", PERIOD_QUARTER, "2026-02-28 00:00:00",
         "20251 2025-12-28 00:00:00 2026-03-28 00:00:00"},
        {"UTC", PERIOD_QUARTER, "2026-03-28 00:00:00",
         "20252 2026-03-28 00:00:00 2026-06-28 00:00:00"},
    };

    expect_rows(april, COUNT_OF(april), 4, 6);
    expect_rows(december, COUNT_OF(december), 12, 28);
}

TEST(repeated_hour_lasts_twice_and_a_missing_one_has_no_span)
{
    static const struct row rows[] = {
        {"Europe/Berlin", PERIOD_HOUR, "2026-03-29 00:59:59",
         "2026032901 2026-03-29 00:00:00 2026-03-29 01:00:00"},
        {"Europe/Berlin", PERIOD_HOUR, "2026-03-29 01:00:00",
         "2026032903 2026-03-29 01:00:00 2026-03-29 02:00:00"},
        {"Europe/Berlin", PERIOD_HOUR, "2026-10-25 00:00:00",
         "2026102502 2026-10-25 00:00:00 2026-10-25 02:00:00"},
        {"Europe/Berlin", PERIOD_HOUR, "2026-10-25 01:59:59",
         "2026102502 2026-10-25 00:00:00 2026-10-25 02:00:00"},
        {"Europe/Berlin", PERIOD_MINUTE, "2026-10-25 01:30:00",
         "202610250259 2026-10-25 00:59:00 2026-10-25 02:00:00"},
        {"Europe/Berlin", PERIOD_SECOND, "2026-10-25 01:30:00",
         "20261025025959 2026-10-25 00:59:59 2026-10-25 02:00:00"},
        {"Europe/Berlin", PERIOD_SECOND, "2026-10-25 00:59:58",
         "20261025025958 2026-10-25 00:59:58 2026-10-25 00:59:59"},
        {"Europe/Berlin", PERIOD_DAY, "2026-10-25 22:59:59",
         "20261025 2026-10-24 22:00:00 2026-10-25 23:00:00"},
        {"Europe/Berlin", PERIOD_DAY, "2026-03-29 12:00:00",
         "20260329 2026-03-28 23:00:00 2026-03-29 22:00:00"},
        /* winter time is the one that is ahead, by the file */
        {"Europe/Dublin", PERIOD_HOUR, "2026-10-25 01:30:00",
         "2026102501 2026-10-25 00:00:00 2026-10-25 02:00:00"},
        {"Europe/Dublin", PERIOD_HOUR, "2026-03-29 01:00:00",
         "2026032902 2026-03-29 01:00:00 2026-03-29 02:00:00"},
        /* two hours at once */
        {"Antarctica/Troll", PERIOD_HOUR, "2026-10-25 02:30:00",
         "2026102502 2026-10-25 00:00:00 2026-10-25 03:00:00"},
        {"Antarctica/Troll", PERIOD_HOUR, "2026-03-29 01:00:00",
         "2026032903 2026-03-29 01:00:00 2026-03-29 02:00:00"},
        /* half an hour */
        {"Australia/Lord_Howe", PERIOD_HOUR, "2026-04-04 15:10:00",
         "2026040501 2026-04-04 14:00:00 2026-04-04 15:30:00"},
        {"Australia/Lord_Howe", PERIOD_HOUR, "2026-10-03 15:30:00",
         "2026100402 2026-10-03 15:30:00 2026-10-03 16:00:00"},
        /* back for Ramadan, whose dates are in the file */
        {"Africa/Casablanca", PERIOD_HOUR, "2026-02-15 02:30:00",
         "2026021502 2026-02-15 01:00:00 2026-02-15 03:00:00"},
        {"Africa/Casablanca", PERIOD_HOUR, "2026-03-22 02:00:00",
         "2026032203 2026-03-22 02:00:00 2026-03-22 03:00:00"},
    };

    expect_rows(rows, COUNT_OF(rows), 1, 1);
}

TEST(day_whose_midnight_is_missing_or_repeated_is_one_day)
{
    static const struct row rows[] = {
        {"America/Sao_Paulo", PERIOD_DAY, "2018-11-04 03:00:00",
         "20181104 2018-11-04 03:00:00 2018-11-05 02:00:00"},
        {"America/Sao_Paulo", PERIOD_DAY, "2019-02-17 02:30:00",
         "20190216 2019-02-16 02:00:00 2019-02-17 03:00:00"},
        {"America/Sao_Paulo", PERIOD_SECOND, "2019-02-17 02:30:00",
         "20190216235959 2019-02-17 01:59:59 2019-02-17 03:00:00"},
        {"Asia/Beirut", PERIOD_DAY, "2022-03-26 22:00:00",
         "20220327 2022-03-26 22:00:00 2022-03-27 21:00:00"},
        {"Asia/Beirut", PERIOD_DAY, "2022-10-29 21:30:00",
         "20221029 2022-10-28 21:00:00 2022-10-29 22:00:00"},
        {"Africa/Cairo", PERIOD_DAY, "2023-04-27 22:00:00",
         "20230428 2023-04-27 22:00:00 2023-04-28 21:00:00"},
        {"Africa/Cairo", PERIOD_DAY, "2023-10-26 21:30:00",
         "20231026 2023-10-25 21:00:00 2023-10-26 22:00:00"},
        /* from 00:01 back to 23:01 of the day before */
        {"America/St_Johns", PERIOD_DAY, "2010-11-07 02:29:59",
         "20101106 2010-11-06 02:30:00 2010-11-07 02:30:00"},
        {"America/St_Johns", PERIOD_DAY, "2010-11-07 03:00:00",
         "20101107 2010-11-07 02:30:00 2010-11-08 03:30:00"},
        {"America/St_Johns", PERIOD_MINUTE, "2010-11-07 03:00:00",
         "201011070000 2010-11-07 02:30:00 2010-11-07 03:31:00"},
    };

    expect_rows(rows, COUNT_OF(rows), 1, 1);
}

TEST(day_that_a_zone_left_out_has_no_span)
{
    static const struct row rows[] = {
        {"Pacific/Apia", PERIOD_DAY, "2011-12-30 09:59:59",
         "20111229 2011-12-29 10:00:00 2011-12-30 10:00:00"},
        {"Pacific/Apia", PERIOD_DAY, "2011-12-30 10:00:00",
         "20111231 2011-12-30 10:00:00 2011-12-31 10:00:00"},
        {"Pacific/Apia", PERIOD_WEEK, "2011-12-30 10:00:00",
         "201152 2011-12-26 10:00:00 2012-01-01 10:00:00"},
        {"Pacific/Apia", PERIOD_MONTH, "2011-12-30 10:00:00",
         "201112 2011-12-01 10:00:00 2011-12-31 10:00:00"},
        {"Pacific/Kwajalein", PERIOD_DAY, "1993-08-21 12:00:00",
         "19930822 1993-08-21 12:00:00 1993-08-22 12:00:00"},
    };

    expect_rows(rows, COUNT_OF(rows), 1, 1);
}

TEST(offsets_may_have_seconds)
{
    static const struct row rows[] = {
        {"Africa/Monrovia", PERIOD_DAY, "1970-01-01 01:00:00",
         "19700101 1970-01-01 00:44:30 1970-01-02 00:44:30"},
        {"Africa/Monrovia", PERIOD_MINUTE, "1970-01-01 00:45:29",
         "197001010000 1970-01-01 00:44:30 1970-01-01 00:45:30"},
    };

    expect_rows(rows, COUNT_OF(rows), 1, 1);
}

TEST(first_and_last_instant_have_spans_and_so_has_what_is_beyond)
{
    static const struct {
        const char *zone;
        enum period_unit unit;
        int64_t first;
        int64_t last;
    } rows[] = {
        {"UTC", PERIOD_SECOND, INT64_C(19700101000000),
         INT64_C(99991231000000)},
        {"America/New_York", PERIOD_DAY, 19691231, 99991230},
        {"Pacific/Kiritimati", PERIOD_HOUR, 1969123113, 9999123114},
        {"Europe/Berlin", PERIOD_WEEK, 197001, 999952},
        {"UTC", PERIOD_YEAR, 1970, 9999},
        {"UTC", PERIOD_QUARTER, 19701, 99994},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct period_zone *zone = zone_expect_named(rows[i].zone);
        const struct period_rules rules = {rows[i].unit, zone, 1, 1};
        struct period_span span;
        struct period_span beyond;

        period_span_at(&rules, PERIOD_MIN_MS, &span);
        period_span_at(&rules, INT64_MIN, &beyond);
        assert_int_equal(span.stamp, rows[i].first);
        assert_memory_equal(&span, &beyond, sizeof span);
        period_span_at(&rules, PERIOD_MAX_MS, &span);
        period_span_at(&rules, INT64_MAX, &beyond);
        assert_int_equal(span.stamp, rows[i].last);
        assert_memory_equal(&span, &beyond, sizeof span);
        period_zone_close(zone);
    }
}

TEST(without_a_period_there_is_one_span)
{
    const struct period_rules rules = {.unit = PERIOD_NONE};
    struct period_span span;

    period_span_at(&rules, INT64_C(1800000000000), &span);
    assert_int_equal(span.stamp, 0);
    assert_int_equal(span.begin_ms, PERIOD_MIN_MS);
    assert_int_equal(span.end_ms, INT64_MAX);
}

TEST(units_have_names_and_stamps_so_many_digits)
{
    static const struct {
        enum period_unit unit;
        const char *name;
        int digits;
    } rows[] = {
        {PERIOD_NONE, "none", 0},      {PERIOD_SECOND, "second", 14},
        {PERIOD_MINUTE, "minute", 12}, {PERIOD_HOUR, "hour", 10},
        {PERIOD_DAY, "day", 8},        {PERIOD_WEEK, "week", 6},
        {PERIOD_MONTH, "month", 6},    {PERIOD_QUARTER, "quarter", 5},
        {PERIOD_YEAR, "year", 4},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum period_unit unit = PERIOD_NONE;

        assert_string_equal(period_unit_name(rows[i].unit), rows[i].name);
        assert_true(period_unit_parse(rows[i].name, &unit));
        assert_int_equal(unit, rows[i].unit);
        assert_int_equal(period_stamp_digits(rows[i].unit), rows[i].digits);
    }
}

TEST(other_words_are_no_units)
{
    static const char *const words[] = {"", "days", "Day", "da", "millennium"};

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        enum period_unit unit = PERIOD_HOUR;

        assert_false(period_unit_parse(words[i], &unit));
        assert_int_equal(unit, PERIOD_HOUR);
    }
}
