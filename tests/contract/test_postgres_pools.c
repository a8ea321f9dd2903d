/* SPDX-License-Identifier: Apache-2.0 */
/* The postgres engine with more than one server: behind PgBouncer, beside
 * standbys, and after a promotion. */
#include "contract/postgres_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "support/server_pgbouncer.h"
#include "support/test.h"

/* --- PgBouncer, one transaction after the other on one connection --- */

#define CROWD 4

TEST_SKIPPABLE(PREPARED, pooled_transactions_serve_many_backends)
{
    struct server *pooler = server_pgbouncer(f->server, 1);
    struct fixture crowd[CROWD];

    f->options.port = server_port(pooler);
    for (int i = 0; i < CROWD; i++) {
        crowd[i] = *f;
        must_open(&crowd[i]);
        assert_memory_equal(crowd[i].backend->server, "postgres ", 9);
    }
    for (int64_t last = 0; last < 400; last += 10)
        must_take(&crowd[last / 10 % CROWD], 10, last);
    assert_int_equal(must_raise(&crowd[1], 1000, 0), 1000);
    for (int i = 0; i < CROWD; i++) {
        assert_ok(claim(&crowd[i], "a", i == 0 ? "first" : "later"));
        assert_string_equal(crowd[i].standing, "first");
        must_take(&crowd[i], 1, 1000 + i);
        backend_postgres.close(crowd[i].backend);
    }
    server_free(pooler);
}

static enum seqb_status take_cell(struct fixture *f, int64_t want, int64_t *out)
{
    struct seqb_request request = {
        .counter = SEQB_CELL ORDER, .want = want, .limit = 100, .window = 7};
    enum seqb_status status =
        backend_postgres.reserve(f->backend, &request, 1, &f->err);

    *out = request.block.first;
    return status == SEQB_OK ? request.status : status;
}

/* The connection to the pooler outlives the run of the server behind it. */
TEST_SKIPPABLE(PREPARED, cell_of_a_run_before_is_fenced_behind_a_pooler)
{
    struct server *pooler = server_pgbouncer(f->server, 1);
    const struct seqb_window window = {
        .counter = SEQB_CELL ORDER, .window = 7, .size = 100};
    struct fixture other;
    int64_t standing;
    int64_t first;

    f->options.port = server_port(pooler);
    other = *f;
    must_open(f);
    must_open(&other);
    assert_ok(
        backend_postgres.install(f->backend, &window, &standing, &f->err));
    assert_ok(take_cell(f, 10, &first));
    assert_int_equal(first, 0);
    postgres_kill(f->server);
    server_start(f->server);
    /* The pooler finds out with the first who asks. */
    assert_true(take_cell(&other, 1, &first) != SEQB_OK);
    assert_status(take_cell(f, 1, &first), SEQB_FENCED);
    backend_postgres.close(other.backend);
    server_free(pooler);
}

/* No guard holds there, no claim is read, and no page, as if it were the run
 * that was opened. */
