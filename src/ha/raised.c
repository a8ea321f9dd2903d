/* SPDX-License-Identifier: Apache-2.0 */
/* A table of raises in memory, and a file to which lines are appended. */
#include "ha/raised.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "platform/checksum.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/log.h"
#include "platform/minmax.h"
#include "platform/text.h"

#define FILE_MAX  ((size_t)256 << 20)
#define LINES_MAX ((size_t)1 << 18) /* of more, the first are ignored */
#define LOCK_MS   1000
#define BUCKETS   4096                       /* a power of two */
#define NAME_SIZE (SEQB_ERROR_TEXT_SIZE / 4) /* "backend counter" */
#define LINE_SIZE (NAME_SIZE + 64)
#define SUM_SIZE  17 /* a space and the digits */

struct entry {
    struct entry *next; /* in its bucket */
    int64_t value;
    char name[];
};

struct raised {
    char path[PATH_MAX];
    char lock_path[PATH_MAX];
    char fresh[PATH_MAX];
    pthread_mutex_t lock; /* guards what follows */
    struct entry *buckets[BUCKETS];
    size_t count;
};

/* --- the table --- */

/* The counter's name, which has its pool and partition, identifies it: its
 * backend may be renamed. */
static const char *counter_of(const char *name)
{
    const char *space = strchr(name, ' ');

    return space != NULL ? space + 1 : name;
}

static struct entry **entry_place(struct raised *raised, const char *name)
{
    const char *counter = counter_of(name);
    const uint64_t sum = checksum_of(counter, strlen(counter));
    struct entry **at = &raised->buckets[sum & (BUCKETS - 1)];

    while (*at != NULL && strcmp(counter_of((*at)->name), counter) != 0)
        at = &(*at)->next;
    return at;
}

/* If there is no memory, the raise is only in the file. */
static void entry_raise(struct raised *raised, const char *name, int64_t value)
{
    struct entry **at = entry_place(raised, name);
    const size_t size = strlen(name) + 1;

    if (*at == NULL) {
        *at = calloc(1, sizeof **at + size);
        if (*at == NULL)
            return;
        (void)text_copy((*at)->name, size, name);
        raised->count++;
    }
    (*at)->value = max_of((*at)->value, value);
}

/* --- lines --- */

static size_t line_write(char *out, const char *name, int64_t value)
{
    (void)text_format(out, LINE_SIZE, "%" PRId64 " %s", value, name);
    (void)text_append(out, LINE_SIZE, " %016" PRIx64 "\n",
                      checksum_of(out, strlen(out)));
    return strlen(out);
}

/* `line` has no newline. A torn or damaged line is ignored. */
static void line_read(struct raised *raised, const char *line, size_t length)
{
    char text[LINE_SIZE];
    char whole[LINE_SIZE];
    char *name;
    int64_t value;

    if (length >= LINE_SIZE || length <= SUM_SIZE)
        return;
    (void)text_format(text, sizeof text, "%.*s", (int)(length - SUM_SIZE),
                      line);
    name = strchr(text, ' ');
    if (name == NULL || !text_to_int64(text, (size_t)(name - text), &value))
        return;
    name++;
    if (line_write(whole, name, value) == length + 1 &&
        memcmp(whole, line, length) == 0)
        entry_raise(raised, name, value);
}

static size_t lines_count(const char *bytes, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < size; i++)
        count += bytes[i] == '\n';
    return count;
}

static void lines_read(struct raised *raised, const char *bytes, size_t size,
                       size_t skipped)
{
    const char *end = bytes + size;
    const char *stop;

    for (const char *at = bytes; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL)
            break;
        if (skipped > 0)
            skipped--;
        else
            line_read(raised, at, (size_t)(stop - at));
    }
}

/* --- the file --- */

/* Writes one line for each counter into a new file, which replaces the old
 * one. */
static enum seqb_status file_compact(const struct raised *raised,
                                     struct seqb_error *err)
{
    char *bytes = malloc(raised->count * LINE_SIZE + 1);
    size_t size = 0;
    enum seqb_status status;

