/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite once more, as a dialect and nothing else. */
#include "contract/plain_sqlite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/sql/sql.h"
#include "backends/sqlite/file.h"
#include "platform/error.h"
#include "platform/text.h"

struct plain {
    struct sql_backend sql;
    sqlite3 *db;
    pid_t pid;        /* a handle may not cross fork() */
    const char *path; /* the options' */
};

/* What a statement names ?1, ?2 and ?3. */
struct arguments {
    const char *name;
    int64_t number;
    const char *text;
};

static struct arguments with(const char *name, int64_t number, const char *text)
{
    return (struct arguments){name, number, text};
}

/* --- statements --- */

static enum seqb_status plain_fail(const struct plain *plain,
                                   enum seqb_status status,
                                   struct seqb_error *err)
{
    return error_set(err, status, "%s: %s", plain->sql.where,
                     sqlite3_errmsg(plain->db));
}

/* Its first row is the caller's to finalize, NULL if there is none. */
static enum seqb_status plain_ask(struct plain *plain, const char *sql,
                                  struct arguments arguments,
                                  sqlite3_stmt **out, struct seqb_error *err)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(plain->db, sql, -1, &query, NULL);

    *out = NULL;
    if (result == SQLITE_OK) {
        (void)sqlite3_bind_text(query, 1, arguments.name, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(query, 2, arguments.number);
        (void)sqlite3_bind_text(query, 3, arguments.text, -1, SQLITE_STATIC);
        result = sqlite3_step(query);
    }
    if (result == SQLITE_ROW)
        *out = query;
    else
        (void)sqlite3_finalize(query);
    if (result == SQLITE_ROW || result == SQLITE_DONE)
        return SEQB_OK;
    return plain_fail(
        plain, result == SQLITE_BUSY ? SEQB_UNREACHABLE : SEQB_REFUSED, err);
}

static enum seqb_status plain_run(struct plain *plain, const char *sql,
                                  struct arguments arguments,
                                  struct seqb_error *err)
{
    sqlite3_stmt *row;
    const enum seqb_status status = plain_ask(plain, sql, arguments, &row, err);

    (void)sqlite3_finalize(row);
    return status;
}

/* --- the dialect --- */

static enum seqb_status plain_begin(struct plain *plain, struct seqb_error *err)
{
    enum seqb_status status;

    if (plain->pid != getpid())
        return error_set(err, SEQB_FORKED, "%s: forked", plain->sql.where);
    status = plain_run(plain, "BEGIN IMMEDIATE", with(NULL, 0, NULL), err);
    if (status == SEQB_OK &&
        !sqlite_file_is(plain->path, plain->sql.base.origin))
        return error_set(err, SEQB_UNREACHABLE, "%s: replaced",
                         plain->sql.where);
    return status;
}

static enum seqb_status plain_abandon(struct seqb_backend *backend,
                                      struct seqb_error *err)
{
    struct plain *plain = (struct plain *)backend;

    (void)err;
    if (sqlite3_get_autocommit(plain->db) == 0)
        (void)plain_run(plain, "ROLLBACK", with(NULL, 0, NULL), NULL);
    return SEQB_OK;
}

/* Ends what went as `status` says. */
static enum seqb_status plain_end(struct plain *plain, enum seqb_status status,
                                  struct seqb_error *err)
{
    if (status == SEQB_OK)
        status = plain_run(plain, "COMMIT", with(NULL, 0, NULL), err);
    if (status != SEQB_OK)
        (void)plain_abandon(&plain->sql.base, NULL);
    return status;
}

static enum seqb_status counter_read(struct plain *plain,
                                     struct sql_counter *counter, bool is_mark,
                                     struct seqb_error *err)
{
    sqlite3_stmt *row;
    enum seqb_status status;

    status = plain_ask(
        plain, "SELECT value, origin FROM seqb_counters WHERE name = ?1",
        with(is_mark ? counter->kept : counter->name, 0, NULL), &row, err);
    if (row != NULL) {
        const int64_t value = sqlite3_column_int64(row, 0);
        const char *origin = (const char *)sqlite3_column_text(row, 1);

        if (is_mark)
            sql_kept_found(counter, value, origin, plain->sql.base.origin);
        else
            sql_row_found(counter, value, origin, plain->sql.base.origin);
    }
    (void)sqlite3_finalize(row);
    return status;
}

static enum seqb_status plain_lock(struct seqb_backend *backend,
                                   struct sql_counter *counters, size_t n,
                                   struct seqb_error *err)
{
    struct plain *plain = (struct plain *)backend;
    enum seqb_status status = plain_begin(plain, err);

    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        status = counter_read(plain, &counters[i], false, err);
        if (status == SEQB_OK)
            status = counter_read(plain, &counters[i], true, err);
    }
    return status;
}

static enum seqb_status plain_commit(struct seqb_backend *backend,
                                     const struct sql_write *writes, size_t n,
                                     struct seqb_error *err)
{
    struct plain *plain = (struct plain *)backend;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = plain_run(
            plain, "REPLACE INTO seqb_counters VALUES (?1, ?2, ?3)",
            with(writes[i].name, writes[i].value, backend->origin), err);
    return plain_end(plain, status, err);
}

static const struct sql_dialect dialect = {
    .lock = plain_lock,
    .commit = plain_commit,
    .abandon = plain_abandon,
};

/* --- claims --- */

