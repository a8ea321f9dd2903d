/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handle on a SQLite file: opening and transactions. sql/row.c defines what
 * the rows mean, sql/sqlite.sql the tables; the pool decides what to do about a
 * failure.
 */
#include "backends/sqlite/link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/empty.h"
#include "backends/sql/sql.h"
#include "backends/sqlite/history.h"
#include "backends/sqlite/incarnation.h"
#include "backends/sqlite/lock.h"
#include "backends/sqlite/log.h"
#include "backends/sqlite/names.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "sqlite_sql.h"

#define SQL_SIZE 32 /* for a short answer */

/* In tests of power cuts only WAL with FULL lost nothing; NORMAL and the
 * rollback journal lost commits. So each setting is set and then verified. */
static const struct {
    const char *set;
    const char *ask;
    const char *answer;
} settings[] = {
    {"PRAGMA journal_mode = WAL", "PRAGMA journal_mode", "wal"},
    {"PRAGMA synchronous = FULL", "PRAGMA synchronous", "2"},
};

/* --- transactions --- */

/* Increments the count for sqlite_log_matches, which takes a lower count for an
 * older file. A pragma takes no parameter. */
static enum seqb_status count_up(struct sqlite_link *link,
                                 struct seqb_error *err)
{
    char sql[SQL_SIZE * 2];
    uint32_t count;
    int result;

    if (!sqlite_log_count(link, &count))
        return error_set(err, SEQB_UNREACHABLE,
                         "sqlite %s: the count of commits in %s cannot be read",
                         link->name, link->path);
    (void)text_format(sql, sizeof sql, "PRAGMA user_version = %d",
                      (int)(count + 1));
    result = sqlite3_exec(link->db, sql, NULL, NULL, NULL);
    return result == SQLITE_OK ? SEQB_OK
                               : sqlite_link_fail(link, result, "mark", err);
}

/* Other handles write the mark as well. So it is written with the file locked:
 * whoever was stopped here must not lower it. If another one has the lock, its
 * transaction began after this commit, and made the mark. */
static void link_mark(struct sqlite_link *link)
{
    (void)sqlite3_busy_timeout(link->db, 0);
    if (sqlite_link_run(link, SQLITE_QUERY_BEGIN, NULL) == SEQB_OK) {
        sqlite_mark_raise(link->path, link->commits);
        (void)sqlite_link_run(link, SQLITE_QUERY_ROLLBACK, NULL);
    }
    (void)sqlite3_busy_timeout(link->db, link->busy_ms);
}

static enum seqb_status link_commit(struct sqlite_link *link,
                                    struct seqb_error *err)
{
    sqlite3_stmt *put = link->queries[SQLITE_QUERY_COMMITS_PUT];
    enum seqb_status status = count_up(link, err);

    (void)sqlite3_bind_int64(put, 1, link->commits + 1);
    if (status == SEQB_OK)
        status = sqlite_link_run(link, SQLITE_QUERY_COMMITS_PUT, err);
    if (status == SEQB_OK)
        status = sqlite_incarnation_note(link, link->commits + 1, err);
    if (status == SEQB_OK)
        status = sqlite_link_run(link, SQLITE_QUERY_COMMIT, err);
    if (status != SEQB_OK)
        return status;
    link->commits++;
    /* If the index was removed or the file gained a name before the commit,
     * another handle may have read what was there before it. */
    status = sqlite_history_check(link, err);
    if (status == SEQB_OK)
        link_mark(link);
    return status;
}

static void link_rollback(struct sqlite_link *link)
{
    (void)sqlite_link_run(link, SQLITE_QUERY_ROLLBACK, NULL);
    sqlite_lock_release(link);
}

/* SQLite's lock is taken second, so that its transaction reads all that was
 * committed under the first. Both together wait no longer than one. */
static enum seqb_status link_lock(struct sqlite_link *link,
                                  struct seqb_error *err)
{
    const int64_t until_ms = clock_now_ms() + link->busy_ms;
    enum seqb_status status = sqlite_lock_take(link, until_ms, err);

