/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read of zone files, and finding them by name. Damaged ones are left
 * to test_zone_file; what the zones of the system's database mean is compared
 * with the C library in test_zone_libc.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "period/date.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"
#include "zone_expect.h"

#define HOUR_S INT64_C(3600)

TEST(offsets_hold_between_the_times_of_the_file)
{
    const struct zone_image image = zone_image_of(&zone_central);
    struct period_zone *zone = zone_expect_sound(&image);

    zone_expect_offset(zone, "1906-08-16 20:26:39", 3208);
    zone_expect_offset(zone, "1906-08-16 20:26:40", HOUR_S);
    zone_expect_offset(zone, "1999-07-01 00:00:00", HOUR_S);
    zone_expect_offset(zone, "2000-03-26 00:59:59", HOUR_S);
    zone_expect_offset(zone, "2000-03-26 01:00:00", 2 * HOUR_S);
    zone_expect_offset(zone, "2000-10-29 00:59:59", 2 * HOUR_S);
    zone_expect_offset(zone, "2000-10-29 02:00:00", HOUR_S);
    period_zone_close(zone);
}

TEST(footer_holds_after_the_last_time_of_the_file)
{
    const struct zone_image image = zone_image_of(&zone_central);
    struct period_zone *zone = zone_expect_sound(&image);

    zone_expect_offset(zone, "2001-03-25 00:59:59", HOUR_S);
    zone_expect_offset(zone, "2001-03-25 01:00:00", 2 * HOUR_S);
    zone_expect_offset(zone, "2026-07-01 00:00:00", 2 * HOUR_S);
    zone_expect_offset(zone, "2026-12-01 00:00:00", HOUR_S);
    period_zone_close(zone);
}

/* 400 years are a whole number of weeks: at the seam, and far behind it. */
TEST(footer_repeats_after_400_years_to_the_second)
{
    const struct zone_image image = zone_image_of(&zone_central);
    struct period_zone *zone = zone_expect_sound(&image);
    const int64_t cycle = DATE_CYCLE_DAYS * DATE_DAY_S;
    const int64_t from = zone->repeats - 30 * DATE_DAY_S;

    for (int64_t at = from; at < from + 400 * DATE_DAY_S; at += 900) {
        const int64_t local = zone_local(zone, at);

        assert_int_equal(zone_local(zone, at - cycle), local - cycle);
        assert_int_equal(zone_local(zone, at + 18 * cycle), local + 18 * cycle);
        assert_int_equal(zone_reach(zone, local + 18 * cycle),
                         zone_reach(zone, local) + 18 * cycle);
        assert_int_equal(zone_reach(zone, local - cycle),
                         zone_reach(zone, local) - cycle);
    }
    period_zone_close(zone);
}

TEST(without_a_footer_the_last_offset_is_for_ever)
{
    static const char versions[] = {'\0', '2', '3', '4'};

    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct zone_parts parts = zone_central;
        struct zone_image image;
        struct period_zone *zone;

        parts.version = versions[i];
        parts.time_count = 2;
        parts.footer = "";
        image = zone_image_of(&parts);
        zone = zone_expect_sound(&image);

        zone_expect_offset(zone, "1999-12-01 00:00:00", HOUR_S);
        zone_expect_offset(zone, "2000-12-01 00:00:00", 2 * HOUR_S);
        zone_expect_offset(zone, "9999-12-01 00:00:00", 2 * HOUR_S);
        period_zone_close(zone);
    }
}

