/* SPDX-License-Identifier: Apache-2.0 */
/* The sqlite engine where an older file is written into the place of the main
 * file or of the log, while the other one stays as it is. */
#include "contract/sqlite_case.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/sqlite/log.h"
#include "backends/sqlite/rows.h"
#include "contract/sqlite_faults.h"
#include "platform/text.h"
#include "support/test.h"
#include "support/wrap.h"

#define IDLE "main/0/aaa" /* in another page than ORDER */

/* So long after a file was written its time says that it is not written since:
 * more than two ticks of the slowest kernel's clock. */
#define SETTLED_NS 50000000

static const char *log_copy(const struct sqlite_files *files)
{
    static char path[96];

    (void)text_format(path, sizeof path, "%s-wal", files->copy);
    return path;
}

static void take_one(struct seqb_backend *backend, const char *counter)
{
    struct seqb_request request;

    assert_ok(sqlite_case_reserve(backend, counter, 1, &request));
}

/* So many counters that they fill more than one page. */
static void counters_make(struct seqb_backend *backend)
{
    for (int i = 0; i < 100; i++) {
        char name[64];

        (void)text_format(name, sizeof name, "main/0/key-%03d", i);
        take_one(backend, name);
    }
    take_one(backend, IDLE);
    take_one(backend, ORDER);
}

static void checkpoint(const struct sqlite_files *files)
{
    sqlite_files_run(files, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/* Runs in a child, which is killed with its log beside the file. */
static void killed(const struct sqlite_files *files,
                   void (*run)(const struct sqlite_files *files))
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        run(files);
        _exit(0); /* nothing is closed */
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Counts on beyond the copy: IDLE, then a checkpoint, then ORDER alone. */
static void life_after_copy(const struct sqlite_files *files)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    for (int i = 0; i < 10; i++)
        take_one(backend, IDLE);
    checkpoint(files);
    take_one(backend, ORDER);
}

static void begin(const struct sqlite_files *files)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    counters_make(backend);
    sqlite_case_close(backend);
    sqlite_files_copy(files->path, files->copy);
}

static void assert_refused(const struct sqlite_files *files)
{
    for (int i = 0; i < 3; i++)
        sqlite_case_open_fails(&files->options, SEQB_CORRUPT, "written over");
}

TEST_WITH(SQLITE_CASE, old_file_under_the_log_of_a_killed_broker_is_refused)
{
    begin(files);
    killed(files, life_after_copy);
    assert_true(sqlite_case_is_there(files->log));
    sqlite_files_copy(files->copy, files->path);
    assert_refused(files);
}

TEST_WITH(SQLITE_CASE, old_file_under_the_log_of_brokers_grants_nothing)
{
    struct seqb_backend *first;
    struct seqb_backend *second;
    struct seqb_request request;

    begin(files);
    first = sqlite_case_open(files);
    second = sqlite_case_open(files);
    for (int i = 0; i < 10; i++)
        take_one(first, IDLE);
    checkpoint(files);
    take_one(first, ORDER);
    sqlite_files_copy(files->copy, files->path);
    assert_status(sqlite_case_reserve(second, IDLE, 1, &request),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(request.error.text, "went back"));
    assert_status(sqlite_case_reserve(first, ORDER, 1, &request),
                  SEQB_UNREACHABLE);
    sqlite_case_close(second);
    sqlite_case_close(first); /* which must not make it look whole */
    assert_refused(files);
}

/* All of the log is in the file: SQLite reads from the file alone. Once that is
 * forgotten, the log makes up for what the older file lacks. */
TEST_WITH(SQLITE_CASE, old_file_under_a_log_that_was_copied_grants_nothing)
{
    struct seqb_backend *backend;
    struct seqb_request request;

    begin(files);
    backend = sqlite_case_open(files);
    take_one(backend, ORDER);
    sqlite_files_run(files, "PRAGMA wal_checkpoint(PASSIVE)");
    sqlite_files_copy(files->path, files->copy);
    for (int i = 0; i < 10; i++)
        take_one(backend, IDLE);
    sqlite_files_run(files, "PRAGMA wal_checkpoint(PASSIVE)");
    sqlite_files_copy(files->copy, files->path);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_UNREACHABLE);
    backend = sqlite_case_reopen(files, backend);
    assert_ok(sqlite_case_reserve(backend, IDLE, 1, &request));
    assert_int_equal(request.block.first, 12);
}

