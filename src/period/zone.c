/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A zone's table: making it, searching it, and finding its file. The formats
 * are left to zone_file.c and zone_footer.c.
 */
#include "period/zone.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "period/date.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"

#define FOLDER    "/usr/share/zoneinfo"
#define NAME_SIZE 64
#define CYCLE_S   (DATE_CYCLE_DAYS * DATE_DAY_S)
#define NAME_LETTERS                                                           \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/"

struct period_zone *zone_new(void)
{
    struct period_zone *zone = calloc(1, sizeof *zone);

    if (zone != NULL)
        zone->repeats = INT64_MAX;
    return zone;
}

void period_zone_close(struct period_zone *zone)
{
    if (zone == NULL)
        return;
    free(zone->segments);
    free(zone);
}

static bool zone_grow(struct period_zone *zone)
{
    const size_t room = zone->room == 0 ? 64 : 2 * zone->room;
    struct zone_segment *more =
        realloc(zone->segments, room * sizeof *zone->segments);

    if (more == NULL)
        return false;
    zone->segments = more;
    zone->room = room;
    return true;
}

bool zone_add(struct period_zone *zone, int64_t from, int64_t offset)
{
    if (zone->count > 0 && zone->segments[zone->count - 1].from == from)
        zone->count--;
    if (zone->count > 0 && zone->segments[zone->count - 1].offset == offset)
        return true;
    if (zone->count == zone->room && !zone_grow(zone))
        return false;
    zone->segments[zone->count++] = (struct zone_segment){from, 0, offset};
    return true;
}

void zone_finish(struct period_zone *zone)
{
    int64_t reached = INT64_MIN;

    for (size_t i = 0; i < zone->count; i++) {
        struct zone_segment *segment = &zone->segments[i];

        if (i > 0) {
            const int64_t shown = segment->from + segment[-1].offset;

            reached = shown > reached ? shown : reached;
        }
        segment->reached = reached;
    }
}

/* What to take off a time, local or not, so that the table holds it. */
static int64_t zone_shift(const struct period_zone *zone, int64_t at)
{
    if (at < zone->repeats)
        return 0;
    return ((at - zone->repeats) / CYCLE_S + 1) * CYCLE_S;
}

int64_t zone_local(const struct period_zone *zone, int64_t at)
{
    const int64_t shift = zone_shift(zone, at);
    size_t low = 0;
    size_t high = zone->count;
    int64_t local;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (zone->segments[middle].from <= at - shift)
            low = middle;
        else
            high = middle;
    }
    local = at - shift + zone->segments[low].offset;
    if (local < zone->segments[low].reached)
        local = zone->segments[low].reached - 1;
    return local + shift;
}

int64_t zone_reach(const struct period_zone *zone, int64_t local)
{
    const int64_t shift = zone_shift(zone, local);
    size_t low = 0;
    size_t high = zone->count;
    int64_t at;

    /* The last segment before which it was not reached. */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (zone->segments[middle].reached <= local - shift)
            low = middle;
        else
            high = middle;
    }
    at = local - shift - zone->segments[low].offset;
    if (at < zone->segments[low].from)
        at = zone->segments[low].from;
    return at + shift;
}

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
    if (status != SEQB_OK)
        return status;
    status = zone_file_read(bytes, size, out, &cause);
    free(bytes);
    return status == SEQB_OK ? status
                             : error_set(err, status, "time zone \"%s\": %s",
                                         name, cause.text);
}