    if (bytes == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < BUCKETS; i++) {
        for (const struct entry *entry = raised->buckets[i]; entry != NULL;
             entry = entry->next)
            size += line_write(bytes + size, entry->name, entry->value);
    }
    status = file_save(raised->fresh, bytes, size, err);
    free(bytes);
    return status == SEQB_OK ? file_move(raised->fresh, raised->path, err)
                             : status;
}

static enum seqb_status file_read_all(struct raised *raised,
                                      struct seqb_error *err)
{
    char *bytes;
    size_t size;
    size_t lines;
    enum seqb_status status =
        file_load(raised->path, FILE_MAX, &bytes, &size, err);

    if (status != SEQB_OK)
        return status;
    lines = lines_count(bytes, size);
    lines_read(raised, bytes, size, lines > LINES_MAX ? lines - LINES_MAX : 0);
    /* A torn end would damage the next line. */
    if (lines > 2 * raised->count || (size > 0 && bytes[size - 1] != '\n'))
        status = file_compact(raised, err);
    free(bytes);
    return status;
}

/* Locks the file, because other brokers may append to it or replace it. */
static enum seqb_status file_add(const struct raised *raised, const char *line,
                                 size_t size, struct seqb_error *err)
{
    int file;
    enum seqb_status status =
        file_lock(raised->lock_path, clock_now_ms() + LOCK_MS, &file, err);

    if (status != SEQB_OK)
        return status;
    status = file_append(raised->path, line, size, err);
    file_unlock(file);
    return status;
}

static enum seqb_status raised_read(struct raised *raised,
                                    struct seqb_error *err)
{
    int file;
    enum seqb_status status =
        file_lock(raised->lock_path, clock_now_ms() + LOCK_MS, &file, err);

    if (status != SEQB_OK)
        return status;
    status = file_read_all(raised, err);
    file_unlock(file);
    return status;
}

enum seqb_status raised_open(const char *path, struct raised **out,
                             struct seqb_error *err)
{
    struct raised *raised;
    struct seqb_error why;

    *out = NULL;
    if (path == NULL)
        return SEQB_OK;
    raised = calloc(1, sizeof *raised);
    if (raised == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    pthread_mutex_init(&raised->lock, NULL);
    if (!text_copy(raised->path, PATH_MAX, path) ||
        !text_format(raised->lock_path, PATH_MAX, "%s.lock", path) ||
        !text_format(raised->fresh, PATH_MAX, "%s.new", path))
        (void)error_set(&why, SEQB_STATE_DIR, "the path is too long: %s", path);
    else if (raised_read(raised, &why) == SEQB_OK)
        why.status = SEQB_OK;
    if (why.status != SEQB_OK)
        log_reason(SEQB_LOG_WARN, why.text, "event=raises_unread");
    *out = raised;
    return SEQB_OK;
}

void raised_close(struct raised *raised)
{
    if (raised == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        while (raised->buckets[i] != NULL) {
            struct entry *entry = raised->buckets[i];

            raised->buckets[i] = entry->next;
            free(entry);
        }
    }
    pthread_mutex_destroy(&raised->lock);
    free(raised);
}

int64_t raised_find(struct raised *raised, const char *backend,
                    const char *counter)
{
    char name[NAME_SIZE];
    const struct entry *entry;
    int64_t value = 0;

    if (raised == NULL ||
        !text_format(name, sizeof name, "%s %s", backend, counter))
        return 0;
    pthread_mutex_lock(&raised->lock);
    entry = *entry_place(raised, name);
    if (entry != NULL)
        value = entry->value;
    pthread_mutex_unlock(&raised->lock);
    return value;
}

void raised_note(struct raised *raised, const char *backend,
                 const char *counter, int64_t value)
{
    char name[NAME_SIZE];
    char line[LINE_SIZE];
    struct seqb_error err;

    if (raised == NULL || value < 1 ||
        !text_format(name, sizeof name, "%s %s", backend, counter))
        return;
    pthread_mutex_lock(&raised->lock);
    entry_raise(raised, name, value);
    pthread_mutex_unlock(&raised->lock);
    if (file_add(raised, line, line_write(line, name, value), &err) != SEQB_OK)
        log_reason(SEQB_LOG_WARN, err.text,
                   "event=raise_not_noted backend=%s counter=%s", backend,
                   counter);
}
