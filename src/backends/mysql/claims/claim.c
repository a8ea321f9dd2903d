/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of sql/mysql.sql, and the claims in them. */
#include "backends/mysql/claims/claims.h"

#include <string.h>

#include <mysqld_error.h>

#include "backends/empty.h"
#include "backends/mysql/claims/same.h"
#include "backends/mysql/mysql.h"
#include "backends/mysql/server.h"
#include "mysql_sql.h"
#include "platform/error.h"
#include "platform/text.h"

#define TABLES 2

/* --- tables --- */

/* Whether both tables exist and have their first rows. */
static enum seqb_status tables_find(struct mysql_link *link, bool *are_ready,
                                    struct seqb_error *err)
{
    enum seqb_status status;
    int found = 0;

    *are_ready = false;
    mysql_link_add(link, "SELECT TABLE_NAME, ENGINE "
                         "FROM information_schema.TABLES "
                         "WHERE TABLE_SCHEMA = DATABASE() "
                         "AND TABLE_NAME IN ('seqb_counters', 'seqb_claims')");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    for (; status == SEQB_OK && mysql_link_row(link); found++) {
        const char *table = mysql_link_text(link, 0);
        const char *engine = mysql_link_text(link, 1);

        if (engine == NULL || strcmp(engine, "InnoDB") != 0)
            return error_set(err, SEQB_UNSAFE,
                             "%s: the table %s is kept by %s, which has no "
                             "transactions that last: ALTER TABLE %s "
                             "ENGINE = InnoDB",
                             link->where, table,
                             engine != NULL ? engine : "(none)", table);
    }
    if (status != SEQB_OK || found < TABLES)
        return status;
    mysql_link_add(link, "SELECT 1 FROM seqb_claims WHERE name = 'store'");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    *are_ready = status == SEQB_OK && mysql_link_row(link);
    return status;
}

/* Without the comments, in which a ';' may be. */
static void script_add(struct mysql_link *link, const char *script)
{
    for (const char *line = script; *line != '\0';) {
        const size_t length = strcspn(line, "\n");

        if (strncmp(line, "--", 2) != 0)
            mysql_link_add(link, "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

enum seqb_status mysql_tables_make(struct mysql_link *link,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    script_add(link, mysql_sql);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    return status == SEQB_OK ? mysql_link_finish(link, err) : status;
}

enum seqb_status mysql_tables_open(struct mysql_link *link, bool create,
                                   struct seqb_error *err)
{
    bool are_ready;
    enum seqb_status status = tables_find(link, &are_ready, err);

    if (status == SEQB_OK && !are_ready && create) {
        status = mysql_tables_make(link, err);
        if (status == SEQB_OK)
            status = tables_find(link, &are_ready, err);
    }
    if (status != SEQB_OK || are_ready)
        return status;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: the tables seqb_counters and seqb_claims are not "
                     "there with their first rows, or are not this user's to "
                     "see: %s",
                     link->where, EMPTY_ADVICE(", or run sql/mysql.sql"));
}

/* --- claims --- */

static enum seqb_status claim_find(struct mysql_link *link, const char *name,
                                   char *standing, size_t size, bool *is_found,
                                   struct seqb_error *err)
{
    const char *text;
    int64_t is_same;
    enum seqb_status status;

    mysql_link_add(link, "SELECT (SELECT text FROM seqb_claims WHERE name = ");
    mysql_link_quote(link, name);
    mysql_link_add(link, "), ");
    mysql_same_add(link);
    mysql_link_add(link, ", %s", mysql_same_run(link));
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 1, &is_same))
        return mysql_link_distrust(link, "a claim", err);
    status = mysql_same_check(link, name, mysql_link_text(link, 2), err);
    if (status != SEQB_OK)
        return status;
    if (is_same == 0)
        return mysql_same_lost(link, err);
    text = mysql_link_text(link, 0);
    *is_found = text != NULL;
    if (!text_copy(standing, size, text != NULL ? text : ""))
        return error_set(err, SEQB_PROTOCOL,
                         "%s: claim '%s' is longer than %zu bytes", link->where,
                         name, size - 1);
    return SEQB_OK;
}

/* Another broker may be faster: then the claim exists, which is no error. */
static enum seqb_status claim_add(struct mysql_link *link, const char *name,
                                  const char *text, bool *is_added,
                                  struct seqb_error *err)
{
    mysql_link_add(link, "INSERT INTO seqb_claims (name, text) SELECT ");
    mysql_link_quote(link, name);
    mysql_link_add(link, ", ");
    mysql_link_quote(link, text);
    mysql_link_add(link, " FROM DUAL");
    return mysql_same_insert(link, name, is_added, err);
}

/* Claims are never removed. So it is safe to read first, and a normal start
 * writes nothing. */
