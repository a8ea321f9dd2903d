/* SPDX-License-Identifier: Apache-2.0 */
/* The begin of a session with one PostgreSQL server. primary.c chooses the
 * server. */
#include "backends/postgres/session.h"

#include <string.h>

#include "backends/empty.h"
#include "platform/error.h"
#include "platform/text.h"
#include "postgres_sql.h"

#define VERSION_MIN 120000 /* the oldest version with the SQL used here */

/* What a new connection is asked, as columns. */
enum column {
    COLUMN_ROLE, /* "" for a primary */
    COLUMN_LOSSES,
    COLUMN_COUNTERS, /* "" or its kind and persistence: "rp" */
    COLUMN_CLAIMS,
    COLUMN_SYSTEM,
    COLUMN_ORIGIN,
    COLUMN_CLAIMS_FILE,
    COLUMN_RUN,
    COLUMN_INTRUDER,
    COLUMN_MARKED,
    COLUMNS
};

static const char question[] =
    "SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby'"
    " WHEN current_setting('transaction_read_only') = 'on' THEN 'read-only'"
    " ELSE '' END,"
    " " POSTGRES_LOSSES ","
    " (SELECT coalesce(max(relkind::text || relpersistence::text), '')"
    " FROM pg_class WHERE oid = to_regclass('seqb_counters')),"
    " (SELECT coalesce(max(relkind::text || relpersistence::text), '')"
    " FROM pg_class WHERE oid = to_regclass('seqb_claims')),"
    " (SELECT system_identifier::text FROM pg_control_system()),"
    " " POSTGRES_ORIGIN_OR_NONE ", " POSTGRES_CLAIMS_FILE ", " POSTGRES_RUN
    ", " POSTGRES_INTRUDER ", " POSTGRES_MARKED;

/* --- checks of the server --- */

static enum seqb_status session_ask(struct postgres_link *link, PGresult **out,
                                    struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status;

    postgres_link_add(link, question, 0, NULL);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = postgres_link_read(link, PGRES_TUPLES_OK, &result, err);
    if (status == SEQB_OK)
        status = postgres_link_finish(link, err);
    if (status == SEQB_OK &&
        (PQntuples(result) != 1 || PQnfields(result) != COLUMNS))
        status = postgres_link_distrust(link, "what server it is", err);
    if (status == SEQB_OK)
        *out = result;
    else
        PQclear(result);
    return status;
}

static const char *answer_of(const PGresult *facts, enum column column)
{
    return PQgetvalue(facts, 0, (int)column);
}

static enum seqb_status check_role(const struct postgres_link *link,
                                   const PGresult *facts,
                                   struct seqb_error *err)
{
    const char *role = answer_of(facts, COLUMN_ROLE);

    if (*role == '\0')
        return SEQB_OK;
    return error_set(err, SEQB_ROLE, "%s: the server is %s", link->where, role);
}

#define LOSS_FORMAT "%s: a crash of its machine may repeat numbers"

enum seqb_status postgres_loss_refuse(const struct postgres_link *link,
                                      const char *losses,
                                      struct seqb_error *err)
{
    return error_set(err, SEQB_UNSAFE,
                     "%s: " LOSS_FORMAT
                     "; set it to on, or accept_loss = true here",
                     link->where, losses);
}

/* If fsync or full_page_writes is off, a crash of the machine loses pages, and
 * commits with them. synchronous_commit may be off, because each transaction
 * raises it. */
static enum seqb_status check_durability(struct postgres_link *link,
                                         const PGresult *facts,
                                         bool accepts_loss, char *loss,
                                         struct seqb_error *err)
{
    const char *losses = answer_of(facts, COLUMN_LOSSES);

    link->accepts_loss = accepts_loss;
    loss[0] = '\0';
    if (*losses == '\0')
        return SEQB_OK;
    (void)text_format(loss, SEQB_LOSS_SIZE, LOSS_FORMAT, losses);
    return accepts_loss ? SEQB_OK : postgres_loss_refuse(link, losses, err);
}

static enum seqb_status check_table(const struct postgres_link *link,
                                    const char *table, const char *facts,
                                    struct seqb_error *err)
{
    if (strcmp(facts, "rp") == 0)
        return SEQB_OK;
    if (*facts == '\0')
        return error_set(err, SEQB_CORRUPT,
                         "%s: table %s is not there, but its sister is: "
                         "restore it, or drop both",
                         link->where, table);
    if (*facts != 'r')
        return error_set(err, SEQB_CORRUPT,
                         "%s: %s is no plain table, see sql/postgres.sql",
                         link->where, table);
    return error_set(err, SEQB_UNSAFE,
                     "%s: table %s is unlogged or temporary, a crash empties "
                     "it: ALTER TABLE %s SET LOGGED",
                     link->where, table, table);
}

static bool tables_are_missing(const PGresult *facts)
{
    return *answer_of(facts, COLUMN_COUNTERS) == '\0' &&
           *answer_of(facts, COLUMN_CLAIMS) == '\0';
}

/* A statement may see one of two tables that another broker has just created:
 * the server learns of new names one by one. */
