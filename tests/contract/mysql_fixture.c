/* SPDX-License-Identifier: Apache-2.0 */
/* A database of a MariaDB server with an open backend on it. */
#include "contract/mysql_fixture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/text.h"
#include "platform/thread.h"

static struct server *shared; /* ends with the program */

static struct fixture *fixture_on(void **state,
                                  const struct seqb_backend_ops *ops,
                                  struct server *server, const char *database)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    *state = f;
    f->ops = ops;
    f->server = server;
    (void)text_copy(f->database, sizeof f->database, database);
    f->options = (struct seqb_backend_options){
        .name = "mysql-a",
        .host = "127.0.0.1",
        .port = server_port(f->server),
        .user = "seq",
        .password = PASSWORD,
        .database = f->database,
        .timeout_ms = 120000,
        .connect_timeout_ms = 120000,
        .create = true,
        .auto_create = true,
    };
    mariadb_execute(
        server,
        "CREATE OR REPLACE USER seq IDENTIFIED BY '" PASSWORD "';"
        "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON %s.* TO seq",
        database);
    return f;
}

struct fixture *fixture_prepare_on(void **state,
                                   const struct seqb_backend_ops *ops,
                                   struct server *server)
{
    static int created;
    char database[DATABASE_SIZE];

    (void)text_format(database, sizeof database, "d%d", created++);
    mariadb_execute(server, "CREATE DATABASE %s", database);
    return fixture_on(state, ops, server, database);
}

void fixture_share(struct server *server)
{
    shared = server;
}

static void shared_require(void)
{
    mariadb_require();
    if (shared == NULL)
        shared = server_mariadb(NULL);
}

struct fixture *fixture_prepare_empty(void **state,
                                      const struct seqb_backend_ops *ops)
{
    shared_require();
    return fixture_prepare_on(state, ops, shared);
}

/* --- databases of an earlier second --- */

static struct {
    int made;
    int used;
} stock;

/* Of sql/mysql.sql, without the first rows. */
static void tables_make(const char *database)
{
    static const char *const tables[] = {"seqb_counters", "seqb_claims",
                                         "seqb_incarnation"};

    mariadb_execute(shared, "CREATE DATABASE %s", database);
    for (size_t i = 0; i < COUNT(tables); i++)
        mariadb_execute(shared, "CREATE TABLE %s.%s LIKE original.%s", database,
                        tables[i], tables[i]);
}

static void original_make(void)
{
    mariadb_execute(shared, "CREATE DATABASE original");
    mariadb_make_tables(shared, "original");
}

/* Twice as many each time: then few tests wait, and few are made in vain. */
static void stock_fill(void)
{
    const int before = stock.made;

    if (before == 0)
        original_make();
    while (stock.made <= 2 * before) {
        char database[DATABASE_SIZE];

        (void)text_format(database, sizeof database, "s%d", stock.made++);
        tables_make(database);
    }
}

struct fixture *fixture_prepare(void **state,
                                const struct seqb_backend_ops *ops)
{
    char database[DATABASE_SIZE];

    shared_require();
    if (stock.used == stock.made)
        stock_fill();
    (void)text_format(database, sizeof database, "s%d", stock.used++);
    return fixture_on(state, ops, shared, database);
}

struct fixture *fixture_start(void **state, const struct seqb_backend_ops *ops)
{
    struct fixture *f = fixture_prepare(state, ops);

    must_open(f);
    return f;
}

struct fixture *row_start(void **state)
{
    return fixture_start(state, &backend_mysql_row);
}

struct fixture *autoinc_start(void **state)
{
    return fixture_start(state, &backend_mysql_autoinc);
}

int fixture_stop(void **state)
{
    struct fixture *f = *state;

    if (f == NULL)
        return 0;
    f->ops->close(f->backend);
    if (f->server == shared)
        mariadb_execute(shared, "SET GLOBAL read_only = 0; DROP DATABASE %s",
                        f->database);
    else
        server_free(f->server);
    free(f);
    return 0;
}

int64_t number(struct fixture *f, const char *sql)
{
    char text[MARIADB_ASK_SIZE];
    int64_t value;

    mariadb_ask(f->server, text, "USE %s;%s", f->database, sql);
    assert_true(text_to_int64(text, strlen(text), &value));
    return value;
}

static void *waiter_run(void *argument)
{
    struct waiter *waiter = argument;
    struct fixture *f = waiter->fixture;

    waiter->status =
        f->ops->reserve(f->backend, waiter->requests, waiter->n, &f->err);
    atomic_store(&waiter->has_ended, true);
    return NULL;
}

void waiter_start_of(struct waiter *waiter, struct fixture *f,
                     const char *const *counters, size_t n, int64_t begins_ms)
{
    *waiter = (struct waiter){.fixture = f, .n = n};
    for (size_t i = 0; i < n; i++)
        waiter->requests[i] = (struct seqb_request){.counter = counters[i],
                                                    .want = 1,
                                                    .limit = LIMIT,
                                                    .begins_ms = begins_ms};
    assert_ok(
        thread_start(&waiter->thread, "waiter", waiter_run, waiter, NULL));
}

void waiter_start(struct waiter *waiter, struct fixture *f,
                  const char *const *counters, size_t n)
{
    waiter_start_of(waiter, f, counters, n, 0);
}

void waiter_join(struct waiter *waiter)
{
    pthread_join(waiter->thread, NULL);
}

static bool are_waiting(struct fixture *f, int64_t sessions)
{
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    /* INNODB_TRX is no help: it shows what it showed 100 ms ago. */
    return number(f, "SELECT VARIABLE_VALUE "
                     "FROM information_schema.GLOBAL_STATUS WHERE "
                     "VARIABLE_NAME = 'Innodb_row_lock_current_waits'") >=
           sessions;
}

void await_waiting(struct fixture *f, int64_t sessions)
{
    while (!are_waiting(f, sessions))
        continue;
}

bool waiter_waits(struct waiter *waiter)
{
    while (!are_waiting(waiter->fixture, 1)) {
        if (atomic_load(&waiter->has_ended))
            return false;
    }
    return true;
}
