/* SPDX-License-Identifier: Apache-2.0 */
/* The notes in /dev/shm, one for each file, guarded by SQLite's write lock. */
#include "backends/sqlite/incarnation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backends/sql/sql.h"
#include "platform/error.h"
#include "platform/text.h"

#define FOLDER         "/dev/shm"
#define BOOT_ID        "/proc/sys/kernel/random/boot_id"
#define NOTE_SIZE      128 /* the text, padded with 0 */
#define NOTE_PATH_SIZE 96

/* The advice if the note cannot be opened, or written. */
#define GIVE_RIGHTS "; this user must be able to write it"
#define MAKE_ROOM   "; make room there"

/* The text is "<boot id> <nonce> <commits>". */
struct note {
    char boot[SQLITE_BOOT_SIZE];
    char nonce[SQLITE_RANDOM_SIZE];
    int64_t commits;
};

static enum seqb_status note_fail(const struct sqlite_link *link,
                                  const char *what, const char *path,
                                  const char *advice, struct seqb_error *err)
{
    return error_set(err, SEQB_REFUSED,
                     "sqlite %s: cannot %s %s, which says whether the file "
                     "went back: %s%s",
                     link->name, what, path, strerror(errno), advice);
}

static bool boot_read(char out[SQLITE_BOOT_SIZE])
{
    const int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
    ssize_t length;

    if (fd < 0)
        return false;
    length = read(fd, out, SQLITE_BOOT_SIZE - 1);
    (void)close(fd);
    out[SQLITE_BOOT_SIZE - 1] = '\0';
    return length == SQLITE_BOOT_SIZE - 1;
}

/* --- the file of the note --- */

/* The name includes the time of birth, if the file system has it: a file system
 * gives the inode of a removed file to the next one, which must not use that
 * file's note. */
static bool note_path(const char *file, char out[NOTE_PATH_SIZE])
{
    struct statx info;

    if (statx(AT_FDCWD, file, 0, STATX_INO | STATX_BTIME, &info) != 0 ||
        !text_format(out, NOTE_PATH_SIZE, FOLDER "/seqbroker-%jx-%jx",
                     (uintmax_t)makedev(info.stx_dev_major, info.stx_dev_minor),
                     (uintmax_t)info.stx_ino))
        return false;
    return (info.stx_mask & STATX_BTIME) == 0 ||
           text_append(out, NOTE_PATH_SIZE, "-%jx.%x",
                       (uintmax_t)info.stx_btime.tv_sec,
                       (unsigned)info.stx_btime.tv_nsec);
}

/* Gives the note the rights of the SQLite file: who may write the file may
 * write the note. */
static int note_make(const char *path, const struct stat *file)
{
    const int fd =
        open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -1;
    if (fchown(fd, file->st_uid, file->st_gid) != 0)
        (void)!fchown(fd, (uid_t)-1, file->st_gid);
    (void)fchmod(fd, file->st_mode & 0666);
    return fd;
}

void sqlite_incarnation_close(struct sqlite_link *link)
{
    if (link->note >= 0)
        (void)close(link->note);
    link->note = -1;
}

/* Closes a note that was removed while it was open: other handles do not read
 * it any more. */
static void note_forget(struct sqlite_link *link)
{
    struct stat note;

    if (link->note >= 0 &&
        (fstat(link->note, &note) != 0 || note.st_nlink == 0))
        sqlite_incarnation_close(link);
}

/* Opens the note, or with `make` creates a missing one. Without `make` a
 * missing note is no error: then the link has no nonce. */
static enum seqb_status note_open(struct sqlite_link *link, bool make,
                                  struct seqb_error *err)
{
    char path[NOTE_PATH_SIZE];
    struct stat file;

    note_forget(link);
    if (link->note >= 0)
        return SEQB_OK;
    if (stat(link->path, &file) != 0 || !note_path(link->path, path))
        return note_fail(link, "name the note of", link->path, "", err);
    link->note = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (link->note < 0 && errno == ENOENT && make)
        link->note = note_make(path, &file);
    if (link->note >= 0 || (errno == ENOENT && !make))
        return SEQB_OK;
    return note_fail(link, "open", path, GIVE_RIGHTS, err);
}

