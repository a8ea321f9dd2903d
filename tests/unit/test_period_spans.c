/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of the spans of every unit and zone, at random instants and
 * one after the other, and their dates as the C library has them.
 */
#include <stdlib.h>
#include <time.h>

#include "period/date.h"
#include "support/test.h"
#include "zone_expect.h"

#define RANDOM (2000 / SEQB_TEST_SCALE)

static int count_digits(int64_t value)
{
    int digits = 1;

    for (; value > 9; value /= 10)
        digits++;
    return digits;
}

static void expect_same_span(const struct period_rules *rules, int64_t ms,
                             const struct period_span *expected)
{
    struct period_span span;

    period_span_at(rules, ms, &span);
    assert_int_equal(span.stamp, expected->stamp);
    assert_int_equal(span.begin_ms, expected->begin_ms);
    assert_int_equal(span.end_ms, expected->end_ms);
}

static void expect_sound(const struct period_rules *rules, int64_t ms)
{
    struct period_span span;
    struct period_span other;

    period_span_at(rules, ms, &span);
    assert_true(span.begin_ms <= ms && ms < span.end_ms);
    assert_int_equal(count_digits(span.stamp),
                     period_stamp_digits(rules->unit));
    expect_same_span(rules, span.end_ms - 1, &span);
    period_span_at(rules, span.end_ms, &other);
    assert_int_equal(other.begin_ms, span.end_ms);
    assert_true(other.stamp > span.stamp);
    if (span.begin_ms <= PERIOD_MIN_MS)
        return;
    expect_same_span(rules, span.begin_ms, &span);
    period_span_at(rules, span.begin_ms - 1, &other);
    assert_int_equal(other.end_ms, span.begin_ms);
    assert_true(other.stamp < span.stamp);
}

/* xorshift64: the same numbers in every run. */
/* At any time, in our century, and within some days of a change. */
static int64_t random_ms(const struct period_zone *zone, uint64_t *seed)
{
    const int64_t least = 86400000;
    const int64_t most = PERIOD_MAX_MS - INT64_C(86400000) * 2 * 366;
    const int64_t which = zone_chance(seed, 3);
    int64_t ms;

    if (which == 0)
        return least + zone_chance(seed, most - least);
    if (which == 1)
        return least + zone_chance(seed, INT64_C(4102444800000));
    ms = zone->segments[zone_chance(seed, (int64_t)zone->count)].from;
    if (ms <= 0 || ms > most / 1000)
        return least;
    ms = ms * 1000 + zone_chance(seed, 400000000) - 200000000;
    return ms < least ? least : ms;
}

static void expect_all_sound(const char *name)
{
    struct period_zone *zone = zone_expect_named(name);
    uint64_t seed = 0x9e3779b97f4a7c15u;

    for (int i = 0; i < RANDOM; i++) {
        const int64_t ms = random_ms(zone, &seed);
        const int32_t month = (int32_t)zone_chance(&seed, 12) + 1;
        const int32_t day = (int32_t)zone_chance(&seed, 28) + 1;

        for (int unit = PERIOD_SECOND; unit <= PERIOD_YEAR; unit++) {
            const struct period_rules rules = {(enum period_unit)unit, zone,
                                               month, day};

            expect_sound(&rules, ms);
        }
    }
    period_zone_close(zone);
}

TEST(spans_follow_each_other_and_their_stamps_increase)
{
    static const char *const zones[] = {
        "UTC",
        "Africa/Cairo",
        "Africa/Casablanca",
        "Africa/Monrovia",
        "America/New_York",
        "America/Nuuk",
        "America/Sao_Paulo",
        "America/St_Johns",
        "Antarctica/Troll",
        "Asia/Beirut",
        "Asia/Gaza",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "Europe/Berlin",
        "Europe/Dublin",
        "Pacific/Apia",
        "Pacific/Kwajalein",
    };

    for (size_t i = 0; i < COUNT_OF(zones); i++)
        expect_all_sound(zones[i]);
}

/* One after the other over a change in each direction, so that none is
 * passed over. */
static void walk(const char *name, enum period_unit unit, const char *from,
                 const char *to, int64_t expected)
{
    struct period_zone *zone = zone_expect_named(name);
    const struct period_rules rules = {unit, zone, 1, 1};
    const int64_t end = zone_utc(to) * 1000;
    struct period_span span = {0, 0, 0};
    int64_t count = 0;

    for (int64_t ms = zone_utc(from) * 1000; ms < end; ms = span.end_ms) {
        period_span_at(&rules, ms, &span);
        assert_int_equal(span.begin_ms, ms);
        count++;
    }
    assert_int_equal(span.end_ms, end);
    assert_int_equal(count, expected);
    period_zone_close(zone);
}

TEST(no_span_is_missing_over_a_change)
{
    walk("Europe/Berlin", PERIOD_HOUR, "2026-03-28 23:00:00",
         "2026-03-29 22:00:00", 23);
    walk("Europe/Berlin", PERIOD_HOUR, "2026-10-24 22:00:00",
         "2026-10-25 23:00:00", 24);
    walk("Europe/Berlin", PERIOD_SECOND, "2026-10-24 22:00:00",
         "2026-10-25 23:00:00", 86400);
    walk("Pacific/Apia", PERIOD_DAY, "2011-12-01 10:00:00",
         "2011-12-31 10:00:00", 30);
    walk("Europe/Berlin", PERIOD_DAY, "2025-12-31 23:00:00",
         "2026-12-31 23:00:00", 365);
    walk("UTC", PERIOD_MONTH, "1970-01-01 00:00:00", "2370-01-01 00:00:00",
         4800);
    walk("UTC", PERIOD_WEEK, "1970-01-05 00:00:00", "2370-01-05 00:00:00",
         DATE_CYCLE_DAYS / 7);
}

static int64_t stamp_at(enum period_unit unit, int64_t ms)
{
    const struct period_rules rules = {unit, NULL, 1, 1};
    struct period_span span;

    period_span_at(&rules, ms, &span);
    return span.stamp;
}

static int64_t libc_day(const struct tm *tm)
{
    return ((tm->tm_year + INT64_C(1900)) * 100 + tm->tm_mon + 1) * 100 +
           tm->tm_mday;
}

static int64_t libc_week(const struct tm *tm)
{
    char text[32];

    assert_true(strftime(text, sizeof text, "%G%V", tm) > 0);
    return strtoll(text, NULL, 10);
}

TEST(every_day_has_the_date_and_week_of_the_c_library)
{
    const int64_t days = PERIOD_MAX_MS / 86400000;

    for (int64_t day = 0; day <= days; day += SEQB_TEST_SCALE) {
        const time_t at = day * 86400;
        struct tm tm;

        assert_non_null(gmtime_r(&at, &tm));
        assert_int_equal(stamp_at(PERIOD_DAY, day * 86400000), libc_day(&tm));
        assert_int_equal(stamp_at(PERIOD_WEEK, day * 86400000), libc_week(&tm));
    }
}

TEST(every_day_of_a_few_cycles_is_found_by_its_date)
{
    const int64_t most = 3 * DATE_CYCLE_DAYS;

    for (int64_t day = -most; day <= most; day += SEQB_TEST_SCALE) {
        const struct date date = date_of_days(day);
        const struct date next = date_of_days(day + 1);

        assert_int_equal(date_to_days(date.year, date.month, date.day), day);
        assert_true(next.day == date.day + 1 ||
                    (next.day == 1 && date.day >= 28));
    }
}
