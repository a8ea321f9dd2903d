/* SPDX-License-Identifier: Apache-2.0 */
/* A database on a PostgreSQL server that the tests of a program share. */
#pragma once

#include <libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>

#include "backends/backends.h"
#include "contract/sql_fixture.h"
#include "support/server_postgres.h"

/* Makes a new database, owned by the user "seq", and opens a backend. Do not
 * use it as a cmocka setup: a test can be skipped only in its own function. */
struct fixture *fixture_start(void **state);

/* The same without opening the backend. */
struct fixture *fixture_prepare(void **state);

/* A cmocka teardown. */
int fixture_stop(void **state);

#define STARTED  FIXTURE(struct fixture *f, fixture_start, fixture_stop)
#define PREPARED FIXTURE(struct fixture *f, fixture_prepare, fixture_stop)

/* Runs an administrator's SQL in the fixture's database. */
#define TELL(f, ...) postgres_execute((f)->server, (f)->database, __VA_ARGS__)

/* The number that such a query returns. */
int64_t number(struct fixture *f, const char *sql);

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
