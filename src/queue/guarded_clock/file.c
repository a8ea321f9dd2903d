/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads, writes and replaces the clock's file. The file has one form only: a
 * text is damaged if writing its fields again does not give the same bytes.
 */
#include "queue/guarded_clock/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "period/period.h"
#include "platform/checksum.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"

#define HEAD    "seqbroker clock "
#define VERSION "1\n"
#define BROKER  "broker="
#define ISSUED  "issued="

bool clock_note_write(const struct clock_note *note, char *out, size_t size)
{
    if (note->issued_ms < 1 || note->issued_ms > PERIOD_MAX_MS ||
        !text_is_name(note->broker))
        return false;
    return text_format(out, size,
                       HEAD VERSION BROKER "%s\n" ISSUED "%" PRId64 "\n",
                       note->broker, note->issued_ms) &&
           text_append(out, size, "checksum=%016" PRIx64 "\n",
                       checksum_of(out, strlen(out)));
}

/* Skips `word` if the rest begins with it. */
static bool pass(const char **at, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

/* Reads the two fields, and ignores what follows. */
static bool fields_read(const char *at, struct clock_note *out)
{
    size_t length;

    if (!pass(&at, BROKER))
        return false;
    length = strcspn(at, "\n");
    if (length >= sizeof out->broker)
        return false;
    (void)text_format(out->broker, sizeof out->broker, "%.*s", (int)length, at);
    at += length;
    return pass(&at, "\n" ISSUED) &&
           text_to_int64(at, strcspn(at, "\n"), &out->issued_ms);
}

enum seqb_status clock_note_read(const char *bytes, size_t size,
                                 struct clock_note *out, struct seqb_error *err)
{
    char text[CLOCK_TEXT_SIZE] = "";
    char again[CLOCK_TEXT_SIZE] = "";
    const char *at = text;

    if (size < sizeof text && size > 0)
        memcpy(text, bytes, size);
    if (!pass(&at, HEAD))
        return error_set(err, SEQB_CORRUPT, "it is no file of a clock");
    if (!pass(&at, VERSION))
        return error_set(err, SEQB_CORRUPT, "its version is not 1");
    if (!fields_read(at, out) || !clock_note_write(out, again, sizeof again))
        return error_set(err, SEQB_CORRUPT, "a line is damaged or missing");
    if (size != strlen(again) || memcmp(again, bytes, size) != 0)
        return error_set(err, SEQB_CORRUPT, "the checksum does not match");
    return SEQB_OK;
}

enum seqb_status clock_file_init(struct clock_file *file, const char *path,
                                 const char *broker, struct seqb_error *err)
{
    file->broker = broker;
    file->durable_ms = 0;
    if (!text_copy(file->path, sizeof file->path, path) ||
        !text_format(file->lock, sizeof file->lock, "%s.lock", path) ||
        !text_format(file->fresh, sizeof file->fresh, "%s.new", path))
        return error_set(err, SEQB_INVALID, "clock: the path is too long: %s",
                         path);
    return SEQB_OK;
}

/* Reads the time in the bytes that were loaded; 0 if there was no file. */
static enum seqb_status standing_read(const struct clock_file *file,
                                      const char *bytes, size_t size,
                                      int64_t *out, struct seqb_error *err)
{
    struct clock_note note = {"", 0};
    struct seqb_error why;

    *out = 0;
    if (bytes == NULL)
        return SEQB_OK;
    if (clock_note_read(bytes, size, &note, &why) != SEQB_OK)
        return error_set(err, SEQB_CORRUPT,
                         "clock: %s is damaged: %s; make sure that the "
                         "machine's clock is right, then remove the file",
                         file->path, why.text);
    if (strcmp(note.broker, file->broker) != 0)
        return error_set(err, SEQB_CORRUPT,
                         "clock: %s is of the broker %s, and this is %s; give "
                         "it its old name back, or a state directory of its "
                         "own",
                         file->path, note.broker, file->broker);
    *out = note.issued_ms;
    return SEQB_OK;
}

static enum seqb_status standing_load(const struct clock_file *file,
                                      int64_t *out, struct seqb_error *err)
{
    char *bytes;
    size_t size;
    enum seqb_status status =
        file_load(file->path, CLOCK_TEXT_SIZE, &bytes, &size, err);

    if (status != SEQB_OK)
        return status;
    status = standing_read(file, bytes, size, out, err);
    free(bytes);
    return status;
}

static enum seqb_status standing_save(struct clock_file *file,
                                      int64_t issued_ms, struct seqb_error *err)
{
    struct clock_note note = {"", issued_ms};
    char text[CLOCK_TEXT_SIZE];
    enum seqb_status status;

    (void)text_copy(note.broker, sizeof note.broker, file->broker);
    if (!clock_note_write(&note, text, sizeof text))
        return error_set(err, SEQB_INVALID,
                         "clock: a stamp of broker %s cannot begin at "
                         "%" PRId64 " ms since 1970",
                         file->broker, issued_ms);
    status = file_save(file->fresh, text, strlen(text), err);
    if (status == SEQB_OK)
        status = file_move(file->fresh, file->path, err);
    if (status == SEQB_OK)
        file->durable_ms = issued_ms;
    return status;
}

/* Another process may have died after it renamed the file, but before the file
 * was durable. So what it left is written again before it is relied upon. */
static enum seqb_status keep_locked(struct clock_file *file, int64_t issued_ms,
                                    int64_t *standing, struct seqb_error *err)
{
    int64_t there_ms;
    int64_t highest_ms;
    enum seqb_status status = standing_load(file, &there_ms, err);

    if (status != SEQB_OK)
        return status;
    highest_ms = there_ms > issued_ms ? there_ms : issued_ms;
    if (highest_ms > there_ms || highest_ms > file->durable_ms)
        status = standing_save(file, highest_ms, err);
    if (status == SEQB_OK)
        *standing = highest_ms;
    return status;
}

enum seqb_status clock_file_keep(struct clock_file *file, int64_t issued_ms,
                                 int64_t until_ms, int64_t *standing,
                                 struct seqb_error *err)
{
    enum seqb_status status;
    int lock;

    status = file_lock(file->lock, until_ms, &lock, err);
    if (status != SEQB_OK)
        return status;
    status = keep_locked(file, issued_ms, standing, err);
    file_unlock(lock);
    return status;
}
