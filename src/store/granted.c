/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a fixed size: all are read at the start. Later, each line is written
 * by the thread that serves its counter. */
#include "store/granted.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/checksum.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/log.h"
#include "platform/minmax.h"
#include "platform/text.h"

#define FILES      64
#define LINE_SIZE  64
#define SUM_AT     49 /* offset in a line, after a space */
#define SUM_BITS   56
#define DAY_MS     INT64_C(86400000)
#define FILE_MAX   ((size_t)GRANTED_LINES_MAX * LINE_SIZE)
#define NAME_SIZE  (SEQB_ERROR_TEXT_SIZE / 4) /* "backend counter" */
#define VALUE_SIZE 20
#define KEY_SIZE   16
#define DAY_SIZE   10

struct note {
    uint64_t key;
    int64_t value;
    uint32_t line; /* in this broker's file, 1 or more; 0: another's */
};

struct granted {
    int file;           /* -1: no file may be written */
    bool is_reader;     /* it takes no file */
    struct note *notes; /* as read, sorted by key; constant after start */
    size_t count;
    size_t room;
    pthread_mutex_t lock; /* guards what follows */
    uint32_t *spare;      /* numbers of free lines */
    size_t spares;
    uint32_t lines; /* lines in the file */
    bool has_failed;
};

/* --- lines --- */

static uint64_t counter_key(const struct granted_counter *counter)
{
    return checksum_of(counter->name, strlen(counter->name));
}

/* The key in files that an earlier version wrote. */
static uint64_t earlier_key(const struct granted_counter *counter)
{
    char name[NAME_SIZE];

    (void)text_format(name, sizeof name, "%s %s", counter->backend,
                      counter->name);
    return checksum_of(name, strlen(name));
}

static uint64_t line_sum(const char *line)
{
    return checksum_of(line, SUM_AT) >> (64 - SUM_BITS);
}

static void line_write(char *out, uint64_t key, int64_t value, int64_t last_day)
{
    char text[LINE_SIZE + 1];

    (void)text_format(text, sizeof text,
                      "%020" PRId64 " %016" PRIx64 " %010" PRId64 " ", value,
                      key, last_day);
    (void)text_append(text, sizeof text, "%014" PRIx64 "\n", line_sum(text));
    memcpy(out, text, LINE_SIZE);
}

/* False: the line is free. */
static bool line_read(const char *line, int64_t today, struct note *out)
{
    char whole[LINE_SIZE];
    char key[KEY_SIZE + 1];
    int64_t last_day;

    (void)text_format(key, sizeof key, "%.*s", KEY_SIZE, line + VALUE_SIZE + 1);
    out->key = strtoull(key, NULL, 16);
    if (!text_to_int64(line, VALUE_SIZE, &out->value) ||
        !text_to_int64(line + VALUE_SIZE + KEY_SIZE + 2, DAY_SIZE, &last_day))
        return false;
    line_write(whole, out->key, out->value, last_day);
    return memcmp(whole, line, LINE_SIZE) == 0 && last_day >= today;
}

/* --- reading --- */

/* False when out of memory. */
static bool note_add(struct granted *granted, const struct note *note)
{
    if (granted->count == granted->room) {
        const size_t room = granted->room > 0 ? 2 * granted->room : 1024;
        struct note *notes = realloc(granted->notes, room * sizeof *notes);

        if (notes == NULL)
            return false;
        granted->notes = notes;
        granted->room = room;
    }
    granted->notes[granted->count++] = *note;
    return true;
}

static enum seqb_status notes_read(struct granted *granted, const char *bytes,
                                   size_t size, bool is_own,
                                   struct seqb_error *err)
{
    const int64_t today = clock_wall_ms() / DAY_MS;
    const uint32_t lines = (uint32_t)(size / LINE_SIZE);

    if (is_own) {
        granted->lines = lines;
        granted->spare = calloc((size_t)lines + 1, sizeof *granted->spare);
        if (granted->spare == NULL)
            return error_set(err, SEQB_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < lines; i++) {
        struct note note = {.line = is_own ? i + 1 : 0};

        if (line_read(bytes + (size_t)i * LINE_SIZE, today, &note)) {
            if (!note_add(granted, &note))
                return error_set(err, SEQB_NO_MEMORY, "out of memory");
        } else if (is_own) {
            granted->spare[granted->spares++] = i + 1;
        }
    }
    return SEQB_OK;
}

/* Sorts by key, then the highest value first, then this broker's own line
 * first. */
static int note_compare(const void *left, const void *right)
{
    const struct note *a = left;
    const struct note *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->line == 0) - (b->line == 0);
}

/* Reads the file. If this broker has no file yet and no other broker has this
 * one, takes it. `*is_last`: there is no further file. */
static enum seqb_status file_take(struct granted *granted, const char *path,
                                  bool *is_last, struct seqb_error *err)
{
    bool is_own = false;
    char *bytes;
    size_t size;
    enum seqb_status status;

    if (granted->file < 0 && !granted->is_reader) {
        status = file_lock(path, clock_now_ms(), &granted->file, err);
        is_own = status == SEQB_OK;
        if (!is_own)
            granted->file = -1;
        if (!is_own && status != SEQB_UNAVAILABLE)
            return status;
    }
    status = file_load(path, FILE_MAX, &bytes, &size, err);
    if (status != SEQB_OK)
        return status;
    *is_last = bytes == NULL;
    status = notes_read(granted, bytes, bytes == NULL ? 0 : size, is_own, err);
    free(bytes);
    return status;
}