/* Each alone in a file, in a year with and one without a leap day. */
static const struct {
    const char *footer;
    struct {
        const char *at;
        int64_t offset;
    } seen[4];
} footers[] = {
    {"EST5",
     {{"1970-01-01 00:00:00", -18000}, {"9998-07-01 00:00:00", -18000}}},
    {"<+0545>-5:45", {{"2026-07-01 00:00:00", 20700}}},
    {"<-0044>0:44:30", {{"2026-07-01 00:00:00", -2670}}},
    {"AAA+24:59:59", {{"2026-07-01 00:00:00", -89999}}},
    {"EST5EDT,M3.2.0,M11.1.0",
     {{"2026-03-08 06:59:59", -18000},
      {"2026-03-08 07:00:00", -14400},
      {"2026-11-01 05:59:59", -14400},
      {"2026-11-01 07:00:00", -18000}}},
    {"IST-1GMT0,M10.5.0,M3.5.0/1",
     {{"2026-03-29 00:59:59", 0},
      {"2026-03-29 01:00:00", HOUR_S},
      {"2026-10-25 00:59:59", HOUR_S},
      {"2026-10-25 02:00:00", 0}}},
    {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
     {{"2026-01-01 00:00:00", 39600},
      {"2026-04-04 15:30:00", 37800},
      {"2026-10-03 15:29:59", 37800},
      {"2026-10-03 15:30:00", 39600}}},
    {"AAA0BBB,J59/0,J60/0", /* February 28 to March 1 */
     {{"2024-02-27 23:59:59", 0},
      {"2024-02-29 12:00:00", HOUR_S},
      {"2024-03-01 00:00:00", 0},
      {"2023-03-01 00:00:00", 0}}},
    {"AAA0BBB,59/0,60/0", /* the 60th day: February 29, or March 1 */
     {{"2024-02-28 23:59:59", 0},
      {"2024-02-29 00:00:00", HOUR_S},
      {"2023-02-28 23:59:59", 0},
      {"2023-03-01 00:00:00", HOUR_S}}},
    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
     {{"2026-03-29 00:59:59", -7200},
      {"2026-03-29 01:00:00", -3600},
      {"2026-10-25 00:59:59", -3600},
      {"2026-10-25 02:00:00", -7200}}},
    {"EET-2EEST,M3.4.4/50,M10.4.4/50", /* 50 hours past a Thursday */
     {{"2026-03-27 23:59:59", 7200},
      {"2026-03-28 00:00:00", 10800},
      {"2026-10-23 22:59:59", 10800},
      {"2026-10-24 00:00:00", 7200}}},
    {"AAA-2<+01>-1,0/0,J365/23", /* another one all the year */
     {{"2026-01-01 00:00:00", HOUR_S},
      {"2026-12-31 22:00:00", HOUR_S},
      {"2027-01-01 00:00:00", HOUR_S},
      {"2499-01-01 00:00:00", HOUR_S}}},
};

TEST(footers_of_every_form_are_understood)
{
    static const int32_t offsets[] = {12345};

    for (size_t i = 0; i < COUNT_OF(footers); i++) {
        const struct zone_parts parts = {
            '3', NULL, NULL, 0, offsets, 1, footers[i].footer};
        const struct zone_image image = zone_image_of(&parts);
        struct period_zone *zone = zone_expect_sound(&image);

        for (size_t k = 0; k < 4 && footers[i].seen[k].at != NULL; k++)
            zone_expect_offset(zone, footers[i].seen[k].at,
                               footers[i].seen[k].offset);
        period_zone_close(zone);
    }
}

/* Set back by 5 hours, and put forward by 2 before that time has come again:
 * it goes on only when it has. */
TEST(clock_that_is_behind_stays_behind_over_another_change)
{
    static const int64_t times[] = {1000000, 1003600};
    static const unsigned char types[] = {1, 2};
    static const int32_t offsets[] = {18000, 0, 7200};
    static const struct zone_parts parts = {
        '2', times, types, COUNT_OF(times), offsets, COUNT_OF(offsets), ""};
    const struct zone_image image = zone_image_of(&parts);
    struct period_zone *zone = zone_expect_sound(&image);

    for (int64_t at = 1000000; at < 1010800; at++)
        assert_int_equal(zone_local(zone, at), 1017999);
    assert_int_equal(zone_local(zone, 1010800), 1018000);
    assert_int_equal(zone_reach(zone, 1017999), 999999);
    assert_int_equal(zone_reach(zone, 1018000), 1010800);
    period_zone_close(zone);
}

