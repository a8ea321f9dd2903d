/* SPDX-License-Identifier: Apache-2.0 */
/* A database of a MariaDB server with an open backend on it. */
#include "contract/mysql_fixture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/text.h"
#include "platform/thread.h"

#define TRIES 1000

static struct server *shared; /* ends with the program */

enum seqb_status fixture_open(struct fixture *f)
{
    f->ops->close(f->backend);
    f->backend = NULL;
    return f->ops->open(&f->options, &f->backend, &f->err);
}

void must_open(struct fixture *f)
{
    assert_done(fixture_open(f), f->err);
}

void must_not_open(struct fixture *f, enum seqb_status status,
                   const char *words)
{
    f->err = (struct seqb_error){SEQB_OK, "opened"};
    (void)fixture_open(f);
    if (f->err.status != status || strstr(f->err.text, words) == NULL ||
        strstr(f->err.text, f->options.name) == NULL)
        fail_msg("%s: %s", seqb_status_name(f->err.status), f->err.text);
    assert_null(strstr(f->err.text, PASSWORD));
    assert_null(f->backend);
}

struct seqb_backend *must_open_other(struct fixture *f)
{
    struct seqb_backend *other = NULL;

    assert_done(f->ops->open(&f->options, &other, &f->err), f->err);
    return other;
}

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

static enum seqb_status take_once(struct fixture *f, const char *counter,
                                  int64_t want, struct seqb_request *out)
{
    enum seqb_status status;

    memset(out, 0x5a, sizeof *out); /* what nobody may read */
    out->counter = counter;
    out->want = want;
    out->limit = LIMIT;
    out->begins_ms = 0;
    out->guard = NULL;
    status = f->ops->reserve(f->backend, out, 1, &f->err);
    return status == SEQB_OK ? out->status : status;
}

/* Another node of a cluster may be faster; a pool asks once more, too. */
enum seqb_status take(struct fixture *f, const char *counter, int64_t want,
                      struct seqb_request *out)
{
    enum seqb_status status = SEQB_AGAIN;

    for (int i = 0; i < TRIES && status == SEQB_AGAIN; i++)
        status = take_once(f, counter, want, out);
    return status;
}

void must_take(struct fixture *f, int64_t count, int64_t before)
{
    struct seqb_request request;

    assert_done(take(f, ORDER, count, &request), request.error);
    assert_int_equal(request.block.first, before + 1);
    assert_int_equal(request.block.count, count);
}

void must_answer(struct fixture *f, const char *counter,
                 enum seqb_status status)
{
    struct seqb_request request;

    assert_status(take(f, counter, 1, &request), status);
    assert_status(request.status, status);
    assert_status(request.error.status, status);
    assert_non_null(strstr(request.error.text, counter));
    assert_non_null(strstr(request.error.text, f->options.name));
}

void must_fail(struct fixture *f, enum seqb_status status, const char *words)
{
    struct seqb_request request;

    assert_status(take(f, ORDER, 1, &request), status);
    assert_status(f->err.status, status);
    assert_status(request.status, status);
    if (strstr(f->err.text, words) == NULL)
        fail_msg("%s", f->err.text);
    assert_status(take(f, ORDER, 1, &request), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "open it again"));
}

int64_t must_raise(struct fixture *f, int64_t floor, int64_t gap)
{
    const struct seqb_raise raise = {.counter = ORDER,
                                     .floor = floor,
                                     .gap = gap,
                                     .limit = LIMIT,
                                     .base_gap = gap};
    int64_t value = -1;

    assert_done(f->ops->raise(f->backend, &raise, &value, &f->err), f->err);
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
