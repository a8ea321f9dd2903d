/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to the postgres engine once it is open: commits, locks,
 * rows that fail alone, and servers that crash or hang. */
#include "contract/postgres_fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/test.h"

/* --- what is acknowledged stays --- */

/* Nothing is written before it must be, so that a commit which did not wait
 * for the disk is lost in the crash. */
TEST_SKIPPABLE(STARTED, acknowledged_values_survive_a_crash_with_async_commits)
{
    postgres_alter(f->server, "wal_writer_delay = '10s'");
    TELL(f, "ALTER ROLE seq SET synchronous_commit = off");
    must_open(f);
    must_take(f, 10, 0);
    assert_int_equal(must_raise(f, 500, 0), 500);
    for (int64_t last = 500; last < 510; last++)
        must_take(f, 1, last);
    assert_ok(claim(f, "layout", "m=3"));
    postgres_kill(f->server);
    server_start(f->server);
    must_open(f);
    must_take(f, 1, 510);
    assert_ok(claim(f, "layout", NULL));
    assert_string_equal(f->standing, "m=3");
    TELL(f, "ALTER ROLE seq RESET synchronous_commit");
    postgres_alter(f->server, "wal_writer_delay = '200ms'");
}

/* Has a commit wait for a standby that is not there; `last` was granted
 * before. The last that was granted by now. */
static int64_t commit_wait(struct waiter *waiter, struct fixture *f,
                           int64_t last)
{
    postgres_alter(f->server, "synchronous_standby_names = 'nobody'");
    waiter_start(waiter, f, 1);
    while (!waiter_waits(waiter, "SyncRep")) { /* it was not read yet */
        waiter_join(waiter);
        assert_int_equal(waiter->request.block.first, ++last);
        waiter_start(waiter, f, 1);
    }
    return last;
}

static void commit_wait_end(struct waiter *waiter)
{
    struct fixture *f = waiter->fixture;

    TELL(f, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
            "WHERE usename = 'seq'");
    waiter_join(waiter);
    postgres_alter(f->server, "synchronous_standby_names = ''");
}

/* A commit whose wait for the standby was cancelled is acknowledged all the
 * same; no standby has it. */
TEST_SKIPPABLE(STARTED, commit_that_no_standby_has_seen_is_uncertain)
{
    int64_t last = 10;
    struct waiter waiter;

    must_take(f, last, 0);
    last = commit_wait(&waiter, f, last);
    commit_wait_end(&waiter);
    assert_status(waiter.status, SEQB_UNCERTAIN);
    assert_status(waiter.request.status, SEQB_UNCERTAIN);
    assert_non_null(strstr(waiter.request.error.text, "synchronous"));
    must_open(f);
    must_take(f, 1, last + 1);
}

/* Whoever waits for its row would do so for ever: a leader that was cut off
 * from its cluster may be the server, and open finds the later one. */
TEST_SKIPPABLE(STARTED, row_of_a_commit_that_waits_for_a_standby_fails_the_call)
{
    struct seqb_request request = {.counter = ORDER, .want = 1, .limit = LIMIT};
    struct fixture other = *f;
    struct waiter waiter;
    enum seqb_status status;

    other.backend = NULL;
    other.options.timeout_ms = 5000;
    must_open(&other);
    must_take(f, 10, 0);
    (void)commit_wait(&waiter, f, 10);
    status = backend_postgres.reserve(other.backend, &request, 1, &other.err);
    commit_wait_end(&waiter); /* it uses this frame, also if the test fails */
    backend_postgres.close(other.backend);
    assert_status(status, SEQB_UNREACHABLE);
    assert_non_null(strstr(other.err.text, "commits wait for a standby"));
}

/* --- locks --- */

/* Were a transaction repeatable, it could not see what it had waited for. */
TEST_SKIPPABLE(STARTED, grant_that_waited_follows_what_it_waited_for)
{
    struct waiter waiter;
    PGconn *holder;

    TELL(f,
         "ALTER DATABASE %s SET default_transaction_isolation = "
         "'serializable'",
         f->database);
    must_open(f);
    must_take(f, 10, 0);
    holder = hold(f, "UPDATE seqb_counters SET value = value + 90 "
                     "WHERE name = '" ORDER "'");
    waiter_start(&waiter, f, 1);
    await_waiting(f, "transactionid");
    PQclear(PQexec(holder, "COMMIT"));
    waiter_join(&waiter);
    PQfinish(holder);
    assert_ok(waiter.status);
    assert_int_equal(waiter.request.block.first, 101);
}