TEST_SKIPPABLE(PREPARED, run_before_is_closed_behind_a_pooler)
{
    struct server *pooler = server_pgbouncer(f->server, 1);
    struct seqb_guard guard = {"synced/main", "", false};
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = 9, .limit = LIMIT, .guard = &guard};
    const struct seqb_swap swap = {"synced/main", "", "new", NULL};
    struct seqb_listed listed;
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = &listed, .most = 1};
    char standing[SEQB_CLAIM_SIZE];
    struct fixture other;
    int64_t value;

    f->options.port = server_port(pooler);
    f->options.needs_incarnation = true;
    other = *f;
    must_open(f);
    must_open(&other);
    assert_ok(claim(f, guard.name, f->backend->incarnation));
    assert_ok(backend_postgres.raise(f->backend, &raise, &value, &f->err));
    postgres_kill(f->server);
    server_start(f->server);
    /* The pooler finds out with the first who asks. */
    assert_true(backend_postgres.list(other.backend, &page, &f->err) !=
                SEQB_OK);
    assert_status(backend_postgres.raise(f->backend, &raise, &value, &f->err),
                  SEQB_UNREACHABLE);
    assert_true(strstr(f->err.text, "another incarnation") != NULL);
    assert_status(claim(f, guard.name, NULL), SEQB_UNREACHABLE);
    assert_true(strstr(f->err.text, "another incarnation") != NULL);
    assert_status(claim(f, "new", "new"), SEQB_UNREACHABLE);
    assert_status(backend_postgres.swap(f->backend, &swap, standing,
                                        sizeof standing, &f->err),
                  SEQB_UNREACHABLE);
    assert_status(backend_postgres.list(f->backend, &page, &f->err),
                  SEQB_UNREACHABLE);
    must_open(f);
    assert_status(backend_postgres.raise(f->backend, &raise, &value, &f->err),
                  SEQB_FENCED);
    assert_ok(claim(f, "new", NULL));
    assert_string_equal(f->standing, "");
    backend_postgres.close(other.backend);
    server_free(pooler);
}

/* What failed for one client must not be left to the next. */
TEST_SKIPPABLE(PREPARED, failed_transaction_leaves_the_pool_clean)
{
    struct server *pooler = server_pgbouncer(f->server, 1);
    const struct seqb_raise raise = {ORDER, LIMIT + 1, 0,    LIMIT, 0,
                                     0,     0,         NULL, 0,     NULL};
    struct seqb_request request;
    struct fixture other;
    int64_t value;

    f->options.port = server_port(pooler);
    other = *f;
    must_open(f);
    must_open(&other);
    for (int i = 0; i < 3; i++) {
        assert_status(
            backend_postgres.raise(f->backend, &raise, &value, &f->err),
            SEQB_EXHAUSTED);
        must_take(&other, 1, i);
    }
    TELL(f, "ALTER TABLE seqb_counters OWNER TO postgres");
    assert_status(take(f, ORDER, 1, &request), SEQB_REFUSED);
    backend_postgres.close(f->backend);
    f->backend = NULL;
    TELL(f, "ALTER TABLE seqb_counters OWNER TO seq");
    must_take(&other, 1, 3);
    backend_postgres.close(other.backend);
    server_free(pooler);
}

/* The pooler answers in the server's place, and an error of its own says
 * nothing about a commit. */
TEST_SKIPPABLE(PREPARED, pooler_whose_server_crashed_leaves_it_uncertain)
{
    struct server *pooler = server_pgbouncer(f->server, 1);
    struct waiter waiter;
    PGconn *holder;

    f->options.port = server_port(pooler);
    must_open(f);
    must_take(f, 10, 0);
    holder = hold(f, "SELECT FROM seqb_counters FOR UPDATE");
    waiter_start(&waiter, f, 1);
    await_waiting(f, "transactionid");
    postgres_kill(f->server);
    waiter_join(&waiter);
    PQfinish(holder);
    assert_status(waiter.status, SEQB_UNCERTAIN);
    assert_null(strstr(f->err.text, "no answer within"));
    f->options.connect_timeout_ms = 500;
    must_not_open(f, SEQB_UNREACHABLE, "pg-a");
    server_start(f->server);
    f->options.connect_timeout_ms = 20000;
    server_kill(pooler); /* it waits before it tries again */
    server_start(pooler);
    must_open(f);
    must_take(f, 1, 10);
    server_free(pooler);
}

/* The connection to the pooler stays, the store behind it does not: an older
 * copy of the first one, promoted. */