    if (status != SEQB_OK)
        return status;
    (void)sqlite3_busy_timeout(link->db, (int)(until_ms - clock_now_ms()));
    status = sqlite_link_run(link, SQLITE_QUERY_BEGIN, err);
    (void)sqlite3_busy_timeout(link->db, link->busy_ms);
    if (status != SEQB_OK)
        sqlite_lock_release(link);
    return status;
}

/* With `make` a missing note of the incarnation is made. */
static enum seqb_status begin_once(struct sqlite_link *link, bool make,
                                   struct seqb_error *err)
{
    enum seqb_status status = sqlite_link_check_process(link, err);

    if (status == SEQB_OK)
        status = link_lock(link, err);
    if (status != SEQB_OK)
        return status;
    /* Checked after taking the lock, because the wait may have been long. */
    status = sqlite_history_check(link, err);
    if (status == SEQB_OK)
        status = sqlite_history_check_commits(link, err);
    if (status == SEQB_OK)
        status = sqlite_incarnation_check(link, make, err);
    if (status != SEQB_OK)
        link_rollback(link);
    else
        sqlite_mark_raise(link->path, link->commits); /* see link_mark */
    return status;
}

/* Commits an incarnation that begins, so that the next transaction finds it
 * also if this one only reads. */
static enum seqb_status incarnation_commit(struct sqlite_link *link,
                                           struct seqb_error *err)
{
    enum seqb_status status = sqlite_history_check_log(link, err);

    if (status == SEQB_OK)
        status = link_commit(link, err);
    if (status != SEQB_OK)
        link_rollback(link);
    return status;
}

static enum seqb_status link_begin(struct sqlite_link *link, bool make,
                                   struct seqb_error *err)
{
    enum seqb_status status = begin_once(link, make, err);

    if (status != SEQB_OK || !link->is_begun)
        return status;
    status = incarnation_commit(link, err);
    if (status == SEQB_OK)
        status = begin_once(link, make, err);
    if (status != SEQB_OK || !link->is_begun)
        return status;
    link_rollback(link);
    return error_set(err, SEQB_UNREACHABLE,
                     "sqlite %s: the content of %s went back, or another "
                     "process failed to commit, while its incarnation was "
                     "written",
                     link->name, link->path);
}

enum seqb_status sqlite_link_begin(struct sqlite_link *link,
                                   struct seqb_error *err)
{
    return link_begin(link, false, err);
}

enum seqb_status sqlite_link_begin_incarnated(struct sqlite_link *link,
                                              struct seqb_error *err)
{
    return link_begin(link, true, err);
}

enum seqb_status sqlite_link_begin_unchanged(struct sqlite_link *link,
                                             const struct seqb_backend *backend,
                                             struct seqb_error *err)
{
    enum seqb_status status =
        link_begin(link, backend->incarnation[0] != '\0', err);

    if (status != SEQB_OK)
        return status;
    status = sql_incarnation_check(backend, link->nonce, link->where, err);
    if (status != SEQB_OK)
        link_rollback(link);
    return status;
}

enum seqb_status sqlite_link_end(struct sqlite_link *link,
                                 enum seqb_status status,
                                 struct seqb_error *err)
{
    struct seqb_error why;

    /* Checked last, when everything relevant was read: a tool that overwrites a
     * file begins with its first page. */
    if (status == SEQB_OK)
        status = sqlite_history_check_log(link, err);
    if (status == SEQB_OK && link_commit(link, &why) == SEQB_OK) {
        sqlite_lock_release(link);
        return SEQB_OK;
    }
    link_rollback(link);
    if (status != SEQB_OK)
        return status;
    /* Whatever the reason, the log may already have the commit. */
    return error_set(err, SEQB_UNCERTAIN, "%s", why.text);
}

void sqlite_link_abandon(struct sqlite_link *link)
{
    if (sqlite3_get_autocommit(link->db) == 0)
        (void)sqlite_link_run(link, SQLITE_QUERY_ROLLBACK, NULL);
    sqlite_lock_release(link); /* SQLite may have rolled back by itself */
}

/* --- opening --- */

/* Checked because SQLite, if it may not create a file, tries again read-only
 * and then reports that there is no file. */