/* The end of a counter is granted by a statement of its own, here after the
 * one that would make the counter: 3 values are left when it begins, and 1 when
 * it gets the row. */
TEST_SKIPPABLE(STARTED, last_values_are_granted_after_what_was_waited_for)
{
    struct waiter waiter;
    PGconn *gate;
    PGconn *holder;

    assert_int_equal(must_raise(f, LIMIT - 3, 0), LIMIT - 3);
    TELL(f, "CREATE FUNCTION wait() RETURNS bool LANGUAGE plpgsql AS "
            "'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN true; END'");
    TELL(f, "ALTER TABLE seqb_counters "
            "ADD CONSTRAINT wait CHECK (name <> '' OR wait()) NOT VALID");
    gate = hold(f, "SELECT pg_advisory_xact_lock(1)");
    waiter_start(&waiter, f, 5);
    await_waiting(f, "advisory");
    holder = hold(f, "UPDATE seqb_counters SET value = value + 2 "
                     "WHERE name = '" ORDER "'");
    PQfinish(gate);
    await_waiting(f, "transactionid");
    PQclear(PQexec(holder, "COMMIT"));
    waiter_join(&waiter);
    PQfinish(holder);
    assert_ok(waiter.status);
    assert_int_equal(waiter.request.block.first, LIMIT);
    assert_int_equal(waiter.request.block.count, 1);
}

/* Whatever the order in which they are asked for: else two brokers could wait
 * for each other. */
static void *reversed_run(void *argument)
{
    struct fixture *f = argument;
    struct seqb_request requests[] = {
        {.counter = "main/0/b", .want = 1, .limit = LIMIT},
        {.counter = "main/0/a", .want = 1, .limit = LIMIT},
    };

    (void)backend_postgres.reserve(f->backend, requests, COUNT(requests),
                                   &f->err);
    return NULL;
}

TEST_SKIPPABLE(STARTED, rows_are_locked_in_the_order_of_their_names)
{
    struct seqb_request request;
    pthread_t thread;
    PGconn *holder;

    assert_ok(take(f, "main/0/a", 1, &request));
    assert_ok(take(f, "main/0/b", 1, &request));
    holder = hold(f, "SELECT FROM seqb_counters WHERE name = 'main/0/a' "
                     "FOR UPDATE");
    assert_ok(thread_start(&thread, "reversed", reversed_run, f, NULL));
    await_waiting(f, "transactionid");
    TELL(f, "SELECT FROM seqb_counters WHERE name = 'main/0/b' "
            "FOR UPDATE NOWAIT");
    PQfinish(holder);
    pthread_join(thread, NULL);
}

/* --- requests that fail alone --- */

#define THREE 3

/* Of three counters the middle one fails with that status. */
static void must_fail_alone(struct fixture *f, enum seqb_status status,
                            const char *words)
{
    struct seqb_request requests[THREE] = {
        {.counter = "main/0/a", .want = 5, .limit = LIMIT},
        {.counter = "main/0/bad", .want = 5, .limit = LIMIT},
        {.counter = "main/0/c", .want = 5, .limit = LIMIT},
    };

    assert_ok(backend_postgres.reserve(f->backend, requests, THREE, &f->err));
    assert_ok(requests[0].status);
    assert_int_equal(requests[0].block.count, 5);
    assert_status(requests[1].status, status);
    assert_non_null(strstr(requests[1].error.text, words));
    assert_non_null(strstr(requests[1].error.text, "main/0/bad"));
    assert_ok(requests[2].status);
    must_take(f, 1, 0); /* and the connection is well */
}

TEST_SKIPPABLE(STARTED, row_that_the_server_refuses_fails_alone)
{
    TELL(f, "CREATE FUNCTION refuse() RETURNS bool LANGUAGE plpgsql AS "
            "'BEGIN RAISE EXCEPTION ''no such luck''; END'");
    TELL(f, "ALTER TABLE seqb_counters ADD CONSTRAINT refuse "
            "CHECK (name <> 'main/0/bad' OR refuse())");
    must_fail_alone(f, SEQB_REFUSED, "no such luck");
}

