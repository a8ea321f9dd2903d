/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of seqb_counters inside a transaction. */
#include "backends/mysql/mysql.h"

#include <inttypes.h>
#include <string.h>

#include <mysqld_error.h>

#include "backends/mysql/server.h"
#include "platform/error.h"
#include "platform/text.h"

/* A broker that replaces the claim waits until this transaction ends. */
static void guard_ask(struct mysql_link *link, const char *name)
{
    mysql_link_add(link, ";SELECT text FROM seqb_claims WHERE name = ");
    mysql_link_quote(link, name);
    mysql_link_add(link, " LOCK IN SHARE MODE");
}

/*
 * Two brokers that find no base would both create one. So a missing base is
 * inserted first, with the origin "", so that it counts as another store's.
 */
static void begin_write(struct mysql *mysql, bool has_cells)
{
    const struct sql_guards *guards = &mysql->sql.guards;
    struct mysql_link *link = &mysql->link;

    mysql_link_add(link,
                   "BEGIN;%s;"
                   "INSERT INTO seqb_counters (name, value, origin) "
                   "VALUES ('', 0, '') "
                   "ON DUPLICATE KEY UPDATE name = name",
                   link->sql->turn);
    for (size_t i = 0; i < guards->count; i++)
        guard_ask(link, guards->claims[i].name);
    mysql_link_add(link, ";SELECT %s, %s, %s, %s", link->closed,
                   link->sql->store, has_cells ? link->sql->now : "NULL",
                   guards->count > 0 ? link->sql->run : "NULL");
}

static enum seqb_status guards_read(struct mysql *mysql, struct seqb_error *err)
{
    struct sql_guards *guards = &mysql->sql.guards;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < guards->count && status == SEQB_OK; i++) {
        status = mysql_link_next(&mysql->link, err);
        if (status == SEQB_OK && mysql_link_row(&mysql->link))
            sql_guards_found(guards, i, mysql_link_text(&mysql->link, 0));
    }
    return status;
}

/* Reads the incarnation. It was asked for after the claims, when their table is
 * locked. A server that lost the nonce has none of the incarnations that a
 * backend may have opened. */
static void run_read(struct mysql *mysql)
{
    struct sql_guards *guards = &mysql->sql.guards;
    const char *run = mysql_link_text(&mysql->link, 3);

    (void)text_copy(guards->incarnation, sizeof guards->incarnation,
                    run != NULL ? run : "");
}

/* Whether the server may still grant, and whether it is still in the state that
 * the backend opened. */
static enum seqb_status begin_read(struct mysql *mysql, bool has_cells,
                                   struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    enum seqb_status status = mysql_link_skip(link, 3, err);
    const char *cells;
    const char *now;

    if (status == SEQB_OK)
        status = guards_read(mysql, err);
    if (status == SEQB_OK)
        status = mysql_link_next(link, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link))
        return mysql_link_distrust(link, "the origin", err);
    status = mysql_server_still(link, mysql_link_text(link, 0), err);
    if (status != SEQB_OK)
        return status;
    now = mysql_link_text(link, 1);
    if (now == NULL || strcmp(now, link->store) != 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the server or its table became another one "
                         "since it was opened: origin %s was %s",
                         link->where, now != NULL ? now : "(none)",
                         link->store);
    cells = mysql_link_text(link, 2);
    if (has_cells && !text_copy(mysql->sql.now, sizeof mysql->sql.now,
                                cells != NULL ? cells : ""))
        return mysql_link_distrust(link, "the incarnation", err);
    run_read(mysql);
    return SEQB_OK;
}

static void row_ask(struct mysql_link *link, const char *name)
{
    mysql_link_add(link,
                   ";SELECT value, origin FROM seqb_counters WHERE name = ");
    mysql_link_quote(link, name);
    mysql_link_add(link, " FOR UPDATE");
}

/* Negative if the value is not a number. */
static int64_t value_read(const struct mysql_link *link)
{
    int64_t value;

    return mysql_link_int64(link, 0, &value) ? value : -1;
}

static enum seqb_status row_read(struct mysql *mysql,
                                 struct sql_counter *counter,
                                 struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    const enum seqb_status status = mysql_link_next(link, err);

    if (status == SEQB_OK && mysql_link_row(link))
        sql_found(&mysql->sql, counter, value_read(link),
                  mysql_link_text(link, 1));
    return status;
}

/*
 * A counter without a row may have been purged. The mark is asked for after the
 * row, and a purge writes the mark before it deletes the row, so the mark shows
 * that purge. It is locked in shared mode, so that no purge can change it until
 * this transaction ends.
 */
static void kept_ask(struct mysql_link *link, const char *name)
{
    mysql_link_add(link,
                   ";SELECT value, origin FROM seqb_counters WHERE name = ");
    mysql_link_quote(link, name);
    mysql_link_add(link, " LOCK IN SHARE MODE");
}

static enum seqb_status kept_read(struct mysql *mysql,
                                  struct sql_counter *counter,
                                  struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    const enum seqb_status status = mysql_link_next(link, err);

    if (status == SEQB_OK && mysql_link_row(link))
        sql_kept_found(counter, value_read(link), mysql_link_text(link, 1),
                       mysql->sql.base.origin);
    return status;
}

static void counter_ask(struct mysql_link *link,
                        const struct sql_counter *counter)
{
    row_ask(link, counter->name);
    kept_ask(link, counter->kept);
}

static enum seqb_status counter_read(struct mysql *mysql,
                                     struct sql_counter *counter,
                                     struct seqb_error *err)
{
    const enum seqb_status status = row_read(mysql, counter, err);

