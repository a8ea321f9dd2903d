/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database on a MariaDB server that the tests of a program share, and an open
 * backend on it, for the mysql engines' own tests. The functions must_... fail
 * the test unless the call succeeds.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "backends/backends.h"
#include "support/server_mariadb.h"
#include "support/test.h"

#define ORDER    "main/0/order"
#define LIMIT    ((int64_t)1 << 40)
#define PASSWORD "open sesame"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define DATABASE_SIZE 16

struct fixture {
    const struct seqb_backend_ops *ops;
    struct server *server;
    char database[DATABASE_SIZE];
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    struct seqb_error err; /* of the last call */
};

/* Makes tests share that server instead of a default one. Call it before the
 * functions below. The caller ends the server. */
void fixture_share(struct server *server);

/* Makes a new database on the shared server, for the user "seq", who may create
 * tables in it. `options` are ready to open it. The tables of sql/mysql.sql
 * exist, without their first rows. Most often they were created in an earlier
 * second, so that open need not wait for the end of that second. Do not use
 * these functions as cmocka setups: a test can be skipped only in its own
 * function. */
struct fixture *fixture_prepare(void **state,
                                const struct seqb_backend_ops *ops);

/* The same without tables. */
struct fixture *fixture_prepare_empty(void **state,
                                      const struct seqb_backend_ops *ops);

/* The same on a server of its own, with further arguments or to be killed. */
struct fixture *fixture_prepare_on(void **state,
                                   const struct seqb_backend_ops *ops,
                                   struct server *server);

/* fixture_prepare, then opens the backend. */
struct fixture *fixture_start(void **state, const struct seqb_backend_ops *ops);

/* The same with one of the engines. */
struct fixture *row_start(void **state);
struct fixture *autoinc_start(void **state);

/* A cmocka teardown. */
int fixture_stop(void **state);

#define ON_SERVER  FIXTURE(struct fixture *f, NULL, fixture_stop)
#define ON_ROW     FIXTURE(struct fixture *f, row_start, fixture_stop)
#define ON_AUTOINC FIXTURE(struct fixture *f, autoinc_start, fixture_stop)

/* Closes the backend and opens it again with the options as they are. */
enum seqb_status fixture_open(struct fixture *f);
void must_open(struct fixture *f);

/* Opening must fail with `status`; the error must contain `words` and the
 * backend's name. */
void must_not_open(struct fixture *f, enum seqb_status status,
                   const char *words);

/* Opens another backend on the same database. */
struct seqb_backend *must_open_other(struct fixture *f);

/* Runs an administrator's statements after USE of the fixture's database. */
#define TELL(f, sql) mariadb_execute((f)->server, "USE %s;" sql, (f)->database)

/* The number that such a query returns. */
int64_t number(struct fixture *f, const char *sql);

/* Reserves from one counter. Returns the call's status or, if that is SEQB_OK,
 * the request's. */
enum seqb_status take(struct fixture *f, const char *counter, int64_t want,
                      struct seqb_request *out);

/* Takes `count` values of ORDER, which must follow `before`. */
void must_take(struct fixture *f, int64_t count, int64_t before);

/* Reserving one value of the counter must fail with `status` for that counter
 * alone. The connection stays usable. */
void must_answer(struct fixture *f, const char *counter,
                 enum seqb_status status);

/* Reserving must fail as a whole with `status`. The backend is not usable
 * afterwards. */
void must_fail(struct fixture *f, enum seqb_status status, const char *words);

/* Raises ORDER; returns its new value. */
int64_t must_raise(struct fixture *f, int64_t floor, int64_t gap);

/* A thread that reserves one value each of up to two counters. */
struct waiter {
    struct fixture *fixture;
    pthread_t thread;
    struct seqb_request requests[2];
    size_t n;
    enum seqb_status status; /* of the whole call */
    _Atomic bool has_ended;
};

void waiter_start(struct waiter *waiter, struct fixture *f,
                  const char *const *counters, size_t n);

/* The same for counters of a period that begins at `begins_ms`. */
void waiter_start_of(struct waiter *waiter, struct fixture *f,
                     const char *const *counters, size_t n, int64_t begins_ms);
void waiter_join(struct waiter *waiter);

/* Waits until that many sessions of the server wait for a row locked by another
 * session. */
void await_waiting(struct fixture *f, int64_t sessions);

/* The same for one session; false if the reserve ends without waiting. */
bool waiter_waits(struct waiter *waiter);
