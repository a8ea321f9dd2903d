/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rig whose sequence is a snowflake over a scripted authority, and the rows
 * that this keeps of worker ids, for the programs of tests about them.
 *
 * What must not fail here fails the test.
 */
#pragma once

#include "lease/lease.h"
#include "lease/rows.h"
#include "support/rig.h"

#define FLAKE_LEASE_MS      200
#define FLAKE_LONG_LEASE_MS RIG_FOREVER_MS /* nothing of it ends in a test */
#define FLAKE_EPOCH         INT64_C(1577836800000)

/* A pool of a windowed partition and an authority, the only direct store;
 * "order" and "bill" are its snowflakes, of 12 bits of counter. */
struct rig *flake_rig(void **state, int32_t worker_bits);

/* What the next broker is opened with. */
struct lease_options *flake_options(void);

/* The same, and its authority is open: the first broker ever has waited until
 * nobody could hold an id of before. */
struct rig *flake_rig_open(void **state, int32_t worker_bits);

void flake_set_lease(struct rig *rig, int32_t lease_ms);

/* The text of an id's row, LEASE_TEXT_SIZE; puts one there, whatever does. */
void row_get(const struct rig *rig, int64_t id, char *out);
void row_put(const struct rig *rig, int64_t id, const char *text);

/* Somebody else's, "bills@far:9", key 4711, who has renewed it just now. */
void row_put_other(const struct rig *rig, int64_t id, int64_t lease_ms);

struct lease_row row_read(const struct rig *rig, int64_t id);

/* The lowest bit of the worker id in a number: of 0 and 1 it is the id. */
int64_t flake_worker(int64_t number);

/* Takes one number, whose worker id it tells so. */
int64_t flake_take_worker(struct rig_broker *broker, struct numbers *numbers);

/* Takes numbers until one has that worker id. */
void flake_await_worker(struct rig_broker *broker, struct numbers *numbers,
                        int64_t worker);

/* Takes numbers until one is refused in these words: the next one may come. */
void flake_await_refusal(struct rig_broker *broker, struct numbers *numbers,
                         const char *words);

/* Why no id comes now, until the next call; "" if one does. */
const char *flake_why(struct rig_broker *broker);

/* The lease of its pool. */
struct worker_lease *flake_lease_of(const struct rig_broker *broker);

/* And they are done with. */
void flake_expect_no_repeat(struct numbers *numbers);