static enum seqb_status claim_find(struct plain *plain, const char *name,
                                   char *standing, size_t size,
                                   struct seqb_error *err)
{
    const char *text = "";
    sqlite3_stmt *row;
    enum seqb_status status =
        plain_ask(plain, "SELECT text FROM seqb_claims WHERE name = ?1",
                  with(name, 0, NULL), &row, err);

    if (row != NULL)
        text = (const char *)sqlite3_column_text(row, 0);
    if (status == SEQB_OK && !text_copy(standing, size, text))
        status = error_set(err, SEQB_PROTOCOL, "%s: claim '%s' does not fit",
                           plain->sql.where, name);
    (void)sqlite3_finalize(row);
    return status;
}

static enum seqb_status plain_swap(struct seqb_backend *backend,
                                   const struct seqb_swap *swap, char *standing,
                                   size_t size, struct seqb_error *err)
{
    struct plain *plain = (struct plain *)backend;
    enum seqb_status status = plain_begin(plain, err);

    if (status == SEQB_OK)
        status = claim_find(plain, swap->name, standing, size, err);
    if (status == SEQB_OK && swap->text != NULL &&
        strcmp(standing, swap->expected) == 0)
        status = plain_run(plain, "REPLACE INTO seqb_claims VALUES (?1, ?3)",
                           with(swap->name, 0, swap->text), err);
    if (status == SEQB_OK)
        status = claim_find(plain, swap->name, standing, size, err);
    return plain_end(plain, status, err);
}

static enum seqb_status plain_claim(struct seqb_backend *backend,
                                    const char *name, const char *text,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    const struct seqb_swap swap = {name, "", text, NULL};

    return plain_swap(backend, &swap, standing, size, err);
}

/* --- purging --- */

static enum seqb_status plain_purge(struct seqb_backend *backend,
                                    const struct seqb_purge *purge,
                                    int32_t *deleted, struct seqb_error *err)
{
    struct plain *plain = (struct plain *)backend;
    char mark[SEQB_COUNTER_SIZE];
    enum seqb_status status;

    if (!sql_purge_is_sane(purge) || !sql_mark_name(purge->counter, mark))
        return error_set(err, SEQB_INVALID, "%s: %s: cannot be purged",
                         plain->sql.where, purge->counter);
    status = plain_begin(plain, err);
    if (status == SEQB_OK)
        status = plain_run(
            plain,
            "INSERT INTO seqb_counters VALUES (?1, ?2, ?3) ON CONFLICT (name) "
            "DO UPDATE SET value = max(value, ?2), origin = max(origin, ?3)",
            with(mark, purge->before_ms, purge->keep), err);
    if (status == SEQB_OK)
        status = plain_run(
            plain,
            "DELETE FROM seqb_counters WHERE name IN (SELECT name FROM "
            "seqb_counters WHERE name > ?1 || '@' AND name < ?3 "
            "ORDER BY name LIMIT ?2)",
            with(purge->counter, purge->most, purge->keep), err);
    *deleted = sqlite3_changes(plain->db);
    return plain_end(plain, status, err);
}

/* --- the rest --- */

static void plain_close(struct seqb_backend *backend)
{
    struct plain *plain = (struct plain *)backend;

    if (plain != NULL && plain->pid == getpid())
        (void)sqlite3_close(plain->db);
    free(plain);
}

/* The base is made once, with the first claim. */
static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS seqb_counters (name TEXT PRIMARY KEY, "
    "value INTEGER NOT NULL, origin TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS seqb_claims (name TEXT PRIMARY KEY, "
    "text TEXT NOT NULL)",
    "INSERT INTO seqb_counters SELECT '', 0, ?3 "
    "WHERE NOT EXISTS (SELECT 1 FROM seqb_claims)",
    "INSERT OR IGNORE INTO seqb_claims VALUES ('store', ?3)",
};

static enum seqb_status file_open(struct plain *plain, bool create,
                                  struct seqb_error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    const int result = sqlite3_open_v2(plain->path, &plain->db, flags, NULL);
    enum seqb_status status;

    if (result != SQLITE_OK ||
        !sqlite_file_identify(plain->path, plain->sql.base.origin))
        return plain_fail(plain, SEQB_UNREACHABLE, err);
    (void)sqlite3_busy_timeout(plain->db, 15000);
    if (!create)
        return SEQB_OK;
    status = plain_begin(plain, err);
    for (size_t i = 0; i < 4 && status == SEQB_OK; i++)
        status = plain_run(plain, tables[i],
                           with(NULL, 0, plain->sql.base.origin), err);
    return plain_end(plain, status, err);
}

static enum seqb_status plain_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    struct plain *plain = calloc(1, sizeof *plain);
    struct seqb_backend *base;
    enum seqb_status status;

    if (plain == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    base = &plain->sql.base;
    base->ops = &backend_plain_sqlite;
    base->fd = -1;
    plain->sql.dialect = &dialect;
    plain->sql.where = options->name;
    plain->path = options->path;
    plain->pid = getpid();
    (void)text_copy(base->server, sizeof base->server, sqlite3_libversion());
    (void)text_copy(base->domain, sizeof base->domain, "a disk");
    status = file_open(plain, options->create, err);
    if (status != SEQB_OK) {
        plain_close(base);
        return status;
    }
    *out = base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_plain_sqlite = {
    .engine = "plain-sqlite",
    .guarantee = SEQB_DIRECT,
    .library = sqlite3_libversion,
    .open = plain_open,
    .reserve = sql_reserve,
    .raise = sql_raise,
    .claim = plain_claim,
    .swap = plain_swap,
    .purge = plain_purge,
    .close = plain_close,
};