static bool tables_are_halved(const PGresult *facts)
{
    return (*answer_of(facts, COLUMN_COUNTERS) == '\0') !=
           (*answer_of(facts, COLUMN_CLAIMS) == '\0');
}

static enum seqb_status check_tables(const struct postgres_link *link,
                                     const PGresult *facts,
                                     struct seqb_error *err)
{
    enum seqb_status status;

    if (tables_are_missing(facts))
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: table seqb_counters is not there, or its schema "
                         "is not in the search_path of this database: %s",
                         link->where,
                         EMPTY_ADVICE(", or run sql/postgres.sql"));
    status = check_table(link, "seqb_counters",
                         answer_of(facts, COLUMN_COUNTERS), err);
    if (status == SEQB_OK)
        status = check_table(link, "seqb_claims",
                             answer_of(facts, COLUMN_CLAIMS), err);
    return status;
}

/* A grant is what RETURNING answers: a trigger BEFORE or a rule may have the
 * server answer what it did not write, and a trigger AFTER, even one that is
 * deferred to the commit, may lower the value afterwards. A policy may hide the
 * row that says that a period is over. The catalog does not tell a trigger that
 * only logs from another one. */
static enum seqb_status check_intruder(const struct postgres_link *link,
                                       const PGresult *facts,
                                       struct seqb_error *err)
{
    const char *intruder = answer_of(facts, COLUMN_INTRUDER);

    if (*intruder == '\0')
        return SEQB_OK;
    return error_set(err, SEQB_UNSAFE,
                     "%s: %s may change or hide rows, and numbers would "
                     "repeat: drop or disable it; if it lowered values, "
                     "advance each sequence then",
                     link->where, intruder);
}

/* --- tables --- */

/* Creates the tables, all or none. Two brokers that do so at the same time
 * collide in the catalog; the second then finds the tables of the first. This
 * commit need not wait for the disk: a later commit that survives a crash is
 * behind it in the WAL, so this one survives too. */
static enum seqb_status tables_found(struct postgres_link *link,
                                     struct seqb_error *err)
{
    static const char *const others[] = {"42P07", "42710", "23505"};
    struct seqb_error why;
    const enum seqb_status status = postgres_link_run(link, postgres_sql, &why);

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (link->conn != NULL && strcmp(link->state, others[i]) == 0)
            return SEQB_OK;
    }
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}

/* --- one server --- */

static void facts_keep(struct seqb_backend *base, struct postgres_link *link,
                       const PGresult *facts)
{
    const char *version = PQparameterStatus(link->conn, "server_version");

    if (version == NULL)
        version = "";
    (void)text_format(base->server, sizeof base->server, "postgres %.*s",
                      (int)strcspn(version, " "), version);
    (void)text_format(base->domain, sizeof base->domain, "postgres %s",
                      answer_of(facts, COLUMN_SYSTEM));
    (void)text_copy(link->store, sizeof link->store,
                    answer_of(facts, COLUMN_ORIGIN));
    (void)text_copy(link->claims, sizeof link->claims,
                    answer_of(facts, COLUMN_CLAIMS_FILE));
    link->is_marked = strcmp(answer_of(facts, COLUMN_MARKED), "t") == 0;
    base->fd = PQsocket(link->conn);
}

static enum seqb_status session_ask_again(struct postgres_link *link,
                                          PGresult **facts,
                                          struct seqb_error *err)
{
    PQclear(*facts);
    *facts = NULL;
    return session_ask(link, facts, err);
}

static enum seqb_status
session_check(struct postgres_link *link, struct seqb_backend *base,
              const struct seqb_backend_options *options, PGresult **facts,
              struct seqb_error *err)
{
    enum seqb_status status = session_ask(link, facts, err);

    if (status == SEQB_OK)
        status = check_role(link, *facts, err);
    if (status == SEQB_OK)
        status = check_durability(link, *facts, options->accept_loss,
                                  base->loss, err);
    if (status == SEQB_OK && options->create && tables_are_missing(*facts)) {
        status = tables_found(link, err);
        if (status == SEQB_OK)
            status = session_ask_again(link, facts, err);
    }
    if (status == SEQB_OK && tables_are_halved(*facts))
        status = session_ask_again(link, facts, err);
    if (status == SEQB_OK)
        status = check_tables(link, *facts, err);
    if (status == SEQB_OK)
        status = check_intruder(link, *facts, err);
    return status;
}

enum seqb_status postgres_session_begin(
    struct postgres_link *link, const struct postgres_address *address,
    struct seqb_backend *base, const struct seqb_backend_options *options,
    struct seqb_error *err)
{
    PGresult *facts = NULL;
    enum seqb_status status =
        postgres_link_connect(link, address->keywords, address->values, err);

    if (status != SEQB_OK)
        return status;
    if (PQserverVersion(link->conn) < VERSION_MIN)
        return error_set(err, SEQB_REFUSED,
                         "%s: the server is older than PostgreSQL 12",
                         link->where);
    status = session_check(link, base, options, &facts, err);
    if (status == SEQB_OK)
        facts_keep(base, link, facts);
    if (status == SEQB_OK && options->needs_incarnation)
        (void)text_copy(base->incarnation, sizeof base->incarnation,
                        answer_of(facts, COLUMN_RUN));
    PQclear(facts);
    return status;
}
