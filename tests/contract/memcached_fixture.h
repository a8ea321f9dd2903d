/* SPDX-License-Identifier: Apache-2.0 */
/* What the memcached engine's own tests need in addition to
 * windowed_fixture.h. */
#pragma once

#include "backends/backends.h"
#include "contract/windowed_fixture.h"
#include "support/server_memcached.h"

#define KEY "seqbroker:main/0/order"

/* Starts the server with `args` (or NULL), and opens the backend. Do not use it
 * as a cmocka setup: a test can be skipped only in its own function. */
struct fixture *fixture_start(void **state, const char *const *args);

/* The same without arguments. */
struct fixture *fixture_start_plain(void **state);

#define STARTED FIXTURE(struct fixture *f, fixture_start_plain, fixture_stop)

/* Takes exactly `count` values, beginning with `first`; it must succeed. */
void must_grant(struct fixture *f, int64_t window, int64_t first,
                int64_t count);

/* The server must answer exactly `answer` to the administrator's command. */
void must_execute(struct fixture *f, const char *command, const char *answer);

/* COUNTER's item must have that value, or not exist if `value` is NULL. */
void must_hold(struct fixture *f, const char *value);
