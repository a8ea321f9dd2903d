/* SPDX-License-Identifier: Apache-2.0 */
/* What the postgres engine opens and what not: settings, tables, rights,
 * passwords, addresses. */
#include "contract/postgres_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "contract/founders.h"
#include "platform/text.h"
#include "support/test.h"

/* --- settings --- */

TEST_SKIPPABLE(STARTED, settings_that_lose_commits_need_accept_loss)
{
    static const char *const settings[] = {"fsync", "full_page_writes"};

    assert_string_equal(f->backend->loss, "");
    for (size_t i = 0; i < COUNT(settings); i++) {
        char off[32];

        (void)text_format(off, sizeof off, "%s = off", settings[i]);
        postgres_alter(f->server, off);
        f->options.accept_loss = false;
        must_not_open(f, SEQB_UNSAFE, settings[i]);
        f->options.accept_loss = true;
        must_open(f);
        assert_non_null(strstr(f->backend->loss, settings[i]));
        must_take(f, 1, (int64_t)i);
        (void)text_format(off, sizeof off, "%s = on", settings[i]);
        postgres_alter(f->server, off);
    }
}

static void setting_set(struct fixture *f, const char *setting,
                        const char *value)
{
    char text[32];

    (void)text_format(text, sizeof text, "%s = %s", setting, value);
    postgres_alter(f->server, text);
}

static void must_stand(struct fixture *f, const char *name, const char *text)
{
    assert_ok(claim(f, name, NULL));
    assert_string_equal(f->standing, text);
}

/* Whatever changes the store is refused in the words of open. */
static void must_change_nothing(struct fixture *f, const char *setting)
{
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = 1000, .limit = LIMIT};
    const struct seqb_swap swap = {"c", "t", "u", NULL};
    struct seqb_backend *open = f->backend;
    struct seqb_request request;
    char standing[16];
    int64_t value;

    assert_status(
        open->ops->claim(open, "d", "t", standing, sizeof standing, &f->err),
        SEQB_UNSAFE);
    assert_status(
        open->ops->swap(open, &swap, standing, sizeof standing, &f->err),
        SEQB_UNSAFE);
    assert_status(take(f, ORDER, 1, &request), SEQB_UNSAFE);
    assert_non_null(strstr(f->err.text, setting));
    assert_non_null(strstr(f->err.text, "accept_loss"));
    setting_set(f, setting, "on");
    must_open(f);
    setting_set(f, setting, "off");
    assert_status(f->backend->ops->raise(f->backend, &raise, &value, &f->err),
                  SEQB_UNSAFE);
    setting_set(f, setting, "on");
    must_open(f);
    must_stand(f, "c", "t");
    must_stand(f, "d", "");
}

/* ALTER SYSTEM and a reload change both, and connections live on. */
TEST_SKIPPABLE(STARTED, settings_are_compared_in_each_transaction)
{
    static const char *const settings[] = {"fsync", "full_page_writes"};

    must_take(f, 5, 0);
    assert_ok(claim(f, "c", "t"));
    for (size_t i = 0; i < COUNT(settings); i++) {
        setting_set(f, settings[i], "off");
        must_change_nothing(f, settings[i]);
        must_take(f, 5, 5 * ((int64_t)i + 1));
    }
    f->options.accept_loss = true;
    must_open(f);
    setting_set(f, "fsync", "off");
    must_take(f, 5, 15);
    setting_set(f, "fsync", "on");
}

static void must_tell_quorum(struct fixture *f, const char *quorum)
{
    struct seqb_details details = {.node = ""};

    must_open(f);
    assert_ok(backend_postgres.describe(f->backend, &details, &f->err));
    assert_string_equal(details.quorum, quorum);
}

/* Each transaction raises off to on, but nobody else's setting. */
TEST_SKIPPABLE(STARTED, commit_that_waits_for_no_standby_is_told)
{
    must_tell_quorum(f, "");
    TELL(f, "ALTER ROLE seq SET synchronous_commit = local");
    must_tell_quorum(f, "waits for none: synchronous_commit is local");
    postgres_alter(f->server, "synchronous_standby_names = 'n1'");
    must_tell_quorum(f, "waits for none: synchronous_commit is local; n1");
    postgres_alter(f->server, "synchronous_standby_names = ''");
    TELL(f, "ALTER ROLE seq SET synchronous_commit = off");
    postgres_alter(f->server, "synchronous_standby_names = 'n1'");
    must_tell_quorum(f, "n1");
    postgres_alter(f->server, "synchronous_standby_names = ''");
    TELL(f, "ALTER ROLE seq RESET synchronous_commit");
}