static enum seqb_status files_take(struct granted *granted, const char *path,
                                   struct seqb_error *err)
{
    bool is_last = false;

    for (int i = 0; i < FILES && !is_last; i++) {
        char name[PATH_MAX];
        enum seqb_status status;

        if (!text_format(name, sizeof name, "%s-%d", path, i))
            return error_set(err, SEQB_STATE_DIR, "the path is too long: %s",
                             path);
        status = file_take(granted, name, &is_last, err);
        if (status != SEQB_OK)
            return status;
    }
    if (granted->file < 0 && !granted->is_reader)
        return error_set(err, SEQB_STATE_DIR,
                         "%d brokers have a file there already: %s", FILES,
                         path);
    if (granted->count > 0)
        qsort(granted->notes, granted->count, sizeof *granted->notes,
              note_compare);
    return SEQB_OK;
}

/* The file is not used: lines that were not read must not be overwritten. */
static void granted_unuse(struct granted *granted, const char *why)
{
    if (granted->file >= 0)
        file_unlock(granted->file);
    granted->file = -1;
    granted->count = 0;
    log_reason(SEQB_LOG_WARN, why, "event=grants_unread");
}

static struct granted *granted_new(bool is_reader)
{
    struct granted *granted = calloc(1, sizeof *granted);

    if (granted == NULL)
        return NULL;
    granted->file = -1;
    granted->is_reader = is_reader;
    pthread_mutex_init(&granted->lock, NULL);
    return granted;
}

enum seqb_status granted_read(const char *path, struct granted **out,
                              struct seqb_error *err)
{
    struct granted *granted;

    *out = NULL;
    if (path == NULL)
        return SEQB_OK;
    granted = granted_new(true);
    if (granted == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    *out = granted;
    return files_take(granted, path, err);
}

enum seqb_status granted_open(const char *path, struct granted **out,
                              struct seqb_error *err)
{
    struct granted *granted;
    struct seqb_error why;
    enum seqb_status status;

    *out = NULL;
    if (path == NULL)
        return SEQB_OK;
    granted = granted_new(false);
    if (granted == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    status = files_take(granted, path, &why);
    if (status == SEQB_NO_MEMORY) {
        granted_close(granted);
        return error_copy(err, &why);
    }
    if (status != SEQB_OK)
        granted_unuse(granted, why.text);
    *out = granted;
    return SEQB_OK;
}

void granted_close(struct granted *granted)
{
    if (granted == NULL)
        return;
    if (granted->file >= 0) {
        (void)fdatasync(granted->file);
        file_unlock(granted->file);
    }
    pthread_mutex_destroy(&granted->lock);
    free(granted->spare);
    free(granted->notes);
    free(granted);
}

/* --- the notes --- */

/* The highest value of that key, as granted_find. */
static int64_t note_find(const struct granted *granted, uint64_t key,
                         uint32_t *line)
{
    size_t low = 0;
    size_t high = granted->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (granted->notes[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == granted->count || granted->notes[low].key != key)
        return 0;
    for (size_t i = low; i < granted->count && granted->notes[i].key == key;
         i++) {
        if (granted->notes[i].line != 0)
            *line = granted->notes[i].line;
    }
    return granted->notes[low].value;
}

int64_t granted_find(const struct granted *granted,
                     const struct granted_counter *counter, uint32_t *line)
{
    const int64_t earlier = note_find(granted, earlier_key(counter), line);

    return max_of(earlier, note_find(granted, counter_key(counter), line));
}

/* 0: no line is left. */
static uint32_t line_take(struct granted *granted)
{
    uint32_t line = 0;

    pthread_mutex_lock(&granted->lock);
    if (granted->spares > 0)
        line = granted->spare[--granted->spares];
    else if (granted->lines < GRANTED_LINES_MAX)
        line = ++granted->lines;
    pthread_mutex_unlock(&granted->lock);
    return line;
}

static void note_fails(struct granted *granted,
                       const struct granted_counter *counter, const char *why)
{
    bool is_first;

    pthread_mutex_lock(&granted->lock);
    is_first = !granted->has_failed;
    granted->has_failed = true;
    pthread_mutex_unlock(&granted->lock);
    if (is_first)
        log_reason(SEQB_LOG_WARN, why,
                   "event=grant_not_noted backend=%s counter=%s",
                   counter->backend, counter->name);
}

void granted_note(struct granted *granted,
                  const struct granted_counter *counter, int64_t value,
                  uint32_t *line)
{
    char text[LINE_SIZE];
    ssize_t size;

    if (granted->file < 0)
        return;
    if (*line == 0)
        *line = line_take(granted);
    if (*line == 0) {
        note_fails(granted, counter, "too many counters");
        return;
    }
    line_write(text, counter_key(counter), value, counter->last_day);
    size =
        pwrite(granted->file, text, LINE_SIZE, (off_t)(*line - 1) * LINE_SIZE);
    if (size != LINE_SIZE)
        note_fails(granted, counter, size < 0 ? strerror(errno) : "disk full");
}
