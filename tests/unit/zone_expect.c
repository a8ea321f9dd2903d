/* SPDX-License-Identifier: Apache-2.0 */
/* Zone files that are read as they should be, or refused. */
#include "zone_expect.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/test.h"

static const int64_t times[] = {-2000000000, 954032400, 972781200};
static const unsigned char types[] = {1, 2, 1};
static const int32_t offsets[] = {3208, 3600, 7200};

const struct zone_parts zone_central = {
    '2', times, types, 3, offsets, 3, "CET-1CEST,M3.5.0,M10.5.0/3"};

struct zone_image zone_image_of(const struct zone_parts *parts)
{
    struct zone_image image;

    zone_image_make(parts, &image);
    return image;
}

struct period_zone *zone_expect_sound(const struct zone_image *image)
{
    struct seqb_error err = {SEQB_OK, ""};
    struct period_zone *zone = NULL;

    (void)zone_file_read(image->bytes, image->size, &zone, &err);
    assert_string_equal(err.text, "");
    return zone;
}

struct period_zone *zone_expect_named(const char *name)
{
    struct seqb_error err = {SEQB_OK, ""};
    struct period_zone *zone = NULL;

    (void)period_zone_open(name, &zone, &err);
    assert_string_equal(err.text, "");
    return zone;
}

int64_t zone_chance(uint64_t *seed, int64_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (int64_t)(*seed % (uint64_t)below);
}

void zone_expect_refused(const struct zone_image *image, const char *why)
{
    struct period_zone *zone = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    /* Of just its size, so that reading past it is seen. */
    char *copy = malloc(image->size + (image->size == 0));

    assert_non_null(copy);
    memcpy(copy, image->bytes, image->size);
    assert_int_equal(zone_file_read(copy, image->size, &zone, &err),
                     SEQB_INVALID);
    free(copy);
    assert_null(zone);
    if (strstr(err.text, why) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", why, err.text);
}

int64_t zone_utc(const char *text)
{
    struct tm tm = {.tm_isdst = 0};

    assert_non_null(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
    return timegm(&tm);
}

void zone_expect_offset(const struct period_zone *zone, const char *at,
                        int64_t offset)
{
    assert_int_equal(zone_local(zone, zone_utc(at)) - zone_utc(at), offset);
}