TEST_SKIPPABLE(STARTED, table_that_a_crash_empties_is_refused)
{
    static const char *const tables[] = {"seqb_counters", "seqb_claims"};

    f->options.accept_loss = true;
    for (size_t i = 0; i < COUNT(tables); i++) {
        TELL(f, "ALTER TABLE %s SET UNLOGGED", tables[i]);
        must_not_open(f, SEQB_UNSAFE, tables[i]);
        TELL(f, "ALTER TABLE %s SET LOGGED", tables[i]);
        must_open(f);
    }
}

TEST_SKIPPABLE(STARTED, database_that_is_read_only_is_a_role)
{
    TELL(f, "ALTER DATABASE %s SET default_transaction_read_only = on",
         f->database);
    must_not_open(f, SEQB_ROLE, "read-only");
}

/* --- tables --- */

TEST_SKIPPABLE(PREPARED, missing_tables_are_not_made_unasked)
{
    char found[POSTGRES_ASK_SIZE];

    f->options.create = false;
    must_not_open(f, SEQB_UNREACHABLE,
                  ": of a pool in use put the old store back; o");
    postgres_ask(f->server, f->database, found,
                 "SELECT to_regclass('seqb_counters')");
    assert_string_equal(found, "");
    f->options.database = "nowhere";
    must_not_open(f, SEQB_UNREACHABLE, "nowhere");
}

TEST_SKIPPABLE(PREPARED, tables_that_are_none_of_ours_are_corrupt)
{
    static const struct {
        const char *sql;
        const char *words;
    } cases[] = {
        {"CREATE TABLE seqb_claims (name text)", "seqb_counters"},
        {"CREATE VIEW seqb_counters AS SELECT 1 AS name", "no plain table"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        TELL(f, "%s", cases[i].sql);
        must_not_open(f, SEQB_CORRUPT, cases[i].words);
    }
    TELL(f, "DROP VIEW seqb_counters; CREATE TABLE seqb_counters (a int); "
            "GRANT ALL ON seqb_counters, seqb_claims TO seq");
    must_not_open(f, SEQB_CORRUPT, "none of ours");
}

TEST_SKIPPABLE(PREPARED, tables_are_made_by_many_at_once)
{
    founders_make_one_store(&backend_postgres, &f->options, ORDER);
    must_open(f);
    must_take(f, 1, INT64_C(10) * FOUNDERS);
}

/* --- rights --- */

TEST_SKIPPABLE(STARTED, rights_that_the_sql_names_are_enough)
{
    TELL(f, "CREATE ROLE poor LOGIN");
    TELL(f, "GRANT SELECT, INSERT, UPDATE ON seqb_counters TO poor");
    f->options.user = "poor";
    must_open(f);
    assert_status(claim(f, "a", "b"), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "sql/postgres.sql"));
    must_take(f, 3, 0); /* the connection is well */
    TELL(f, "GRANT SELECT, INSERT, UPDATE ON seqb_claims TO poor");
    assert_int_equal(must_raise(f, 10, 0), 10);
    assert_ok(claim(f, "a", "b"));
    assert_string_equal(f->standing, "b");
    backend_postgres.close(f->backend);
    f->backend = NULL;
    TELL(f, "DROP OWNED BY poor; DROP ROLE poor");
}