static bool folder_is_closed(const char *path)
{
    char folder[PATH_MAX];

    if (!text_copy(folder, sizeof folder, path))
        return false;
    *(strrchr(folder, '/') + 1) = '\0';
    return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 &&
           (errno == EACCES || errno == EPERM || errno == EROFS);
}

/* A call must have time to write after it has waited for the lock. */
void sqlite_link_be_patient(struct sqlite_link *link, int32_t call_ms)
{
    link->busy_ms = call_ms / 4 * 3;
    (void)sqlite3_busy_timeout(link->db, link->busy_ms);
}

/* Only the owner may read or change a file of ours, and its log and its shared
 * memory, which get the file's mode. The file is created without being opened,
 * since a close would drop the locks that another connection of this process
 * may have by then. If that fails, SQLite creates the file, or reports why it
 * cannot. */
static void file_reserve_for_owner(const char *path)
{
    (void)mknod(path, S_IFREG | S_IRUSR | S_IWUSR, 0);
}

/* A file that is made has a name of its own until it is whole. */
static enum seqb_status link_miss(const struct sqlite_link *link, bool create,
                                  struct seqb_error *err)
{
    if (create)
        return error_set(
            err, SEQB_UNREACHABLE,
            "sqlite %s: the folder %.*s is not there: make it", link->name,
            (int)(strrchr(link->path, '/') - link->path), link->path);
    return error_set(err, SEQB_UNREACHABLE,
                     "sqlite %s: %s is not there, or its folder is not: %s",
                     link->name, link->path, EMPTY_ADVICE(""));
}

static enum seqb_status
link_open_file(struct sqlite_link *link,
               const struct seqb_backend_options *options,
               struct seqb_error *err)
{
    const bool create = options->create;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                      (create ? SQLITE_OPEN_CREATE : 0);
    int result;

    if (create)
        file_reserve_for_owner(link->path);
    result = sqlite3_open_v2(link->path, &link->db, flags, NULL);
    if (result == SQLITE_CANTOPEN && create && folder_is_closed(link->path))
        return error_set(err, SEQB_REFUSED,
                         "sqlite %s: no file may be made in the folder of %s",
                         link->name, link->path);
    if (result == SQLITE_CANTOPEN && sqlite3_system_errno(link->db) == ENOENT)
        return link_miss(link, create, err);
    if (result != SQLITE_OK)
        return sqlite_link_fail(link, result, "open", err);
    if (sqlite3_db_readonly(link->db, "main") != 0)
        return error_set(err, SEQB_REFUSED, "sqlite %s: %s is read-only",
                         link->name, link->path);
    sqlite_link_be_patient(link, options->connect_timeout_ms);
    /* Before anything is read: without the log of the other name the content
     * looks older than its mark. */
    return sqlite_names_check(link, err);
}

/* Whether our tables are in the file. A file that has other tables and not ours
 * is never used: the path is probably a mistake. */
static enum seqb_status link_find_tables(struct sqlite_link *link,
                                         bool *is_empty, struct seqb_error *err)
{
    char found[SQL_SIZE];
    enum seqb_status status =
        sqlite_link_ask(link,
                        "SELECT CASE WHEN count(*) = 0 THEN 'none' "
                        "WHEN sum(name IN ('seqb_counters', 'seqb_claims', "
                        "'seqb_commits')) = 3 "
                        "THEN 'ours' ELSE 'others' END "
                        "FROM sqlite_schema WHERE type = 'table'",
                        found, sizeof found, err);

    if (status != SEQB_OK)
        return status;
    *is_empty = strcmp(found, "none") == 0;
    if (strcmp(found, "others") == 0)
        return error_set(err, SEQB_CORRUPT,
                         "sqlite %s: %s is none of ours: it holds other "
                         "tables; if it is meant, run sql/sqlite.sql there",
                         link->name, link->path);
    return SEQB_OK;
}

