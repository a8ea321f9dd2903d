/* SPDX-License-Identifier: Apache-2.0 */
/* The note of the incarnation of a SQLite file: who may write it, what becomes
 * of it, and calls of the system on it that fail. */
#include "contract/sqlite_cell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "backends/backends.h"
#include "contract/sqlite_faults.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/sqlite_note.h"
#include "support/test.h"
#include "support/wrap.h"

#define NOBODY 65534

/* --- calls of the system that fail --- */

static int fails_fchown; /* so many of the next calls */
static int fails_fstat;
static bool fails_name;   /* of a file's note */
static uid_t owner_asked; /* by the last fchown */
static int64_t chowns;    /* calls since it was set to 0 */

static bool fails(int *left)
{
    if (*left == 0)
        return false;
    --*left;
    errno = EIO;
    return true;
}

WRAPPED(int, fchown, int file, uid_t owner, gid_t group)
{
    owner_asked = owner;
    chowns++;
    return fails(&fails_fchown) ? -1 : __real_fchown(file, owner, group);
}

WRAPPED(int, fstat64, int file, struct stat *out)
{
    return fails(&fails_fstat) ? -1 : __real_fstat64(file, out);
}

WRAPPED(int, statx, int folder, const char *path, int flags, unsigned mask,
        struct statx *out)
{
    int is_failing = fails_name && mask == (STATX_INO | STATX_BTIME);

    if (fails(&is_failing))
        return -1;
    errno = ENOENT; /* which says nothing after a call that succeeds */
    return __real_statx(folder, path, flags, mask, out);
}

/* --- the note --- */

static void expect_another_incarnation(struct sqlite_files *files, int failures)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_backend *other;
    char note[64];

    sqlite_cell_install(backend, 1);
    sqlite_cell_expect(backend, SEQB_OK, 0);
    sqlite_files_note(files, note);
    assert_int_equal(unlink(note), 0);
    fails_fstat = failures; /* of the open one, which is gone */
    sqlite_cell_expect(backend, SEQB_FENCED, 0);
    assert_int_equal(fails_fstat, 0);
    other = sqlite_case_open(files);
    sqlite_cell_expect(other, SEQB_FENCED, 0);
    sqlite_cell_install(other, 2);
    sqlite_cell_expect(backend, SEQB_OK, 0);
    sqlite_cell_expect(other, SEQB_OK, 1);
}

/* As by a boot of the machine, which empties /dev/shm. */
TEST_WITH(SQLITE_CASE, file_without_its_note_is_another_incarnation)
{
    expect_another_incarnation(files, 0);
}

TEST_WITH(SQLITE_CASE, note_that_cannot_be_looked_at_is_another_incarnation)
{
    expect_another_incarnation(files, 1);
}

/* An account that may not give the note away gives it to the group, and without
 * that the group may not write it. */
TEST_WITH(SQLITE_CASE, who_may_write_the_file_may_write_its_note)
{
    static const struct {
        mode_t file, note;
        int refused; /* calls of fchown */
    } rows[] = {
        {0664, 0664, 0}, {0775, 0664, 0}, {0664, 0664, 1},
        {0664, 0604, 2}, {0660, 0600, 2},
    };
    struct seqb_backend *backend;
    struct stat status;
    char note[64];

    sqlite_cell_use(files);
    sqlite_files_note(files, note);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(unlink(note), 0);
        assert_int_equal(chmod(files->path, rows[i].file), 0);
        backend = sqlite_case_open(files);
        fails_fchown = rows[i].refused;
        chowns = 0;
        sqlite_cell_install(backend, 2 + (int64_t)i);
        sqlite_case_close(backend);
        assert_int_equal(fails_fchown, 0);
        assert_int_equal(chowns, rows[i].refused == 0 ? 1 : 2);
        assert_true(owner_asked ==
                    (rows[i].refused == 0 ? geteuid() : (uid_t)-1));
        assert_int_equal(stat(note, &status), 0);
        assert_int_equal(status.st_mode & 07777, rows[i].note);
    }
}

