/* SPDX-License-Identifier: Apache-2.0 */
/* A counter that no thread refills, in a pool of a rig: a test gives it stamps,
 * and asks its partitions one by one or all of them. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "support/rig.h"

#define SECOND INT64_C(1000)
#define HOUR   (3600 * SECOND)

#define CELL      "cell:main/0/bill"
#define WINDOW    INT64_C(256) /* runs in a window */
#define RUN       INT64_C(4)
/* Distance of one lessor's windows if there are two lessors. */
#define STEP      INT64_C(2)
/* Windows that WANT_MANY takes: four, and the cell's. */
#define MANY      INT64_C(5)
#define WANT_MANY ((MANY - 1) * WINDOW + 3)

struct taker {
    struct ha_sink sink; /* must be first */
    struct ha_counter *counter;
    struct rig *rig;
    struct rig_broker *broker;
    pthread_mutex_t lock;  /* partitions may answer at once */
    struct ha_grant grant; /* the last one */
    atomic_int answers;
    atomic_llong granted; /* since the last take */
    atomic_llong first;   /* of the last grant */
};

/* Opens a broker whose calls have all the time they need, and in it a counter
 * "bill", or of another key. */
void taker_begin(struct taker *taker, struct rig *rig);

/* A counter in a broker that is open. */
void taker_make(struct taker *taker, struct rig_broker *broker,
                const char *key);

/* Closes the broker, too: its workers may deliver until then. */
void taker_end(struct taker *taker);

/* The same around a test, over two partitions. With neighbours, the windows of
 * partition 0 are leased by the other one or, in turn, by itself. */
int taker_setup_direct(void **state);
int taker_setup_windowed(void **state);
int taker_setup_cells(void **state);
int taker_setup_neighbours(void **state);
int taker_teardown(void **state);

#define TAKER_FIXTURE_(setup)                                                  \
    FIXTURE(struct taker *taker, setup, taker_teardown)
#define TAKER            TAKER_FIXTURE_(taker_setup_neighbours)
#define TAKER_OF_DIRECT  TAKER_FIXTURE_(taker_setup_direct)
#define TAKER_OF_WINDOWS TAKER_FIXTURE_(taker_setup_windowed)
#define TAKER_OF_CELLS   TAKER_FIXTURE_(taker_setup_cells)

/* --- all partitions, and stamps --- */

/* Gives it a stamp of a second, which is long over. False: it is asked. */
bool is_restamped(struct taker *taker, int64_t digits);

/* Waits until nothing is under way. */
void await_rest(struct taker *taker);

/* Asks for 4 values, and waits for them. */
void take(struct taker *taker);

/* --- partition 0 --- */

/* Ask it for values, wait for the answer, and both. */
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
