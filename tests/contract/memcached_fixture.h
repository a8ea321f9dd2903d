/* SPDX-License-Identifier: Apache-2.0 */
/* What the memcached engine's own tests need besides windowed_fixture.h. */
#pragma once

#include "backends/backends.h"
#include "contract/windowed_fixture.h"
#include "support/server_memcached.h"

#define KEY "seqbroker:main/0/order"

/* Starts all of it, the server with `args` (or NULL). Not a cmocka setup: a
 * test may be skipped only from its own function. */
struct fixture *fixture_start(void **state, const char *const *args);

/* Takes exactly `count` values, the first of which is `first`. */
void must_grant(struct fixture *f, int64_t window, int64_t first,
                int64_t count);

/* The server answers the administrator's command with just that. */
void must_execute(struct fixture *f, const char *command, const char *answer);

/* COUNTER's item is as it was told to be, or absent if `value` is NULL. */
void must_hold(struct fixture *f, const char *value);