/* What a take from the cell ends with, if the transaction can begin or not:
 * then the error has these words. */
static enum seqb_status take_status(const struct sqlite_files *files,
                                    const char *words)
{
    struct seqb_request request = {.counter = CELL,
                                   .want = 1,
                                   .limit = CELL_SIZE,
                                   .window = SEQB_NO_WINDOW};
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_error err;
    const enum seqb_status status =
        backend->ops->reserve(backend, &request, 1, &err);

    sqlite_case_close(backend);
    if (status == SEQB_OK)
        return request.status;
    if (strstr(err.text, words) == NULL)
        fail_msg("%s", err.text);
    return status;
}

/* Another account has made the note before, or may write it. */
TEST_WITH(SQLITE_CASE, note_that_others_may_write_is_not_trusted)
{
    static const struct {
        uid_t owner;
        gid_t group;
        mode_t note, file;
        enum seqb_status status;
    } rows[] = {
        {NOBODY, 0, 0600, 0600, SEQB_REFUSED},
        {NOBODY, 0, 0600, 0640, SEQB_REFUSED},
        {NOBODY, 0, 0660, 0660, SEQB_OK},           /* a member of its group */
        {NOBODY, NOBODY, 0660, 0660, SEQB_REFUSED}, /* of another group */
        {NOBODY, NOBODY, 0666, 0666, SEQB_OK}, /* and so may write the file */
        {0, 0, 0622, 0600, SEQB_REFUSED},
        {0, 0, 0620, 0600, SEQB_REFUSED},
        {0, NOBODY, 0660, 0660, SEQB_REFUSED},
        {0, NOBODY, 0640, 0600, SEQB_OK},
        {0, NOBODY, 0601, 0600, SEQB_OK},      /* nobody executes it */
        {NOBODY, 0, 0600, 0601, SEQB_REFUSED}, /* nor the file */
    };
    char note[64];
    char words[64];

    if (geteuid() != 0)
        skip();
    sqlite_cell_use(files);
    sqlite_files_note(files, note);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(chown(note, rows[i].owner, rows[i].group), 0);
        assert_int_equal(chmod(note, rows[i].note), 0);
        assert_int_equal(chmod(files->path, rows[i].file), 0);
        (void)text_format(words, sizeof words,
                          "mode %04o); nothing was granted"
                          ": remove it",
                          rows[i].note);
        assert_status(take_status(files, words), rows[i].status);
    }
}

/* It is not trusted by the next call because this one could not look at it. */
TEST_WITH(SQLITE_CASE, note_that_cannot_be_looked_at_is_not_trusted)
{
    struct seqb_request request;
    struct seqb_backend *backend;
    char note[64];
    char away[96];

    sqlite_cell_use(files);
    sqlite_files_note(files, note);
    assert_int_equal(chmod(note, 0622), 0);
    backend = sqlite_case_open(files);
    (void)text_format(away, sizeof away, "%s.away", note);
    assert_int_equal(rename(note, away), 0);
    assert_int_equal(symlink(away, note), 0);
    assert_status(sqlite_case_reserve(backend, CELL, 1, &request),
                  SEQB_REFUSED);
    assert_non_null(strstr(request.error.text, "cannot open"));
    assert_int_equal(rename(away, note), 0);
    fails_name = true;
    assert_status(sqlite_case_reserve(backend, CELL, 1, &request),
                  SEQB_REFUSED);
    assert_non_null(strstr(request.error.text, "cannot name the note of"));
    fails_name = false;
    fails_fstat = 1;
    assert_status(sqlite_case_reserve(backend, CELL, 1, &request),
                  SEQB_REFUSED);
    assert_non_null(strstr(request.error.text, "cannot look at"));
    assert_status(sqlite_case_reserve(backend, CELL, 1, &request),
                  SEQB_REFUSED);
    assert_non_null(strstr(request.error.text, "remove it"));
}

