/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sqlite engine and a file that is reached by two names, or whose index was
 * removed: brokers that do not share the index have a write lock each. Handles
 * of one process share the index of an inode whatever its name is, so the other
 * broker is another process.
 */
#include "contract/sqlite_case.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "backends/backends.h"
#include "contract/sqlite_earlier.h"
#include "contract/sqlite_other.h"
#include "platform/text.h"
#include "support/test.h"

#define WANT   SQLITE_OTHER_WANT
#define FOLDER "/mnt" /* of the other broker's mount namespace */

/* --- hard links --- */

static void store_make(const struct sqlite_files *files)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, WANT, 0);
    sqlite_case_close(backend);
}

/* The first value that the path grants; 0 if it is refused. */
static int64_t first_of(const struct sqlite_files *files, const char *path)
{
    struct seqb_backend_options options = files->options;
    struct seqb_backend *backend = NULL;
    struct seqb_request request = {.block.first = 0};

    options.path = path;
    if (backend_sqlite.open(&options, &backend, NULL) != SEQB_OK)
        return 0;
    if (sqlite_case_reserve(backend, ORDER, WANT, &request) != SEQB_OK)
        request.block.first = 0;
    backend_sqlite.close(backend);
    return request.block.first;
}

static void assert_refused(const struct sqlite_files *files, const char *path,
                           const char *words)
{
    struct seqb_backend_options options = files->options;

    options.path = path;
    sqlite_case_open_fails(&options, SEQB_UNSAFE, words);
    sqlite_case_open_fails(&options, SEQB_UNSAFE, path);
    options.accept_loss = true;
    sqlite_case_open_fails(&options, SEQB_UNSAFE, words);
}

TEST_WITH(SQLITE_CASE, file_with_two_names_is_refused_by_either)
{
    char index[96];
    struct seqb_backend *backend;

    store_make(files);
    assert_int_equal(link(files->path, files->copy), 0);
    assert_refused(files, files->path, "2 names");
    assert_refused(files, files->copy, "2 names");
    (void)text_format(index, sizeof index, "%s-shm", files->copy);
    assert_false(sqlite_case_is_there(index));
    assert_int_equal(unlink(files->copy), 0);
    backend = sqlite_case_open(files);
    sqlite_case_take(backend, WANT, WANT);
}

/* It is linked and opened while the other broker has read the counter and has
 * not committed yet. */
TEST_WITH(SQLITE_CASE, second_name_does_not_grant_what_is_being_granted)
{
    struct sqlite_answer answer;
    struct sqlite_other other;
    int64_t first;

    store_make(files);
    other = sqlite_other_start(files, files->path, NULL);
    assert_ok(sqlite_other_answer(&other).status);
    sqlite_other_order(&other);
    assert_ok(sqlite_other_answer(&other).status); /* is about to sync */
    assert_int_equal(link(files->path, files->copy), 0);
    first = first_of(files, files->copy);
    sqlite_other_order(&other);
    answer = sqlite_other_answer(&other);
    if (answer.status == SEQB_OK)
        assert_int_not_equal(answer.first, first);
    assert_int_equal(first, 0);
    sqlite_other_end(&other);
}

/* The file has one name whenever it is opened. */
TEST_WITH(SQLITE_CASE, brokers_that_opened_different_names_grant_nothing)
{
    struct seqb_backend_options options = files->options;
    struct seqb_backend *backend = NULL;
    struct seqb_request request;
    struct sqlite_answer answer;
    struct sqlite_other other;

    store_make(files);
    other = sqlite_other_start(files, files->path, NULL);
    assert_ok(sqlite_other_answer(&other).status);
    assert_int_equal(rename(files->path, files->copy), 0);
    options.path = files->copy;
    assert_ok(backend_sqlite.open(&options, &backend, NULL));
    assert_int_equal(link(files->copy, files->path), 0);
    sqlite_other_order(&other);
    answer = sqlite_other_answer(&other);
    request.block.first = 0;
    (void)sqlite_case_reserve(backend, ORDER, WANT, &request);
    if (answer.status == SEQB_OK) { /* is about to sync */
        sqlite_other_order(&other);
        answer = sqlite_other_answer(&other);
        assert_int_not_equal(answer.first, request.block.first);
    }
    assert_status(answer.status, SEQB_UNREACHABLE);
    assert_non_null(strstr(answer.text, "2 names"));
    assert_status(request.status, SEQB_UNREACHABLE);
    backend_sqlite.close(backend);
    sqlite_other_end(&other);
}

