/* SPDX-License-Identifier: Apache-2.0 */
/* The begin of a session with PostgreSQL. Hosts are tried in their order;
 * address.c has their addresses. */
#include "backends/postgres/session.h"

#include <string.h>

#include "backends/postgres/address.h"
#include "platform/clock.h"
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
    " " POSTGRES_ORIGIN_OR_NONE ", " POSTGRES_CLAIMS_FILE ", " POSTGRES_RUN;

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

static enum seqb_status check_tables(const struct postgres_link *link,
                                     const PGresult *facts,
                                     struct seqb_error *err)
{
    enum seqb_status status;

    if (tables_are_missing(facts))
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: table seqb_counters is not there, or its schema "
                         "is not in the search_path: run sql/postgres.sql in "
                         "this database",
                         link->where);
    status = check_table(link, "seqb_counters",
                         answer_of(facts, COLUMN_COUNTERS), err);
    if (status == SEQB_OK)
        status = check_table(link, "seqb_claims",
                             answer_of(facts, COLUMN_CLAIMS), err);
    return status;
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
    base->fd = PQsocket(link->conn);
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
        PQclear(*facts);
        *facts = NULL;
        status = tables_found(link, err);
        if (status == SEQB_OK)
            status = session_ask(link, facts, err);
    }
    if (status == SEQB_OK)
        status = check_tables(link, *facts, err);
    return status;
}