/* Where /dev/shm is kept, or was put back with the rest. */
TEST_WITH(SQLITE_CASE, note_of_another_boot_says_nothing)
{
    struct seqb_backend *backend;
    struct seqb_error err;
    char note[64];
    char *text;

    sqlite_cell_use(files);
    sqlite_files_note(files, note);
    assert_ok(file_read(note, 1024, &text, &err));
    text[0] = text[0] == '0' ? '1' : '0';
    sqlite_files_write(note, text, 128);
    free(text);
    backend = sqlite_case_open(files);
    sqlite_cell_expect(backend, SEQB_FENCED, 0);
    sqlite_cell_install(backend, 2);
    sqlite_cell_expect(backend, SEQB_OK, 0);
}

#define HOUR ((time_t)3600)

/* When a commit last wrote the note. */
static void note_age(const char *note, time_t seconds)
{
    const time_t at = time(NULL) - seconds;

    assert_int_equal(utime(note, &(struct utimbuf){at, at}), 0);
}

/* A file in the folder, with a note; the file is removed or not. */
static struct seqb_backend *note_of(const struct sqlite_files *files,
                                    const char *name, bool is_removed,
                                    char note[static SQLITE_NOTE_SIZE])
{
    struct seqb_backend_options options = files->options;
    struct seqb_backend *backend;
    char path[96];

    (void)text_format(path, sizeof path, "%s/%s", files->folder, name);
    options.path = path;
    options.needs_incarnation = true;
    assert_ok(backend_sqlite.open(&options, &backend, NULL));
    sqlite_note_path(path, note);
    if (is_removed)
        assert_int_equal(unlink(path), 0);
    return backend;
}

/* Other things by the names of notes, which are left alone: a pipe, whose
 * opening would wait, and a link to the copy of a note. */
static void others_make(const struct sqlite_files *files, const char *note,
                        char pipe[static SQLITE_NOTE_SIZE],
                        char link[static SQLITE_NOTE_SIZE])
{
    (void)text_format(pipe, SQLITE_NOTE_SIZE, "%s.pipe", note);
    (void)text_format(link, SQLITE_NOTE_SIZE, "%s.link", note);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    sqlite_files_copy(note, files->copy);
    note_age(files->copy, 2 * HOUR);
    assert_int_equal(symlink(files->copy, link), 0);
}

static void note_move(const struct sqlite_files *files, const char *note,
                      const char *path)
{
    char whole[96] = "";
    const int file = open(note, O_WRONLY | O_CLOEXEC);

    (void)text_format(whole, sizeof whole, "%s/%s", files->folder, path);
    assert_int_equal(ftruncate(file, 128), 0);
    assert_true(pwrite(file, whole, strlen(whole), 128) > 0);
    assert_int_equal(close(file), 0);
}

/* Programs make temporary files, and nobody would remove their notes. */
TEST_WITH(SQLITE_CASE, note_of_a_file_that_is_gone_is_removed)
{
    static const struct {
        const char *what;
        bool is_removed, is_open, is_earlier;
        time_t age;
        bool stays;
        const char *path; /* which the note names; NULL: the file's */
    } rows[] = {
        {"gone", true, false, false, 2 * HOUR, false, NULL},
        {"there", false, false, false, 2 * HOUR, true, NULL},
        {"gone, and in use", true, true, false, 2 * HOUR, true, NULL},
        {"gone a moment ago", true, false, false, HOUR / 2, true, NULL},
        {"gone, of an earlier version", true, false, true, 2 * HOUR, true,
         NULL},
        {"gone with its folder", true, false, false, 2 * HOUR, false,
         "there/s.db"},
        {"not to be looked at", true, false, false, 2 * HOUR, true,
         "loop/s.db"},
    };
    struct seqb_backend *backends[COUNT_OF(rows)];
    char notes[COUNT_OF(rows)][SQLITE_NOTE_SIZE];
    char next[SQLITE_NOTE_SIZE];
    char pipe[SQLITE_NOTE_SIZE];
    char link[SQLITE_NOTE_SIZE];

    (void)text_format(link, sizeof link, "%s/loop", files->folder);
    assert_int_equal(symlink("loop", link), 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        backends[i] =
            note_of(files, rows[i].what, rows[i].is_removed, notes[i]);
        if (!rows[i].is_open)
            backend_sqlite.close(backends[i]);
        if (rows[i].is_earlier)
            assert_int_equal(truncate(notes[i], 128), 0);
        if (rows[i].path != NULL)
            note_move(files, notes[i], rows[i].path);
        note_age(notes[i], rows[i].age);
    }
    others_make(files, notes[2], pipe, link);
    backend_sqlite.close(note_of(files, "next", false, next));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if ((access(notes[i], F_OK) == 0) != rows[i].stays)
            fail_msg("%s", rows[i].what);
        if (rows[i].is_open)
            backend_sqlite.close(backends[i]);
        if (rows[i].stays)
            assert_int_equal(unlink(notes[i]), 0);
    }
    assert_int_equal(unlink(next), 0);
    assert_int_equal(unlink(pipe), 0);
    assert_int_equal(unlink(link), 0);
}