/* False if there is no valid note: it is new, torn, or of another boot. */
static bool note_read(const struct sqlite_link *link, struct note *out)
{
    char text[NOTE_SIZE + 1] = "";
    char boot[SQLITE_BOOT_SIZE];
    const size_t nonce_at = SQLITE_BOOT_SIZE;
    const size_t commits_at = nonce_at + SQLITE_RANDOM_SIZE;

    if (pread(link->note, text, NOTE_SIZE, 0) != NOTE_SIZE ||
        !boot_read(boot) || text[nonce_at - 1] != ' ' ||
        text[commits_at - 1] != ' ')
        return false;
    (void)text_format(out->boot, sizeof out->boot, "%.*s", SQLITE_BOOT_SIZE - 1,
                      text);
    (void)text_format(out->nonce, sizeof out->nonce, "%.*s",
                      SQLITE_RANDOM_SIZE - 1, &text[nonce_at]);
    return strcmp(out->boot, boot) == 0 &&
           text_to_int64(&text[commits_at], strlen(&text[commits_at]),
                         &out->commits);
}

static enum seqb_status note_write(const struct sqlite_link *link,
                                   const struct note *note,
                                   struct seqb_error *err)
{
    char text[NOTE_SIZE] = "";

    (void)text_format(text, sizeof text, "%s %s %" PRId64, note->boot,
                      note->nonce, note->commits);
    if (pwrite(link->note, text, NOTE_SIZE, 0) == NOTE_SIZE)
        return SEQB_OK;
    return note_fail(link, "write", FOLDER, MAKE_ROOM, err);
}

/* Keeps the note's values for the note that this transaction's commit
 * writes. */
static void note_keep(struct sqlite_link *link, const struct note *note)
{
    (void)text_copy(link->nonce, sizeof link->nonce, note->nonce);
    (void)text_copy(link->boot, sizeof link->boot, note->boot);
}

/* --- incarnations --- */

static enum seqb_status incarnation_begin(struct sqlite_link *link,
                                          struct seqb_error *err)
{
    struct note note = {.commits = link->commits};
    enum seqb_status status = sqlite_link_random(link->name, note.nonce, err);

    if (status == SEQB_OK && !boot_read(note.boot))
        status = note_fail(link, "read", BOOT_ID, "", err);
    if (status == SEQB_OK)
        status = note_write(link, &note, err);
    if (status == SEQB_OK)
        note_keep(link, &note);
    return status;
}

/* Compares the open note with the file. */
static enum seqb_status note_compare(struct sqlite_link *link,
                                     struct seqb_error *err)
{
    struct note note;

    if (!note_read(link, &note) || link->commits < note.commits)
        return incarnation_begin(link, err);
    note_keep(link, &note);
    return SEQB_OK;
}

enum seqb_status sqlite_incarnation_check(struct sqlite_link *link,
                                          struct seqb_error *err)
{
    const enum seqb_status status = note_open(link, false, err);

    return status == SEQB_OK && link->note >= 0 ? note_compare(link, err)
                                                : status;
}

/* An open note that has its nonce was compared when the transaction began. */
enum seqb_status sqlite_incarnation_make(struct sqlite_link *link,
                                         struct seqb_error *err)
{
    enum seqb_status status;

    if (link->note >= 0 && link->nonce[0] != '\0')
        return SEQB_OK;
    link->nonce[0] = '\0'; /* stays empty after a failure */
    status = note_open(link, true, err);
    return status == SEQB_OK ? note_compare(link, err) : status;
}

enum seqb_status sqlite_incarnation_hold(struct sqlite_link *link,
                                         const struct seqb_backend *backend,
                                         struct seqb_error *err)
{
    enum seqb_status status;

    if (backend->incarnation[0] == '\0')
        return SEQB_OK;
    status = sqlite_incarnation_make(link, err);
    return status == SEQB_OK
               ? sql_incarnation_check(backend, link->nonce, link->where, err)
               : status;
}

enum seqb_status sqlite_incarnation_note(struct sqlite_link *link,
                                         int64_t commits,
                                         struct seqb_error *err)
{
    struct note note = {.commits = commits};

    if (link->note < 0)
        return SEQB_OK;
    (void)text_copy(note.nonce, sizeof note.nonce, link->nonce);
    (void)text_copy(note.boot, sizeof note.boot, link->boot);
    return note_write(link, &note, err);
}
