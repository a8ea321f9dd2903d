/* SPDX-License-Identifier: Apache-2.0 */
/* The notes in /dev/shm, one for each file, guarded by SQLite's write lock. */
#include "backends/sqlite/incarnation.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/sqlite/notes.h"
#include "platform/error.h"
#include "platform/text.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* The advice if the note cannot be opened, or written. */
#define GIVE_RIGHTS "; this user must be able to write it"
#define MAKE_ROOM   "; make room there"

/* The row of an incarnation in the file is its prefix and its nonce. */
#define ROW_PREFIX "incarnation:"
#define ROW_SIZE   (sizeof ROW_PREFIX + SQLITE_RANDOM_SIZE)

/* The text is "<boot id> <nonce> <name>". */
struct note {
    char boot[SQLITE_BOOT_SIZE];
    char nonce[SQLITE_RANDOM_SIZE];
    char name[SQLITE_RANDOM_SIZE]; /* of the last commit with this nonce */
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

/* Gives the note the rights of the SQLite file: who may write the file may
 * write the note. */
static int note_make(const char *path, const struct stat *file)
{
    const int fd =
        open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    mode_t mode = file->st_mode & 0666;

    if (fd < 0)
        return -1;
    if (fchown(fd, file->st_uid, file->st_gid) != 0 &&
        fchown(fd, (uid_t)-1, file->st_gid) != 0)
        mode &= ~(mode_t)070; /* the group is another one */
    (void)fchmod(fd, mode);
    return fd;
}

void sqlite_incarnation_close(struct sqlite_link *link)
{
    if (link->note >= 0)
        (void)close(link->note);
    link->note = -1;
}

/* Whether only those have written the note who may write the SQLite file: the
 * folder is open to every account, and who puts an older note there hides that
 * the file went back. */
static bool note_is_trusted(const struct stat *note, const struct stat *file)
{
    const mode_t wider = note->st_mode & ~file->st_mode & 0022;
    const bool is_of_group = note->st_gid == file->st_gid;

    if (!S_ISREG(note->st_mode))
        return false;
    if ((file->st_mode & 0002) != 0)
        return true;
    if (wider != 0 || ((note->st_mode & 0020) != 0 && !is_of_group))
        return false;
    return note->st_uid == 0 || note->st_uid == geteuid() ||
           note->st_uid == file->st_uid ||
           /* Only a member can give a file to a group. */
           ((file->st_mode & 0020) != 0 && is_of_group);
}

/* Refuses, and closes, a note that others may have written: an open one is not
 * checked again. */
static enum seqb_status note_check(struct sqlite_link *link, const char *path,
                                   const struct stat *file,
                                   struct seqb_error *err)
{
    struct stat note;

    if (fstat(link->note, &note) != 0) {
        (void)note_fail(link, "look at", path, "", err);
        sqlite_incarnation_close(link);
        return SEQB_REFUSED;
    }
    if (note_is_trusted(&note, file))
        return SEQB_OK;
    sqlite_incarnation_close(link);
    return error_set(err, SEQB_REFUSED,
                     "sqlite %s: %s says whether the file went back, and may "
                     "have been written by accounts that cannot write the "
                     "SQLite file (owner %lu, group %lu, mode %04o); nothing "
                     "was granted: remove it, or give it the file's owner and "
                     "mode",
                     link->name, path, (unsigned long)note.st_uid,
                     (unsigned long)note.st_gid,
                     (unsigned)(note.st_mode & 07777));
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
    char path[SQLITE_NOTE_PATH_SIZE];
    struct stat file;

