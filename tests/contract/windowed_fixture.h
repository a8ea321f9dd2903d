/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private server with an open backend on it, for the windowed engines' own
 * tests. redis_fixture.h and memcached_fixture.h have what only one engine
 * needs. The functions must_... fail the test unless the call succeeds.
 */
#pragma once

#include <stdint.h>

#include <seqbroker/backend.h>

#include "support/servers.h"
#include "support/test.h"

#define COUNTER  "main/0/order"
#define SIZE     ((int64_t)1024) /* of COUNTER's windows */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
    const struct seqb_backend_ops *ops;
    struct server *server;
    struct seqb_backend_options options;
    struct seqb_backend *backend; /* NULL: not open */
    struct seqb_error err;
    char answer[16384]; /* the last answer to an administrator */
};

/* Makes a fixture with options for `server`, which it owns from now on. The
 * backend is not open. */
struct fixture *fixture_prepare(void **state, const char *name,
                                const struct seqb_backend_ops *ops,
                                struct server *server);

/* A cmocka teardown. */
int fixture_stop(void **state);

#define ON_SERVER FIXTURE(struct fixture *f, NULL, fixture_stop)

/* Closes the backend and opens it again with the options as they are. */
enum seqb_status fixture_open(struct fixture *f);

/* The three calls on COUNTER. `*call` is the status of the reserve call. */
enum seqb_status install(struct fixture *f, int64_t window, int64_t size,
                         int64_t *standing);
enum seqb_status raise_to(struct fixture *f, int64_t floor, int64_t *out);
struct seqb_request ask(struct fixture *f, int64_t want, int64_t size,
                        enum seqb_status *call);

void must_install(struct fixture *f, int64_t window);

/* Takes up to `count` values of that window, beginning with `first`. Returns
 * how many. */
int64_t must_take(struct fixture *f, int64_t window, int64_t first,
                  int64_t count);

/* must_take_many takes values of this many new counters in one call. Request
 * and answer are then several TLS records, more than a socket accepts at once,
 * and each master of a cluster gets some. */
#define MANY 400
int64_t must_take_many(struct fixture *f);

/* The request alone must have that status and window. */
void must_answer(struct fixture *f, enum seqb_status status, int64_t window);

/* The call itself must fail with `status`, and its request, too. */
void must_fail(struct fixture *f, enum seqb_status status);

/* Whatever no counter and no server can be is SEQB_INVALID, and changes
 * nothing. The server of `f` is running. */
void must_refuse_arguments(struct fixture *f);
void must_refuse_options(struct fixture *f);
