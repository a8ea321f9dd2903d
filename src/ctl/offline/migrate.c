/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl migrate: reads the keys, and shows what the library reports. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/commands.h"
#include "ctl/offline/offline.h"

/* The non-empty lines of a file. */
struct keys {
    char **keys;
    size_t count;
    size_t capacity;
};

static void keys_free(struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        free(keys->keys[i]);
    free(keys->keys);
}

/* Takes ownership of the line. False if out of memory. */
static bool keys_add(struct keys *keys, char *line)
{
    const size_t capacity = keys->capacity == 0 ? 64 : keys->capacity * 2;
    char **more;

    if (keys->count == keys->capacity) {
        more = realloc(keys->keys, capacity * sizeof *more);
        if (more == NULL)
            return false;
        keys->keys = more;
        keys->capacity = capacity;
    }
    keys->keys[keys->count++] = line;
    return true;
}

static void line_trim(char *line, size_t length)
{
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    line[length] = '\0';
}

static enum ctl_exit keys_take(FILE *file, const char *path, struct keys *keys)
{
    for (;;) {
        char *line = NULL;
        size_t size = 0;
        const ssize_t length = getline(&line, &size, file);

        if (length >= 0)
            line_trim(line, (size_t)length);
        if (length >= 0 && line[0] != '\0' && keys_add(keys, line))
            continue;
        if (length >= 0 && line[0] == '\0') {
            free(line);
            continue;
        }
        free(line);
        if (length < 0 && feof(file))
            return CTL_OK;
        ctl_complain("%s: %s", path,
                     length < 0 ? strerror(errno) : "out of memory");
        return CTL_USAGE;
    }
}

static enum ctl_exit keys_read(const char *path, struct keys *keys)
{
    FILE *file = fopen(path, "re");
    enum ctl_exit result;

    if (file == NULL) {
        ctl_complain("%s: %s", path, strerror(errno));
        return CTL_USAGE;
    }
    result = keys_take(file, path, keys);
    (void)fclose(file);
    return result;
}

static void bar_show(void *context, int64_t done, int64_t total)
{
    progress_show(context, done, total);
}

enum ctl_exit migrate_run(const struct ctl_options *options, char **argument)
{
    static const char *const none[] = {NULL};
    struct plan plan = {.is_json = options->given & CTL_JSON};
    struct seqb_migrate_options wanted = {.dry_run =
                                              options->given & CTL_DRY_RUN,
                                          .report = plan_show,
                                          .context = &plan,
                                          .without = options->without};
    struct keys read = {0};
    struct seqb_error err;
    enum ctl_exit result = CTL_OK;

    if (options->keys != NULL) {
        result = keys_read(options->keys, &read);
        wanted.keys = read.count > 0 ? (const char *const *)read.keys : none;
        wanted.key_count = read.count;
    }
    if (result == CTL_OK) {
        const struct seqb_progress bar = {bar_show, &plan.progress};
        enum seqb_status status;

        progress_begin(&plan.progress, true);
        status =
            seqb_migrate_watched(argument[0], argument[1], &wanted, &bar, &err);
        progress_erase(&plan.progress);
        result = plan_end(&plan, status, &err);
    }
    keys_free(&read);
    return result;
}
