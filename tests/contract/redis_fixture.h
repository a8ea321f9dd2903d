/* SPDX-License-Identifier: Apache-2.0 */
/* What the redis engine's own tests need in addition to windowed_fixture.h. */
#pragma once

#include <stdbool.h>

#include "backends/backends.h"
#include "contract/windowed_fixture.h"
#include "support/server_redis.h"

#define KEY       "seqbroker:{main/0/order}"
#define CLAIM_KEY "seqbroker:claim:{layout}"

/* Starts the server and opens the backend. Do not use it as a cmocka setup: a
 * test can be skipped only in its own function. */
struct fixture *fixture_start(void **state);

#define STARTED FIXTURE(struct fixture *f, fixture_start, fixture_stop)

/* The next grant must be exactly this block. */
void must_grant(struct fixture *f, int64_t window, int64_t first,
                int64_t count);

/* The cell's field must have that value. */
void must_hold(struct fixture *f, const char *field, const char *value);

bool key_exists(struct fixture *f, const char *key);

/* The number after `name` in that section of INFO. */
int64_t info_number(struct fixture *f, const char *section, const char *name);