TEST_WITH(SQLITE_CASE, file_that_gains_a_name_grants_nothing_until_it_is_gone)
{
    const struct seqb_raise raise = {ORDER, 0, 0,    LIMIT, 0,
                                     0,     0, NULL, 0,     NULL};
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;
    struct seqb_error err;
    char standing[64];
    int64_t value;

    sqlite_case_take(backend, WANT, 0);
    assert_int_equal(link(files->path, files->copy), 0);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(request.error.text, "2 names"));
    assert_status(backend->ops->raise(backend, &raise, &value, &err),
                  SEQB_UNREACHABLE);
    assert_status(backend->ops->claim(backend, "layout", "x", standing,
                                      sizeof standing, &err),
                  SEQB_UNREACHABLE);
    assert_int_equal(unlink(files->copy), 0);
    sqlite_case_take(backend, WANT, WANT);
}

/* --- log and index --- */

static void empty_file_make(const char *path)
{
    sqlite_files_write(path, "", 0);
}

static void index_remove(const struct sqlite_files *files)
{
    char index[96];

    (void)text_format(index, sizeof index, "%s-shm", files->path);
    assert_int_equal(unlink(index), 0);
}

TEST_WITH(SQLITE_CASE, log_with_two_names_grants_nothing)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    sqlite_case_take(backend, WANT, 0);
    assert_int_equal(link(files->log, files->copy), 0);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(request.error.text, "-wal has 2 names"));
}

TEST_WITH(SQLITE_CASE, log_that_is_a_symbolic_link_is_refused)
{
    store_make(files);
    empty_file_make(files->copy);
    assert_int_equal(symlink(files->copy, files->log), 0);
    sqlite_case_open_fails(&files->options, SEQB_UNREACHABLE, "unable to open");
}

/* The next broker makes another index. What it commits must stay when the first
 * one, which does not know of it, closes last. */
TEST_WITH(SQLITE_CASE, broker_whose_index_was_removed_does_not_remove_the_log)
{
    struct seqb_backend *backend;
    struct sqlite_other other;

    store_make(files);
    other = sqlite_other_start(files, files->path, NULL);
    assert_ok(sqlite_other_answer(&other).status);
    index_remove(files);
    backend = sqlite_case_open(files);
    sqlite_case_take(backend, WANT, WANT);
    sqlite_case_close(backend);
    sqlite_other_close(&other);
    backend = sqlite_case_open(files);
    sqlite_case_take(backend, WANT, 2 * WANT);
}

/* The next broker makes another index. */
TEST_WITH(SQLITE_CASE, broker_whose_index_was_removed_grants_nothing)
{
    struct seqb_backend *backend;
    struct seqb_request request;
    struct sqlite_answer answer;
    struct sqlite_other other;

    store_make(files);
    other = sqlite_other_start(files, files->path, NULL);
    assert_ok(sqlite_other_answer(&other).status);
    index_remove(files);
    backend = sqlite_case_open(files);
    sqlite_other_order(&other);
    answer = sqlite_other_answer(&other);
    assert_ok(sqlite_case_reserve(backend, ORDER, WANT, &request));
    if (answer.status == SEQB_OK) { /* is about to sync */
        sqlite_other_order(&other);
        answer = sqlite_other_answer(&other);
        assert_int_not_equal(answer.first, request.block.first);
    }
    assert_status(answer.status, SEQB_UNREACHABLE);
    sqlite_case_close(backend);
    sqlite_other_end(&other);
}

/* The next broker reads what the first one has not committed yet. */
TEST_WITH(SQLITE_CASE, grant_during_which_the_index_is_removed_is_uncertain)
{
    struct seqb_backend *backend;
    struct seqb_request request;
    struct sqlite_answer answer;
    struct sqlite_other other;

    store_make(files);
    other = sqlite_other_start(files, files->path, NULL);
    assert_ok(sqlite_other_answer(&other).status);
    sqlite_other_order(&other);
    assert_ok(sqlite_other_answer(&other).status); /* is about to sync */
    index_remove(files);
    sqlite_earlier = true; /* otherwise the next broker waits for it */
    backend = sqlite_case_open(files);
    assert_ok(sqlite_case_reserve(backend, ORDER, WANT, &request));
    sqlite_other_order(&other);
    answer = sqlite_other_answer(&other);
    assert_int_not_equal(answer.first, request.block.first);
    assert_status(answer.status, SEQB_UNCERTAIN);
    assert_non_null(strstr(answer.text, "removed or replaced"));
    sqlite_case_close(backend);
    sqlite_other_end(&other);
    sqlite_earlier = false;
}

