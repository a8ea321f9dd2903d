/* SPDX-License-Identifier: Apache-2.0 */
/* What may happen to an open SQLite file: locked, forked, damaged, or on a disk
 * that fails. */
#include "contract/sqlite_case.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backends.h"
#include "contract/sqlite_faults.h"
#include "platform/text.h"
#include "support/test.h"

/* --- other processes --- */

/* Another writer's handle, in the middle of a transaction. */
static sqlite3 *lock_hold(const struct sqlite_files *files)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(files->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL),
                     SQLITE_OK);
    return db;
}

TEST_WITH(SQLITE_CASE, lock_of_another_process_is_waited_for_then_named)
{
    struct seqb_backend *holder = sqlite_case_open(files);
    struct seqb_backend *backend;
    struct seqb_request request;
    sqlite3 *db;

    files->options.timeout_ms = 100;
    backend = sqlite_case_open(files);
    sqlite_case_take(holder, 5, 0);
    db = lock_hold(files);
    assert_status(sqlite_case_reserve(backend, ORDER, 5, &request),
                  SEQB_UNREACHABLE);
    assert_true(strstr(request.error.text,
                       "locked by another process; waited for up to 75 ms") !=
                NULL);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    sqlite_case_take(backend, 5, 5); /* nothing was spent */
}

/* A copy is bound to its place, which takes the lock: as long as a connection
 * may take, not a call. */
TEST_WITH(SQLITE_CASE, opening_waits_for_a_lock_as_long_as_it_may_take)
{
    sqlite3 *db;

    sqlite_case_close(sqlite_case_open(files));
    sqlite_files_save(files);
    sqlite_files_restore(files);
    files->options.timeout_ms = 100;
    files->options.connect_timeout_ms = 400;
    db = lock_hold(files);
    sqlite_case_open_fails(&files->options, SEQB_UNREACHABLE,
                           "locked by another process; waited for up to 300 "
                           "ms");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    sqlite_case_close(sqlite_case_open(files));
}

TEST_WITH(SQLITE_CASE, starting_again_waits_for_no_lock)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    char standing[64];
    struct seqb_error err;
    sqlite3 *db;

    files->options.timeout_ms = 0;
    assert_ok(backend->ops->claim(backend, "layout", "bits=2", standing,
                                  sizeof standing, &err));
    sqlite_case_close(backend);
    db = lock_hold(files);
    backend = sqlite_case_open(files);
    assert_ok(backend->ops->claim(backend, "layout", "bits=3", standing,
                                  sizeof standing, &err));
    assert_string_equal(standing, "bits=2");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* What a forked child may do with its parent's handle: nothing. */
static bool child_is_refused(struct seqb_backend *backend)
{
    const struct seqb_raise raise = {ORDER, 0, 0,    LIMIT, 0,
                                     0,     0, NULL, 0,     NULL};
    const struct seqb_swap swap = {"worker", "", "mine", NULL};
    const struct seqb_purge purge = {ORDER, ORDER "@20261121", 1, 1};
    struct seqb_request request;
    char standing[64];
    int64_t value;
    int32_t deleted;

    return sqlite_case_reserve(backend, ORDER, 1, &request) == SEQB_FORKED &&
           request.status == SEQB_FORKED &&
           backend->ops->raise(backend, &raise, &value, NULL) == SEQB_FORKED &&
           backend->ops->swap(backend, &swap, standing, sizeof standing,
                              NULL) == SEQB_FORKED &&
           backend->ops->purge(backend, &purge, &deleted, NULL) ==
               SEQB_FORKED &&
           backend->ops->claim(backend, "layout", NULL, standing,
                               sizeof standing, NULL) == SEQB_FORKED;
}

TEST_WITH(SQLITE_CASE, handle_does_not_cross_fork)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend;
    sqlite3 *db;
    pid_t child;
    int ended;

    files->options.timeout_ms = 0;
    backend = sqlite_case_open(files);
    db = lock_hold(files); /* so that touching the file shows */
    faults->closes = 0;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool is_refused = child_is_refused(backend);

        sqlite_case_close(backend);
        _exit(is_refused && faults->closes == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    sqlite_case_take(backend, 5, 0);
}

