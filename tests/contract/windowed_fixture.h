/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private server with an open backend on it, for the own tests of the
 * windowed engines; what is peculiar to one of them is in redis_fixture.h and
 * memcached_fixture.h. The must_... functions assert.
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
    char answer[16384]; /* what an administrator was told last */
};

/* With options that lead to `server`, which is the fixture's from now on; the
 * backend is not opened. */
struct fixture *fixture_prepare(void **state, const char *name,
                                const struct seqb_backend_ops *ops,
                                struct server *server);

/* A cmocka teardown. */
int fixture_stop(void **state);

#define ON_SERVER FIXTURE(struct fixture *f, NULL, fixture_stop)

/* Closes the backend and opens it again with the options as they are. */
enum seqb_status fixture_open(struct fixture *f);

/* The three calls on COUNTER; `*call` is what reserve itself returned. */
enum seqb_status install(struct fixture *f, int64_t window, int64_t size,
                         int64_t *standing);
enum seqb_status raise_to(struct fixture *f, int64_t floor, int64_t *out);
struct seqb_request ask(struct fixture *f, int64_t want, int64_t size,
                        enum seqb_status *call);

void must_install(struct fixture *f, int64_t window);

/* Takes up to `count` values of that window, the first of which is `first`; how
 * many. */
int64_t must_take(struct fixture *f, int64_t window, int64_t first,
                  int64_t count);

/* One call takes values of so many new counters: the request and its answer are
 * several records of TLS, more than a socket takes at once, and for each master
 * of a cluster some. */
#define MANY 400
int64_t must_take_many(struct fixture *f);

/* The request alone is answered with that status and window. */
void must_answer(struct fixture *f, enum seqb_status status, int64_t window);

/* The call itself fails, and its request with it. */
void must_fail(struct fixture *f, enum seqb_status status);
