/* SPDX-License-Identifier: Apache-2.0 */
/* A counter whose grants a test asks for one by one, in a pool of a rig. */
#pragma once

#include <stdatomic.h>

#include "support/rig.h"

#define CELL      "cell:main/0/bill"
#define WINDOW    INT64_C(256) /* runs */
#define RUN       INT64_C(4)
#define STEP      INT64_C(2) /* of one lessor's windows, where there are two */
#define MANY      INT64_C(5) /* windows that an ask takes: four, and the cell's */
#define WANT_MANY ((MANY - 1) * WINDOW + 3)

/* A counter of its own, which no thread refills, and its last answer. */
struct taker {
    struct ha_sink sink; /* first */
    struct ha_counter *counter;
    struct rig *rig;
    struct rig_broker *broker;
    struct ha_grant grant;
    atomic_int answers;
};

/* Two partitions; the other one leases to the first, or the first itself. */
void taker_begin(struct taker *taker, void **state);
void taker_end(struct taker *taker);

/* Asks partition 0 for values, and waits for the answer. */
void taker_post(struct taker *taker, int64_t want);
struct ha_grant taker_answer(struct taker *taker);
struct ha_grant taker_ask(struct taker *taker, int64_t want);

/* Until it is answered well, as its partition may have to be rescued. */
struct ha_grant taker_ask_again(struct taker *taker, int64_t want);

/* Leaves a whole window of the taker in the cell, which it answers, and windows
 * at hand. */
int64_t taker_leave_window(struct taker *taker);

int64_t taker_window(const struct ha_grant *grant);
int64_t taker_cell_window(const struct taker *taker);
int64_t taker_installs(const struct taker *taker);
