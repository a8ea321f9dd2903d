/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zones of the system's database against the C library's reading of them:
 * offsets are found there day by day, to the second, and the effective local
 * time is worked out from them in the plainest way.
 */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/test.h"
#include "zone_expect.h"

#define DAY_S       INT64_C(86400)
#define STEPS_MAX   1000
#define RANDOM      (4000 / SEQB_TEST_SCALE)
#define HOLD_S      (INT64_C(27) * 3600) /* no clock was ever set back by more */
#define FOLDER      "/usr/share/zoneinfo"
#define ZONES_LEAST 300

static const char *const names[] = {
    "Africa/Cairo",
    "Africa/Casablanca",
    "Africa/El_Aaiun",
    "Africa/Monrovia",
    "America/Caracas",
    "America/Havana",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Troll",
    "Antarctica/Casey",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Pyongyang",
    "Asia/Shanghai",
    "Asia/Tehran",
    "Australia/Adelaide",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/Lisbon",
    "Europe/London",
    "Europe/Moscow",
    "Pacific/Apia",
    "Pacific/Auckland",
    "Pacific/Chatham",
    "Pacific/Easter",
    "Pacific/Kiritimati",
    "Pacific/Kwajalein",
    "Etc/GMT+12",
    "Etc/UTC",
    "EST5EDT",
};

/* What the C library has for a while: from when on which offset. */
struct found {
    struct {
        int64_t from;
        int64_t offset;
    } steps[STEPS_MAX];
    size_t count;
};

static int64_t libc_offset(int64_t at)
{
    const time_t when = at;
    struct tm tm;

    assert_non_null(localtime_r(&when, &tm));
    return tm.tm_gmtoff;
}

/* The first second of another offset than at `from`, which `to` has. */
static int64_t find_change(int64_t from, int64_t to)
{
    const int64_t offset = libc_offset(from);

    while (to - from > 1) {
        const int64_t middle = from + (to - from) / 2;

        if (libc_offset(middle) == offset)
            from = middle;
        else
            to = middle;
    }
    return to;
}

static void find_all(int64_t from, int64_t to, struct found *out)
{
    out->count = 0;
    for (int64_t at = from; at < to; at += DAY_S) {
        const bool is_first = out->count == 0;
        const int64_t offset = libc_offset(at);

        if (!is_first && out->steps[out->count - 1].offset == offset)
            continue;
        assert_true(out->count < STEPS_MAX);
        out->steps[out->count].from =
            is_first ? from : find_change(at - DAY_S, at);
        out->steps[out->count++].offset = offset;
    }
}

/* The latest that a clock showed up to then: of each offset, at its end. */
static int64_t found_local(const struct found *found, int64_t at)
{
    int64_t local = INT64_MIN;

    for (size_t i = 0; i < found->count && found->steps[i].from <= at; i++) {
        const bool is_last =
            i + 1 == found->count || found->steps[i + 1].from > at;
        const int64_t end = is_last ? at : found->steps[i + 1].from - 1;

        if (end + found->steps[i].offset > local)
            local = end + found->steps[i].offset;
    }
    return local;
}

/* The first time by which that local time is reached, by its definition. */
static void expect_reach(const struct period_zone *zone,
                         const struct found *found, int64_t local)
{
    const int64_t at = zone_reach(zone, local);

    assert_true(found_local(found, at) >= local);
    assert_true(found_local(found, at - 1) < local);
}

static void expect_same(const struct period_zone *zone,
                        const struct found *found, int64_t at)
{
    const int64_t local = found_local(found, at);

    assert_int_equal(zone_local(zone, at), local);
    assert_true(local >= at + libc_offset(at));
    expect_reach(zone, found, local);
    expect_reach(zone, found, at + libc_offset(at));
}

/* xorshift64: the same numbers in every run. */
/* The two days at each end are only there to look back from. */
static void compare(const struct period_zone *zone, int64_t from, int64_t to,
                    int randoms)
{
    static struct found found;
    uint64_t seed = 0x9e3779b97f4a7c15u;

    find_all(from, to, &found);
    for (size_t i = 1; i < found.count; i++) {
        const int64_t at = found.steps[i].from;

        if (at < from + 2 * DAY_S || at > to - 4 * DAY_S)
            continue;
        for (int64_t k = -2; k <= 2; k++)
            expect_same(zone, &found, at + k);
        for (int k = 0; k < 20; k++) {
            expect_same(zone, &found, at + zone_chance(&seed, HOLD_S));
            /* Also a local time that is skipped. */
            expect_reach(zone, &found,
                         at + libc_offset(at - 1) + zone_chance(&seed, HOLD_S));
        }
    }
    for (int i = 0; i < randoms; i++)
        expect_same(zone, &found,
                    from + 2 * DAY_S +
                        zone_chance(&seed, to - from - 4 * DAY_S));
}

static struct period_zone *open_both(const char *name)
{
    struct seqb_error err = {SEQB_OK, ""};
    struct period_zone *zone = NULL;

    assert_int_equal(setenv("TZ", name, 1), 0);
    tzset();
    (void)period_zone_open(name, &zone, &err);
    assert_string_equal(err.text, "");
    return zone;
}

TEST(zones_are_what_the_c_library_has_until_2100)
{
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct period_zone *zone = open_both(names[i]);

        compare(zone, zone_utc("1969-12-25 00:00:00"),
                zone_utc("2100-01-08 00:00:00"), RANDOM);
        period_zone_close(zone);
    }
}

/* Where the rules of the footer repeat: in years of every kind. */
TEST(zones_are_what_the_c_library_has_in_far_years)
{
    static const char *const years[] = {
        "2100-01-01 00:00:00", "2399-01-01 00:00:00", "2400-01-01 00:00:00",
        "2437-01-01 00:00:00", "2438-01-01 00:00:00", "2439-01-01 00:00:00",
        "2440-01-01 00:00:00", "5999-01-01 00:00:00", "9998-01-01 00:00:00",
    };

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct period_zone *zone = open_both(names[i]);

        for (size_t k = 0; k < COUNT_OF(years); k++) {
            const int64_t from = zone_utc(years[k]);

            compare(zone, from - 10 * DAY_S, from + 380 * DAY_S, 50);
        }
        period_zone_close(zone);
    }
}

static size_t opened;

/* Also what is none: lists, and zones that count leap seconds. */
static int open_one(const char *path, const struct stat *about, int type,
                    struct FTW *place)
{
    const char *name = path + sizeof FOLDER;
    const bool is_right = strncmp(name, "right/", 6) == 0;
    struct period_zone *zone = NULL;
    struct seqb_error err = {SEQB_OK, ""};

    (void)about;
    (void)place;
    if (type != FTW_F || strchr(name, '.') != NULL)
        return 0;
    if (period_zone_open(name, &zone, &err) == SEQB_OK) {
        opened++;
        period_zone_close(zone);
        return is_right;
    }
    return strstr(err.text, is_right ? "leap seconds" : "is no zone file") ==
           NULL;
}

TEST(every_zone_of_the_system_can_be_opened)
{
    opened = 0;
    assert_int_equal(nftw(FOLDER, open_one, 16, FTW_PHYS), 0);
    assert_true(opened >= ZONES_LEAST);
}
