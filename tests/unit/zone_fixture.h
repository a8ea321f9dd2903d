/* SPDX-License-Identifier: Apache-2.0 */
/* Zone files made byte by byte, to be read, or damaged first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct zone_parts {
    char version; /* 0, or '2' and up: then there is an empty first block */
    const int64_t *times;
    const unsigned char *types; /* one a time: an index of offsets */
    size_t time_count;
    const int32_t *offsets;
    size_t offset_count;
    const char *footer; /* not of version 0 */
};

/* Where what stands in the header, from its begin. */
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
    size_t block; /* where the header of the block that counts begins */
};

/* Ends the program if it has no room for them. */
void zone_image_make(const struct zone_parts *parts, struct zone_image *out);

/* Sets one of the counts in the header of the block that counts. */
void zone_image_set(struct zone_image *image, enum zone_place place,
                    uint32_t count);