/* The file is the newer one. */
TEST_WITH(SQLITE_CASE, old_log_beside_a_newer_file_is_refused)
{
    struct seqb_backend *backend;

    begin(files);
    backend = sqlite_case_open(files);
    take_one(backend, IDLE);
    sqlite_files_copy(files->log, log_copy(files));
    for (int i = 0; i < 10; i++)
        take_one(backend, IDLE);
    sqlite_case_close(backend); /* the log is gone */
    sqlite_files_copy(log_copy(files), files->log);
    assert_refused(files);
}

/* Whose place in the index is another one's by now. */
TEST_WITH(SQLITE_CASE, old_log_under_a_broker_grants_nothing)
{
    struct seqb_backend *backend;
    struct seqb_request request;

    begin(files);
    backend = sqlite_case_open(files);
    take_one(backend, IDLE);
    sqlite_files_copy(files->log, log_copy(files));
    checkpoint(files);
    take_one(backend, ORDER);
    sqlite_files_copy(log_copy(files), files->log);
    assert_true(sqlite_case_reserve(backend, IDLE, 1, &request) != SEQB_OK);
}

/* What is refused stays so until a whole copy stands there. */
TEST_WITH(SQLITE_CASE, whole_copy_as_a_new_file_ends_it)
{
    struct seqb_backend *backend;
    struct seqb_request request;
    char index[96];

    begin(files);
    killed(files, life_after_copy);
    sqlite_files_copy(files->copy, files->path);
    assert_refused(files);
    (void)text_format(index, sizeof index, "%s-shm", files->path);
    assert_int_equal(unlink(files->path), 0);
    assert_int_equal(unlink(files->log), 0);
    (void)unlink(index);
    sqlite_files_copy(files->copy, files->path);
    backend = sqlite_case_open(files);
    assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                  SEQB_FENCED);
}

/* Another tool that closes last copies the log into the file. */
TEST_WITH(SQLITE_CASE, mixture_that_looks_whole_is_fenced)
{
    struct seqb_backend *backend;
    struct seqb_request request;

    begin(files);
    killed(files, life_after_copy);
    sqlite_files_copy(files->copy, files->path);
    assert_refused(files);
    checkpoint(files);
    backend = sqlite_case_open(files);
    assert_status(sqlite_case_reserve(backend, IDLE, 1, &request), SEQB_FENCED);
}

/* As an earlier version left it: nothing was counted. */
TEST_WITH(SQLITE_CASE, file_of_an_earlier_version_goes_on)
{
    struct seqb_backend *backend = sqlite_case_open(files);

    sqlite_case_take(backend, 5, 0);
    sqlite_case_close(backend);
    sqlite_files_run(files, "PRAGMA user_version = 0");
    sqlite_files_copy(files->path, files->copy);
    backend = sqlite_case_open(files);
    sqlite_case_take(backend, 5, 5);
    assert_true(sqlite_files_ask(files, "PRAGMA user_version") > 0);
    sqlite_files_copy(files->copy, files->path);
    sqlite_case_close(backend);
    assert_refused(files);
}

TEST_WITH(SQLITE_CASE, log_of_a_killed_broker_is_whole)
{
    struct seqb_backend *backend;
    struct seqb_request request;

    begin(files);
    killed(files, life_after_copy);
    backend = sqlite_case_open(files);
    assert_ok(sqlite_case_reserve(backend, IDLE, 1, &request));
    assert_int_equal(request.block.first, 12);
    assert_ok(sqlite_case_reserve(backend, ORDER, 1, &request));
    assert_int_equal(request.block.first, 3);
}

/* A reader at the log's present end: a checkpoint copies up to there alone. */
static sqlite3 *reader_begin(const struct sqlite_files *files)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(files->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "BEGIN; SELECT count(*) FROM seqb_counters",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    return db;
}

/* IDLE is copied, the first page and ORDER are not: later frames have them. */
static void checkpoint_behind_a_reader(const struct sqlite_files *files,
                                       struct seqb_backend *backend)
{
    sqlite3 *reader;

    take_one(backend, IDLE);
    reader = reader_begin(files);
    take_one(backend, ORDER);
    sqlite_files_run(files, "PRAGMA wal_checkpoint(PASSIVE)");
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
}

TEST_WITH(SQLITE_CASE, checkpoint_that_a_reader_holds_up_is_no_older_file)
{
    struct seqb_backend *backend;
    struct seqb_backend *second;

    begin(files);
    backend = sqlite_case_open(files);
    checkpoint_behind_a_reader(files, backend);
    take_one(backend, ORDER);
    second = sqlite_case_open(files);
    take_one(second, IDLE);
}

