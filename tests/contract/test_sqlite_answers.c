/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that SQLite, or the system under it, does not give: each statement of
 * each call fails in turn. What failed is not said to be done, leaves the file
 * to other brokers, and is done by the next attempt. */
#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/sqlite/file.h"
#include "contract/sqlite_cell.h"
#include "platform/text.h"
#include "support/test.h"
#include "support/wrap.h"

#define NEXT    ORDER "@20261122"
#define OVER_MS INT64_C(1795219200001)
#define TOLD    "it was told to"

/* --- what fails --- */

static int calls;         /* since it was set to 0 */
static int fails;         /* this one of them, from 1 on; 0: none */
static int failure;       /* the result of that one */
static char failed[64];   /* what it was; "": none has failed */
static bool is_committed; /* by the last statement: the next one marks that */
static int system_error;  /* that of the result SQLITE_CANTOPEN */

static bool is_failing(const char *what)
{
    if (++calls != fails)
        return false;
    (void)text_format(failed, sizeof failed, "%.60s", what);
    return true;
}

/* What may fail without harm: the mark, and the walk over claims, which falls
 * back to a search. */
static bool is_spared(const char *sql)
{
    const bool marks = is_committed && strcmp(sql, "BEGIN IMMEDIATE") == 0;

    return marks || strcmp(sql, "ROLLBACK") == 0 ||
           strstr(sql, "SELECT name, text") != NULL;
}

WRAPPED(int, sqlite3_step, sqlite3_stmt *statement)
{
    const char *sql = sqlite3_sql(statement);

    if (!is_spared(sql) && is_failing(sql))
        return failure;
    is_committed = strcmp(sql, "COMMIT") == 0;
    return __real_sqlite3_step(statement);
}

WRAPPED(int, sqlite3_exec, sqlite3 *db, const char *sql,
        int (*row)(void *, int, char **, char **), void *context, char **error)
{
    return is_failing(sql) ? failure
                           : __real_sqlite3_exec(db, sql, row, context, error);
}

WRAPPED(int, sqlite3_prepare_v2, sqlite3 *db, const char *sql, int size,
        sqlite3_stmt **out, const char **rest)
{
    return is_failing(sql)
               ? failure
               : __real_sqlite3_prepare_v2(db, sql, size, out, rest);
}

WRAPPED(int, sqlite3_prepare_v3, sqlite3 *db, const char *sql, int size,
        unsigned flags, sqlite3_stmt **out, const char **rest)
{
    return is_failing(sql)
               ? failure
               : __real_sqlite3_prepare_v3(db, sql, size, flags, out, rest);
}

WRAPPED(int, sqlite3_wal_checkpoint_v2, sqlite3 *db, const char *name, int mode,
        int *frames, int *copied)
{
    return is_failing("checkpoint") ? failure
                                    : __real_sqlite3_wal_checkpoint_v2(
                                          db, name, mode, frames, copied);
}

WRAPPED(int, sqlite3_system_errno, sqlite3 *db)
{
    return failed[0] != '\0' ? system_error : __real_sqlite3_system_errno(db);
}

WRAPPED(const char *, sqlite3_errmsg, sqlite3 *db)
{
    return failed[0] != '\0' ? TOLD : __real_sqlite3_errmsg(db);
}

WRAPPED(ssize_t, getrandom, void *out, size_t size, unsigned flags)
{
    return is_failing("random") ? -1 : __real_getrandom(out, size, flags);
}

/* SQLite's shared library finds this one before that of libc. No power is cut
 * here, and a disk that is busy would make hundreds of calls slow. */
__attribute__((visibility("default"))) int fdatasync(int file)
{
    return file < 0 ? -1 : 0;
}

/* --- calls --- */

struct call {
    const struct sqlite_files *files;
    struct seqb_backend *backend;
    struct seqb_error err;
};

/* Makes names that no call had before. */
static const char *name_next(void)
{
    static char name[32];
    static int last;

    (void)text_format(name, sizeof name, "main/0/%d", ++last);
    return name;
}

static enum seqb_status take(struct call *call, struct seqb_request *request)
{
    const enum seqb_status status =
        backend_sqlite.reserve(call->backend, request, 1, &call->err);

    if (status == SEQB_OK)
        call->err = request->error;
    return status == SEQB_OK ? request->status : status;
}

static enum seqb_status take_order(struct call *call)
{
    static int64_t last;
    struct seqb_request request = {.counter = ORDER, .want = 1, .limit = LIMIT};
    const enum seqb_status status = take(call, &request);

    if (status == SEQB_OK) {
        assert_true(request.block.first > last);
        last = request.block.first;
    }
    return status;
}

static enum seqb_status take_new(struct call *call)
{
    return take(call, &(struct seqb_request){
                          .counter = name_next(), .want = 1, .limit = LIMIT});
}

