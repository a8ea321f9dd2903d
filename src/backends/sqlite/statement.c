/* SPDX-License-Identifier: Apache-2.0 */
/* The statements of a SQLite file, and what their failures mean. */
#include "backends/sqlite/statement.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/random.h>
#include <unistd.h>

#include "platform/error.h"
#include "platform/text.h"

static const char *const query_texts[SQLITE_QUERIES] = {
    [SQLITE_QUERY_BEGIN] = "BEGIN IMMEDIATE",
    [SQLITE_QUERY_COMMIT] = "COMMIT",
    [SQLITE_QUERY_ROLLBACK] = "ROLLBACK",
    [SQLITE_QUERY_COUNTER_FIND] =
        "SELECT value, origin FROM seqb_counters WHERE name = ?1",
    [SQLITE_QUERY_COUNTER_PUT] =
        "REPLACE INTO seqb_counters VALUES (?1, ?2, ?3)",
    [SQLITE_QUERY_MARK_PUT] =
        ("INSERT INTO seqb_counters VALUES (?1, ?2, ?3) ON CONFLICT (name) "
         "DO UPDATE SET value = max(value, ?2), "
         "origin = CASE WHEN ?4 THEN origin ELSE ?3 END"),
    [SQLITE_QUERY_COUNTERS_DELETE] =
        ("DELETE FROM seqb_counters WHERE name IN (SELECT name "
         "FROM seqb_counters WHERE name > ?1 AND name < ?2 "
         "ORDER BY name LIMIT ?3)"),
    [SQLITE_QUERY_COUNTERS_LIST] =
        ("SELECT name, value FROM seqb_counters "
         "WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT ?3"),
    [SQLITE_QUERY_NONCES_DELETE] =
        ("DELETE FROM seqb_counters WHERE name IN (SELECT name "
         "FROM seqb_counters WHERE name > 'incarnation:' "
         "AND name < 'incarnation;' ORDER BY value DESC LIMIT -1 OFFSET 63)"),
    [SQLITE_QUERY_COMMITS_FIND] = "SELECT count FROM seqb_commits",
    [SQLITE_QUERY_COMMITS_PUT] = "REPLACE INTO seqb_commits VALUES (1, ?1)",
    [SQLITE_QUERY_CLAIM_FIND] = "SELECT text FROM seqb_claims WHERE name = ?1",
    [SQLITE_QUERY_CLAIMS_WALK] =
        "SELECT name, text FROM seqb_claims WHERE name >= ?1 ORDER BY name",
    [SQLITE_QUERY_CLAIMS_LIST] =
        ("SELECT name, 0 FROM seqb_claims "
         "WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT ?3"),
    [SQLITE_QUERY_CLAIM_ADD] =
        "INSERT OR IGNORE INTO seqb_claims VALUES (?1, ?2)",
    [SQLITE_QUERY_CLAIM_REPLACE] =
        "UPDATE seqb_claims SET text = ?2 WHERE name = ?1 AND text = ?3",
};

/* --- failures --- */

static enum seqb_status cannot_open_status(int error)
{
    switch (error) {
    case EACCES:
    case EISDIR:
    case EPERM:
    case EROFS:
        return SEQB_REFUSED;
    default:
        return SEQB_UNREACHABLE;
    }
}

static enum seqb_status result_status(struct sqlite_link *link, int code)
{
    switch (code) {
    case SQLITE_CANTOPEN:
        return cannot_open_status(sqlite3_system_errno(link->db));
    case SQLITE_IOERR:
        return SEQB_UNREACHABLE;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_FULL:
        return SEQB_REFUSED;
    case SQLITE_NOMEM:
        return SEQB_NO_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* for example a missing column */
        return SEQB_CORRUPT;
    default:
        return SEQB_PROTOCOL;
    }
}

enum seqb_status sqlite_link_fail(struct sqlite_link *link, int result,
                                  const char *what, struct seqb_error *err)
{
    const int code = result & 0xff; /* without the extended part */

    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return error_set(err, SEQB_UNREACHABLE,
                         "sqlite %s: %s is locked by another process; waited "
                         "for up to %d ms",
                         link->name, link->path, link->busy_ms);
    return error_set(err, result_status(link, code), "sqlite %s: %s %s: %s",
                     link->name, what, link->path, sqlite3_errmsg(link->db));
}

enum seqb_status sqlite_link_random(const char *name, char *out,
                                    struct seqb_error *err)
{
    uint64_t random[2];

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return error_set(err, SEQB_UNREACHABLE, "sqlite %s: no random bytes",
                         name);
    (void)text_format(out, SQLITE_RANDOM_SIZE, "%016" PRIx64 "%016" PRIx64,
                      random[0], random[1]);
    return SEQB_OK;
}

/* --- statements --- */

sqlite3_stmt *sqlite_link_query(struct sqlite_link *link,
                                enum sqlite_query query, const char *name)
{
    (void)sqlite3_bind_text(link->queries[query], 1, name, -1, SQLITE_STATIC);
    return link->queries[query];
}

enum seqb_status sqlite_link_run(struct sqlite_link *link,
                                 enum sqlite_query query,
                                 struct seqb_error *err)
{
    const int result = sqlite3_step(link->queries[query]);

    (void)sqlite3_reset(link->queries[query]);
    return result == SQLITE_DONE
               ? SEQB_OK
               : sqlite_link_fail(link, result, query_texts[query], err);
}

/* The first column of the first row, "" without a row. Runs the statement to
 * its end, because only then is what it writes committed. */
static int answer_read(sqlite3_stmt *statement, char *out, size_t size)
{
    int result = sqlite3_step(statement);
    const char *text;

    (void)text_copy(out, size, "");
    if (result != SQLITE_ROW)
        return result;
    text = (const char *)sqlite3_column_text(statement, 0);
    if (text == NULL && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        return SQLITE_NOMEM;
    (void)text_copy(out, size, text != NULL ? text : "");
    while (result == SQLITE_ROW)
        result = sqlite3_step(statement);
    return result;
}

enum seqb_status sqlite_link_ask(struct sqlite_link *link, const char *sql,
                                 char *out, size_t size, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(link->db, sql, -1, &statement, NULL);

    if (result == SQLITE_OK)
        result = answer_read(statement, out, size);
    if (result != SQLITE_DONE)
        status = sqlite_link_fail(link, result, "read", err);
    (void)sqlite3_finalize(statement);
    return status;
}

enum seqb_status sqlite_link_prepare(struct sqlite_link *link,
                                     struct seqb_error *err)
{
    for (int i = 0; i < SQLITE_QUERIES; i++) {
        int result = sqlite3_prepare_v3(link->db, query_texts[i], -1,
                                        SQLITE_PREPARE_PERSISTENT,
                                        &link->queries[i], NULL);

        if (result != SQLITE_OK)
            return sqlite_link_fail(link, result, query_texts[i], err);
    }
    return SEQB_OK;
}

/* --- processes --- */

enum seqb_status sqlite_link_check_process(const struct sqlite_link *link,
                                           struct seqb_error *err)
{
    if (link->pid != getpid())
        return error_set(err, SEQB_FORKED,
                         "sqlite %s: was opened before fork()", link->name);
    return SEQB_OK;
}
