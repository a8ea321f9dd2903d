/* SPDX-License-Identifier: Apache-2.0 */
/* Zone files made byte by byte, to be read or damaged. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct zone_parts {
    char version; /* 0, or '2' and up; the latter has an empty first block */
    const int64_t *times;
    const unsigned char *types; /* index of `offsets` for each time */
    size_t time_count;
    const int32_t *offsets;
    size_t offset_count;
    const char *footer; /* not in version 0 */
};

/* Positions in a header. */
enum zone_place {
    ZONE_AT_VERSION = 4,
    ZONE_AT_ISUT = 20,
    ZONE_AT_ISSTD = 24,
    ZONE_AT_LEAP = 28,
    ZONE_AT_TIME = 32,
    ZONE_AT_TYPE = 36,
    ZONE_AT_CHAR = 40,
    ZONE_HEADER_SIZE = 44
};

struct zone_image {
    char bytes[1024];
    size_t size;
    size_t block; /* where the header of the block in use begins */
};

/* Aborts the program if the parts are too large. */
void zone_image_make(const struct zone_parts *parts, struct zone_image *out);

/* Sets a count in the header of the block in use. */
void zone_image_set(struct zone_image *image, enum zone_place place,
                    uint32_t count);