static enum seqb_status raise_order(struct call *call)
{
    static int64_t floor = 1000000;
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = floor += 100, .limit = LIMIT};
    int64_t value;

    return backend_sqlite.raise(call->backend, &raise, &value, &call->err);
}

/* In a cell that no call had before. */
static enum seqb_status install(struct call *call, char name[64])
{
    const struct seqb_window lease = {
        .counter = name, .window = 1, .size = CELL_SIZE};
    int64_t standing;

    (void)text_format(name, 64, SEQB_CELL "%s", name_next());
    return backend_sqlite.install(call->backend, &lease, &standing, &call->err);
}

static enum seqb_status install_new(struct call *call)
{
    char name[64];

    return install(call, name);
}

/* A note without its commit has begun another incarnation. */
static enum seqb_status take_cell(struct call *call)
{
    const int planned = fails;
    char name[64];

    fails = 0;
    assert_ok(install(call, name));
    calls = 0;
    fails = planned;
    return take(call, &(struct seqb_request){.counter = name,
                                             .want = 1,
                                             .limit = CELL_SIZE,
                                             .window = SEQB_NO_WINDOW});
}

static enum seqb_status claim(struct call *call, const char *name)
{
    char standing[SEQB_CLAIM_SIZE] = "";
    const enum seqb_status status = backend_sqlite.claim(
        call->backend, name, "a", standing, sizeof standing, &call->err);

    if (status == SEQB_OK)
        assert_string_equal(standing, "a");
    return status;
}

static enum seqb_status claim_known(struct call *call)
{
    return claim(call, "known");
}

static enum seqb_status claim_new(struct call *call)
{
    return claim(call, name_next());
}

static enum seqb_status claim_some(struct call *call)
{
    struct seqb_claim claims[] = {{.name = "known", .text = "b"},
                                  {.name = name_next(), .text = "b"}};
    size_t done;
    const enum seqb_status status =
        backend_sqlite.claim_many(call->backend, claims, 2, &done, &call->err);

    if (status == SEQB_OK) {
        assert_string_equal(claims[0].standing, "a");
        assert_string_equal(claims[1].standing, "b");
    }
    return status;
}

static enum seqb_status swap(struct call *call, const char *name,
                             const char *expected)
{
    const struct seqb_swap swap = {name, expected, "a",
                                   call->backend->incarnation[0] == '\0'
                                       ? NULL
                                       : call->backend->incarnation};
    char standing[SEQB_CLAIM_SIZE] = "";
    const enum seqb_status status = backend_sqlite.swap(
        call->backend, &swap, standing, sizeof standing, &call->err);

    if (status == SEQB_OK)
        assert_string_equal(standing, "a");
    return status;
}

static enum seqb_status swap_known(struct call *call)
{
    return swap(call, "known", "a");
}

static enum seqb_status swap_new(struct call *call)
{
    return swap(call, name_next(), "");
}

static enum seqb_status purge(struct call *call)
{
    const struct seqb_purge over = {ORDER, NEXT, OVER_MS, 9};
    int32_t deleted = -1;
    const enum seqb_status status =
        backend_sqlite.purge(call->backend, &over, &deleted, &call->err);

    assert_int_equal(deleted, status == SEQB_OK ? 0 : -1);
    return status;
}

static enum seqb_status list_counters(struct call *call)
{
    struct seqb_listed listed[2];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 2};
    const enum seqb_status status =
        backend_sqlite.list(call->backend, &page, &call->err);

    if (status == SEQB_OK)
        assert_int_equal(page.count, 2);
    return status;
}

static enum seqb_status open_with(struct call *call,
                                  const struct seqb_backend_options *options)
{
    struct seqb_backend *backend = NULL;
    const enum seqb_status status =
        backend_sqlite.open(options, &backend, &call->err);

    assert_int_equal(status == SEQB_OK, backend != NULL);
    backend_sqlite.close(backend);
    return status;
}

static enum seqb_status open_again(struct call *call)
{
    return open_with(call, &call->files->options);
}

/* The note was removed, so that an incarnation begins. */
static enum seqb_status open_known(struct call *call)
{
    struct seqb_backend_options options = call->files->options;
    char note[64];

    options.needs_incarnation = true;
    sqlite_files_note(call->files, note);
    (void)unlink(note);
    return open_with(call, &options);
}

static int entries_of(const char *path)
{
    DIR *folder = opendir(path);
    int n = 0;

    while (readdir(folder) != NULL)
        n++;
    assert_int_equal(closedir(folder), 0);
    return n;
}

/* Nothing of a file that could not be made is left. */
static enum seqb_status open_new(struct call *call)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    struct seqb_backend_options options = call->files->options;
    const int before = entries_of(call->files->folder);
    enum seqb_status status;
    char path[128];

    (void)text_format(path, sizeof path, "%s/new.db", call->files->folder);
    options.path = path;
    options.needs_incarnation = false; /* which would leave a note */
    status = open_with(call, &options);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        (void)text_format(path, sizeof path, "%s/new.db%s", call->files->folder,
                          ends[i]);
        (void)unlink(path);
    }
    assert_int_equal(entries_of(call->files->folder), before);
    return status;
}