/* --- disks that fail --- */

TEST_WITH(SQLITE_CASE, each_grant_is_synced_before_it_is_answered)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend = sqlite_case_open(files);

    for (int i = 0; i < 10; i++) {
        faults->log_syncs = 0;
        sqlite_case_take(backend, 1, i);
        assert_true(faults->log_syncs >= 1);
    }
}

TEST_WITH(SQLITE_CASE, failed_commit_is_uncertain_and_never_repeats)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    sqlite_case_take(backend, 5, 0);
    faults->fails_sync = true;
    assert_status(sqlite_case_reserve(backend, ORDER, 5, &request),
                  SEQB_UNCERTAIN);
    assert_status(request.status, SEQB_UNCERTAIN);
    assert_true(strstr(request.error.text, "sqlite-a") != NULL);
    faults->fails_sync = false;
    backend = sqlite_case_reopen(files, backend);
    assert_ok(sqlite_case_reserve(backend, ORDER, 5, &request));
    assert_true(request.block.first == 6 || request.block.first == 11);
}

TEST_WITH(SQLITE_CASE, failed_commit_of_a_new_counter_grants_nothing)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    faults->fails_sync = true;
    assert_status(sqlite_case_reserve(backend, ORDER, 5, &request),
                  SEQB_UNCERTAIN);
    assert_status(request.status, SEQB_UNCERTAIN);
    faults->fails_sync = false;
    backend = sqlite_case_reopen(files, backend);
    assert_ok(sqlite_case_reserve(backend, ORDER, 5, &request));
    assert_true(request.block.first == 1 || request.block.first == 6);
}

TEST_WITH(SQLITE_CASE, disk_without_a_write_ahead_log_is_unsafe)
{
    struct sqlite_faults *faults = sqlite_faults_install();

    faults->refuses_log = true;
    sqlite_case_open_fails(&files->options, SEQB_UNSAFE, "journal_mode");
}

/* No row of that counter can be written. */
static void refuse_writes(const struct sqlite_files *files, const char *counter)
{
    char sql[256];

    (void)text_format(sql, sizeof sql,
                      "CREATE TRIGGER full BEFORE INSERT ON seqb_counters "
                      "WHEN NEW.name = '%s' BEGIN "
                      "SELECT RAISE(FAIL, 'no room'); END",
                      counter);
    sqlite_files_run(files, sql);
}

/* A trigger may also leave the row as it is, without an error. */
TEST_WITH(SQLITE_CASE, block_whose_row_a_trigger_kept_is_not_granted)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    sqlite_case_take(backend, 5, 0);
    sqlite_files_run(files,
                     "CREATE TRIGGER keep BEFORE INSERT ON seqb_counters "
                     "BEGIN SELECT RAISE(IGNORE); END");
    assert_status(sqlite_case_reserve(backend, ORDER, 5, &request),
                  SEQB_CORRUPT);
    sqlite_files_run(files, "DROP TRIGGER keep");
    backend = sqlite_case_reopen(files, backend);
    sqlite_case_take(backend, 5, 5);
}

TEST_WITH(SQLITE_CASE, block_whose_row_a_trigger_changed_is_not_granted)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    sqlite_case_take(backend, 5, 0);
    sqlite_files_run(files,
                     "CREATE TRIGGER lower AFTER INSERT ON seqb_counters "
                     "BEGIN UPDATE seqb_counters SET value = value - 1 "
                     "WHERE name = NEW.name; END");
    assert_status(sqlite_case_reserve(backend, ORDER, 5, &request),
                  SEQB_CORRUPT);
    sqlite_files_run(files, "DROP TRIGGER lower");
    backend = sqlite_case_reopen(files, backend);
    sqlite_case_take(backend, 5, 5);
}

