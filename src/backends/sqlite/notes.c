/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/sqlite/notes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"

#define PREFIX "seqbroker-"

/* The name includes the time of birth, if the file system has it: a file system
 * gives the inode of a removed file to the next one, which must not use that
 * file's note. */
bool sqlite_note_find(const char *file, char out[SQLITE_NOTE_PATH_SIZE])
{
    struct statx info;

    if (statx(AT_FDCWD, file, 0, STATX_INO | STATX_BTIME, &info) != 0 ||
        !text_format(out, SQLITE_NOTE_PATH_SIZE,
                     SQLITE_NOTES_FOLDER "/" PREFIX "%jx-%jx",
                     (uintmax_t)makedev(info.stx_dev_major, info.stx_dev_minor),
                     (uintmax_t)info.stx_ino))
        return false;
    return (info.stx_mask & STATX_BTIME) == 0 ||
           text_append(out, SQLITE_NOTE_PATH_SIZE, "-%jx.%x",
                       (uintmax_t)info.stx_btime.tv_sec,
                       (unsigned)info.stx_btime.tv_nsec);
}

void sqlite_note_sign(int note, const char *file)
{
    char path[PATH_MAX];

    if (realpath(file, path) != NULL)
        (void)!pwrite(note, path, strlen(path), SQLITE_NOTE_TEXT_SIZE);
}

void sqlite_note_use(int note)
{
    (void)flock(note, LOCK_SH | LOCK_NB);
}

/* Whether the path in the note leads to no file, or to one that has another
 * note. Not if it cannot be looked at. */
static bool file_is_gone(int note, const char *name)
{
    char file[PATH_MAX];
    char path[SQLITE_NOTE_PATH_SIZE];
    const ssize_t length =
        pread(note, file, sizeof file - 1, SQLITE_NOTE_TEXT_SIZE);

    if (length <= 0)
        return false;
    file[length] = '\0';
    if (!sqlite_note_find(file, path))
        return errno == ENOENT || errno == ENOTDIR;
    return strcmp(path + strlen(SQLITE_NOTES_FOLDER "/"), name) != 0;
}

/* A commit writes it, and a broker holds its lock. */
static bool is_unused(int note)
{
    struct stat info;

    return fstat(note, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_uid == geteuid() &&
           clock_wall_ms() / 1000 - info.st_mtime > SQLITE_NOTE_UNUSED_SECS &&
           flock(note, LOCK_EX | LOCK_NB) == 0;
}

static void note_sweep(int folder, const char *name)
{
    const int note =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (note < 0)
        return;
    if (is_unused(note) && file_is_gone(note, name))
        (void)unlinkat(folder, name, 0);
    (void)close(note);
}

void sqlite_notes_sweep(void)
{
    DIR *folder = opendir(SQLITE_NOTES_FOLDER);
    const struct dirent *entry;

    if (folder == NULL)
        return;
    while ((entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
            note_sweep(dirfd(folder), entry->d_name);
    (void)closedir(folder);
}
