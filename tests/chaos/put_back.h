/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios of pools with windows = "all": a physical copy of a store, with its
 * identity and history, replaces the store, the same copy again and again,
 * while four brokers take numbers, or are killed and started.
 *
 * A SQLite file leases the windows. It is not a partition and is never put
 * back, so every number comes from a store that goes back.
 */
#pragma once

#include "chaos.h"

/* How a store is copied and put back. */
struct put_back {
    void (*copy)(struct chaos *chaos);
    /* On return it serves again. May start the brokers if none runs. */
    void (*put)(struct chaos *chaos);
};

/* Writes the topology of all brokers: these backends, whose names are the
 * 2^bits partitions. */
void put_back_topology(struct chaos *chaos, const char *backends,
                       const char *names, int32_t bits);

/* Makes one copy and puts it back `times` times, in turn while brokers run,
 * while they are stopped, and shortly before they are killed. */
void put_back_run(struct chaos *chaos, const char *name,
                  const struct put_back *way, int times);

/* Copies store A to B. Then A and B serve in turn, unchanged: `put` makes the
 * inactive one serve instead of the other. Sometimes the brokers are stopped,
 * and take numbers of the other one of two keys. */
void put_back_fail_over(struct chaos *chaos, const char *name,
                        const struct put_back *way, int times);
