/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged zone files: whatever is wrong with one is said, and nothing is read
 * that is not there. */
#include <string.h>

#include "support/test.h"
#include "zone_expect.h"

TEST(footer_that_is_no_tz_string_is_refused)
{
    static const char *const footers[] = {
        "5",
        "E5",
        "EST",
        "EST5 ",
        "EST5EDT",
        "EST5EDT,",
        "EST5EDT,M3.2.0",
        "EST5EDT,M3.2.0,M11.1.0,",
        "EST5EDT,M3.2.0;M11.1.0",
        "EST5EDT4,M3.2.0/2:60,M11.1.0",
        "EST5EDT4,M3.2.0/2:00:60,M11.1.0",
        "EST5EDT,M3.2.0/168,M11.1.0",
        "EST5EDT,M3.2.0/-168,M11.1.0",
        "EST5EDT,M3.2.0/,M11.1.0",
        "EST5EDT,M0.2.0,M11.1.0",
        "EST5EDT,M13.2.0,M11.1.0",
        "EST5EDT,M3.0.0,M11.1.0",
        "EST5EDT,M3.6.0,M11.1.0",
        "EST5EDT,M3.2.7,M11.1.0",
        "EST5EDT,M3.2,M11.1.0",
        "EST5EDT,J0,M11.1.0",
        "EST5EDT,J366,M11.1.0",
        "EST5EDT,366,M11.1.0",
        "EST5EDT,-1,M11.1.0",
        "EST25",
        "EST5:60",
        "EST5:",
        "EST+",
        "EST00000005",
        "<E>5",
        "<EST5",
        "<EST>",
        "EST5<ED>,M3.2.0,M11.1.0",
        ":EST5",
        "America/New_York",
    };

    for (size_t i = 0; i < COUNT_OF(footers); i++) {
        struct zone_parts parts = zone_central;
        struct zone_image image;

        parts.footer = footers[i];
        image = zone_image_of(&parts);
        zone_expect_refused(&image, "its footer is no TZ string");
    }
}

TEST(footer_whose_years_overlap_is_refused)
{
    struct zone_parts parts = zone_central;
    struct zone_image image;

    parts.footer = "EST5EDT,J1/-167,J365/167";
    image = zone_image_of(&parts);
    zone_expect_refused(&image, "overlap");
}

TEST(long_footer_is_refused)
{
    char footer[ZONE_FOOTER_SIZE + 1];
    struct zone_parts parts = zone_central;
    struct zone_image image;

    memset(footer, 'A', sizeof footer - 1);
    footer[sizeof footer - 1] = '\0';
    parts.footer = footer;
    image = zone_image_of(&parts);
    zone_expect_refused(&image, "its footer is no TZ string");
}

TEST(file_that_is_cut_short_is_refused)
{
    static const char versions[] = {'\0', '2', '3', '4'};

    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct zone_parts parts = zone_central;
        struct zone_image image;

        parts.version = versions[i];
        image = zone_image_of(&parts);
        period_zone_close(zone_expect_sound(&image));
        while (image.size-- > 0)
            zone_expect_refused(&image, "");
    }
}

TEST(file_that_is_too_long_is_refused)
{
    struct zone_parts parts = zone_central;
    struct zone_image image = zone_image_of(&zone_central);

    image.bytes[image.size++] = '\n';
    zone_expect_refused(&image, "does not end where the file does");
    parts.version = '\0';
    image = zone_image_of(&parts);
    image.bytes[image.size++] = '\n';
    zone_expect_refused(&image, "more comes after its end");
}

