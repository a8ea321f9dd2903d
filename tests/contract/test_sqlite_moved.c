/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sqlite engine and an operator who moves, copies, removes and puts back
 * its file: what is not the same history any more is noticed.
 */
#include "contract/sqlite_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/backends.h"
#include "contract/sqlite_faults.h"
#include "platform/file.h"
#include "support/test.h"

#define INODE_TRIES 50

/* --- files that are moved about --- */

static void assert_moved(struct seqb_backend *backend)
{
    const struct seqb_raise raise = {ORDER, 0, 0,    LIMIT, 0,
                                     0,     0, NULL, 0,     NULL};
    struct seqb_request request;
    struct seqb_error err;
    char standing[64];
    int64_t value;

    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_UNREACHABLE);
    assert_status(request.status, SEQB_UNREACHABLE);
    assert_true(strstr(request.error.text, "removed or replaced") != NULL);
    assert_status(backend->ops->raise(backend, &raise, &value, &err),
                  SEQB_UNREACHABLE);
    assert_status(backend->ops->claim(backend, "layout", "x", standing,
                                      sizeof standing, &err),
                  SEQB_UNREACHABLE);
}

TEST_WITH(SQLITE_CASE, removed_file_grants_nothing)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, 5, 0);
    assert_int_equal(unlink(files->path), 0);
    assert_moved(backend);
}

TEST_WITH(SQLITE_CASE, moved_file_grants_nothing_until_it_is_back)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, 5, 0);
    assert_int_equal(rename(files->path, files->copy), 0);
    assert_moved(backend);
    assert_int_equal(rename(files->copy, files->path), 0);
    sqlite_case_take(backend, 5, 5);
}

TEST_WITH(SQLITE_CASE, replaced_file_grants_nothing)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, 5, 0);
    sqlite_files_save(files);
    assert_int_equal(rename(files->copy, files->path), 0);
    assert_moved(backend);
}

TEST_WITH(SQLITE_CASE, removed_log_grants_nothing)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, 5, 0);
    assert_int_equal(unlink(files->log), 0);
    assert_moved(backend);
}

TEST_WITH(SQLITE_CASE, file_replaced_while_it_is_opened_is_not_used)
{
    struct sqlite_faults *faults = sqlite_faults_install();

    sqlite_case_close(sqlite_case_open(files));
    sqlite_files_save(files);
    faults->swap_to = files->copy;
    faults->swap_for = files->path;
    sqlite_case_open_fails(&files->options, SEQB_UNREACHABLE,
                           "removed or replaced");
}

TEST_WITH(SQLITE_CASE, copy_in_another_place_is_fenced)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    sqlite_case_take(backend, 5, 0);
    sqlite_files_save(files);
    sqlite_case_close(backend);
    files->options.path = files->copy;
    backend = sqlite_case_open(files);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_FENCED);
    assert_int_equal(sqlite_case_raise(backend, 1000), 1005);
    sqlite_case_close(backend);
    files->options.path = files->path;
    backend = sqlite_case_open(files);
    sqlite_case_take(backend, 5, 5); /* the original is as it was */
}

static ino_t inode_of(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return info.st_ino;
}

/* Takes numbers, then rm and cp of an older state while nothing is open;
 * whether the file has its old inode. */
static bool copy_gets_the_inode(struct sqlite_files *files)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    char *content = NULL;
    struct stat info;
    ino_t inode;

    sqlite_case_take(backend, 5, 0);
    sqlite_files_save(files);
    sqlite_case_take(backend, 5, 5);
    sqlite_case_close(backend);
    inode = inode_of(files->path);
    assert_int_equal(stat(files->copy, &info), 0);
    assert_ok(file_read(files->copy, 1 << 20, &content, NULL));
    assert_int_equal(unlink(files->path), 0);
    sqlite_files_write(files->path, content, (size_t)info.st_size);
    free(content);
    return inode_of(files->path) == inode;
}

/* Many file systems give a new file the inode that came free last, unless
 * another process is faster. */
TEST_WITH(SQLITE_CASE, copy_on_the_same_inode_is_fenced)
{
    struct seqb_backend *backend;
    struct seqb_request request;
    int tries = 0;

    while (!copy_gets_the_inode(files)) {
        if (++tries == INODE_TRIES)
            skip(); /* not this file system */
        assert_int_equal(unlink(files->path), 0);
        assert_int_equal(unlink(files->copy), 0);
    }
    backend = sqlite_case_open(files);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_FENCED);
}

