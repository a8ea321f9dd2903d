/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of zone files and zones, for the tests of time zones. */
#pragma once

#include <stdint.h>

#include "period/zone.h"
#include "zone_fixture.h"

/* Local mean time until 1906, standard time, and the summer of 2000; after that
 * the rules of Central Europe, in the footer. */
extern const struct zone_parts zone_central;

struct zone_image zone_image_of(const struct zone_parts *parts);

/* Opens the zone of a file, which must be valid. */
struct period_zone *zone_expect_sound(const struct zone_image *image);

/* Opens the zone of that name, which must be installed. */
struct period_zone *zone_expect_named(const char *name);

/* A random number from 0 to below - 1. */
int64_t zone_chance(uint64_t *seed, int64_t below);

/* The file must be refused, and the error must contain `why`. */
void zone_expect_refused(const struct zone_image *image, const char *why);

/* "2026-03-29 01:00:00" in UTC as seconds since 1970, computed by the C
 * library. */
int64_t zone_utc(const char *text);

/* Checks the offset of local time from UTC at the time `at`. */
void zone_expect_offset(const struct period_zone *zone, const char *at,
                        int64_t offset);
