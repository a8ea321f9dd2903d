/* SPDX-License-Identifier: Apache-2.0 */
/* The incarnation of a SQLite file: whatever is put back, and whatever becomes
 * of the note of it, a cell of before is not counted in again. */
#include "contract/sqlite_cell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "backends/backends.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/sqlite_note.h"
#include "support/test.h"

#define NOBODY 65534

TEST_WITH(SQLITE_CASE, window_lasts_over_brokers_that_come_and_go)
{
    sqlite_cell_use(files);
    for (int64_t i = 1; i < 4; i++) {
        struct seqb_backend *one = sqlite_case_open(files);
        struct seqb_backend *other = sqlite_case_open(files);

        sqlite_cell_expect(one, SEQB_OK, 2 * i - 1);
        sqlite_cell_expect(other, SEQB_OK, 2 * i);
        sqlite_case_close(one);
        sqlite_case_close(other);
    }
}

/* The inode and its attributes are those of the copy. */
TEST_WITH(SQLITE_CASE, copy_of_everything_is_another_incarnation)
{
    sqlite_cell_use(files);
    test_copy_file(files->path, files->copy);
    for (int64_t i = 2; i < 5; i++) {
        struct seqb_backend *backend = sqlite_case_open(files);

        if (i > 2)
            sqlite_cell_expect(backend, SEQB_FENCED, 0);
        sqlite_cell_install(backend, i == 2 ? 1 : i);
        sqlite_cell_expect(backend, SEQB_OK, i == 2 ? 1 : 0);
        sqlite_case_close(backend);
        test_copy_file(files->copy, files->path);
    }
}

/* Counters that are no cells bring the file's transactions up to what they
 * were: the broker that counts them sees that they had gone back. */
TEST_WITH(SQLITE_CASE, file_that_went_back_and_on_is_another_incarnation)
{
    struct seqb_backend *backend;

    sqlite_cell_use(files);
    test_copy_file(files->path, files->copy);
    backend = sqlite_case_open(files);
    sqlite_cell_expect(backend, SEQB_OK, 1);
    sqlite_case_close(backend);
    test_copy_file(files->copy, files->path);
    backend = sqlite_case_open(files);
    for (int i = 0; i < 5; i++)
        sqlite_case_take(backend, 1, i);
    backend = sqlite_case_reopen(files, backend);
    sqlite_cell_expect(backend, SEQB_FENCED, 0);
}

/* As by a boot of the machine, which empties /dev/shm. */
TEST_WITH(SQLITE_CASE, file_without_its_note_is_another_incarnation)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_backend *other;
    char note[64];

    sqlite_cell_install(backend, 1);
    sqlite_cell_expect(backend, SEQB_OK, 0);
    sqlite_files_note(files, note);
    assert_int_equal(unlink(note), 0);
    sqlite_cell_expect(backend, SEQB_FENCED, 0);
    other = sqlite_case_open(files);
    sqlite_cell_expect(other, SEQB_FENCED, 0);
    sqlite_cell_install(other, 2);
    sqlite_cell_expect(backend, SEQB_OK, 0);
    sqlite_cell_expect(other, SEQB_OK, 1);
}

TEST_WITH(SQLITE_CASE, who_may_write_the_file_may_write_its_note)
{
    struct seqb_backend *backend;
    struct stat status;
    char note[64];

    sqlite_cell_use(files);
    sqlite_files_note(files, note);
    assert_int_equal(unlink(note), 0);
    assert_int_equal(chmod(files->path, 0664), 0);
    backend = sqlite_case_open(files);
    sqlite_cell_install(backend, 2);
    sqlite_case_close(backend);
    assert_int_equal(stat(note, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0664);
}

/* What a take from the cell ends with, if the transaction can begin or not. */
static enum seqb_status take_status(const struct sqlite_files *files)
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
    assert_non_null(strstr(err.text, "remove it"));
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
    };
    char note[64];

    if (geteuid() != 0)
        skip();
    sqlite_cell_use(files);
    sqlite_files_note(files, note);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(chown(note, rows[i].owner, rows[i].group), 0);
        assert_int_equal(chmod(note, rows[i].note), 0);
        assert_int_equal(chmod(files->path, rows[i].file), 0);
        assert_status(take_status(files), rows[i].status);
    }
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

/* Where the note of a file is if names have no time of birth. */
static void note_of_inode(const char *file, char out[SQLITE_NOTE_SIZE])
{
    sqlite_note_path(file, out);
    if (strchr(out, '.') == NULL)
        skip(); /* the file system does not know it */
    *strrchr(out, '-') = '\0';
}

/* As when a file is removed, and a copy of it, which was used elsewhere, gets
 * its inode later. */