/* A copy has to be bound to its place. Its mark says that it went back. */
static enum seqb_status open_copy(struct call *call)
{
    struct sqlite_files files = *call->files;
    const int planned = fails;

    fails = 0;
    sqlite_files_save(&files);
    sqlite_mark_raise(files.copy, 1000000);
    calls = 0;
    fails = planned;
    files.options.path = files.copy;
    files.options.needs_incarnation = false;
    return open_with(call, &files.options);
}

/* --- each statement fails --- */

/* The lock is free, and what is granted was granted to nobody. */
static void expect_free(const struct sqlite_files *files)
{
    struct sqlite_files hasty = *files;
    struct call call = {.files = files};

    hasty.options.needs_incarnation = false;
    hasty.options.timeout_ms = 100;
    hasty.options.connect_timeout_ms = 100;
    call.backend = sqlite_case_open(&hasty);
    assert_done(take_order(&call), call.err);
    sqlite_case_close(call.backend);
}

static void expect_each_failure(struct call *call,
                                enum seqb_status (*run)(struct call *call))
{
    enum seqb_status status;

    for (int i = 1;; i++) {
        call->err = (struct seqb_error){SEQB_OK, ""};
        calls = 0;
        failed[0] = '\0';
        fails = i;
        status = run(call);
        fails = 0;
        if (failed[0] == '\0')
            break;
        if (status != SEQB_UNREACHABLE && status != SEQB_UNCERTAIN)
            fail_msg("%s: %s", failed, seqb_status_name(status));
        if (strstr(call->err.text, "sqlite sqlite-a: ") == NULL ||
            (strstr(call->err.text, TOLD) == NULL &&
             strstr(call->err.text, "no random bytes") == NULL))
            fail_msg("%s: %s", failed, call->err.text);
        failed[0] = '\0';
        expect_free(call->files);
        call->backend = sqlite_case_reopen(call->files, call->backend);
    }
    assert_done(status, call->err);
}

TEST_WITH(SQLITE_CASE, call_whose_statement_fails_is_not_done)
{
    static enum seqb_status (*const runs[])(struct call * call) = {
        take_order,    take_new,   take_cell,  raise_order,
        install_new,   claim_new,  swap_new,   claim_known,
        claim_some,    swap_known, purge,      open_copy,
        list_counters, open_again, open_known, open_new,
    };
    struct call call = {.files = files};

    failure = SQLITE_IOERR;
    sqlite_cell_use(files);
    for (int known = 0; known < 2; known++) {
        files->options.needs_incarnation = known != 0;
        call.backend = sqlite_case_open(files);
        assert_ok(claim_known(&call));
        for (size_t i = 0; i < COUNT_OF(runs); i++)
            expect_each_failure(&call, runs[i]);
        sqlite_case_close(call.backend);
    }
}

TEST_WITH(SQLITE_CASE, result_says_whose_fault_it_is)
{
    static const struct {
        int result, error;
        enum seqb_status status;
    } rows[] = {
        {SQLITE_BUSY, 0, SEQB_UNREACHABLE},
        {SQLITE_LOCKED, 0, SEQB_UNREACHABLE},
        {SQLITE_IOERR_READ, 0, SEQB_UNREACHABLE},
        {SQLITE_READONLY, 0, SEQB_REFUSED},
        {SQLITE_PERM, 0, SEQB_REFUSED},
        {SQLITE_FULL, 0, SEQB_REFUSED},
        {SQLITE_NOMEM, 0, SEQB_NO_MEMORY},
        {SQLITE_CORRUPT, 0, SEQB_CORRUPT},
        {SQLITE_NOTADB, 0, SEQB_CORRUPT},
        {SQLITE_ERROR, 0, SEQB_CORRUPT},
        {SQLITE_MISUSE, 0, SEQB_PROTOCOL},
        {SQLITE_CANTOPEN, EACCES, SEQB_REFUSED},
        {SQLITE_CANTOPEN, EISDIR, SEQB_REFUSED},
        {SQLITE_CANTOPEN, EPERM, SEQB_REFUSED},
        {SQLITE_CANTOPEN, EROFS, SEQB_REFUSED},
        {SQLITE_CANTOPEN, EMFILE, SEQB_UNREACHABLE},
    };
    struct call call = {.files = files, .backend = sqlite_case_open(files)};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        failure = rows[i].result;
        system_error = rows[i].error;
        calls = 0;
        fails = 1;
        assert_status(take_order(&call), rows[i].status);
        assert_status(call.err.status, rows[i].status);
        fails = 0;
        failed[0] = '\0';
    }
}