TEST_SKIPPABLE(STARTED, pooler_that_leads_elsewhere_is_noticed)
{
    struct server *pooler = server_pgbouncer(f->server, 1);
    struct server *copy;
    const struct seqb_raise raise = {ORDER, 5000, 0,    LIMIT, 0,
                                     0,     0,    NULL, 0,     NULL};
    struct seqb_request request;
    char value[POSTGRES_ASK_SIZE];
    int64_t raised = -9;

    must_take(f, 10, 0);
    copy = server_postgres_standby(f->server);
    postgres_catch_up(f->server, copy);
    postgres_promote(copy);
    f->options.port = server_port(pooler);
    must_open(f);
    must_take(f, 50, 10);
    pgbouncer_lead(pooler, copy);
    assert_status(take(f, ORDER, 1, &request), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "open it again"));
    must_open(f);
    assert_status(take(f, ORDER, 1, &request), SEQB_FENCED);
    pgbouncer_lead(pooler, f->server);
    assert_status(backend_postgres.raise(f->backend, &raise, &raised, &f->err),
                  SEQB_UNREACHABLE);
    postgres_ask(f->server, f->database, value,
                 "SELECT value FROM seqb_counters WHERE name = '" ORDER "'");
    assert_string_equal(value, "60");
    server_free(pooler);
    postgres_kill(copy);
    server_free(copy);
}

/* --- standbys --- */

TEST_SKIPPABLE(STARTED, standby_is_refused_and_its_primary_found)
{
    struct server *standby = server_postgres_standby(f->server);
    char conninfo[256];

    must_take(f, 10, 0);
    f->options.port = server_port(standby);
    must_not_open(f, SEQB_ROLE, "a standby: give its primary's address");
    (void)text_format(conninfo, sizeof conninfo,
                      "host=127.0.0.1,127.0.0.1,127.0.0.1 port=%d,%d,%d "
                      "user=seq dbname=%s",
                      (int)free_port(), (int)server_port(standby),
                      (int)server_port(f->server), f->database);
    f->options.conninfo = conninfo;
    must_open(f);
    must_take(f, 1, 10);
    (void)text_format(conninfo, sizeof conninfo,
                      "host=127.0.0.1,127.0.0.1 port=%d,%d user=seq dbname=%s",
                      (int)free_port(), (int)server_port(standby), f->database);
    must_not_open(f, SEQB_ROLE, "none of the 2 hosts is a primary");
    postgres_kill(standby);
    server_free(standby);
}

/* -1: the standby is not there or has not told yet. */
static long bytes_behind(struct fixture *f)
{
    struct seqb_details details = {.node = ""};
    char *end;
    long behind;

    assert_ok(backend_postgres.describe(f->backend, &details, &f->err));
    if (strcmp(details.replicas, "none") == 0 ||
        strcmp(details.replicas, "1") == 0)
        return -1;
    assert_memory_equal(details.replicas, "1, at most ", 11);
    behind = strtol(details.replicas + 11, &end, 10);
    assert_string_equal(end, " bytes behind");
    return behind;
}

/* One that does not replay has got the log nevertheless. */
TEST_SKIPPABLE(STARTED, standby_that_does_not_replay_is_told_as_behind)
{
    struct server *standby = server_postgres_standby(f->server);
    char ignored[POSTGRES_ASK_SIZE];
    char before[POSTGRES_ASK_SIZE];
    char after[POSTGRES_ASK_SIZE];
    long behind;

    f->options.user = "postgres"; /* who may read it */
    must_open(f);
    postgres_catch_up(f->server, standby);
    postgres_ask(standby, "postgres", ignored, "SELECT pg_wal_replay_pause()");
    postgres_ask(f->server, "postgres", before, "SELECT pg_current_wal_lsn()");
    must_take(f, 10, 0);
    postgres_ask(f->server, "postgres", after,
                 "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '%s')", before);
    do
        behind = bytes_behind(f);
    while (behind < 0);
    assert_true(behind > 0);
    assert_true(behind >= strtol(after, NULL, 10));
    postgres_ask(standby, "postgres", ignored, "SELECT pg_wal_replay_resume()");
    postgres_catch_up(f->server, standby);
    while (bytes_behind(f) >= behind)
        continue; /* the standby tells it at its next answer */
    postgres_kill(standby);
    server_free(standby);
}

