/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database on a MariaDB server that the tests of a program share, with an
 * open backend on it, for the mysql engines' own tests; the must_... functions
 * assert.
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

/* Shares that server instead of a plain one: before the first of the functions
 * below. The caller ends it. */
void fixture_share(struct server *server);

/* A new database on the shared server, for the user "seq", who may make tables
 * in it; `options` are ready to open it. The tables of sql/mysql.sql are there
 * without their first rows, most often since an earlier second, so that nobody
 * waits for that to end who opens them. Not cmocka setups: a test may be
 * skipped only from its own function. */
struct fixture *fixture_prepare(void **state,
                                const struct seqb_backend_ops *ops);

/* The same without tables. */
struct fixture *fixture_prepare_empty(void **state,
                                      const struct seqb_backend_ops *ops);

/* And on a server of its own: with further arguments, or to be killed. */
struct fixture *fixture_prepare_on(void **state,
                                   const struct seqb_backend_ops *ops,
                                   struct server *server);

/* As fixture_prepare, with an open backend. */
struct fixture *fixture_start(void **state, const struct seqb_backend_ops *ops);

/* A cmocka teardown. */
int fixture_stop(void **state);

#define ON_SERVER FIXTURE(struct fixture *f, NULL, fixture_stop)

/* Closes the backend and opens it again with the options as they are. */
enum seqb_status fixture_open(struct fixture *f);
void must_open(struct fixture *f);

/* Opening fails so, and its text holds `words` and the backend's name. */
void must_not_open(struct fixture *f, enum seqb_status status,
                   const char *words);

/* One more backend on the same database. */
struct seqb_backend *must_open_other(struct fixture *f);

/* Statements of an administrator, after USE of the fixture's database. */
#define TELL(f, sql) mariadb_execute((f)->server, "USE %s;" sql, (f)->database)

/* The number that such a statement answers. */
int64_t number(struct fixture *f, const char *sql);

/* Reserves from one counter; the call's status, or else the request's. */
enum seqb_status take(struct fixture *f, const char *counter, int64_t want,
                      struct seqb_request *out);

/* Takes `count` values of ORDER, which must follow `before`. */
void must_take(struct fixture *f, int64_t count, int64_t before);

/* One value of the counter alone is answered so; the connection stays fit. */
void must_answer(struct fixture *f, const char *counter,
                 enum seqb_status status);

/* Reserving fails so as a whole, and the backend is of no use any more. */
void must_fail(struct fixture *f, enum seqb_status status, const char *words);

/* What ORDER is raised to. */
int64_t must_raise(struct fixture *f, int64_t floor, int64_t gap);

/* A reserve of one value each of up to two counters on a thread of its own. */
struct waiter {
    struct fixture *fixture;
    pthread_t thread;
    struct seqb_request requests[2];
    size_t n;
    enum seqb_status status; /* of the call */
    _Atomic bool has_ended;
};

void waiter_start(struct waiter *waiter, struct fixture *f,
                  const char *const *counters, size_t n);

/* Of counters of a period that begins then. */
void waiter_start_of(struct waiter *waiter, struct fixture *f,
                     const char *const *counters, size_t n, int64_t begins_ms);
void waiter_join(struct waiter *waiter);

/* Returns when so many of the server's sessions wait for a row that another one
 * holds. */
void await_waiting(struct fixture *f, int64_t sessions);

/* The same for one; false if the reserve ends without. */
bool waiter_waits(struct waiter *waiter);