/* Whether somebody has the lock of the log. */
static bool is_locked(const struct sqlite_files *files)
{
    const int log = open(files->log, O_RDWR | O_CLOEXEC);
    bool is_locked;

    assert_true(log >= 0);
    is_locked = flock(log, LOCK_EX | LOCK_NB) != 0;
    assert_int_equal(close(log), 0);
    return is_locked;
}

static const struct sqlite_files *where;

static void expect_locked(void *context)
{
    assert_true(is_locked(where));
    *(bool *)context = true;
}

/* A transaction that finds no note. */
static void raise_without(const char *note, const char *away,
                          struct seqb_backend *backend)
{
    const bool is_there = rename(note, away) == 0;

    (void)sqlite_case_raise(backend, 0);
    if (is_there)
        assert_int_equal(rename(away, note), 0);
}

/* As in a program that has closed its standard input: SQLite uses no such
 * descriptor, so it comes to the lock, to the note, or to the boot's id. */
TEST_WITH(SQLITE_CASE, file_is_locked_and_noted_with_descriptor_0)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    static const int opened[] = {1, 0, 2, 1}; /* before it is free */
    const int input = fcntl(0, F_DUPFD_CLOEXEC, 3);
    char note[SQLITE_NOTE_SIZE];
    char away[96];
    struct stat info;
    int64_t next = 0;

    where = files;
    sqlite_cell_use(files);
    sqlite_files_note(files, note);
    assert_int_equal(unlink(note), 0);
    (void)text_format(away, sizeof away, "%s.away", note);
    for (size_t i = 0; i < COUNT_OF(opened); i++) {
        struct seqb_backend *backend = sqlite_case_open(files);
        bool was_locked = false;

        if (opened[i] > 0)
            raise_without(note, away, backend); /* opens the lock */
        if (opened[i] > 1)
            sqlite_cell_expect(backend, SEQB_OK, next++); /* and the note */
        (void)close(0);
        faults->syncing = expect_locked;
        faults->context = &was_locked;
        if (i == 0)
            sqlite_cell_install(backend, 2); /* makes the note */
        sqlite_cell_expect(backend, SEQB_OK, next++);
        assert_true(was_locked);
        assert_false(is_locked(files));
        assert_int_equal(fcntl(0, F_GETFD), opened[i] > 1 ? -1 : FD_CLOEXEC);
        assert_int_equal(stat(note, &info), 0);
        assert_true(info.st_size > 128); /* it has the file's path */
        if (i + 1 == COUNT_OF(opened)) {
            assert_int_equal(unlink(note), 0);
            sqlite_cell_expect(backend, SEQB_FENCED, 0);
        }
        sqlite_case_close(backend);
        assert_int_equal(fstat(0, &info), -1);
        assert_int_equal(dup2(input, 0), 0);
    }
    (void)close(input);
    sqlite_faults_remove();
}

TEST_WITH(SQLITE_CASE, file_without_cells_has_no_note)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    char note[64];

    sqlite_case_take(backend, 5, 0);
    sqlite_files_note(files, note);
    assert_int_not_equal(access(note, F_OK), 0);
}
