/* SPDX-License-Identifier: Apache-2.0 */
/* A counter from which a test asks grants one by one, in a pool of a rig. */
#pragma once

#include <stdatomic.h>

#include "support/rig.h"

#define CELL      "cell:main/0/bill"
#define WINDOW    INT64_C(256) /* runs in a window */
#define RUN       INT64_C(4)
/* Distance of one lessor's windows if there are two lessors. */
#define STEP      INT64_C(2)
/* Windows that WANT_MANY takes: four, and the cell's. */
#define MANY      INT64_C(5)
#define WANT_MANY ((MANY - 1) * WINDOW + 3)

/* A counter that no thread refills, and its last answer. */
struct taker {
    struct ha_sink sink; /* must be first */
    struct ha_counter *counter;
    struct rig *rig;
    struct rig_broker *broker;
    struct ha_grant grant;
    atomic_int answers;
};

/* Opens a broker over two partitions. The windows of partition 0 are leased by
 * the other one or, in turn, by itself. */
void taker_begin(struct taker *taker, void **state);
void taker_end(struct taker *taker);

/* The same around a test, in a rig of neighbours. */
int taker_setup(void **state);
int taker_teardown(void **state);

#define TAKER FIXTURE(struct taker *taker, taker_setup, taker_teardown)

/* Ask partition 0 for values, wait for the answer, and both. */
void taker_post(struct taker *taker, int64_t want);
struct ha_grant taker_answer(struct taker *taker);
struct ha_grant taker_ask(struct taker *taker, int64_t want);

/* Repeats the ask until it succeeds, because the partition may have to be
 * rescued first. */
struct ha_grant taker_ask_again(struct taker *taker, int64_t want);

/* Leaves a whole window of the taker in the cell, and further windows at hand.
 * Returns the window in the cell. */
int64_t taker_leave_window(struct taker *taker);

int64_t taker_window(const struct ha_grant *grant);
int64_t taker_cell_window(const struct taker *taker);
int64_t taker_installs(const struct taker *taker);
