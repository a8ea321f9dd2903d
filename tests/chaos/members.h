/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster as a single backend: a pool with only this backend, and members
 * that are killed and stopped while the others continue.
 */
#pragma once

#include "chaos.h"

/* Sets the members that faults apply to. `settle` returns when all members
 * serve; NULL: server_start waits for that. */
void members_set(struct server *const *members, size_t count,
                 void (*settle)(void));

/* Writes the topologies of brokers with even and odd indexes: a pool of one
 * direct backend. `even` and `odd` are the settings that name the cluster.
 * failover_gap is more than the fastest broker takes while a test waits for the
 * slowest. */
void members_topology(struct chaos *chaos, const char *even, const char *odd);

/* Faults: a random member is killed, or stopped; `meanwhile` is called; the
 * member is started, or continues. _one: brokers take numbers meanwhile. */
void members_kill_while(struct chaos *chaos,
                        void (*meanwhile)(struct chaos *chaos));
void members_stop_while(struct chaos *chaos,
                        void (*meanwhile)(struct chaos *chaos));
void members_kill_one(struct chaos *chaos);
void members_stop_one(struct chaos *chaos);