/* A server that is stopped still accepts connections. */
TEST_SKIPPABLE(STARTED, host_that_hangs_does_not_hide_the_primary)
{
    struct server *hung = server_postgres(NULL);
    char conninfo[256];

    server_pause(hung);
    (void)text_format(conninfo, sizeof conninfo,
                      "host=127.0.0.1,127.0.0.1 port=%d,%d user=seq dbname=%s",
                      (int)server_port(hung), (int)server_port(f->server),
                      f->database);
    f->options.conninfo = conninfo;
    f->options.connect_timeout_ms = 8000; /* a half for each host */
    must_open(f);
    must_take(f, 1, 0);
    server_resume(hung);
    postgres_kill(hung);
    server_free(hung);
}

/* --- promotion --- */

/* 50 values were acknowledged that the standby never got. */
TEST_SKIPPABLE(STARTED, promoted_standby_that_lagged_is_fenced)
{
    struct server *standby = server_postgres_standby(f->server);
    struct seqb_request request;
    char origin[SEQB_ORIGIN_SIZE];

    must_take(f, 100, 0);
    postgres_catch_up(f->server, standby);
    postgres_kill(standby);
    must_take(f, 50, 100);
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    postgres_kill(f->server);
    server_start(standby);
    postgres_promote(standby);
    f->options.port = server_port(standby);
    must_open(f);
    assert_string_not_equal(f->backend->origin, origin);
    assert_status(take(f, ORDER, 1, &request), SEQB_FENCED);
    assert_status(take(f, "main/0/new", 1, &request), SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    must_take(f, 1, 1100);
    assert_status(take(f, "main/0/new", 1, &request), SEQB_FENCED);
    postgres_kill(standby);
    server_free(standby);
    server_start(f->server);
}

/* The old primary may be cut off from a cluster that promoted another one, and
 * still grant. One that hangs is not waited for. */
TEST_SKIPPABLE(STARTED, primary_of_the_later_timeline_is_chosen)
{
    struct server *standby = server_postgres_standby(f->server);
    char origin[SEQB_ORIGIN_SIZE];
    char conninfo[256];

    (void)text_copy(origin, sizeof origin, f->backend->origin);
    postgres_catch_up(f->server, standby);
    postgres_promote(standby);
    (void)text_format(conninfo, sizeof conninfo,
                      "host=127.0.0.1,127.0.0.1 port=%d,%d user=seq dbname=%s",
                      (int)server_port(f->server), (int)server_port(standby),
                      f->database);
    f->options.conninfo = conninfo;
    f->options.connect_timeout_ms = 120000; /* a look has a quarter */
    must_open(f);
    assert_string_not_equal(f->backend->origin, origin);
    f->options.connect_timeout_ms = 8000;
    server_pause(standby);
    must_open(f);
    assert_string_equal(f->backend->origin, origin);
    server_resume(standby);
    postgres_kill(standby);
    server_free(standby);
}

/* Each promotion, and even the old primary that comes back, is another. */
TEST_SKIPPABLE(STARTED, origin_changes_with_each_promotion)
{
    struct server *standby = server_postgres_standby(f->server);
    char origins[2][SEQB_ORIGIN_SIZE];

    (void)text_copy(origins[0], sizeof origins[0], f->backend->origin);
    postgres_catch_up(f->server, standby);
    postgres_promote(standby);
    f->options.port = server_port(standby);
    must_open(f);
    (void)text_copy(origins[1], sizeof origins[1], f->backend->origin);
    assert_string_not_equal(origins[1], origins[0]);
    postgres_execute(standby, "postgres", "CHECKPOINT");
    must_open(f);
    assert_string_equal(f->backend->origin, origins[1]);
    postgres_kill(standby);
    server_start(standby);
    must_open(f);
    assert_string_equal(f->backend->origin, origins[1]);
    postgres_kill(standby);
    server_free(standby);
}