TEST_SKIPPABLE(STARTED, damaged_row_fails_alone)
{
    TELL(f, "ALTER TABLE seqb_counters DROP CONSTRAINT "
            "seqb_counters_value_check");
    TELL(f, "INSERT INTO seqb_counters SELECT 'main/0/bad', -7, origin "
            "FROM seqb_counters");
    must_fail_alone(f, SEQB_CORRUPT, "damaged");
}

TEST_SKIPPABLE(STARTED, locked_row_fails_alone)
{
    PGconn *holder;

    TELL(f, "INSERT INTO seqb_counters SELECT 'main/0/bad', 7, origin "
            "FROM seqb_counters");
    f->options.timeout_ms = 5000;
    must_open(f);
    holder = hold(f, "SELECT FROM seqb_counters WHERE name = 'main/0/bad' "
                     "FOR UPDATE");
    must_fail_alone(f, SEQB_UNREACHABLE, "another session");
    PQfinish(holder);
}

TEST_SKIPPABLE(STARTED, damaged_row_is_not_listed)
{
    struct seqb_listed listed[2];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 2};

    must_take(f, 5, 0);
    TELL(f, "INSERT INTO seqb_counters VALUES ('main/' || repeat('x', 200), 1,"
            " '')");
    assert_int_equal(backend_postgres.list(f->backend, &page, &f->err),
                     SEQB_CORRUPT);
    must_take(f, 5, 5);
}

TEST_SKIPPABLE(STARTED, damaged_row_is_not_raised)
{
    const struct seqb_raise raise = {ORDER, 1, 1,    LIMIT, 0,
                                     0,     0, NULL, 0,     NULL};
    int64_t value = -9;

    must_take(f, 1, 0);
    TELL(f, "ALTER TABLE seqb_counters DROP CONSTRAINT "
            "seqb_counters_value_check");
    for (int i = 0; i < 2; i++) {
        TELL(f, "UPDATE seqb_counters SET value = -7, origin = '%s'",
             i == 0 ? f->backend->origin : "another");
        assert_status(
            backend_postgres.raise(f->backend, &raise, &value, &f->err),
            SEQB_CORRUPT);
        assert_int_equal(value, -9);
    }
}

TEST_SKIPPABLE(STARTED, new_counter_is_fenced_if_its_base_was_raised)
{
    struct seqb_request request = {.counter = ORDER, .want = 5, .limit = 80};
    char rows[POSTGRES_ASK_SIZE];

    TELL(f, "UPDATE seqb_counters SET value = 80");
    assert_ok(backend_postgres.reserve(f->backend, &request, 1, &f->err));
    assert_status(request.status, SEQB_FENCED);
    postgres_ask(f->server, f->database, rows,
                 "SELECT count(*) FROM seqb_counters");
    assert_string_equal(rows, "1");
    assert_int_equal(must_raise(f, 0, 1000), 80);
    must_take(f, 5, 80);
}

/* --- servers that hang, and stores that become others under a handle --- */

/* The first time the counters are made, then all are one pipeline. */
TEST_SKIPPABLE(STARTED, batch_that_its_socket_cannot_hold_is_sent_whole)
{
    enum { N = 500 };
    static struct seqb_request requests[N];
    static char names[N][SEQB_COUNTER_SIZE];
    const int least = 1; /* the kernel makes some kB of it */

    assert_int_equal(
        setsockopt(f->backend->fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least),
        0);
    for (int i = 0; i < 2 * N; i++) {
        struct seqb_request *request = &requests[i % N];

        (void)text_format(names[i % N], sizeof names[0], "main/0/%d", i % N);
        *request = (struct seqb_request){
            .counter = names[i % N], .want = 1, .limit = LIMIT};
        if (i % N < N - 1)
            continue;
        assert_ok(backend_postgres.reserve(f->backend, requests, N, &f->err));
        assert_ok(requests[0].status);
        assert_ok(requests[N - 1].status);
        assert_int_equal(requests[N - 1].block.first, 1 + i / N);
    }
}