/* --- by name --- */

static void expect_no_zone(const char *name, const char *why)
{
    struct period_zone *zone = NULL;
    struct seqb_error err = {SEQB_OK, ""};

    assert_int_equal(period_zone_open(name, &zone, &err), SEQB_INVALID);
    assert_null(zone);
    if (strstr(err.text, why) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", why, err.text);
}

TEST(text_that_is_no_name_is_refused)
{
    static const char *const names[] = {
        "",
        "/etc/passwd",
        "../../../etc/passwd",
        "Europe/../../passwd",
        "Europe/Berlin/",
        "Europe//Berlin",
        "Europe Berlin",
        "Europe/Berlin\n",
        ":Europe/Berlin",
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "./UTC",
        "Z\xc3\xbcrich",
        "A2345678901234567890123456789012345678901234567890123456789012345",
    };

    for (size_t i = 0; i < COUNT_OF(names); i++)
        expect_no_zone(names[i], "is no name of a time zone");
}

TEST(zone_that_is_not_there_is_refused_with_a_hint)
{
    expect_no_zone("Europe/Berlni", "there is no /usr/share/zoneinfo/"
                                    "Europe/Berlni; give a name as");
    expect_no_zone("Europe", "is no file");
    expect_no_zone("tzdata", "package tzdata");
}

static int leave_environment(void **state)
{
    (void)state;
    return unsetenv("TZDIR");
}

#define ZONE FIXTURE(void *unused, NULL, leave_environment)

static void save(const char *folder, const char *name, const char *bytes,
                 size_t size)
{
    char path[256];
    FILE *file;

    assert_true(text_format(path, sizeof path, "%s/%s", folder, name));
    file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

TEST_WITH(ZONE, files_are_looked_for_in_the_folder_that_tzdir_names)
{
    const struct zone_image image = zone_image_of(&zone_central);
    struct zone_image leap = image;
    char folder[64];
    char *large = calloc(1, ZONE_FILE_MAX + 1);
    struct period_zone *zone = NULL;

    assert_non_null(large);
    assert_true(folder_make(folder, sizeof folder));
    assert_int_equal(setenv("TZDIR", folder, 1), 0);
    save(folder, "Mine", image.bytes, image.size);
    save(folder, "Text", "no zone\n", 8);
    save(folder, "Empty", "", 0);
    save(folder, "Large", large, ZONE_FILE_MAX + 1);
    zone_image_set(&leap, ZONE_AT_LEAP, 1);
    save(folder, "Leap", leap.bytes, leap.size);
    free(large);
    assert_ok(period_zone_open("Mine", &zone, NULL));
    zone_expect_offset(zone, "2026-07-01 00:00:00", 2 * HOUR_S);
    period_zone_close(zone);
    expect_no_zone("Text", "time zone \"Text\": this is no zone file");
    expect_no_zone("Empty", "this is no zone file");
    expect_no_zone("Large", "is no file of at most 65536 bytes");
    expect_no_zone("Leap", "leap seconds");
    expect_no_zone("Europe/Berlin", folder);
    folder_remove(folder);
}

TEST_WITH(ZONE, utc_needs_no_file)
{
    struct period_zone *zone = NULL;

    assert_int_equal(setenv("TZDIR", "/nowhere", 1), 0);
    assert_ok(period_zone_open("UTC", &zone, NULL));
    zone_expect_offset(zone, "1970-01-01 00:00:00", 0);
    zone_expect_offset(zone, "9999-12-31 00:00:00", 0);
    assert_int_equal(zone_reach(zone, 12345), 12345);
    period_zone_close(zone);
    period_zone_close(NULL);
}

/* The system's own zones. */
static int unset_tzdir(void **state)
{
    (void)state;
    return unsetenv("TZDIR");
}

TEST_BEFORE_ALL(unset_tzdir);
