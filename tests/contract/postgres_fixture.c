/* SPDX-License-Identifier: Apache-2.0 */
/* A database of a shared PostgreSQL server with an open backend on it. */
#include "contract/postgres_fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/text.h"
#include "platform/thread.h"

static struct server *shared_server(void)
{
    static struct server *server;

    if (server == NULL) {
        server = server_postgres(NULL);
        postgres_execute(server, "postgres", "CREATE ROLE seq LOGIN");
    }
    return server;
}

struct fixture *fixture_prepare(void **state)
{
    static int created;
    struct server *server;
    struct fixture *f;

    postgres_require();
    server = shared_server();
    /* As files, which takes half the time of copying it through the log. */
    postgres_execute(
        server, "postgres", "CREATE DATABASE d%d OWNER seq%s", created,
        postgres_version(server) < 15 ? "" : " STRATEGY FILE_COPY");
    f = calloc(1, sizeof *f);
    assert_non_null(f);
    *state = f;
    f->ops = &backend_postgres;
    f->server = server;
    (void)text_format(f->database, sizeof f->database, "d%d", created++);
    f->options = (struct seqb_backend_options){
        .name = "pg-a",
        .host = "127.0.0.1",
        .port = server_port(f->server),
        .user = "seq",
        .database = f->database,
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
        .create = true,
    };
    return f;
}

struct fixture *fixture_start(void **state)
{
    struct fixture *f = fixture_prepare(state);

    must_open(f);
    return f;
}

int fixture_stop(void **state)
{
    struct fixture *f = *state;

    if (f == NULL)
        return 0;
    backend_postgres.close(f->backend);
    /* Whatever a test that failed has left. */
    postgres_signal(f->server, SIGCONT);
    postgres_alter(f->server, "synchronous_standby_names = ''");
    postgres_execute(f->server, "postgres",
                     "DROP DATABASE IF EXISTS %s WITH (FORCE)", f->database);
    free(f);
    return 0;
}

int64_t number(struct fixture *f, const char *sql)
{
    char text[POSTGRES_ASK_SIZE];
    int64_t value;

    postgres_ask(f->server, f->database, text, "%s", sql);
    assert_true(text_to_int64(text, strlen(text), &value));
    return value;
}

PGconn *hold(struct fixture *f, const char *sql)
{
    char conninfo[128];
    PGconn *conn;

    (void)text_format(conninfo, sizeof conninfo,
                      "host=127.0.0.1 port=%d user=postgres dbname=%s",
                      (int)server_port(f->server), f->database);
    conn = PQconnectdb(conninfo);
    PQclear(PQexec(conn, "BEGIN"));
    PQclear(PQexec(conn, sql));
    assert_int_equal(PQtransactionStatus(conn), PQTRANS_INTRANS);
    return conn;
}

static void *waiter_run(void *argument)
{
    struct waiter *waiter = argument;

    waiter->status =
        take(waiter->fixture, ORDER, waiter->want, &waiter->request);
    atomic_store(&waiter->has_ended, true);
    return NULL;
}

void waiter_start(struct waiter *waiter, struct fixture *f, int64_t want)
{
    waiter->want = want;
    waiter->fixture = f;
    atomic_store(&waiter->has_ended, false);
    assert_ok(
        thread_start(&waiter->thread, "waiter", waiter_run, waiter, NULL));
}

void waiter_join(struct waiter *waiter)
{
    pthread_join(waiter->thread, NULL);
}

static bool is_waiting(struct fixture *f, const char *event)
{
    char count[POSTGRES_ASK_SIZE];

    nanosleep(&(struct timespec){0, 2000000}, NULL);
    postgres_ask(f->server, "postgres", count,
                 "SELECT count(*) FROM pg_stat_activity WHERE "
                 "usename = 'seq' AND datname = '%s' "
                 "AND state = 'active' AND wait_event = '%s'",
                 f->database, event);
    return strcmp(count, "0") != 0;
}

void await_waiting(struct fixture *f, const char *event)
{
    while (!is_waiting(f, event))
        continue;
}

bool is_waited_for(struct fixture *f, const char *event,
                   const _Atomic bool *has_ended)
{
    while (!is_waiting(f, event)) {
        if (atomic_load(has_ended))
            return false;
    }
    return true;
}

bool waiter_waits(struct waiter *waiter, const char *event)
{
    return is_waited_for(waiter->fixture, event, &waiter->has_ended);
}