TEST_SKIPPABLE(STARTED, stopped_server_obeys_the_deadline)
{
    struct seqb_request request;
    int64_t since_ms;

    f->options.timeout_ms = 300;
    must_open(f);
    postgres_signal(f->server, SIGSTOP);
    since_ms = clock_now_ms();
    assert_status(take(f, ORDER, 1, &request), SEQB_UNCERTAIN);
    assert_status(request.status, SEQB_UNCERTAIN);
    assert_non_null(strstr(f->err.text, "no answer within 300 ms"));
    assert_true(clock_now_ms() - since_ms >= 300);
    assert_status(take(f, ORDER, 1, &request), SEQB_UNREACHABLE);
    postgres_signal(f->server, SIGCONT);
    f->options.timeout_ms = 20000;
    must_open(f);
    assert_ok(take(f, ORDER, 1, &request));
    assert_in_range(request.block.first, 1, 2);
}

/* As the pool's watchdog does. */
TEST_SKIPPABLE(STARTED, call_ends_when_its_socket_is_shut_down)
{
    struct waiter waiter;
    PGconn *holder;

    must_take(f, 1, 0);
    holder = hold(f, "LOCK TABLE seqb_counters");
    waiter_start(&waiter, f, 1);
    await_waiting(f, "relation");
    assert_int_equal(shutdown(f->backend->fd, SHUT_RDWR), 0);
    waiter_join(&waiter);
    PQfinish(holder);
    assert_status(waiter.status, SEQB_UNCERTAIN);
    must_open(f);
}

TEST_SKIPPABLE(STARTED, table_that_was_emptied_and_filled_again_is_fenced)
{
    struct seqb_request request;
    char value[POSTGRES_ASK_SIZE];

    must_take(f, 10, 0);
    TELL(f, "CREATE TABLE kept AS TABLE seqb_counters");
    must_take(f, 50, 10);
    TELL(f, "TRUNCATE seqb_counters; "
            "INSERT INTO seqb_counters TABLE kept");
    assert_status(take(f, ORDER, 1, &request), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "open it again"));
    postgres_ask(f->server, f->database, value,
                 "SELECT value FROM seqb_counters WHERE name = '" ORDER "'");
    assert_string_equal(value, "10");
    must_open(f);
    assert_status(take(f, ORDER, 1, &request), SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1010);
    must_take(f, 1, 1010);
}

/* What a call found out about the table before it had to wait for it. */
TEST_SKIPPABLE(STARTED, table_that_is_refilled_amid_a_call_is_not_granted_from)
{
    struct waiter waiter;
    PGconn *holder;

    must_take(f, 10, 0);
    TELL(f, "CREATE TABLE kept AS TABLE seqb_counters");
    must_take(f, 50, 10);
    holder = hold(f, "LOCK TABLE seqb_counters");
    waiter_start(&waiter, f, 1);
    await_waiting(f, "relation");
    PQclear(PQexec(holder, "TRUNCATE seqb_counters; "
                           "INSERT INTO seqb_counters TABLE kept; COMMIT"));
    waiter_join(&waiter);
    PQfinish(holder);
    assert_status(waiter.status, SEQB_UNREACHABLE);
    assert_status(waiter.request.status, SEQB_UNREACHABLE);
    must_open(f);
    assert_int_equal(must_raise(f, 0, 1000), 1010);
}

/* The claims were compared in the table that was found at first. */
TEST_SKIPPABLE(STARTED, table_of_another_schema_is_another_store)
{
    struct seqb_request request;

    must_take(f, 10, 0);
    TELL(f, "CREATE SCHEMA seq AUTHORIZATION seq");
    TELL(f, "CREATE TABLE seq.seqb_counters (LIKE seqb_counters "
            "INCLUDING ALL)");
    TELL(f, "ALTER TABLE seq.seqb_counters OWNER TO seq");
    assert_status(take(f, ORDER, 1, &request), SEQB_UNREACHABLE);
    TELL(f, "DROP SCHEMA seq CASCADE");
    must_open(f);
    must_take(f, 1, 10);
}

TEST_SKIPPABLE(STARTED, forked_child_may_not_reserve)
{
    const pid_t child = fork();
    int ended;

    if (child == 0) {
        struct seqb_request request;

        _exit(take(f, ORDER, 1, &request) == SEQB_FORKED ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    must_take(f, 1, 0);
}
