/* SPDX-License-Identifier: Apache-2.0 */
/* Opening SQLite files: absent, foreign, damaged or closed ones, and making
 * new ones. */
#include "contract/sqlite_case.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backends.h"
#include "contract/founders.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/wrap.h"

#define NOBODY 65534 /* a user that owns no file */

/* What faccessat(2) says of a folder; 0: what the system says. */
static int folder_error;

WRAPPED(int, faccessat, int at, const char *path, int mode, int flags)
{
    if (folder_error == 0)
        return __real_faccessat(at, path, mode, flags);
    errno = folder_error;
    return -1;
}

/* --- files that cannot be opened --- */

TEST_WITH(SQLITE_CASE, absent_file_is_not_made_unless_told_to)
{
    files->options.create = false;
    sqlite_case_open_fails(&files->options, SEQB_UNREACHABLE,
                           "is not there, or its folder is not: of a pool");
    assert_false(sqlite_case_is_there(files->path));
    files->options.create = true;
    sqlite_case_close(sqlite_case_open(files));
    assert_true(sqlite_case_is_there(files->path));
}

/* Also those that SQLite makes beside it. */
TEST_WITH(SQLITE_CASE, new_file_is_its_owners_alone)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    const mode_t mask = umask(0);
    struct seqb_backend *backend;
    char path[PATH_MAX];
    struct stat found;

    files->options.create = true;
    backend = sqlite_case_open(files);
    (void)umask(mask);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(path, sizeof path, "%s%s", files->path, ends[i]);
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(found.st_mode & 07777, 0600);
    }
    sqlite_case_close(backend);
    /* What an operator allows stays. */
    assert_int_equal(chmod(files->path, 0660), 0);
    sqlite_case_close(sqlite_case_open(files));
    assert_int_equal(stat(files->path, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0660);
}

TEST_WITH(SQLITE_CASE, paths_that_lead_nowhere_say_why)
{
    const struct {
        const char *path;
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {NULL, SEQB_INVALID, "absolute path"},
        {"s.db", SEQB_INVALID, "absolute path"},
        {"", SEQB_INVALID, "absolute path"},
        {"/nonexistent/folder/s.db", SEQB_UNREACHABLE,
         "the folder /nonexistent/folder is not there: make it"},
        {files->folder, SEQB_REFUSED, files->folder},
        {"/dev/null/s.db", SEQB_UNREACHABLE, "/dev/null/s.db"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        files->options.path = rows[i].path;
        sqlite_case_open_fails(&files->options, rows[i].status, rows[i].words);
    }
}

/* The name under which it is made is longer. */
TEST_WITH(SQLITE_CASE, path_without_room_for_a_draft_is_too_long)
{
    struct seqb_backend_options options = files->options;
    char path[PATH_MAX];

    (void)text_copy(path, sizeof path, files->folder);
    while (strlen(path) + sizeof "/./a.db" < sizeof path)
        (void)text_append(path, sizeof path, "/.");
    (void)text_append(path, sizeof path, "/a.db");
    options.path = path;
    sqlite_case_open_fails(&options, SEQB_INVALID, "the path is too long");
}

TEST_WITH(SQLITE_CASE, file_that_is_no_database_is_left_alone)
{
    static const char text[] = "dear diary, this is no database at all\n";
    static char garbage[8192];
    char *content = NULL;

    memset(garbage, 0x5a, sizeof garbage);
    sqlite_files_write(files->path, garbage, sizeof garbage);
    sqlite_case_open_fails(&files->options, SEQB_CORRUPT, files->path);
    sqlite_files_write(files->path, text, sizeof text);
    sqlite_case_open_fails(&files->options, SEQB_CORRUPT, files->path);
    assert_ok(file_read(files->path, 100, &content, NULL));
    assert_memory_equal(content, text, sizeof text);
    free(content);
}

TEST_WITH(SQLITE_CASE, damaged_database_is_corrupt)
{
    static char damage[3000];
    int file;

    sqlite_case_close(sqlite_case_open(files));
    memset(damage, 0xff, sizeof damage);
    file = open(files->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(file, damage, sizeof damage, 100), sizeof damage);
    assert_int_equal(close(file), 0);
    sqlite_case_open_fails(&files->options, SEQB_CORRUPT, files->path);
}

TEST_WITH(SQLITE_CASE, empty_file_is_none_of_ours)
{
    sqlite_files_write(files->path, "", 0);
    for (int create = 0; create <= 1; create++) {
        files->options.create = create == 1;
        sqlite_case_open_fails(&files->options, SEQB_CORRUPT, "none of ours");
    }
}

TEST_WITH(SQLITE_CASE, database_of_others_is_left_alone)
{
    sqlite_files_run(files, "CREATE TABLE bookmarks (url TEXT)");
    sqlite_case_open_fails(&files->options, SEQB_CORRUPT, "none of ours");
    assert_int_equal(
        sqlite_files_ask(files, "SELECT count(*) FROM sqlite_schema"), 1);
    assert_false(
        sqlite_case_is_there(files->log)); /* not even its journal mode */
}

/* Opens as a user who is not root, in a child; the status. */
static enum seqb_status open_as_nobody(const struct sqlite_files *files)
{
    const pid_t child = fork();
    int ended;

    assert_true(child >= 0);
    if (child == 0) {
        struct seqb_backend *backend = NULL;

        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 ||
                               setuid(NOBODY) != 0))
            _exit(255);
        _exit((int)backend_sqlite.open(&files->options, &backend, NULL));
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    return (enum seqb_status)WEXITSTATUS(ended);
}