    return status == SEQB_OK ? kept_read(mysql, counter, err) : status;
}

enum seqb_status mysql_rows_lock(struct seqb_backend *backend,
                                 struct sql_counter *counters, size_t n,
                                 struct seqb_error *err)
{
    struct mysql *mysql = (struct mysql *)backend;
    struct mysql_link *link = &mysql->link;
    const bool has_cells = sql_have_cells(counters, n);
    enum seqb_status status = has_cells && !link->is_cluster
                                  ? mysql_incarnation_make(mysql, err)
                                  : SEQB_OK;

    if (status != SEQB_OK)
        return status;
    begin_write(mysql, has_cells);
    for (size_t i = 0; i < n; i++)
        counter_ask(link, &counters[i]);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    if (status == SEQB_OK)
        status = begin_read(mysql, has_cells, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = counter_read(mysql, &counters[i], err);
    return status;
}

static void row_put(struct mysql *mysql, const struct sql_write *write)
{
    struct mysql_link *link = &mysql->link;
    char room[SQL_CELL_ORIGIN_SIZE];
    const char *origin = sql_write_origin(&mysql->sql, write, room);

    mysql_link_add(link, "INSERT INTO seqb_counters SET name = ");
    mysql_link_quote(link, write->name);
    mysql_link_add(link, ", value = %" PRId64 ", origin = ", write->value);
    mysql_link_quote(link, origin);
    mysql_link_add(link,
                   " ON DUPLICATE KEY UPDATE value = %" PRId64 ", origin = ",
                   write->value);
    mysql_link_quote(link, origin);
    mysql_link_add(link, ";");
}

/* Notes are left out: names that were cut to fit may share one. */
static bool is_checked(const struct sql_write *write)
{
    return strncmp(write->name, SQL_NOTE_PREFIX, strlen(SQL_NOTE_PREFIX)) != 0;
}

/* Counts the rows that are as they were written; returns how many must be. A
 * trigger may keep a row as it is, and the server reports no error. */
static int64_t rows_check_ask(struct mysql *mysql,
                              const struct sql_write *writes, size_t n)
{
    struct mysql_link *link = &mysql->link;
    int64_t count = 0;

    mysql_link_add(link, "SELECT COUNT(*) FROM seqb_counters "
                         "FORCE INDEX (PRIMARY) WHERE FALSE");
    for (size_t i = 0; i < n; i++) {
        char room[SQL_CELL_ORIGIN_SIZE];

        if (!is_checked(&writes[i]))
            continue;
        mysql_link_add(link, " OR (name = ");
        mysql_link_quote(link, writes[i].name);
        mysql_link_add(
            link, " AND value = %" PRId64 " AND origin = ", writes[i].value);
        mysql_link_quote(link, sql_write_origin(&mysql->sql, &writes[i], room));
        mysql_link_add(link, ")");
        count++;
    }
    return count;
}

enum seqb_status mysql_trigger_refuse(struct mysql_link *link, const char *what,
                                      struct seqb_error *err)
{
    mysql_link_close(link);
    return error_set(err, SEQB_PROTOCOL,
                     "%s: %s: seqb_counters seems to have a trigger, drop it "
                     "(SHOW TRIGGERS LIKE 'seqb_counters' names it); if it "
                     "lowered values, advance each sequence then",
                     link->where, what);
}

enum seqb_status mysql_rows_check(struct mysql_link *link, int64_t expected,
                                  struct seqb_error *err)
{
    const enum seqb_status status = mysql_link_next(link, err);
    int64_t count;

    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 0, &count))
        return mysql_link_distrust(link, "its rows", err);
    if (count == expected)
        return SEQB_OK;
    return mysql_trigger_refuse(link, "a row was not written as it was sent",
                                err);
}

enum seqb_status mysql_rows_commit(struct seqb_backend *backend,
                                   const struct sql_write *writes, size_t n,
                                   struct seqb_error *err)
{
    struct mysql *mysql = (struct mysql *)backend;
    struct mysql_link *link = &mysql->link;
    enum seqb_status status;
    int64_t checked;

    for (size_t i = 0; i < n; i++)
        row_put(mysql, &writes[i]);
    checked = rows_check_ask(mysql, writes, n);
    mysql_link_add(link, ";COMMIT");
    status = mysql_link_send(link, SEQB_UNCERTAIN, err);
    if (status == SEQB_OK)
        status = mysql_link_skip(link, n, err);
    if (status == SEQB_OK)
        status = mysql_rows_check(link, checked, err);
    return status == SEQB_OK ? mysql_link_next_commit(link, err) : status;
}

enum seqb_status mysql_rows_abandon(struct seqb_backend *backend,
                                    struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    enum seqb_status status;

    if (link->handle == NULL)
        return error_set(err, SEQB_UNREACHABLE, "%s: the connection was lost",
                         link->where);
    mysql_link_add(link, "ROLLBACK");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        mysql_link_close(link);
    return status;
}

bool mysql_rows_conflict(const struct seqb_backend *backend)
{
    const struct mysql_link *link = &((const struct mysql *)backend)->link;

    return link->handle != NULL && link->is_cluster &&
           (link->code == ER_LOCK_DEADLOCK ||
            link->code == ER_LOCK_WAIT_TIMEOUT);
}

/* Existing counters need fewer rights than new ones. */
bool mysql_rows_blame(const struct seqb_backend *backend,
                      enum seqb_status status)
{
    const struct mysql *mysql = (const struct mysql *)backend;

    return mysql->link.handle != NULL &&
           (status == SEQB_REFUSED || status == SEQB_CORRUPT);
}