enum seqb_status mysql_claim_stand(struct mysql_link *link, const char *name,
                                   const char *text, char *standing,
                                   size_t size, struct seqb_error *err)
{
    bool is_found = false;
    bool is_added;
    enum seqb_status status =
        claim_find(link, name, standing, size, &is_found, err);

    if (status != SEQB_OK || is_found || text == NULL)
        return status;
    status = claim_add(link, name, text, &is_added, err);
    return status == SEQB_OK
               ? claim_find(link, name, standing, size, &is_found, err)
               : status;
}

enum seqb_status mysql_claim(struct seqb_backend *backend, const char *name,
                             const char *text, char *standing, size_t size,
                             struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    const enum seqb_status status = mysql_link_begin(link, err);

    if (status != SEQB_OK)
        return status;
    mysql_same_expect(link, backend, NULL);
    return mysql_claim_stand(link, name, text, standing, size, err);
}

/* --- swaps --- */

/* After the first SELECT nobody can replace these two tables, so what is read
 * later is valid until the transaction ends. */
static void swap_begin(struct mysql_link *link)
{
    mysql_link_add(link,
                   "BEGIN;%s;"
                   "SELECT 1 FROM seqb_claims, seqb_counters LIMIT 0;"
                   "SET @seqb_same = ",
                   link->sql->turn);
    mysql_same_add(link);
    mysql_link_add(link, ";SELECT %s, %s", link->closed, mysql_same_run(link));
}

/*
 * A text that is already stored is written again, because another session may
 * see it before its commit is on disk. It takes two steps, since a server
 * writes nothing if nothing changes; no other session sees the first step.
 */
static void swap_ask(struct mysql_link *link, const struct seqb_swap *swap)
{
    swap_begin(link);
    mysql_link_add(link, ";UPDATE seqb_claims SET text = '' WHERE name = ");
    mysql_link_quote(link, swap->name);
    mysql_link_add(link, " AND text IN (");
    mysql_link_quote(link, swap->expected);
    mysql_link_add(link, ", ");
    mysql_link_quote(link, swap->text);
    mysql_link_add(
        link,
        ") AND @seqb_same AND %s;UPDATE seqb_claims SET text = ", link->serves);
    mysql_link_quote(link, swap->text);
    mysql_link_add(link, " WHERE text = '' AND name = ");
    mysql_link_quote(link, swap->name);
    mysql_link_add(link, ";COMMIT");
}

static enum seqb_status swap_receive(struct mysql_link *link, const char *name,
                                     bool *is_done, struct seqb_error *err)
{
    struct seqb_error why = {.status = SEQB_OK};
    enum seqb_status status = mysql_link_skip(link, 5, err);

    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link))
        return mysql_link_distrust(link, "a swap", err);
    if (mysql_server_still(link, mysql_link_text(link, 0), &why) == SEQB_OK)
        (void)mysql_same_check(link, name, mysql_link_text(link, 1), &why);
    status = mysql_link_next(link, err);
    *is_done = status == SEQB_OK && link->changed == 1;
    if (status == SEQB_OK)
        status = mysql_link_next(link, err);
    if (status == SEQB_OK)
        status = mysql_link_next_commit(link, err);
    if (status != SEQB_OK || *is_done)
        return status;
    return why.status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}

static enum seqb_status swap_write(struct mysql_link *link,
                                   const struct seqb_swap *swap, bool *is_done,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    swap_ask(link, swap);
    status = mysql_link_send(link, SEQB_UNCERTAIN, err);
    if (status == SEQB_OK)
        status = swap_receive(link, swap->name, is_done, err);
    if (status == SEQB_OK || link->handle == NULL)
        return status;
    /* Ends the transaction of a failed statement. */
    mysql_link_add(link, "ROLLBACK");
    if (mysql_link_run(link, SEQB_UNREACHABLE, NULL) != SEQB_OK)
        mysql_link_close(link);
    return status;
}

enum seqb_status mysql_swap(struct seqb_backend *backend,
                            const struct seqb_swap *swap, char *standing,
                            size_t size, struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    bool is_done = false;
    enum seqb_status status = mysql_link_begin(link, err);

    mysql_same_expect(link, backend, swap->incarnation);
    if (status == SEQB_OK && swap->expected[0] == '\0')
        status = claim_add(link, swap->name, swap->text, &is_done, err);
    if (status == SEQB_OK && !is_done)
        status = swap_write(link, swap, &is_done, err);
    if (status != SEQB_OK)
        return status;
    if (!is_done)
        return claim_find(link, swap->name, standing, size, &is_done, err);
    if (text_copy(standing, size, swap->text))
        return SEQB_OK;
    return error_set(err, SEQB_PROTOCOL,
                     "%s: claim '%s' is longer than %zu bytes", link->where,
                     swap->name, size - 1);
}