static enum seqb_status
session_begin(struct postgres_link *link,
              const struct postgres_address *address, struct seqb_backend *base,
              const struct seqb_backend_options *options,
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

/* --- all hosts --- */

/* The share of the remaining time for the hosts after a primary: one part in
 * LOOK_SHARE. */
#define LOOK_SHARE      4
#define TIMELINE_DIGITS 8

/* What a session is opened with. */
struct search {
    struct postgres_link *link;
    struct postgres_address *address;
    struct seqb_backend *base;
    const struct seqb_backend_options *options;
};

/* Whether another host, or another address, may be the primary. */
static bool may_be_elsewhere(enum seqb_status status)
{
    return status == SEQB_ROLE || status == SEQB_UNREACHABLE;
}

/* Sets the deadline of an attempt: the next `left` attempts share the time
 * until `until_ms`. */
static void attempt_begins(struct postgres_link *link, int64_t until_ms,
                           int left)
{
    const int64_t now_ms = clock_now_ms();

    link->budget_ms = (int32_t)((until_ms - now_ms) / left);
    link->deadline_ms = now_ms + link->budget_ms;
}

static int addresses_left(const struct addrinfo *at)
{
    int left = 0;

    for (; at != NULL; at = at->ai_next)
        left++;
    return left;
}

/* Tries the addresses of the chosen host, within the current call. */
static enum seqb_status host_try(const struct search *search,
                                 struct seqb_error *err)
{
    struct postgres_link *link = search->link;
    struct postgres_address *address = search->address;
    const int64_t until_ms = link->deadline_ms;
    struct addrinfo *found;
    enum seqb_status status =
        postgres_address_resolve(address, until_ms, link->where, &found, err);

    if (status != SEQB_OK)
        return status;
    if (found == NULL)
        return session_begin(link, address, search->base, search->options, err);
    status = SEQB_UNREACHABLE;
    for (const struct addrinfo *at = found;
         at != NULL && may_be_elsewhere(status); at = at->ai_next) {
        postgres_link_close(link);
        postgres_address_pin(address, at);
        attempt_begins(link, until_ms, addresses_left(at));
        status =
            session_begin(link, address, search->base, search->options, err);
    }
    freeaddrinfo(found);
    return status;
}

/* A host gets its share of the time that is left for it and the following
 * hosts, so that a host that hangs does not hide a primary after it. */
static enum seqb_status host_open(const struct search *search, int host,
                                  int64_t until_ms, struct seqb_error *err)
{
    struct postgres_link *link = search->link;
    enum seqb_status status = postgres_address_choose(
        search->address, host, link->where, sizeof link->where, err);

    attempt_begins(link, until_ms, search->address->hosts - host);
    if (status == SEQB_OK)
        status = host_try(search, err);
    if (status != SEQB_OK)
        postgres_link_close(link);
    return status;
}

/* `why` is the error of the only host, or of one of several. */
static enum seqb_status no_primary(const struct search *search,
                                   const struct seqb_error *why,
                                   struct seqb_error *err)
{
    const int hosts = search->address->hosts;

    if (hosts > 1)
        return error_set(err, why->status,
                         "%s; none of the %d hosts is a primary", why->text,
                         hosts);
    if (why->status == SEQB_ROLE)
        return error_set(err, SEQB_ROLE, "%s: give its primary's address",
                         why->text);
    return error_copy(err, why);
}

/* Finds the first host that is a primary. */
static enum seqb_status primary_find(const struct search *search, int *host,
                                     int64_t until_ms, struct seqb_error *err)
{
    struct seqb_error found = {.status = SEQB_UNREACHABLE};

    for (*host = 0; *host < search->address->hosts; (*host)++) {
        struct seqb_error why;
        const enum seqb_status status =
            host_open(search, *host, until_ms, &why);

        if (status == SEQB_OK)
            return SEQB_OK;
        /* The primary of a standby may be next. A standby's error is kept
         * rather than that of a host that does not answer. */
        if (!may_be_elsewhere(status))
            return error_copy(err, &why);
        if (found.status == SEQB_UNREACHABLE)
            found = why;
    }
    return no_primary(search, &found, err);
}

/* Compares "SYSTEM:TIMELINE:...", both of one system. */
static bool timeline_is_later(const char *store, const char *than)
{
    const size_t system = strcspn(store, ":");

    return strncmp(store, than, system + 1) == 0 &&
           strncmp(store + system, than + system, TIMELINE_DIGITS + 1) > 0;
}

/* A primary that was disconnected from its cluster may not know that another
 * one was promoted: of two primaries, the one with the later timeline is
 * valid. */
static int latest_find(const struct search *search, int host, int64_t until_ms)
{
    struct seqb_backend_options options = *search->options;
    struct postgres_link link = {.conn = NULL};
    struct seqb_backend base = {.fd = -1};
    const struct search look = {&link, search->address, &base, &options};
    const int64_t now_ms = clock_now_ms();
    char latest[SEQB_ORIGIN_SIZE];
    int found = host;

    until_ms = now_ms + (until_ms - now_ms) / LOOK_SHARE;
    options.create = false;
    (void)text_copy(latest, sizeof latest, search->link->store);
    for (int i = host + 1; i < search->address->hosts; i++) {
        struct seqb_error ignored;

        if (host_open(&look, i, until_ms, &ignored) != SEQB_OK)
            continue;
        if (timeline_is_later(link.store, latest)) {
            (void)text_copy(latest, sizeof latest, link.store);
            found = i;
        }
        postgres_link_close(&link);
    }
    return found;
}

static enum seqb_status hosts_try(const struct search *search,
                                  struct seqb_error *err)
{
    const int64_t until_ms =
        clock_now_ms() + search->options->connect_timeout_ms;
    int host;
    int latest;
    enum seqb_status status = primary_find(search, &host, until_ms, err);

    if (status != SEQB_OK)
        return status;
    latest = latest_find(search, host, until_ms);
    if (latest == host)
        return SEQB_OK;
    postgres_link_close(search->link);
    return host_open(search, latest, until_ms, err);
}

enum seqb_status
postgres_session_open(struct postgres_link *link, struct seqb_backend *base,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err)
{
    struct postgres_address address;
    const struct search search = {link, &address, base, options};
    enum seqb_status status = postgres_address_init(&address, options, err);

    if (status == SEQB_OK)
        status = hosts_try(&search, err);
    postgres_address_fini(&address);
    return status;
}
