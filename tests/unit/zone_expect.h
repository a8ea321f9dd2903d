/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of time zones ask of zone files and of zones. */
#pragma once

#include <stdint.h>

#include "period/zone.h"
#include "zone_fixture.h"

/* Mean time till 1906, winter, the summer of 2000; then as the rules of Central
 * Europe, in the footer. */
extern const struct zone_parts zone_central;

struct zone_image zone_image_of(const struct zone_parts *parts);

/* The zone of a file that must be sound. */
struct period_zone *zone_expect_sound(const struct zone_image *image);

/* The file must be refused, and the error's text have `why` in it. */
void zone_expect_refused(const struct zone_image *image, const char *why);

/* "2026-03-29 01:00:00" of UTC as seconds since 1970, by the C library. */
int64_t zone_utc(const char *text);

/* The effective local time less UTC. */
void zone_expect_offset(const struct period_zone *zone, const char *at,
                        int64_t offset);
