/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rig whose sequences are snowflakes over a scripted authority, and the rows
 * in which the authority keeps the worker ids.
 *
 * A failure of these functions fails the test.
 */
#pragma once

#include "lease/lease.h"
#include "lease/rows.h"
#include "support/rig.h"

#define FLAKE_LEASE_MS      200
/* So long that it does not end during a test. */
#define FLAKE_LONG_LEASE_MS RIG_FOREVER_MS
#define FLAKE_EPOCH         INT64_C(1577836800000)

/* A pool of a windowed partition and an authority, which is the only direct
 * store. "order" and "bill" are its snowflakes, with 12 bits of counter. */
struct rig *flake_rig(void **state, int32_t worker_bits);

/* The options for the next broker. */
struct lease_options *flake_options(void);

/* The same, after a first broker was opened and closed. So the wait until no id
 * leased earlier can be in use is over. */
struct rig *flake_rig_open(void **state, int32_t worker_bits);

/* For cmocka: a rig of both kinds, with 10 bits of worker id. */
int flake_setup(void **state);
int flake_setup_open(void **state);

#define SNOWFLAKES FIXTURE(struct rig *rig, flake_setup, rig_teardown)
#define SNOWFLAKES_IN_USE                                                      \
    FIXTURE(struct rig *rig, flake_setup_open, rig_teardown)

void flake_set_lease(struct rig *rig, int32_t lease_ms);

/* row_get returns the text of an id's row, of LEASE_TEXT_SIZE bytes. row_put
 * replaces it by `text`, whatever it was. */
void row_get(const struct rig *rig, int64_t id, char *out);
void row_put(const struct rig *rig, int64_t id, const char *text);

/* Puts the row of another broker, "bills@far:9" with key 4711, which has just
 * renewed it. */
void row_put_other(const struct rig *rig, int64_t id, int64_t lease_ms);

struct lease_row row_read(const struct rig *rig, int64_t id);

/* The lowest bit of the worker id in a number. If the id is 0 or 1, this is the
 * id. */
int64_t flake_worker(int64_t number);

/* Takes one number, and returns its worker id by flake_worker. */
int64_t flake_take_worker(struct rig_broker *broker);

/* Takes numbers until one has that worker id. */
void flake_await_worker(struct rig_broker *broker, int64_t worker);

/* Takes numbers until one is refused with `words`. The next one may succeed. */
void flake_await_refusal(struct rig_broker *broker, const char *words);

/* Tries to take a number. Returns the reason why it was refused, "" if it was
 * not. Valid until the next call. */
const char *flake_why(struct rig_broker *broker);

/* The worker lease of the broker's pool. */
struct worker_lease *flake_lease_of(const struct rig_broker *broker);
