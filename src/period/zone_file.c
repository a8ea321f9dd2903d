/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the zone files of the system's database: TZif, RFC 8536 and its
 * successor RFC 9636. Every count and index is checked, and a damaged file is
 * refused. zone_footer.c reads the TZ string at the end. This file also finds
 * the file of a zone's name; UTC needs none.
 */
#include "period/zone.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"

#define FOLDER    "/usr/share/zoneinfo"
#define NAME_SIZE 64
#define NAME_LETTERS                                                           \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/"

#define HEADER_SIZE 44
#define TYPE_SIZE   6

/* The counts of a block, in the order of its header. */
enum count { ISUT, ISSTD, LEAP, TIME, TYPE, CHAR, COUNTS };

/* One block: its counts, and where its parts begin. */
struct block {
    int64_t counts[COUNTS];
    size_t time_size; /* bytes of a time: 4 or 8 */
    const unsigned char *times;
    const unsigned char *indexes; /* of types, one for each time */
    const unsigned char *types;
    const unsigned char *names;
};

/* What is left to read. */
struct rest {
    const unsigned char *bytes;
    size_t size;
};

static enum seqb_status damaged(const char *why, struct seqb_error *err)
{
    return error_set(err, SEQB_INVALID, "the zone file is damaged: %s", why);
}

