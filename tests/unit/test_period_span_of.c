/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans by their stamps: what period_span_at says of an instant is the
 * measure, at random instants and for all digits between two stamps.
 */

#include "support/test.h"
#include "zone_expect.h"

#define RANDOM (2000 / SEQB_TEST_SCALE)

#define FIRST "1970-01-01 00:00:00"
#define LAST  "9999-12-31 00:00:00"

static void expect_span(const struct period_rules *rules,
                        const struct period_span *expected)
{
    struct period_span span = {0, 0, 0};

    if (!period_span_of(rules, expected->stamp, &span))
        fail_msg("no %s %lld", period_unit_name(rules->unit),
                 (long long)expected->stamp);
    assert_int_equal(span.stamp, expected->stamp);
    assert_int_equal(span.begin_ms, expected->begin_ms);
    assert_int_equal(span.end_ms, expected->end_ms);
}

static void expect_none(const struct period_rules *rules, int64_t stamp)
{
    struct period_span span;

    if (period_span_of(rules, stamp, &span))
        fail_msg("a %s %lld", period_unit_name(rules->unit), (long long)stamp);
}

/* xorshift64: the same numbers in every run. */
/* At any time, in our century, and within some days of a change. */
static int64_t random_ms(const struct period_zone *zone, uint64_t *seed)
{
    const int64_t which = zone_chance(seed, 3);
    int64_t from;

    if (which == 0)
        return zone_chance(seed, PERIOD_MAX_MS + 1);
    if (which == 1)
        return zone_chance(seed, INT64_C(4102444800000));
    from = zone->segments[zone_chance(seed, (int64_t)zone->count)].from;
    if (from < 0 || from > PERIOD_MAX_MS / 1000)
        from = zone_chance(seed, 2) == 0 ? PERIOD_MIN_MS : PERIOD_MAX_MS / 1000;
    return from * 1000 + zone_chance(seed, 400000000) - 200000000;
}

static void expect_found(const char *name)
{
    struct period_zone *zone = zone_expect_named(name);
    uint64_t seed = 0x9e3779b97f4a7c15u;

    for (int i = 0; i < RANDOM; i++) {
        const int64_t ms = random_ms(zone, &seed);
        const int32_t month = (int32_t)zone_chance(&seed, 12) + 1;
        const int32_t day = (int32_t)zone_chance(&seed, 28) + 1;

        for (int unit = PERIOD_NONE; unit <= PERIOD_YEAR; unit++) {
            const struct period_rules rules = {(enum period_unit)unit, zone,
                                               month, day};
            struct period_span span;

            period_span_at(&rules, ms, &span);
            expect_span(&rules, &span);
        }
    }
    period_zone_close(zone);
}

TEST(span_of_every_instant_is_found_by_its_stamp)
{
    static const char *const zones[] = {
        "UTC",
        "Africa/Casablanca",
        "Africa/Monrovia",
        "America/New_York",
        "America/St_Johns",
        "Antarctica/Troll",
        "Asia/Gaza",
        "Asia/Kathmandu",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Europe/Berlin",
        "Europe/Dublin",
        "Pacific/Apia",
        "Pacific/Kwajalein",
    };

    for (size_t i = 0; i < COUNT_OF(zones); i++)
        expect_found(zones[i]);
}

struct row {
    const char *zone;
    enum period_unit unit;
    const char *from; /* instants */
    const char *to;
};

/* Of all digits from one stamp to another, those that instants have. */
static void expect_no_others(const struct row *row, int32_t year_month,
                             int32_t year_day)
{
    struct period_zone *zone = zone_expect_named(row->zone);
    const struct period_rules rules = {row->unit, zone, year_month, year_day};
    struct period_span next;
    struct period_span last;

    period_span_at(&rules, zone_utc(row->from) * 1000, &next);
    period_span_at(&rules, zone_utc(row->to) * 1000, &last);
    assert_true(next.stamp < last.stamp);
    for (int64_t stamp = next.stamp; stamp <= last.stamp; stamp++) {
        if (stamp != next.stamp) {
            expect_none(&rules, stamp);
            continue;
        }
        expect_span(&rules, &next);
        period_span_at(&rules, next.end_ms, &next);
    }
    period_zone_close(zone);
}

