/* SPDX-License-Identifier: Apache-2.0 */
/* Whole-file reads and the state directory. */
#include "platform/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/error.h"
#include "platform/text.h"

static enum seqb_status read_all(FILE *file, const char *path, char *text,
                                 size_t max, struct seqb_error *err)
{
    const size_t length = fread(text, 1, max + 1, file);

    if (ferror(file))
        return error_set(err, SEQB_INVALID, "cannot read %s: %s", path,
                         strerror(errno));
    if (length > max)
        return error_set(err, SEQB_INVALID, "%s is larger than %zu bytes", path,
                         max);
    text[length] = '\0';
    return SEQB_OK;
}

enum seqb_status file_read(const char *path, size_t max, char **out,
                           struct seqb_error *err)
{
    FILE *file = fopen(path, "re");
    char *text;
    enum seqb_status status;

    if (file == NULL)
        return error_set(err, SEQB_INVALID, "cannot open %s: %s", path,
                         strerror(errno));
    text = malloc(max + 2);
    status = text == NULL
                 ? error_set(err, SEQB_NO_MEMORY, "%s: out of memory", path)
                 : read_all(file, path, text, max, err);
    (void)fclose(file);
    if (status != SEQB_OK) {
        free(text);
        return status;
    }
    *out = text;
    return SEQB_OK;
}

static enum seqb_status make_one(const char *path, struct seqb_error *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return SEQB_OK;
    return error_set(err, SEQB_STATE_DIR,
                     "cannot make the folder %s: %s; choose another with "
                     "state_dir or SEQBROKER_STATE_DIR",
                     path, strerror(errno));
}

enum seqb_status file_make_folder(const char *path, struct seqb_error *err)
{
    char part[PATH_MAX];
    struct stat found;

    if (!text_copy(part, sizeof part, path) || part[0] == '\0')
        return error_set(err, SEQB_STATE_DIR,
                         "the folder's name is empty or too long: %s", path);
    for (char *slash = strchr(part + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (make_one(part, err) != SEQB_OK)
            return SEQB_STATE_DIR;
        *slash = '/';
    }
    if (make_one(part, err) != SEQB_OK)
        return SEQB_STATE_DIR;
    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode))
        return error_set(err, SEQB_STATE_DIR, "%s is not a folder", path);
    if (access(path, W_OK | X_OK) != 0)
        return error_set(err, SEQB_STATE_DIR,
                         "cannot write in the folder %s: %s; choose another "
                         "with state_dir or SEQBROKER_STATE_DIR",
                         path, strerror(errno));
    return SEQB_OK;
}
