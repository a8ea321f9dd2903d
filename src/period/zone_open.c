/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a zone by its name: UTC needs no file, any other name is that of a
 * file, which zone_file.c reads. */
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