/* Its first page is no older than that which it replaces. */
TEST_WITH(SQLITE_CASE, old_file_under_a_log_that_was_copied_in_part_is_refused)
{
    struct seqb_backend *backend;
    struct seqb_request request;

    begin(files);
    backend = sqlite_case_open(files);
    take_one(backend, ORDER);
    sqlite_files_copy(files->path, files->copy);
    checkpoint_behind_a_reader(files, backend);
    nanosleep(&(struct timespec){0, SETTLED_NS}, NULL);
    take_one(backend, ORDER); /* and the pages are known to match */
    sqlite_files_copy(files->copy, files->path);
    assert_status(sqlite_case_reserve(backend, IDLE, 1, &request),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(request.error.text, "went back"));
}

/* What cannot be read is not known to match. */
TEST_WITH(SQLITE_CASE, log_that_cannot_be_compared_grants_nothing)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_request request;
    int64_t last = 0;
    int reads = 1;

    for (int failing = 1; failing <= reads; failing++) {
        struct seqb_backend *backend = sqlite_case_open(files);

        sqlite_case_take(backend, 1, last);
        faults->reads = 0;
        faults->fails_read = failing;
        assert_true(sqlite_case_reserve(backend, ORDER, 1, &request) !=
                    SEQB_OK);
        faults->fails_read = 0;
        faults->reads = 0;
        sqlite_case_take(backend, 1, last + 1);
        reads = faults->reads;
        last += 2;
        sqlite_case_close(backend);
    }
    assert_true(reads > 4);
    sqlite_faults_remove();
}

TEST_WITH(SQLITE_CASE, opening_a_file_that_is_counted_writes_nothing)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    int64_t count;

    sqlite_case_take(backend, 5, 0);
    sqlite_case_close(backend);
    count = sqlite_files_ask(files, "PRAGMA user_version");
    files->options.create = false;
    sqlite_case_close(sqlite_case_open(files));
    assert_int_equal(sqlite_files_ask(files, "PRAGMA user_version"), count);
}

/* --- what is behind the index --- */

/* What SQLite gives for its files, and its shared memory. */
static enum spoilt {
    WELL,
    NO_FILE,
    NO_METHODS,
    NO_LOG,
    NO_LOG_METHODS,
    NO_SHARED_MEMORY, /* its methods are of an earlier version */
    MAP_FAILS,
    MAP_IS_EMPTY,
    SPOILTS
} spoilt;

static int index_map(sqlite3_file *file, int page, int size, int extend,
                     void volatile **out)
{
    static char zeros[1 << 15];

    (void)file, (void)page, (void)size, (void)extend;
    *out = spoilt == MAP_IS_EMPTY ? NULL : zeros;
    return spoilt == MAP_FAILS ? SQLITE_IOERR : SQLITE_OK;
}

WRAPPED(int, sqlite3_file_control, sqlite3 *db, const char *name, int operation,
        void *out)
{
    static sqlite3_io_methods methods = {.xShmMap = index_map};
    static sqlite3_file bare;
    static sqlite3_file other = {&methods};
    const int result = __real_sqlite3_file_control(db, name, operation, out);

    methods.iVersion = spoilt == NO_SHARED_MEMORY ? 1 : 2;
    if (operation == SQLITE_FCNTL_FILE_POINTER && spoilt != WELL &&
        spoilt != NO_LOG && spoilt != NO_LOG_METHODS)
        *(sqlite3_file **)out = spoilt == NO_FILE      ? NULL
                                : spoilt == NO_METHODS ? &bare
                                                       : &other;
    if (operation == SQLITE_FCNTL_JOURNAL_POINTER &&
        (spoilt == NO_LOG || spoilt == NO_LOG_METHODS))
        *(sqlite3_file **)out = spoilt == NO_LOG ? NULL : &bare;
    return result;
}

TEST_WITH(SQLITE_CASE, log_whose_index_is_not_there_grants_nothing)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    for (int i = 1; i < SPOILTS; i++) {
        sqlite_case_take(backend, 1, i - 1);
        spoilt = (enum spoilt)i;
        assert_status(sqlite_case_reserve(backend, ORDER, 1, &request),
                      SEQB_UNCERTAIN);
        spoilt = WELL;
        assert_non_null(strstr(request.error.text, "cannot be read"));
    }
}

/* Outside of a transaction others may write meanwhile. */
TEST_WITH(SQLITE_CASE, pages_are_known_to_match_by_a_transaction_alone)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct sqlite_link *link = &((struct sqlite *)backend)->link;

    take_one(backend, ORDER);
    nanosleep(&(struct timespec){0, SETTLED_NS}, NULL);
    link->compared = (struct timespec){0};
    assert_true(sqlite_log_matches(link));
    assert_int_equal(link->compared.tv_sec, 0);
    take_one(backend, ORDER);
    assert_int_not_equal(link->compared.tv_sec, 0);
}