/* Big-endian, two's complement. */
static int64_t number_at(const unsigned char *bytes, size_t size)
{
    uint64_t value = (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

static const unsigned char *take(struct rest *rest, size_t size)
{
    const unsigned char *bytes = rest->bytes;

    rest->bytes += size;
    rest->size -= size;
    return bytes;
}

static enum seqb_status read_header(struct rest *rest, char *version,
                                    struct block *block, struct seqb_error *err)
{
    const unsigned char *header = rest->bytes;

    if (rest->size < 4 || memcmp(header, "TZif", 4) != 0)
        return error_set(err, SEQB_INVALID, "this is no zone file");
    if (rest->size < HEADER_SIZE)
        return damaged("its header is cut short", err);
    *version = (char)header[4];
    if (*version != '\0' && (*version < '2' || *version > '4'))
        return error_set(err, SEQB_INVALID,
                         "the zone file is of an unknown version");
    for (size_t i = 0; i < COUNTS; i++)
        block->counts[i] =
            number_at(header + 20 + 4 * i, 4) & INT64_C(0xffffffff);
    if (block->counts[LEAP] != 0)
        return error_set(err, SEQB_INVALID,
                         "the zone file counts leap seconds, which clocks do "
                         "not; give the name without \"right/\"");
    (void)take(rest, HEADER_SIZE);
    return SEQB_OK;
}

/* Finds a block's parts, and moves `rest` past the block. */
static enum seqb_status read_block(struct rest *rest, size_t time_size,
                                   struct block *block, struct seqb_error *err)
{
    const int64_t *n = block->counts;
    const int64_t step = (int64_t)time_size;
    const int64_t end = n[ISSTD] + n[ISUT];
    const int64_t all =
        n[TIME] * (step + 1) + n[TYPE] * TYPE_SIZE + n[CHAR] + end;

    if ((uint64_t)all > rest->size)
        return damaged("it is cut short", err);
    block->time_size = time_size;
    block->times = take(rest, (size_t)n[TIME] * time_size);
    block->indexes = take(rest, (size_t)n[TIME]);
    block->types = take(rest, (size_t)n[TYPE] * TYPE_SIZE);
    block->names = take(rest, (size_t)n[CHAR]);
    (void)take(rest, (size_t)end);
    return SEQB_OK;
}

static enum seqb_status check_counts(const struct block *block,
                                     struct seqb_error *err)
{
    const int64_t *n = block->counts;

    if (n[TYPE] == 0)
        return damaged("it has no types", err);
    if (n[CHAR] == 0 || block->names[n[CHAR] - 1] != '\0')
        return damaged("its names do not end", err);
    if ((n[ISUT] != 0 && n[ISUT] != n[TYPE]) ||
        (n[ISSTD] != 0 && n[ISSTD] != n[TYPE]))
        return damaged("its counts do not match", err);
    return SEQB_OK;
}

static int64_t offset_of(const struct block *block, int64_t type)
{
    return number_at(block->types + type * TYPE_SIZE, 4);
}

static enum seqb_status check_types(const struct block *block,
                                    struct seqb_error *err)
{
    for (int64_t i = 0; i < block->counts[TYPE]; i++) {
        const unsigned char *type = block->types + i * TYPE_SIZE;
        const int64_t offset = offset_of(block, i);

        if (offset < ZONE_OFFSET_MIN || offset > ZONE_OFFSET_MAX)
            return damaged("an offset is out of range", err);
        if (type[4] > 1 || type[5] >= block->counts[CHAR])
            return damaged("a type is out of range", err);
    }
    return SEQB_OK;
}

static int64_t time_of(const struct block *block, int64_t i)
{
    return number_at(block->times + (size_t)i * block->time_size,
                     block->time_size);
}

static enum seqb_status check_times(const struct block *block,
                                    struct seqb_error *err)
{
    for (int64_t i = 0; i < block->counts[TIME]; i++) {
        const int64_t at = time_of(block, i);

        if (at < -ZONE_TIME_MAX || at > ZONE_TIME_MAX)
            return damaged("a time is out of range", err);
        if (i > 0 && at <= time_of(block, i - 1))
            return damaged("its times do not increase", err);
        if (block->indexes[i] >= block->counts[TYPE])
            return damaged("a time has no type", err);
    }
    return SEQB_OK;
}

/* Copies the TZ string from between its two newlines. */
static enum seqb_status read_footer(struct rest *rest, char *text, size_t size,
                                    struct seqb_error *err)
{
    const char *from = (const char *)rest->bytes;
    const char *end;

    if (rest->size < 2 || rest->bytes[0] != '\n')
        return damaged("it has no footer", err);
    from++;
    end = memchr(from, '\n', rest->size - 1);
    if (end == NULL || (size_t)(end - from) != rest->size - 2)
        return damaged("its footer does not end where the file does", err);
    if ((size_t)(end - from) >= size ||
        memchr(from, '\0', (size_t)(end - from)) != NULL)
        return damaged("its footer is no TZ string", err);
    memcpy(text, from, (size_t)(end - from));
    text[end - from] = '\0';
    return SEQB_OK;
}

static enum seqb_status check_block(const struct block *block,
                                    struct seqb_error *err)
{
    enum seqb_status status = check_counts(block, err);

    if (status == SEQB_OK)
        status = check_types(block, err);
    return status == SEQB_OK ? check_times(block, err) : status;
}

/* The end of a file of version 1. */
static enum seqb_status read_end(const struct rest *rest,
                                 const struct block *block,
                                 struct seqb_error *err)
{
    if (check_block(block, err) != SEQB_OK)
        return SEQB_INVALID;
    if (rest->size > 0)
        return damaged("more comes after its end", err);
    return SEQB_OK;
}

/* Reads the block to use, and the footer. A file of version 1 has only one
 * block and no footer; later versions have a second block with 8-byte times. */
static enum seqb_status read_parts(struct rest *rest, struct block *block,
                                   char *text, size_t size,
                                   struct seqb_error *err)
{
    char version = '\0';

    text[0] = '\0';
    if (read_header(rest, &version, block, err) != SEQB_OK ||
        read_block(rest, 4, block, err) != SEQB_OK)
        return SEQB_INVALID;
    if (version == '\0')
        return read_end(rest, block, err);
    if (read_header(rest, &version, block, err) != SEQB_OK)
        return SEQB_INVALID;
    if (version == '\0')
        return damaged("its headers do not match", err);
    if (read_block(rest, 8, block, err) != SEQB_OK ||
        check_block(block, err) != SEQB_OK)
        return SEQB_INVALID;
    return read_footer(rest, text, size, err);
}

static enum seqb_status add_all(struct period_zone *zone,
                                const struct block *block, const char *footer,
                                struct seqb_error *err)
{
    const int64_t n = block->counts[TIME];
    /* Type 0 holds before the first time. */
    bool fits = zone_add(zone, -2 * ZONE_TIME_MAX, offset_of(block, 0));

    for (int64_t i = 0; fits && i < n; i++)
        fits = zone_add(zone, time_of(block, i),
                        offset_of(block, block->indexes[i]));
    if (!fits)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    return zone_footer_add(
        zone, n > 0 ? time_of(block, n - 1) : -2 * ZONE_TIME_MAX, footer, err);
}

enum seqb_status zone_file_read(const char *bytes, size_t size,
                                struct period_zone **out,
                                struct seqb_error *err)
{
    struct rest rest = {(const unsigned char *)bytes, size};
    struct block block = {.time_size = 0};
    char footer[ZONE_FOOTER_SIZE];
    struct period_zone *zone;
    enum seqb_status status;

    if (read_parts(&rest, &block, footer, sizeof footer, err) != SEQB_OK)
        return SEQB_INVALID;
    zone = zone_new();
    if (zone == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    status = add_all(zone, &block, footer, err);
    if (status != SEQB_OK) {
        period_zone_close(zone);
        return status;
    }
    zone_finish(zone);
    *out = zone;
    return SEQB_OK;
}

/* --- by name --- */

static bool is_name(const char *name)
{
    const size_t length = strlen(name);

    return length > 0 && length <= NAME_SIZE &&
           strspn(name, NAME_LETTERS) == length && name[0] != '/' &&
           name[length - 1] != '/' && strstr(name, "//") == NULL;
}

static enum seqb_status load(const char *name, char **bytes, size_t *size,
                             struct seqb_error *err)
{
    const char *folder = getenv("TZDIR");
    char path[PATH_MAX];
    struct seqb_error cause = {SEQB_OK, ""};

    if (folder == NULL || folder[0] == '\0')
        folder = FOLDER;
    if (!text_format(path, sizeof path, "%s/%s", folder, name))
        return error_set(err, SEQB_INVALID,
                         "time zone \"%s\": the folder in TZDIR has too long "
                         "a name",
                         name);
    if (file_load(path, ZONE_FILE_MAX, bytes, size, &cause) != SEQB_OK)
        return error_set(
            err, cause.status == SEQB_NO_MEMORY ? cause.status : SEQB_INVALID,
            "time zone \"%s\": %s", name, cause.text);
    if (*bytes == NULL)
        return error_set(err, SEQB_INVALID,
                         "time zone \"%s\": there is no %s; give a name as "
                         "\"Europe/Berlin\", and see that the package tzdata "
                         "is installed",
                         name, path);
    return SEQB_OK;
}

static enum seqb_status open_utc(struct period_zone **out,
                                 struct seqb_error *err)
{
    struct period_zone *zone = zone_new();

    if (zone == NULL || !zone_add(zone, -ZONE_TIME_MAX, 0)) {
        period_zone_close(zone);
        return error_set(err, SEQB_NO_MEMORY, "time zone: out of memory");
    }
    zone_finish(zone);
    *out = zone;
    return SEQB_OK;
}

enum seqb_status period_zone_open(const char *name, struct period_zone **out,
                                  struct seqb_error *err)
{
    struct seqb_error cause = {SEQB_OK, ""};
    char *bytes = NULL;
    size_t size = 0;
    enum seqb_status status;

    if (!is_name(name))
        return error_set(err, SEQB_INVALID,
                         "\"%.64s\" is no name of a time zone: give one as "
                         "\"Europe/Berlin\", of letters, digits, _ + - and /",
                         name);
    if (strcmp(name, "UTC") == 0)
        return open_utc(out, err);
    status = load(name, &bytes, &size, err);
    if (status != SEQB_OK || bytes == NULL)
        return status;
    status = zone_file_read(bytes, size, out, &cause);
    free(bytes);
    return status == SEQB_OK ? status
                             : error_set(err, status, "time zone \"%s\": %s",
                                         name, cause.text);
}
