/* SPDX-License-Identifier: Apache-2.0 */
/* The incarnation of a SQLite file: whatever is put back, and whatever becomes
 * of the note of it, a cell of before is not counted in again. */
#include "contract/sqlite_cell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/backends.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/sqlite_note.h"
#include "support/test.h"

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