TEST(no_other_digits_have_a_span)
{
    static const struct row rows[] = {
        {"UTC", PERIOD_DAY, "1999-12-01 00:00:00", "2005-02-01 00:00:00"},
        {"UTC", PERIOD_DAY, "2099-12-01 00:00:00", "2101-02-01 00:00:00"},
        {"UTC", PERIOD_HOUR, "2026-02-27 00:00:00", "2026-03-02 00:00:00"},
        {"UTC", PERIOD_MINUTE, "2026-11-30 22:00:00", "2026-12-01 01:00:00"},
        {"UTC", PERIOD_SECOND, "2026-12-31 23:58:00", "2026-12-31 23:59:59"},
        {"UTC", PERIOD_WEEK, FIRST, "9999-12-20 00:00:00"},
        {"UTC", PERIOD_MONTH, FIRST, LAST},
        {"UTC", PERIOD_QUARTER, FIRST, LAST},
        {"UTC", PERIOD_YEAR, FIRST, LAST},
        /* set forward, then back */
        {"Europe/Berlin", PERIOD_HOUR, "2026-03-28 00:00:00",
         "2026-03-30 00:00:00"},
        {"Europe/Berlin", PERIOD_HOUR, "2026-10-24 00:00:00",
         "2026-10-26 00:00:00"},
        {"Europe/Berlin", PERIOD_MINUTE, "2026-03-29 00:00:00",
         "2026-03-29 02:00:00"},
        {"Europe/Berlin", PERIOD_SECOND, "2026-03-29 00:59:00",
         "2026-03-29 01:01:00"},
        {"Europe/Berlin", PERIOD_SECOND, "2026-10-25 00:59:00",
         "2026-10-25 02:01:00"},
        {"America/New_York", PERIOD_HOUR, "2026-03-07 00:00:00",
         "2026-03-09 12:00:00"},
        {"America/New_York", PERIOD_HOUR, "2026-10-31 00:00:00",
         "2026-11-02 12:00:00"},
        {"Africa/Casablanca", PERIOD_HOUR, "2026-02-14 00:00:00",
         "2026-03-23 00:00:00"},
        {"Antarctica/Troll", PERIOD_HOUR, "2026-03-28 00:00:00",
         "2026-03-30 00:00:00"},
        {"Antarctica/Troll", PERIOD_HOUR, "2026-10-24 00:00:00",
         "2026-10-26 00:00:00"},
        /* half an hour */
        {"Australia/Lord_Howe", PERIOD_MINUTE, "2026-04-04 12:00:00",
         "2026-04-04 18:00:00"},
        {"Australia/Lord_Howe", PERIOD_MINUTE, "2026-10-03 12:00:00",
         "2026-10-03 18:00:00"},
        /* a day that was skipped */
        {"Pacific/Apia", PERIOD_DAY, "2011-01-01 12:00:00",
         "2012-12-31 12:00:00"},
        {"Pacific/Apia", PERIOD_HOUR, "2011-12-29 12:00:00",
         "2012-01-01 12:00:00"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_no_others(&rows[i], 1, 1);
        if (rows[i].unit < PERIOD_QUARTER)
            continue; /* of these no year begins when it likes */
        expect_no_others(&rows[i], 4, 6);
        expect_no_others(&rows[i], 12, 28);
    }
}

TEST(digits_that_are_no_date_have_no_span)
{
    static const struct {
        enum period_unit unit;
        int64_t stamp;
    } rows[] = {
        {PERIOD_SECOND, INT64_C(20261121235960)},
        {PERIOD_SECOND, INT64_C(20261121236000)},
        {PERIOD_SECOND, INT64_C(20261121240000)},
        {PERIOD_SECOND, INT64_C(20260229120000)},
        {PERIOD_SECOND, INT64_C(120261121235959)},
        {PERIOD_MINUTE, INT64_C(202611212360)},
        {PERIOD_HOUR, INT64_C(2026112124)},
        {PERIOD_HOUR, INT64_C(20261121)},
        {PERIOD_DAY, 20260229},
        {PERIOD_DAY, 20260231},
        {PERIOD_DAY, 21000229},
        {PERIOD_DAY, 20260431},
        {PERIOD_DAY, 20261100},
        {PERIOD_DAY, 20261132},
        {PERIOD_DAY, 20260021},
        {PERIOD_DAY, 20261321},
        {PERIOD_DAY, 120261121},
        {PERIOD_WEEK, 202600},
        {PERIOD_WEEK, 202553},
        {PERIOD_WEEK, 202654},
        {PERIOD_MONTH, 202600},
        {PERIOD_MONTH, 202613},
        {PERIOD_MONTH, 1202601},
        {PERIOD_QUARTER, 20260},
        {PERIOD_QUARTER, 20265},
        {PERIOD_QUARTER, 120261},
        {PERIOD_YEAR, 1968},
        {PERIOD_YEAR, 10000},
        {PERIOD_NONE, 1},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct period_rules rules = {rows[i].unit, NULL, 1, 1};

        expect_none(&rules, rows[i].stamp);
        expect_none(&rules, -rows[i].stamp);
    }
}

TEST(no_digits_at_all_are_beyond_it)
{
    static const int64_t stamps[] = {-1,        1,         99,
                                     INT64_MAX, INT64_MIN, INT64_MAX - 1};

    for (int unit = PERIOD_NONE; unit <= PERIOD_YEAR; unit++) {
        const struct period_rules rules = {(enum period_unit)unit, NULL, 1, 1};

        for (size_t i = 0; i < COUNT_OF(stamps); i++)
            expect_none(&rules, stamps[i]);
        if (unit != PERIOD_NONE)
            expect_none(&rules, 0);
    }
}

/* Where it is not 1970 yet as the range begins, the day before is in it. */
TEST(range_of_instants_ends_the_stamps)
{
    static const struct {
        const char *zone;
        int64_t day;
        bool exists;
    } rows[] = {
        {"UTC", 19691231, false},
        {"UTC", 19700101, true},
        {"UTC", 99991231, true},
        {"America/New_York", 19691230, false},
        {"America/New_York", 19691231, true},
        {"America/New_York", 99991230, true},
        {"America/New_York", 99991231, false},
        {"Asia/Kolkata", 19691231, false},
        {"Asia/Kolkata", 19700101, true},
        {"Asia/Kolkata", 99991231, true},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct period_zone *zone = zone_expect_named(rows[i].zone);
        const struct period_rules rules = {PERIOD_DAY, zone, 1, 1};
        struct period_span span;

        assert_int_equal(period_span_of(&rules, rows[i].day, &span),
                         rows[i].exists);
        period_zone_close(zone);
    }
}

static void expect_span_if_it_exists(const struct period_rules *rules,
                                     int64_t day)
{
    struct period_span span;

    if (period_has_day(day) != period_span_of(rules, day, &span))
        fail_msg("%lld", (long long)day);
}

/* From 1969 to 2004, and the last year. */
TEST(day_exists_if_it_has_a_span)
{
    static const int64_t rows[][2] = {{19690101, 20041332},
                                      {99990000, 100000102}};
    const struct period_rules rules = {PERIOD_DAY, NULL, 1, 1};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int64_t day = rows[i][0]; day <= rows[i][1]; day++)
            expect_span_if_it_exists(&rules, day);
    }
}