TEST_WITH(SQLITE_CASE, file_in_the_inode_of_another_one_has_not_its_note)
{
    struct seqb_backend *backend;
    char incarnation[SEQB_INCARNATION_SIZE];
    char note[SQLITE_NOTE_SIZE];
    char of_inode[SQLITE_NOTE_SIZE];

    files->options.needs_incarnation = true;
    backend = sqlite_case_open(files);
    (void)text_copy(incarnation, sizeof incarnation, backend->incarnation);
    sqlite_case_close(backend);
    sqlite_files_note(files, note);
    if (access(note, F_OK) != 0)
        note_of_inode(files->path, note);
    test_copy_file(files->path, files->copy);
    assert_int_equal(rename(files->copy, files->path), 0);
    note_of_inode(files->path, of_inode);
    assert_int_equal(link(note, of_inode), 0);
    backend = sqlite_case_open(files);
    assert_string_not_equal(backend->incarnation, incarnation);
    sqlite_case_close(backend);
    assert_int_equal(unlink(of_inode), 0);
    assert_int_equal(unlink(note), 0);
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

/* Programs make temporary files, and nobody would remove their notes. */
TEST_WITH(SQLITE_CASE, note_of_a_file_that_is_gone_is_removed)
{
    static const struct {
        const char *what;
        bool is_removed, is_open, is_earlier;
        time_t age;
        bool stays;
    } rows[] = {
        {"gone", true, false, false, 2 * HOUR, false},
        {"there", false, false, false, 2 * HOUR, true},
        {"gone, and in use", true, true, false, 2 * HOUR, true},
        {"gone a moment ago", true, false, false, HOUR / 2, true},
        {"gone, of an earlier version", true, false, true, 2 * HOUR, true},
    };
    struct seqb_backend *backends[COUNT_OF(rows)];
    char notes[COUNT_OF(rows)][SQLITE_NOTE_SIZE];
    char next[SQLITE_NOTE_SIZE];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        backends[i] =
            note_of(files, rows[i].what, rows[i].is_removed, notes[i]);
        if (!rows[i].is_open)
            backend_sqlite.close(backends[i]);
        if (rows[i].is_earlier)
            assert_int_equal(truncate(notes[i], 128), 0);
        note_age(notes[i], rows[i].age);
    }
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
}

TEST_WITH(SQLITE_CASE, file_without_cells_has_no_note)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    char note[64];

    sqlite_case_take(backend, 5, 0);
    sqlite_files_note(files, note);
    assert_int_not_equal(access(note, F_OK), 0);
}

/* --- what open tells of it --- */

/* Its guard must be answered so. */
static void expect_guarded(struct seqb_backend *backend,
                           enum seqb_status status)
{
    struct seqb_guard guard = {"synced/main", "", false};
    struct seqb_request request = {
        .counter = ORDER, .want = 1, .limit = LIMIT, .guard = &guard};
    struct seqb_error err;

    assert_ok(backend->ops->reserve(backend, &request, 1, &err));
    assert_status(request.status, status);
    assert_int_equal(guard.has_failed, status == SEQB_FENCED);
}

/* A full disk has the note made and not written. Who did not make it gets no
 * lease, and who comes when there is room makes it. */
TEST_WITH(SQLITE_CASE, note_that_cannot_be_written_is_no_incarnation)
{
    struct seqb_backend_options options = files->options;
    struct seqb_guard guard = {"synced/main", "a|", false};
    struct seqb_request request = {
        .counter = ORDER, .want = 1, .limit = LIMIT, .guard = &guard};
    struct seqb_backend *other = sqlite_case_open(files); /* keeps the log */
    struct seqb_backend *backend = NULL;
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_error err = {SEQB_OK, ""};
    struct rlimit usual;
    enum seqb_status status;

    assert_ok(other->ops->claim(other, guard.name, guard.text, standing,
                                sizeof standing, &err));
    options.needs_incarnation = true;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_int_equal(
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, usual.rlim_max}), 0);
    status = backend_sqlite.open(&options, &backend, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_done(status, err);
    assert_string_equal(backend->incarnation, "");
    assert_ok(backend->ops->reserve(backend, &request, 1, &err));
    assert_status(request.status, SEQB_REFUSED);
    assert_non_null(strstr(request.error.text, "make room there"));
    backend_sqlite.close(backend);
    sqlite_case_close(sqlite_cell_open_known(files));
}

/* With all attributes, so that nothing but the note tells. */
TEST_WITH(SQLITE_CASE, file_that_is_put_back_fails_its_guards)
{
    struct seqb_backend *backend = sqlite_cell_open_known(files);
    char standing[SEQB_CLAIM_SIZE];

    assert_ok(backend->ops->claim(backend, "synced/main", backend->incarnation,
                                  standing, sizeof standing, NULL));
    expect_guarded(backend, SEQB_OK);
    sqlite_case_close(backend);
    test_copy_file(files->path, files->copy);
    backend = sqlite_cell_open_known(files);
    assert_string_equal(backend->incarnation, standing);
    expect_guarded(backend, SEQB_OK);
    sqlite_case_close(backend);
    test_copy_file(files->copy, files->path);
    backend = sqlite_cell_open_known(files);
    assert_string_not_equal(backend->incarnation, standing);
    expect_guarded(backend, SEQB_FENCED);
}

TEST_WITH(SQLITE_CASE, cells_and_counters_of_one_name_are_two)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, 5, 0);
    sqlite_cell_install(backend, 1);
    sqlite_cell_expect(backend, SEQB_OK, 0);
    sqlite_case_take(backend, 5, 5);
    sqlite_cell_expect(backend, SEQB_OK, 1);
}