TEST_WITH(SQLITE_CASE, file_that_cannot_be_written_is_refused)
{
    const struct {
        mode_t file;
        mode_t folder;
        enum seqb_status status;
    } rows[] = {
        {0444, 0777, SEQB_REFUSED}, /* read-only */
        {0000, 0777, SEQB_REFUSED}, /* not even that */
        {0666, 0555, SEQB_REFUSED}, /* no room for the log */
        {0666, 0000, SEQB_REFUSED}, {0666, 0777, SEQB_OK},
    };

    sqlite_case_close(sqlite_case_open(files));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum seqb_status status;

        assert_int_equal(chmod(files->path, rows[i].file), 0);
        assert_int_equal(chmod(files->folder, rows[i].folder), 0);
        status = open_as_nobody(files);
        assert_int_equal(chmod(files->folder, 0700), 0); /* for all but root */
        assert_status(status, rows[i].status);
    }
}

TEST_WITH(SQLITE_CASE, missing_file_in_a_closed_folder_is_refused)
{
    assert_int_equal(chmod(files->folder, 0555), 0);
    assert_status(open_as_nobody(files), SEQB_REFUSED);
    assert_int_equal(chmod(files->folder, 0755), 0);
}

/* Also where no file may be made on the whole file system. */
TEST_WITH(SQLITE_CASE, closed_folder_is_named)
{
    static const struct {
        int error;
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {EACCES, SEQB_REFUSED, "no file may be made"},
        {EPERM, SEQB_REFUSED, "no file may be made"},
        {EROFS, SEQB_REFUSED, "no file may be made"},
        {ENOENT, SEQB_UNREACHABLE, "is not there"},
        {0, SEQB_UNREACHABLE, "is not there"},
    };

    files->options.path = "/nonexistent/folder/s.db";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder_error = rows[i].error;
        sqlite_case_open_fails(&files->options, rows[i].status, rows[i].words);
    }
}

/* --- founding --- */

TEST_WITH(SQLITE_CASE, new_file_bears_its_marks)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    assert_int_equal(sqlite_files_ask(files, "PRAGMA application_id"),
                     0x53455142);
    assert_int_equal(sqlite_files_ask(files, "SELECT count(*) FROM "
                                             "pragma_journal_mode "
                                             "WHERE journal_mode = 'wal'"),
                     1);
    assert_int_equal(sqlite_files_ask(files,
                                      "SELECT count(*) FROM seqb_counters "
                                      "WHERE name = '' AND value = 0"),
                     1);
    assert_true(strncmp(backend->server, "sqlite ", 7) == 0);
    assert_string_equal(backend->server, backend_sqlite.library());
    assert_true(strncmp(backend->domain, "disk ", 5) == 0);
}

TEST_WITH(SQLITE_CASE, new_file_in_the_same_place_has_another_origin)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    char origin[SEQB_ORIGIN_SIZE];

    memcpy(origin, backend->origin, sizeof origin);
    sqlite_case_close(backend);
    assert_int_equal(unlink(files->path), 0);
    backend = sqlite_case_open(files);
    assert_string_not_equal(strrchr(backend->origin, ':'),
                            strrchr(origin, ':'));
}

TEST_WITH(SQLITE_CASE, tables_made_by_hand_are_fenced_until_raised)
{
    struct seqb_backend *backend;
    struct seqb_request request;
    char path[PATH_MAX];
    char *sql = NULL;

    assert_true(project_path("sql/sqlite.sql", path));
    assert_ok(file_read(path, 65536, &sql, NULL));
    sqlite_files_run(files, sql);
    free(sql);
    files->options.create = false;
    backend = sqlite_case_open(files);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_FENCED);
    assert_int_equal(sqlite_case_raise(backend, 1000), 1000);
    sqlite_case_take(backend, 5, 1000);
    backend = sqlite_case_reopen(files, backend);
    sqlite_case_take(backend, 5, 1005);
}

/* Files in the folder whose names have `part` in them. */
static int files_count(const struct sqlite_files *files, const char *part)
{
    DIR *folder = opendir(files->folder);
    struct dirent *entry;
    int count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        if (strstr(entry->d_name, part) != NULL)
            count++;
    }
    assert_int_equal(closedir(folder), 0);
    return count;
}

TEST_WITH(SQLITE_CASE, concurrent_founders_make_one_store)
{
    founders_make_one_store(&backend_sqlite, &files->options, ORDER);
    assert_int_equal(files_count(files, "s.db"), 1); /* no draft is left */
}

/* --- a copy that two open --- */

static void (*locking)(void); /* called once, before the log is locked */

WRAPPED(int, flock, int file, int operation)
{
    void (*const locks)(void) = locking;

    if (locks != NULL && (operation & LOCK_EX) != 0) {
        locking = NULL;
        locks();
    }
    return __real_flock(file, operation);
}

static const struct sqlite_files *shared;
static struct seqb_backend *first;
static int64_t raised;

static void first_binds(void)
{
    first = sqlite_case_open(shared);
    raised = sqlite_case_raise(first, 1000);
}

TEST_WITH(SQLITE_CASE, copy_that_two_open_at_once_is_bound_once)
{
    struct seqb_backend *second;

    sqlite_case_take(sqlite_case_open(files), 1, 0);
    sqlite_files_save(files);
    files->options.path = files->copy;
    shared = files;
    locking = first_binds;
    second = sqlite_case_open(files);
    assert_null(locking);
    sqlite_case_take(second, 1, raised);
    sqlite_case_take(first, 1, raised + 1);
}
