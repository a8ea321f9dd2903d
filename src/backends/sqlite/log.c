/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a SQLite file, its log and the log's index. */
#include "backends/sqlite/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/clock.h"

#define LOG_HEAD   32 /* bytes before the first frame */
#define FRAME_HEAD 24 /* bytes before a frame's page */
#define LOG_SALT   16 /* the offset in the log's header of 8 bytes of salt */
#define VERSION_AT 60 /* the offset of user_version in page 1 */

/* The index in shared memory: its first part, and offsets in it. */
#define INDEX_SIZE       32768
#define INDEX_PAGE_SIZE  14
#define INDEX_FRAMES     16 /* committed frames */
#define INDEX_PAGES      20 /* pages of the whole content */
#define INDEX_SALT       32
#define INDEX_BACKFILLED 96 /* frames that were copied into the file */

#define SALT_SIZE 8

struct halves {
    sqlite3_file *file;
    sqlite3_file *log;
    uint32_t page_size;
    uint32_t frames;
    uint32_t backfilled;
    uint32_t pages;
    unsigned char salt[SALT_SIZE];
};

/* A short read is filled up with zeros. */
static bool bytes_read(sqlite3_file *file, void *out, int size, int64_t at)
{
    const int result = file->pMethods->xRead(file, out, size, at);

    return result == SQLITE_OK || result == SQLITE_IOERR_SHORT_READ;
}

