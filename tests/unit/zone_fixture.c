/* SPDX-License-Identifier: Apache-2.0 */
/* Making zone files as RFC 9636 has them. */
#include "zone_fixture.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_SIZE 4 /* of one name, which all types have: "LMT" */

static void put(struct zone_image *image, const void *bytes, size_t size)
{
    if (size > sizeof image->bytes - image->size)
        abort();
    if (size > 0)
        memcpy(image->bytes + image->size, bytes, size);
    image->size += size;
}

static void put_number(struct zone_image *image, int64_t value, int size)
{
    for (int i = size - 1; i >= 0; i--) {
        const char byte = (char)((uint64_t)value >> 8 * i & 0xff);

        put(image, &byte, 1);
    }
}

static void put_header(struct zone_image *image, char version,
                       const size_t counts[6])
{
    static const char reserved[15];

    put(image, "TZif", 4);
    put(image, &version, 1);
    put(image, reserved, sizeof reserved);
    for (int i = 0; i < 6; i++)
        put_number(image, (int64_t)counts[i], 4);
}

static void put_block(struct zone_image *image, const struct zone_parts *parts,
                      int time_size)
{
    const size_t counts[6] = {
        0, 0, 0, parts->time_count, parts->offset_count, NAMES_SIZE};

    image->block = image->size;
    put_header(image, parts->version, counts);
    for (size_t i = 0; i < parts->time_count; i++)
        put_number(image, parts->times[i], time_size);
    put(image, parts->types, parts->time_count);
    for (size_t i = 0; i < parts->offset_count; i++) {
        put_number(image, parts->offsets[i], 4);
        put_number(image, 0, 2); /* no summer time; the first name */
    }
    put(image, "LMT", NAMES_SIZE);
}

void zone_image_make(const struct zone_parts *parts, struct zone_image *out)
{
    static const size_t none[6] = {0, 0, 0, 0, 0, 0};

    *out = (struct zone_image){.size = 0};
    if (parts->version == '\0') {
        put_block(out, parts, 4);
        return;
    }
    put_header(out, parts->version, none);
    put_block(out, parts, 8);
    put(out, "\n", 1);
    put(out, parts->footer, strlen(parts->footer));
    put(out, "\n", 1);
}

void zone_image_set(struct zone_image *image, enum zone_place place,
                    uint32_t count)
{
    for (size_t i = 0; i < 4; i++)
        image->bytes[image->block + place + i] =
            (char)(count >> (24 - 8 * i) & 0xff);
}