/* A count that is wrong, in a file that has bytes enough to go on. */
TEST(count_that_is_wrong_is_refused)
{
    static const struct {
        enum zone_place place;
        uint32_t count;
        const char *why;
    } rows[] = {
        {ZONE_AT_ISUT, 2, "do not match"},
        {ZONE_AT_ISSTD, 2, "do not match"},
        {ZONE_AT_LEAP, 1, "leap seconds"},
        {ZONE_AT_TYPE, 0, "no types"},
        {ZONE_AT_CHAR, 0, "do not end"},
        {ZONE_AT_CHAR, 3, "do not end"},
        {ZONE_AT_TIME, UINT32_MAX, "cut short"},
        {ZONE_AT_TYPE, UINT32_MAX, "cut short"},
        {ZONE_AT_CHAR, UINT32_MAX, "cut short"},
        {ZONE_AT_LEAP, UINT32_MAX, "leap seconds"},
        {ZONE_AT_ISUT, UINT32_MAX, "cut short"},
        {ZONE_AT_ISSTD, UINT32_MAX, "cut short"},
        {ZONE_AT_VERSION, 0x31000000, "unknown version"},
        {ZONE_AT_VERSION, 0x35000000, "unknown version"},
        {ZONE_AT_VERSION, 0, "headers do not match"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct zone_image image = zone_image_of(&zone_central);

        zone_image_set(&image, rows[i].place, rows[i].count);
        zone_expect_refused(&image, rows[i].why);
    }
}

TEST(value_that_is_out_of_range_is_refused)
{
    static const int64_t same[] = {5, 5};
    static const int64_t falling[] = {5, 4};
    static const int64_t early[] = {-ZONE_TIME_MAX - 1, 5};
    static const int64_t late[] = {5, ZONE_TIME_MAX + 1};
    static const int64_t sound[] = {5, 6};
    static const unsigned char both[] = {0, 1};
    static const unsigned char third[] = {0, 2};
    static const int32_t mild[] = {0, 1};
    static const int32_t east[] = {0, ZONE_OFFSET_MAX + 1};
    static const int32_t west[] = {ZONE_OFFSET_MIN - 1, 0};
    static const struct {
        struct zone_parts parts;
        const char *why;
    } rows[] = {
        {{'2', same, both, 2, mild, 2, ""}, "do not increase"},
        {{'2', falling, both, 2, mild, 2, ""}, "do not increase"},
        {{'2', early, both, 2, mild, 2, ""}, "time is out of range"},
        {{'2', late, both, 2, mild, 2, ""}, "time is out of range"},
        {{'2', sound, third, 2, mild, 2, ""}, "no type"},
        {{'2', sound, both, 2, east, 2, ""}, "offset is out of range"},
        {{'2', sound, both, 2, west, 2, ""}, "offset is out of range"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct zone_image image = zone_image_of(&rows[i].parts);

        zone_expect_refused(&image, rows[i].why);
    }
}

/* What is not a number of the table: the flag and the name of a type. */
TEST(type_that_is_out_of_range_is_refused)
{
    static const struct {
        size_t at; /* in a type */
        char value;
    } rows[] = {{4, 2}, {5, 4}, {5, (char)0xff}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct zone_image image = zone_image_of(&zone_central);
        const size_t first =
            image.block + ZONE_HEADER_SIZE + 9 * zone_central.time_count;

        image.bytes[first + rows[i].at] = rows[i].value;
        zone_expect_refused(&image, "a type is out of range");
    }
}

/* One that goes unnoticed is another zone, but as sound as any. */
TEST(file_with_a_flipped_bit_never_makes_time_go_back)
{
    const struct zone_image image = zone_image_of(&zone_central);

    for (size_t bit = 0; bit < 8 * image.size; bit++) {
        struct zone_image flipped = image;
        struct period_zone *zone = NULL;
        char *byte = &flipped.bytes[bit / 8];
        int64_t before = INT64_MIN;

        *byte = (char)((unsigned char)*byte ^ 1u << bit % 8);
        if (zone_file_read(flipped.bytes, flipped.size, &zone, NULL) != SEQB_OK)
            continue;
        for (int64_t at = 0; at < 1600000000; at += 12345678) {
            const int64_t local = zone_local(zone, at);

            assert_true(local >= before && zone_reach(zone, local) <= at);
            assert_true(zone_local(zone, zone_reach(zone, local)) >= local);
            before = local;
        }
        period_zone_close(zone);
    }
}

TEST(footer_that_is_not_framed_as_it_should_be_is_refused)
{
    static const struct {
        size_t before_end;
        char byte;
        const char *why;
    } rows[] = {
        {28, ' ', "no footer"},
        {1, ' ', "does not end"},
        {10, '\n', "does not end"},
        {22, '\0', "no TZ string"}, /* what is left of it is one */
    };

    assert_int_equal(strlen(zone_central.footer) + 2, 28);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct zone_image image = zone_image_of(&zone_central);

        image.bytes[image.size - rows[i].before_end] = rows[i].byte;
        zone_expect_refused(&image, rows[i].why);
    }
}

/* They are not used, but must be there for all types or none. */
TEST(indicators_of_some_types_are_refused)
{
    static const enum zone_place places[] = {ZONE_AT_ISUT, ZONE_AT_ISSTD};

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        for (uint32_t count = 1; count <= 3; count++) {
            struct zone_image image = zone_image_of(&zone_central);
            const size_t footer = strlen(zone_central.footer) + 2;
            char *end = image.bytes + image.size;

            memmove(end - footer + count, end - footer, footer);
            memset(end - footer, 0, count);
            image.size += count;
            zone_image_set(&image, places[i], count);
            if (count == 3)
                period_zone_close(zone_expect_sound(&image));
            else
                zone_expect_refused(&image, "its counts do not match");
        }
    }
}
