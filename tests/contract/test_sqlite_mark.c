/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark on a SQLite file while a broker is stopped between its commit and
 * its mark, and another one goes on: the mark is never lowered.
 */
#include <sqlite3.h>
#include <sys/xattr.h>

#include "backends/backends.h"
#include "backends/sqlite/file.h"
#include "contract/sqlite_case.h"
#include "contract/sqlite_earlier.h"
#include "contract/sqlite_faults.h"
#include "support/wrap.h"

#define OTHER_MS 40 /* how long the other handle waits for a lock */

/* The handle that goes on, and its file. */
static struct seqb_backend *other;
static struct sqlite_files *where;
static bool is_stopped_at_write;

/* It may be locked out meanwhile. */
static void other_goes_on(void *context)
{
    struct seqb_request request;

    (void)context;
    for (int i = 0; i < 5; i++)
        (void)sqlite_case_reserve(other, ORDER, 1, &request);
}

static void other_goes_on_and_is_copied(void *context)
{
    other_goes_on(context);
    sqlite_files_save(where);
    other_goes_on(context);
}

WRAPPED(int, setxattr, const char *path, const char *name, const void *value,
        size_t size, int flags)
{
    if (is_stopped_at_write) {
        is_stopped_at_write = false;
        other_goes_on(NULL);
    }
    return __real_setxattr(path, name, value, size, flags);
}

static struct seqb_backend *open_other(struct sqlite_files *files)
{
    struct sqlite_files patient = *files;

    patient.options.timeout_ms = OTHER_MS;
    where = files;
    return sqlite_case_open(&patient);
}

static int64_t mark_of(const struct sqlite_files *files)
{
    return sqlite_mark_read(files->path);
}

static int64_t commits_of(const struct sqlite_files *files)
{
    return sqlite_files_ask(files, "SELECT count FROM seqb_commits");
}

TEST_WITH(SQLITE_CASE, broker_stopped_before_its_mark_does_not_lower_it)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *first = sqlite_case_open(files);
    struct seqb_request request;

    sqlite_earlier = true; /* otherwise no other goes on before the mark */
    other = open_other(files);
    sqlite_case_take(first, 5, 0);
    faults->unlocked = other_goes_on_and_is_copied;
    sqlite_case_take(first, 5, 5);
    assert_null(faults->unlocked);
    sqlite_earlier = false;
    assert_int_equal(mark_of(files), commits_of(files));
    sqlite_case_close(first);
    sqlite_case_close(other);
    sqlite_files_restore_inside(files);
    first = sqlite_case_open(files);
    assert_status(sqlite_case_reserve(first, ORDER, 1, &request), SEQB_FENCED);
    sqlite_case_close(first);
    sqlite_faults_remove();
}

TEST_WITH(SQLITE_CASE, broker_stopped_while_it_marks_lets_no_other_go_on)
{
    struct seqb_backend *first = sqlite_case_open(files);

    sqlite_earlier = true;
    other = open_other(files);
    is_stopped_at_write = true;
    sqlite_case_take(first, 5, 0);
    assert_false(is_stopped_at_write);
    sqlite_earlier = false;
    assert_int_equal(mark_of(files), commits_of(files));
    sqlite_case_close(first);
    sqlite_case_close(other);
}

/* A tool that has the lock at that moment, and does nothing. */
static sqlite3 *tool;

static void tool_locks(void *context)
{
    (void)context;
    assert_int_equal(sqlite3_exec(tool, "BEGIN IMMEDIATE", NULL, NULL, NULL),
                     SQLITE_OK);
}

static void note_mark(void *context)
{
    *(int64_t *)context = mark_of(where);
}

TEST_WITH(SQLITE_CASE, next_transaction_makes_the_mark_that_a_lock_prevented)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend = sqlite_case_open(files);
    int64_t commits;
    int64_t mark = 0;

    where = files;
    assert_int_equal(sqlite3_open(files->path, &tool), SQLITE_OK);
    sqlite_case_take(backend, 5, 0);
    faults->unlocked = tool_locks;
    sqlite_case_take(backend, 5, 5);
    commits = commits_of(files);
    assert_int_equal(sqlite3_close(tool), SQLITE_OK);
    faults->unlocked = note_mark;
    faults->context = &mark;
    sqlite_case_take(backend, 5, 10);
    assert_int_equal(mark, commits);
    sqlite_case_close(backend);
    sqlite_faults_remove();
}
