/* SPDX-License-Identifier: Apache-2.0 */
/* A counter that a test gives one stamp after another, in a pool of a rig. */
#pragma once

#include <stdatomic.h>

#include "support/rig.h"

#define SECOND INT64_C(1000)
#define HOUR   (3600 * SECOND)

/* A counter that no thread refills, whose grants are counted. */
struct taker {
    struct ha_sink sink; /* must be first */
    atomic_llong granted;
    atomic_llong first; /* of the last grant */
    struct ha_counter *counter;
};

void taker_make(struct taker *taker, const struct rig_broker *broker);

/* Closes the broker, too: its workers may deliver until then. */
void taker_end(struct taker *taker, struct rig_broker *broker);

/* Gives it a stamp of a second, which is long over. False: it is asked. */
bool is_restamped(struct taker *taker, int64_t digits);

/* Waits until nothing is under way. */
void await_rest(struct taker *taker);

/* Asks for 4 values, and waits for them. */
void take(struct taker *taker);
