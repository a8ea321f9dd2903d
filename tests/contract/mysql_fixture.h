/* SPDX-License-Identifier: Apache-2.0 */
/* A database on a MariaDB server that the tests of a program share. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "backends/backends.h"
#include "contract/sql_fixture.h"
#include "support/server_mariadb.h"

#define PASSWORD "open sesame"

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

/* Runs an administrator's statements after USE of the fixture's database. */
#define TELL(f, sql) mariadb_execute((f)->server, "USE %s;" sql, (f)->database)

/* The number that such a query returns. */
int64_t number(struct fixture *f, const char *sql);

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
