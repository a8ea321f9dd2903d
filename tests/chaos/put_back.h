/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios of pools with windows = "all": physical copies of a store, with
 * all that names it and its history, are put back in its place, the same copy
 * again and again, while four brokers take numbers, or are killed and started.
 *
 * The store that leases the windows is a SQLite file, no partition, and is
 * never put back: so every number is of a store that goes back.
 */
#pragma once

#include "chaos.h"

/* What happens to a store. */
struct put_back {
    void (*copy)(struct chaos *chaos);
    void (*put)(struct chaos *chaos); /* makes it serve again; may start the
                                         brokers if none runs */
};

/* The topology of all brokers: those backends, the names of which are the
 * partitions, 2^bits of them. */
void put_back_topology(struct chaos *chaos, const char *backends,
                       const char *names, int32_t bits);

/* Makes one copy, and puts it back `times` times: under brokers, between
 * brokers, and shortly before their end, in turn. */
void put_back_run(struct chaos *chaos, const char *name,
                  const struct put_back *way, int times);

/* A store A is copied, and the copy B and A serve in turn, as they are: `put`
 * lets the one that is away serve in the other one's place. Now and then the
 * brokers end, and take numbers of the other one of two keys. */
void put_back_fail_over(struct chaos *chaos, const char *name,
                        const struct put_back *way, int times);