/* `cp backup.db partition.db`: the inode stays, and so does the mark on it. */
static void content_is_put_back(const struct sqlite_files *files)
{
    sqlite_files_copy(files->copy, files->path);
    (void)unlink(files->log);
}

TEST_WITH(SQLITE_CASE, older_content_in_the_same_file_is_fenced)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;
    ino_t inode;

    sqlite_case_take(backend, 5, 0);
    sqlite_files_save(files);
    sqlite_case_take(backend, 5, 5);
    sqlite_case_close(backend);
    inode = inode_of(files->path);
    content_is_put_back(files);
    assert_true(inode_of(files->path) == inode);
    backend = sqlite_case_open(files);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_FENCED);
    assert_int_equal(sqlite_case_raise(backend, 1000), 1005);
    sqlite_case_take(backend, 5, 1005);
    sqlite_case_close(backend);
    /* Once only. */
    backend = sqlite_case_open(files);
    sqlite_case_take(backend, 5, 1010);
}

/* The copy lives elsewhere with one counter in use, more than the original is,
 * and returns into the old file: no mark is ahead of it. */
TEST_WITH(SQLITE_CASE, file_that_came_back_trusts_no_idle_row)
{
    struct sqlite_files elsewhere = *files;
    struct seqb_backend *backend = sqlite_case_open(files);
    const struct seqb_raise raise = {"main/0/a", 0, 1000, LIMIT, 1000,
                                     0,          0, NULL, 0,     NULL};
    struct seqb_request request;
    int64_t value;

    sqlite_case_take(backend, 5, 0);
    sqlite_case_close(backend);
    sqlite_files_copy(files->path, files->copy);
    backend = sqlite_case_open(files);
    sqlite_case_take(backend, 5, 5);
    sqlite_case_close(backend);
    elsewhere.options.path = files->copy;
    backend = sqlite_case_open(&elsewhere);
    assert_ok(backend->ops->raise(backend, &raise, &value, NULL));
    for (int i = 0; i < 5; i++)
        assert_ok(sqlite_case_reserve(backend, "main/0/a", 1, &request));
    sqlite_case_close(backend);
    sqlite_files_copy(files->copy, files->path);
    backend = sqlite_case_open(files);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_FENCED);
    assert_int_equal(sqlite_case_raise(backend, 1000), 1005);
    sqlite_case_take(backend, 5, 1005);
    backend = sqlite_case_reopen(files, backend); /* once only */
    sqlite_case_take(backend, 5, 1010);
}

/* sqlite3's .restore, while a broker is at work. */
TEST_WITH(SQLITE_CASE, older_content_restored_while_open_is_fenced)
{
    struct seqb_backend *first = sqlite_case_open(files);
    struct seqb_backend *second;
    struct seqb_request request;

    sqlite_case_take(first, 5, 0);
    sqlite_files_save(files);
    sqlite_case_take(first, 5, 5);
    second = sqlite_case_open(files);
    sqlite_files_restore_inside(files);
    assert_status(sqlite_case_reserve(first, ORDER, 1, &request),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(request.error.text, "went back"));
    first = sqlite_case_reopen(files, first);
    assert_status(sqlite_case_reserve(first, ORDER, 1, &request), SEQB_FENCED);
    assert_int_equal(sqlite_case_raise(first, 1000), 1005);
    sqlite_case_take(first, 5, 1005);
    assert_moved(second); /* by the history that the first one began */
}

/* One that has not looked since the copy was made finds as many transactions as
 * it knows of. The mark tells of those that others made. */
TEST_WITH(SQLITE_CASE, older_content_is_noticed_by_who_was_idle)
{
    struct seqb_backend *idle = sqlite_case_open(files);
    struct seqb_backend *busy;
    struct seqb_request request;

    sqlite_case_take(idle, 5, 0);
    busy = sqlite_case_open(files);
    sqlite_files_save(files);
    sqlite_case_take(busy, 5, 5);
    /* The copy is all that is in the log then, from its first frame on. */
    sqlite_files_run(files, "PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite_files_restore_inside(files);
    assert_status(sqlite_case_reserve(idle, ORDER, 1, &request),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(request.error.text, "went back"));
    idle = sqlite_case_reopen(files, idle);
    assert_status(sqlite_case_reserve(idle, ORDER, 1, &request), SEQB_FENCED);
}