TEST_SKIPPABLE(STARTED, missing_rights_are_told_by_each_call)
{
    const struct seqb_raise raise = {ORDER, 1, 0,    LIMIT, 0,
                                     0,     0, NULL, 0,     NULL};
    struct seqb_request request;
    int64_t value;

    TELL(f, "ALTER TABLE seqb_counters OWNER TO postgres; "
            "GRANT SELECT ON seqb_counters TO seq");
    assert_status(take(f, ORDER, 1, &request), SEQB_REFUSED);
    assert_status(request.status, SEQB_REFUSED);
    assert_non_null(strstr(request.error.text, "permission denied"));
    must_open(f);
    assert_status(backend_postgres.raise(f->backend, &raise, &value, &f->err),
                  SEQB_REFUSED);
    TELL(f, "DROP TABLE seqb_counters, seqb_claims; "
            "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    if (postgres_version(f->server) >= 15)
        TELL(f, "REVOKE CREATE ON SCHEMA public FROM pg_database_owner");
    must_not_open(f, SEQB_REFUSED, "sql/postgres.sql");
}

TEST_SKIPPABLE(STARTED, missing_insert_is_missed_by_new_counters_alone)
{
    struct seqb_request requests[2] = {
        {.counter = "main/0/new", .want = 3, .limit = LIMIT},
        {.counter = ORDER, .want = 3, .limit = LIMIT},
    };

    must_take(f, 1, 0);
    TELL(f, "ALTER TABLE seqb_counters OWNER TO postgres; "
            "GRANT SELECT, UPDATE ON seqb_counters TO seq");
    assert_ok(backend_postgres.reserve(f->backend, requests, 2, &f->err));
    assert_status(requests[0].status, SEQB_REFUSED);
    assert_non_null(strstr(requests[0].error.text, "main/0/new"));
    assert_non_null(strstr(requests[0].error.text, "permission denied"));
    assert_ok(requests[1].status);
    must_take(f, 1, 4);
    TELL(f, "GRANT INSERT ON seqb_counters TO seq");
    assert_ok(take(f, "main/0/new", 1, &requests[0]));
}

TEST_SKIPPABLE(STARTED, no_connection_left_is_unreachable)
{
    TELL(f, "ALTER DATABASE %s CONNECTION LIMIT 0", f->database);
    must_not_open(f, SEQB_UNREACHABLE, "too many connections");
}

/* A commit with a warning is uncertain: here it is none of the commit's. */
TEST_SKIPPABLE(STARTED, warning_at_connect_makes_no_commit_uncertain)
{
    struct seqb_request request;

    if (postgres_version(f->server) < 15)
        skip(); /* it has no such warning */
    postgres_execute(f->server, "postgres",
                     "UPDATE pg_database SET datcollversion = 'another' "
                     "WHERE datname = '%s'",
                     f->database);
    must_open(f);
    for (int64_t i = 0; i < 3; i++)
        must_take(f, 1, i);
    assert_int_equal(must_raise(f, 10, 0), 10);
    assert_ok(take(f, "main/0/new", 1, &request));
}

/* --- passwords and addresses --- */

#define SECRET "open-Sesame-4711"

static void must_hide(struct fixture *f, const char *secret)
{
    if (strstr(f->err.text, secret) != NULL)
        fail_msg("the password shows: %s", f->err.text);
}

TEST_SKIPPABLE(STARTED, wrong_password_is_refused_and_not_shown)
{
    TELL(f, "DROP ROLE IF EXISTS guarded");
    TELL(f, "SET password_encryption = 'scram-sha-256'; " /* not before 14 */
            "CREATE ROLE guarded LOGIN PASSWORD '" SECRET "' IN ROLE seq");
    f->options.user = "guarded";
    f->options.password = SECRET "x";
    must_not_open(f, SEQB_REFUSED, "28P01");
    must_hide(f, SECRET);
    f->options.password = NULL;
    must_not_open(f, SEQB_UNREACHABLE, "password");
    f->options.password = SECRET;
    must_open(f);
    must_take(f, 1, 0);
    f->options.user = "nobody-knows";
    must_not_open(f, SEQB_REFUSED, "28000");
    must_hide(f, SECRET);
}

TEST_SKIPPABLE(PREPARED, conninfo_that_cannot_be_shows_no_password)
{
    static const char *const cases[] = {
        "host=a password=" SECRET " b",
        "host=a password='" SECRET,
        "postgresql://u:" SECRET "/x@127.0.0.1/db",
        "postgresql://u:x@" SECRET "@127.0.0.1/db",
        "postgresql://u:" SECRET "%zz@127.0.0.1/db",
        "host=127.0.0.1 port=" SECRET,
        "postgresql://u:47x/" SECRET "@127.0.0.1/db",
        "host=127.0.0.1 port=65536",
        "host=127.0.0.1 port=0",
        "host=127.0.0.1 port=x",
        SECRET,
    };

    f->options.password = SECRET;
    for (size_t i = 0; i < COUNT(cases); i++) {
        f->options.conninfo = cases[i];
        must_not_open(f, SEQB_INVALID, "conninfo");
        must_hide(f, SECRET);
    }
}

/* Of hosts that only libpq knows, the one that leads is not looked for. */
TEST_SKIPPABLE(PREPARED, hosts_that_conninfo_does_not_name_are_refused)
{
    f->options.conninfo = "service=nowhere host=/nowhere";
    must_not_open(f, SEQB_INVALID, "service");
    f->options.conninfo = "dbname=seqbroker";
    assert_int_equal(setenv("PGHOST", "/nowhere", 1), 0);
    must_not_open(f, SEQB_INVALID, "PGHOST");
    assert_int_equal(unsetenv("PGHOST"), 0);
    assert_int_equal(setenv("PGHOSTADDR", "127.0.0.1,127.0.0.2", 1), 0);
    must_not_open(f, SEQB_INVALID, "PGHOSTADDR");
    assert_int_equal(unsetenv("PGHOSTADDR"), 0);
    assert_int_equal(setenv("PGSERVICE", "nowhere", 1), 0);
    must_not_open(f, SEQB_INVALID, "PGSERVICE");
    assert_int_equal(unsetenv("PGSERVICE"), 0);
}

/* A folder may have an @ in its name, which a host never has. */
TEST_SKIPPABLE(PREPARED, any_folder_and_port_that_can_be_are_tried)
{
    static const char *const cases[] = {
        "host=/nowhere port=1",
        "host=/nowhere port=65535",
        "host=/nowhere/a@b",
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        f->options.conninfo = cases[i];
        must_not_open(f, SEQB_UNREACHABLE, "/nowhere");
    }
}

TEST_SKIPPABLE(STARTED, addresses_lead_to_the_server_or_say_why_not)
{
    char conninfo[256];
    char found[POSTGRES_ASK_SIZE];
    struct seqb_details details = {.node = ""};

    f->options.host = NULL;
    must_not_open(f, SEQB_INVALID, "no host");
    f->options.socket_path = server_folder(f->server);
    must_open(f);
    assert_ok(backend_postgres.describe(f->backend, &details, &f->err));
    assert_string_equal(details.node, server_folder(f->server));
    (void)text_format(conninfo, sizeof conninfo,
                      "postgresql://seq@127.0.0.1:%d/%s?sslmode=prefer",
                      (int)f->options.port, f->database);
    f->options = (struct seqb_backend_options){
        .name = "pg-a",
        .conninfo = conninfo,
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
    };
    must_open(f);
    must_take(f, 1, 0);
    postgres_ask(f->server, f->database, found,
                 "SELECT application_name FROM pg_stat_activity "
                 "WHERE usename = 'seq' AND datname = current_database()");
    assert_string_equal(found, "seqbroker");
}

TEST_SKIPPABLE(STARTED, tls_is_used_as_the_options_say)
{
    char certificate[64];
    char used[POSTGRES_ASK_SIZE];
    struct seqb_details details = {.node = ""};

    (void)text_format(certificate, sizeof certificate, "%s/data/crt",
                      server_folder(f->server));
    f->options.tls = SEQB_TLS_REQUIRE;
    must_not_open(f, SEQB_UNREACHABLE, "SSL");
    postgres_certify(f->server);
    must_open(f);
    postgres_ask(f->server, f->database, used,
                 "SELECT version FROM pg_stat_ssl JOIN pg_stat_activity "
                 "USING (pid) WHERE usename = 'seq' "
                 "AND datname = current_database()");
    assert_memory_equal(used, "TLSv1.", 6);
    assert_ok(backend_postgres.describe(f->backend, &details, &f->err));
    assert_string_equal(details.tls, used);
    f->options.tls = SEQB_TLS_VERIFY;
    f->options.tls_ca = "/nowhere/ca.pem";
    must_not_open(f, SEQB_UNREACHABLE, "ca.pem");
    f->options.tls_ca = certificate;
    must_open(f);
    must_take(f, 1, 0);
    f->options.host = "localhost"; /* not the name in the certificate */
    must_not_open(f, SEQB_UNREACHABLE, "certificate");
    postgres_alter(f->server, "ssl = off");
}

TEST_SKIPPABLE(STARTED, databases_of_a_server_share_its_domain)
{
    struct seqb_backend_options other = f->options;
    struct seqb_backend *backend = NULL;
    char system[POSTGRES_ASK_SIZE];

    other.database = "postgres";
    other.user = "postgres";
    postgres_ask(f->server, f->database, system,
                 "SELECT system_identifier FROM pg_control_system()");
    assert_ok(backend_postgres.open(&other, &backend, &f->err));
    assert_string_equal(backend->domain, f->backend->domain);
    assert_string_not_equal(backend->origin, f->backend->origin);
    assert_non_null(strstr(backend->domain, system));
    assert_memory_equal(backend->server, "postgres ", 9);
    backend_postgres.close(backend);
}

/* As while another broker creates both: the first statement of a session sees
 * one of them. */
TEST_SKIPPABLE(STARTED, tables_that_are_seen_one_by_one_are_looked_at_again)
{
    TELL(f, "CREATE SCHEMA early; GRANT USAGE ON SCHEMA early TO seq;"
            "CREATE FUNCTION early.to_regclass(text) RETURNS regclass "
            "LANGUAGE sql AS $$ SELECT CASE WHEN $1 != 'seqb_counters' "
            "OR set_config('early.first', coalesce(nullif(current_setting("
            "'early.first', true), ''), statement_timestamp()::text), false) "
            "!= statement_timestamp()::text "
            "THEN pg_catalog.to_regclass($1) END $$;"
            "ALTER ROLE seq SET search_path = early, public, pg_catalog");
    must_open(f);
    TELL(f, "ALTER ROLE seq RESET search_path");
}