/* That of another counter, which comes after it in the batch, is. */
TEST_WITH(SQLITE_CASE, block_is_not_granted_whose_row_was_not_written)
{
    static const char first[] = "main/0/a";
    static const char last[] = "main/0/b";
    struct seqb_backend *backend = sqlite_case_open(files);

    for (int64_t before = 0; before <= 3; before += 3) { /* new ones first */
        struct seqb_request requests[2] = {
            {.counter = first, .want = 3, .limit = LIMIT},
            {.counter = last, .want = 3, .limit = LIMIT},
        };
        struct seqb_error err;

        refuse_writes(files, first);
        assert_status(backend->ops->reserve(backend, requests, 2, &err),
                      SEQB_PROTOCOL);
        assert_true(strstr(err.text, "no room") != NULL);
        assert_status(requests[0].status, SEQB_PROTOCOL);
        assert_status(requests[1].status, SEQB_PROTOCOL);
        sqlite_case_close(backend);
        sqlite_files_run(files, "DROP TRIGGER full");
        backend = sqlite_case_open(files);
        for (size_t i = 0; i < 2; i++) {
            assert_ok(sqlite_case_reserve(backend, i == 0 ? first : last, 3,
                                          &requests[i]));
            assert_int_equal(requests[i].block.first, before + 1);
        }
    }
}

/* --- rows that somebody edited --- */

TEST_WITH(SQLITE_CASE, damaged_counter_fails_alone)
{
    static const char *const values[] = {"'many'", "-1", "1.5", "x'00'"};
    struct seqb_backend *backend = sqlite_case_open(files);
    const struct seqb_raise raise = {"main/0/bad", 0, 0,   LIMIT, 0, 0, 0,
                                     NULL,         0, NULL};
    int64_t value;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct seqb_request requests[2] = {
            {.counter = "main/0/bad", .want = 1, .limit = LIMIT},
            {.counter = ORDER, .want = 1, .limit = LIMIT},
        };
        char sql[256];

        (void)text_format(
            sql, sizeof sql,
            "PRAGMA ignore_check_constraints = 1; REPLACE INTO seqb_counters "
            "SELECT 'main/0/bad', %s, origin FROM seqb_counters "
            "WHERE name = ''",
            values[i]);
        sqlite_files_run(files, sql);
        assert_ok(backend->ops->reserve(backend, requests, 2, NULL));
        assert_status(requests[0].status, SEQB_CORRUPT);
        assert_ok(requests[1].status);
        assert_status(backend->ops->raise(backend, &raise, &value, NULL),
                      SEQB_CORRUPT);
    }
}

TEST_WITH(SQLITE_CASE, tables_dropped_while_open_are_corrupt)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    sqlite_case_take(backend, 5, 0);
    sqlite_files_run(files, "DROP TABLE seqb_counters");
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_CORRUPT);
}

/* Whoever comes goes on above all that anybody was granted. */
TEST_WITH(SQLITE_CASE, deleted_row_goes_on_above_its_note)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, 100, 0);
    sqlite_files_run(files, "DELETE FROM seqb_counters "
                            "WHERE name = '" ORDER "'");
    backend = sqlite_case_reopen(files, backend);
    sqlite_case_take(backend, 5, 65536);
    sqlite_case_take(backend, 65526, 65541);
    sqlite_case_take(backend, 10, 131067);
    sqlite_files_run(files, "DELETE FROM seqb_counters "
                            "WHERE name = '" ORDER "'");
    assert_int_equal(sqlite_case_raise(backend, 1000), 196608);
    sqlite_case_take(backend, 5, 196608);
}

/* What docs/guarantees.md says of it: nothing is left that knows. */
TEST_WITH(SQLITE_CASE, row_that_is_deleted_with_its_note_begins_again)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, 100, 0);
    sqlite_files_run(files, "DELETE FROM seqb_counters "
                            "WHERE name IN ('" ORDER "', '@@" ORDER "')");
    sqlite_case_take(backend, 5, 0);
}
