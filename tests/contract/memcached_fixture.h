/* SPDX-License-Identifier: Apache-2.0 */
/* A private memcached with an open backend on it, for the memcached engine's
 * own tests; the must_... functions assert. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backends/backends.h"
#include "support/server_memcached.h"

#define COUNTER  "main/0/order"
#define KEY      "seqbroker:main/0/order"
#define SIZE     ((int64_t)1024) /* of COUNTER's windows */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
    struct server *server;
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    struct seqb_error err;
    char answer[16384]; /* of the last tell */
};

/* Starts all of it, the server with `args` (or NULL). Not a cmocka setup: a
 * test may be skipped only from its own function. */
struct fixture *fixture_start(void **state, const char *const *args);

/* A cmocka teardown. */
int fixture_stop(void **state);

#define FIXTURE_TEST(function)                                                 \
    cmocka_unit_test_setup_teardown(function, NULL, fixture_stop)

/* Closes the backend and opens it again with the options as they are. */
enum seqb_status fixture_open(struct fixture *f);

/* The three calls on COUNTER; `*call` is what reserve itself returned. */
enum seqb_status install(struct fixture *f, int64_t window, int64_t size,
                         int64_t *standing);
enum seqb_status raise_to(struct fixture *f, int64_t floor, int64_t *out);
struct seqb_request ask(struct fixture *f, int64_t want, int64_t size,
                        enum seqb_status *call);

void must_install(struct fixture *f, int64_t window);

/* Takes exactly `count` values, the first of which is `first`. */
void must_grant(struct fixture *f, int64_t window, int64_t first,
                int64_t count);

/* The request alone is answered with that status and window. */
void must_answer(struct fixture *f, enum seqb_status status, int64_t window);

/* The call itself fails, and its request with it. */
void must_fail(struct fixture *f, enum seqb_status status);

/* The server answers the administrator's command with just that. */
void must_tell(struct fixture *f, const char *command, const char *answer);

/* COUNTER's item is as it was told to be, or absent if `value` is NULL. */
void must_hold(struct fixture *f, const char *value);