/* --- mounts --- */

static void mounts_require(void)
{
    if (geteuid() == 0)
        return;
    if (getenv("CI") != NULL)
        fail_msg("only root makes mounts: run this test as root");
    print_message("only root makes mounts: skipped\n");
    skip();
}

static bool bind_mount(const char *from, const char *to)
{
    if (unshare(CLONE_NEWNS) == 0 &&
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount(from, to, NULL, MS_BIND, NULL) == 0)
        return true;
    perror("mount");
    return false;
}

static bool mount_file(const struct sqlite_files *files)
{
    return bind_mount(files->path, files->copy);
}

static bool mount_folder(const struct sqlite_files *files)
{
    return bind_mount(files->folder, FOLDER);
}

static bool mount_index(const struct sqlite_files *files)
{
    char index[96];

    (void)text_format(index, sizeof index, "%s-shm", files->path);
    return bind_mount(files->copy, index);
}

TEST_WITH(SQLITE_CASE, file_that_is_mounted_alone_does_not_grant_the_same)
{
    struct seqb_backend *backend;
    struct seqb_request request;
    struct sqlite_answer answer;
    struct sqlite_other other;

    mounts_require();
    store_make(files);
    empty_file_make(files->copy);
    other = sqlite_other_start(files, files->copy, mount_file);
    answer = sqlite_other_answer(&other);
    backend = sqlite_case_open(files);
    if (answer.status == SEQB_OK) {
        sqlite_other_order(&other);
        assert_ok(sqlite_other_answer(&other).status); /* is about to sync */
    }
    assert_ok(sqlite_case_reserve(backend, ORDER, WANT, &request));
    if (answer.status == SEQB_OK) {
        sqlite_other_order(&other);
        assert_int_not_equal(sqlite_other_answer(&other).first,
                             request.block.first);
    }
    assert_status(answer.status, SEQB_UNSAFE);
    assert_non_null(strstr(answer.text, "mount the folder"));
    assert_non_null(strstr(answer.text, files->copy));
    sqlite_case_close(backend);
    sqlite_other_end(&other);
}

TEST_WITH(SQLITE_CASE, index_that_is_mounted_alone_is_refused)
{
    struct sqlite_other other;
    struct sqlite_answer answer;
    char index[96];

    mounts_require();
    store_make(files);
    empty_file_make(files->copy);
    (void)text_format(index, sizeof index, "%s-shm", files->path);
    empty_file_make(index);
    other = sqlite_other_start(files, files->path, mount_index);
    answer = sqlite_other_answer(&other);
    assert_status(answer.status, SEQB_UNSAFE);
    assert_non_null(strstr(answer.text, "-shm is mounted"));
    sqlite_other_end(&other);
}

/* Log and index are then the same files. */
TEST_WITH(SQLITE_CASE, folder_that_is_mounted_twice_is_one)
{
    struct seqb_backend *backend;
    struct seqb_request request;
    struct sqlite_answer answer;
    struct sqlite_other other;

    mounts_require();
    store_make(files);
    files->options.timeout_ms = 4; /* does not wait for the lock */
    other = sqlite_other_start(files, FOLDER "/s.db", mount_folder);
    answer = sqlite_other_answer(&other);
    if (answer.status != SEQB_OK)
        fail_msg("%s", answer.text);
    backend = sqlite_case_open(files);
    sqlite_other_order(&other);
    assert_ok(sqlite_other_answer(&other).status); /* has the lock */
    assert_true(sqlite_case_reserve(backend, ORDER, WANT, &request) != SEQB_OK);
    assert_non_null(strstr(request.error.text, "locked"));
    sqlite_other_order(&other);
    assert_int_equal(sqlite_other_answer(&other).first, WANT + 1);
    sqlite_case_take(backend, WANT, 2 * WANT);
    sqlite_case_close(backend);
    sqlite_other_end(&other);
}

TEST_WITH(SQLITE_CASE, symbolic_link_to_the_file_is_no_other_name)
{
    struct seqb_backend_options options = files->options;
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    store_make(files);
    assert_int_equal(symlink(files->path, files->copy), 0);
    options.path = files->copy;
    assert_done(backend_sqlite.open(&options, &backend, &err), err);
    sqlite_case_take(backend, WANT, WANT);
    assert_true(sqlite_case_is_there(files->log));
    backend_sqlite.close(backend);
}