static enum seqb_status link_set(struct sqlite_link *link,
                                 struct seqb_error *err)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char answer[SQL_SIZE];
        enum seqb_status status =
            sqlite_link_ask(link, settings[i].set, answer, sizeof answer, err);

        if (status == SEQB_OK)
            status = sqlite_link_ask(link, settings[i].ask, answer,
                                     sizeof answer, err);
        if (status != SEQB_OK)
            return status;
        if (strcmp(answer, settings[i].answer) != 0)
            return error_set(err, SEQB_UNSAFE, "sqlite %s: %s: %s gave %s",
                             link->name, link->path, settings[i].set, answer);
    }
    return SEQB_OK;
}

/* Creates the tables, and leaves the transaction open. */
static enum seqb_status link_found(struct sqlite_link *link,
                                   struct seqb_error *err)
{
    const char *const steps[] = {
        "BEGIN IMMEDIATE",
        "PRAGMA application_id = 0x53455142", /* "SEQB" */
        sqlite_sql,
    };

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int result = sqlite3_exec(link->db, steps[i], NULL, NULL, NULL);

        if (result != SQLITE_OK)
            return sqlite_link_fail(link, result, "make tables in", err);
    }
    return SEQB_OK;
}

static enum seqb_status link_open_tables(struct sqlite_link *link, bool create,
                                         struct seqb_error *err)
{
    bool is_empty;
    enum seqb_status status = link_find_tables(link, &is_empty, err);

    if (status != SEQB_OK)
        return status;
    if (is_empty && !create)
        return error_set(err, SEQB_CORRUPT,
                         "sqlite %s: %s is none of ours: it has no tables",
                         link->name, link->path);
    status = link_set(link, err);
    if (status == SEQB_OK && create)
        status = link_found(link, err);
    if (status == SEQB_OK)
        status = sqlite_link_prepare(link, err);
    return status;
}

enum seqb_status sqlite_link_empty_log(struct sqlite_link *link,
                                       struct seqb_error *err)
{
    const int result = sqlite3_wal_checkpoint_v2(
        link->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);

    return result == SQLITE_OK
               ? SEQB_OK
               : sqlite_link_fail(link, result, "empty the log of", err);
}

/* Starts the count in a file that an earlier version wrote, so that from then
 * on a copy without a count is recognised as older. If the file is locked, the
 * next open does it. */
static void link_begin_count(struct sqlite_link *link)
{
    uint32_t count;

    if (!sqlite_log_count(link, &count) || count != 0)
        return;
    if (sqlite_link_begin(link, NULL) == SEQB_OK &&
        sqlite_link_end(link, SEQB_OK, NULL) == SEQB_OK)
        (void)sqlite_link_empty_log(link, NULL);
}

enum seqb_status sqlite_link_open(struct sqlite_link *link,
                                  const struct seqb_backend_options *options,
                                  struct seqb_error *err)
{
    enum seqb_status status;

    link->name = options->name;
    link->path = options->path;
    (void)text_format(link->where, sizeof link->where, "sqlite %s", link->name);
    link->pid = getpid();
    link->lock = -1;
    link->note = -1;
    status = link_open_file(link, options, err);
    if (status == SEQB_OK)
        status = link_open_tables(link, options->create, err);
    if (status == SEQB_OK)
        status = sqlite_history_identify(link, err);
    if (status == SEQB_OK && !options->create)
        link_begin_count(link);
    return status;
}

void sqlite_link_close(struct sqlite_link *link)
{
    if (link->pid != getpid())
        return;
    for (int i = 0; i < SQLITE_QUERIES; i++)
        (void)sqlite3_finalize(link->queries[i]);
    sqlite_incarnation_close(link);
    /* A handle whose locks were dropped is not seen by another one that closes:
     * its grant must have ended. */
    if (sqlite_lock_take(link, clock_now_ms() + link->busy_ms, NULL) != SEQB_OK)
        link->is_logged = false;
    /* The last handle that closes copies the log into the file. A log that does
     * not match its file, or was not compared, must not be copied: the result
     * would look complete. Nor must a log whose index is another one now: it
     * has commits that this handle does not know, and would be removed. */
    if (link->db != NULL && (!link->is_logged || !sqlite_log_matches(link) ||
                             sqlite_history_check(link, NULL) != SEQB_OK))
        (void)sqlite3_db_config(link->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                                NULL);
    (void)sqlite3_close(link->db);
    sqlite_lock_close(link);
}