    note_forget(link);
    if (link->note >= 0)
        return SEQB_OK;
    if (stat(link->path, &file) != 0 || !sqlite_note_find(link->path, path))
        return note_fail(link, "name the note of", link->path, "", err);
    link->note = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (link->note < 0 && errno == ENOENT && make) {
        sqlite_notes_sweep();
        link->note = note_make(path, &file);
        if (link->note >= 0)
            sqlite_note_sign(link->note, link->path);
    }
    if (link->note >= 0) {
        sqlite_note_use(link->note);
        return note_check(link, path, &file, err);
    }
    if (errno == ENOENT && !make)
        return SEQB_OK;
    return note_fail(link, "open", path, GIVE_RIGHTS, err);
}

/* False if there is no valid note: it is new, torn, of another boot or of an
 * earlier version. */
static bool note_read(const struct sqlite_link *link, struct note *out)
{
    char text[SQLITE_NOTE_TEXT_SIZE + 1] = "";
    char boot[SQLITE_BOOT_SIZE];
    const size_t nonce_at = SQLITE_BOOT_SIZE;
    const size_t name_at = nonce_at + SQLITE_RANDOM_SIZE;

    if (pread(link->note, text, SQLITE_NOTE_TEXT_SIZE, 0) !=
            SQLITE_NOTE_TEXT_SIZE ||
        !boot_read(boot) || text[nonce_at - 1] != ' ' ||
        text[name_at - 1] != ' ' ||
        !text_copy(out->name, sizeof out->name, &text[name_at]))
        return false;
    (void)text_format(out->boot, sizeof out->boot, "%.*s", SQLITE_BOOT_SIZE - 1,
                      text);
    (void)text_format(out->nonce, sizeof out->nonce, "%.*s",
                      SQLITE_RANDOM_SIZE - 1, &text[nonce_at]);
    return strcmp(out->boot, boot) == 0;
}

static enum seqb_status note_write(const struct sqlite_link *link,
                                   const char *name, struct seqb_error *err)
{
    char text[SQLITE_NOTE_TEXT_SIZE] = "";

    (void)text_format(text, sizeof text, "%s %s %s", link->boot, link->nonce,
                      name);
    if (pwrite(link->note, text, SQLITE_NOTE_TEXT_SIZE, 0) ==
        SQLITE_NOTE_TEXT_SIZE)
        return SEQB_OK;
    return note_fail(link, "write", SQLITE_NOTES_FOLDER, MAKE_ROOM, err);
}

/* --- the row in the file --- */

static void row_name(const char *nonce, char out[ROW_SIZE])
{
    (void)text_format(out, ROW_SIZE, ROW_PREFIX "%s", nonce);
}

/* Whether the file has the commit that the note names, as the last one with the
 * note's nonce. */
static enum seqb_status row_compare(struct sqlite_link *link,
                                    const struct note *note, bool *out,
                                    struct seqb_error *err)
{
    char row[ROW_SIZE];
    sqlite3_stmt *query;
    enum seqb_status status = SEQB_OK;
    int result;

    row_name(note->nonce, row);
    query = sqlite_link_query(link, SQLITE_QUERY_COUNTER_FIND, row);
    result = sqlite3_step(query);
    *out = false;
    if (result == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(query, 1);

        *out = name != NULL && strcmp(name, note->name) == 0;
    } else if (result != SQLITE_DONE) {
        status = sqlite_link_fail(link, result, "read", err);
    }
    (void)sqlite3_reset(query);
    return status;
}

static enum seqb_status row_write(struct sqlite_link *link, int64_t commits,
                                  const char *name, struct seqb_error *err)
{
    char row[ROW_SIZE];
    sqlite3_stmt *query;

    row_name(link->nonce, row);
    query = sqlite_link_query(link, SQLITE_QUERY_COUNTER_PUT, row);
    (void)sqlite3_bind_int64(query, 2, commits);
    (void)sqlite3_bind_text(query, 3, name, -1, SQLITE_STATIC);
    return sqlite_link_run(link, SQLITE_QUERY_COUNTER_PUT, err);
}

/* --- incarnations --- */

/* Its row and its note are written with the commit. */
static enum seqb_status incarnation_begin(struct sqlite_link *link,
                                          struct seqb_error *err)
{
    if (!boot_read(link->boot))
        return note_fail(link, "read", BOOT_ID, "", err);
    link->is_begun = true;
    return sqlite_link_random(link->name, link->nonce, err);
}

/* Compares the open note with the file. */
static enum seqb_status note_compare(struct sqlite_link *link,
                                     struct seqb_error *err)
{
    struct note note;
    enum seqb_status status = SEQB_OK;
    bool is_trusted = false;

    if (note_read(link, &note))
        status = row_compare(link, &note, &is_trusted, err);
    if (status != SEQB_OK)
        return status;
    if (!is_trusted)
        return incarnation_begin(link, err);
    (void)text_copy(link->nonce, sizeof link->nonce, note.nonce);
    (void)text_copy(link->boot, sizeof link->boot, note.boot);
    return SEQB_OK;
}

enum seqb_status sqlite_incarnation_check(struct sqlite_link *link, bool make,
                                          struct seqb_error *err)
{
    enum seqb_status status;

    link->nonce[0] = '\0'; /* stays empty without a note */
    link->is_begun = false;
    status = note_open(link, make, err);
    return status == SEQB_OK && link->note >= 0 ? note_compare(link, err)
                                                : status;
}

enum seqb_status sqlite_incarnation_note(struct sqlite_link *link,
                                         int64_t commits,
                                         struct seqb_error *err)
{
    char name[SQLITE_RANDOM_SIZE];
    enum seqb_status status;

    if (link->nonce[0] == '\0')
        return SEQB_OK;
    status = sqlite_link_random(link->name, name, err);
    if (status == SEQB_OK && link->is_begun)
        status = sqlite_link_run(link, SQLITE_QUERY_NONCES_DELETE, err);
    if (status == SEQB_OK)
        status = row_write(link, commits, name, err);
    return status == SEQB_OK ? note_write(link, name, err) : status;
}
