/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database on a PostgreSQL server that the tests of a program share, and an
 * open backend on it, for the postgres engine's own tests. The functions
 * must_... fail the test unless the call succeeds.
 */
#pragma once

#include <libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>

#include "backends/backends.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define ORDER    "main/0/order"
#define LIMIT    ((int64_t)1 << 40)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
    struct server *server; /* shared by all tests */
    char database[16];
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    struct seqb_error err; /* of the last call */
};

/* Makes a new database, owned by the user "seq", and opens a backend. Do not
 * use it as a cmocka setup: a test can be skipped only in its own function. */
struct fixture *fixture_start(void **state);

/* The same without opening the backend. */
struct fixture *fixture_prepare(void **state);

/* A cmocka teardown. */
int fixture_stop(void **state);

#define STARTED  FIXTURE(struct fixture *f, fixture_start, fixture_stop)
#define PREPARED FIXTURE(struct fixture *f, fixture_prepare, fixture_stop)

/* Closes the backend and opens it again with the options as they are. */
enum seqb_status fixture_open(struct fixture *f);
void must_open(struct fixture *f);

/* Opening must fail with `status`, and the error must contain `words`. */
void must_not_open(struct fixture *f, enum seqb_status status,
                   const char *words);

/* Runs an administrator's SQL in the fixture's database. */
#define TELL(f, ...) postgres_execute((f)->server, (f)->database, __VA_ARGS__)

/* Reserves from one counter. Returns the call's status or, if that is SEQB_OK,
 * the request's. */
enum seqb_status take(struct fixture *f, const char *counter, int64_t want,
                      struct seqb_request *out);

/* Takes `count` values of ORDER, which must follow `before`. */
void must_take(struct fixture *f, int64_t count, int64_t before);

/* Raises ORDER; returns its new value. */
int64_t must_raise(struct fixture *f, int64_t floor, int64_t gap);

/* Opens another session, as administrator, and runs `sql` in a transaction that
 * stays open. The caller ends it by PQfinish. */
PGconn *hold(struct fixture *f, const char *sql);

/* A thread that reserves values of ORDER. */
struct waiter {
    struct fixture *fixture;
    int64_t want;
    pthread_t thread;
    struct seqb_request request;
    enum seqb_status status;
    _Atomic bool has_ended;
};

void waiter_start(struct waiter *waiter, struct fixture *f, int64_t want);
void waiter_join(struct waiter *waiter);

/* Waits until a session of the user "seq" in that database waits for `event` of
 * pg_stat_activity; "transactionid" is a row lock. */
void await_waiting(struct fixture *f, const char *event);

/* The same; false if the reserve (or what sets `has_ended`) ends without
 * waiting. */
bool waiter_waits(struct waiter *waiter, const char *event);
bool is_waited_for(struct fixture *f, const char *event,
                   const _Atomic bool *has_ended);