static uint32_t number_of(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

/* --- the index --- */

/* In the machine's byte order. It is read backwards, beginning with the number
 * of frames that were copied into the file. Other handles may raise that number
 * at any time, so that the file has more than it says, never less. */
static void index_read(const volatile unsigned char *index, struct halves *out)
{
    unsigned char copy[INDEX_BACKFILLED + sizeof out->backfilled];
    uint16_t size;

    for (size_t i = sizeof copy; i-- > 0;)
        copy[i] = index[i];
    memcpy(&size, copy + INDEX_PAGE_SIZE, sizeof size);
    memcpy(&out->frames, copy + INDEX_FRAMES, sizeof out->frames);
    memcpy(&out->pages, copy + INDEX_PAGES, sizeof out->pages);
    memcpy(&out->backfilled, copy + INDEX_BACKFILLED, sizeof out->backfilled);
    memcpy(out->salt, copy + INDEX_SALT, SALT_SIZE);
    out->page_size = size == 1 ? 65536 : size;
}

/* False if there is no log. */
static bool halves_find(struct sqlite_link *link, struct halves *out)
{
    void volatile *index = NULL;

    *out = (struct halves){.frames = 0};
    if (!link->is_logged)
        return false;
    (void)sqlite3_file_control(link->db, "main", SQLITE_FCNTL_FILE_POINTER,
                               &out->file);
    (void)sqlite3_file_control(link->db, "main", SQLITE_FCNTL_JOURNAL_POINTER,
                               &out->log);
    if (out->file == NULL || out->file->pMethods == NULL || out->log == NULL ||
        out->log->pMethods == NULL || out->file->pMethods->iVersion < 2)
        return false;
    if (out->file->pMethods->xShmMap(out->file, 0, INDEX_SIZE, 0, &index) !=
            SQLITE_OK ||
        index == NULL)
        return false;
    index_read(index, out);
    return true;
}

/* --- pages --- */

static bool frame_read(const struct halves *halves, uint32_t frame,
                       uint32_t *page, uint32_t *version)
{
    unsigned char bytes[FRAME_HEAD + VERSION_AT + 4];
    const int64_t size = (int64_t)FRAME_HEAD + halves->page_size;

    if (!bytes_read(halves->log, bytes, sizeof bytes,
                    LOG_HEAD + (int64_t)(frame - 1) * size))
        return false;
    *page = number_of(bytes);
    *version = number_of(bytes + FRAME_HEAD + VERSION_AT);
    return true;
}

/* The count in the log's last frame of the first page, if there is one; false
 * if the log cannot be read. */
static bool count_last(const struct halves *halves, bool *is_there,
                       uint32_t *out)
{
    uint32_t page;

    *is_there = false;
    for (uint32_t frame = halves->frames; frame > 0 && !*is_there; frame--) {
        if (!frame_read(halves, frame, &page, out))
            return false;
        *is_there = page == 1;
    }
    return true;
}

/* The count in the log's first frame of the first page. */
static bool count_first(const struct halves *halves, uint32_t *out)
{
    uint32_t page;

    for (uint32_t frame = 1; frame <= halves->frames; frame++) {
        if (!frame_read(halves, frame, &page, out))
            return false;
        if (page == 1)
            return true;
    }
    return false;
}

static bool count_of_file(const struct halves *halves, uint32_t *out)
{
    unsigned char bytes[4];

    if (!bytes_read(halves->file, bytes, sizeof bytes, VERSION_AT))
        return false;
    *out = number_of(bytes);
    return true;
}

/* --- comparing --- */

/* Whether `most` is at or above `least`, in numbers that wrap around. */
static bool is_upto(uint32_t least, uint32_t most)
{
    return (int32_t)(most - least) >= 0;
}

/* Whether the index belongs to this log. */
static bool is_log_of_index(const struct halves *halves)
{
    unsigned char salt[SALT_SIZE];

    return bytes_read(halves->log, salt, SALT_SIZE, LOG_SALT) &&
           memcmp(salt, halves->salt, SALT_SIZE) == 0;
}

/* Whether the file has everything that was written before the log began, and
 * nothing that the log does not have. */
static bool counts_match(const struct halves *halves)
{
    uint32_t of_file;
    uint32_t least;
    uint32_t most;
    bool is_ours;

    if (!count_of_file(halves, &of_file) ||
        !count_last(halves, &is_ours, &most))
        return false;
    if (!is_ours)
        return true; /* no transaction of ours */
    if (!count_first(halves, &least))
        return false;
    return is_upto(least - 1, of_file) && is_upto(of_file, most);
}

/* For each page its last frame, 0 for a page that the log does not have. To be
 * freed by the caller; NULL: no memory, or the log cannot be read. */
static uint32_t *frames_find(const struct halves *halves)
{
    uint32_t *frames = calloc((size_t)halves->pages + 1, sizeof *frames);

    for (uint32_t i = 1; i <= halves->frames && frames != NULL; i++) {
        uint32_t page;
        uint32_t version;

        if (!frame_read(halves, i, &page, &version)) {
            free(frames);
            return NULL;
        }
        if (page >= 1 && page <= halves->pages)
            frames[page] = i;
    }
    return frames;
}

static bool page_matches(const struct halves *halves, uint32_t page,
                         uint32_t frame, unsigned char *room)
{
    const int size = (int)halves->page_size;
    const int64_t frame_size = (int64_t)FRAME_HEAD + size;

    return bytes_read(halves->file, room, size, (int64_t)(page - 1) * size) &&
           bytes_read(halves->log, room + size, size,
                      LOG_HEAD + (frame - 1) * frame_size + FRAME_HEAD) &&
           memcmp(room, room + size, (size_t)size) == 0;
}

/* Every page whose last frame was copied must be equal in the file, where
 * SQLite then reads it. If a reader limits a checkpoint, the checkpoint skips a
 * page that was written again after that limit. So the file's first page does
 * not show the state of the other pages. */
static bool pages_match(const struct halves *halves, const uint32_t *frames)
{
    unsigned char *room = malloc((size_t)halves->page_size * 2);
    bool is_well = room != NULL;

    for (uint32_t page = 1; page <= halves->pages && is_well; page++) {
        if (frames[page] != 0 && frames[page] <= halves->backfilled)
            is_well = page_matches(halves, page, frames[page], room);
    }
    free(room);
    return is_well;
}

/* Whether the log has every page, as after sqlite3's .restore: then the content
 * of the file does not matter. */
static bool is_all_in_log(const struct halves *halves, const uint32_t *frames)
{
    uint32_t page = 1;

    while (page <= halves->pages && frames[page] != 0)
        page++;
    return page > halves->pages;
}

static bool halves_match(const struct halves *halves, bool counts)
{
    uint32_t *frames = frames_find(halves);
    const bool is_whole = frames != NULL && pages_match(halves, frames) &&
                          (counts || is_all_in_log(halves, frames));

    free(frames);
    return is_whole;
}

/* --- when the file was written last --- */

/* When the file was written last. 0 if another write could still get the same
 * time. */
static struct timespec written_at(const struct sqlite_link *link)
{
    struct stat info;

    if (stat(link->path, &info) != 0 || !clock_has_ticked_since(info.st_mtim))
        return (struct timespec){0};
    return info.st_mtim;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec && a.tv_sec != 0;
}

bool sqlite_log_matches(struct sqlite_link *link)
{
    const struct timespec written = written_at(link);
    struct halves halves;
    bool counts;

    if (!halves_find(link, &halves) || halves.frames == 0)
        return true;
    if (!is_log_of_index(&halves))
        return false;
    counts = counts_match(&halves);
    if (counts && is_same_time(written, link->compared))
        return true;
    if (!halves_match(&halves, counts))
        return false;
    /* Noted only in a transaction: otherwise other handles may write
     * meanwhile. */
    if (sqlite3_get_autocommit(link->db) == 0)
        link->compared = written;
    return true;
}

bool sqlite_log_count(struct sqlite_link *link, uint32_t *out)
{
    struct halves halves;
    bool is_in_log;

    *out = 0;
    if (!halves_find(link, &halves))
        return !link->is_logged;
    if (!count_last(&halves, &is_in_log, out))
        return false;
    return is_in_log || count_of_file(&halves, out);
}
