/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster that is one backend: the pool that has it alone, and members that
 * are killed and stopped while the others go on.
 */
#pragma once

#include "chaos.h"

/* The members that faults are for. `settle` returns when all of them serve;
 * NULL: server_start sees to that. */
void members_set(struct server *const *members, size_t count,
                 void (*settle)(void));

/* Writes the topology of the even and of the odd brokers: a pool of one direct
 * backend. `even` and `odd` are what names the cluster. The gap exceeds what
 * the fastest broker takes while the slowest takes what is waited for. */
void members_topology(struct chaos *chaos, const char *even, const char *odd);

/* Faults: any of them is killed, or stopped; brokers take numbers; it starts,
 * or goes on. */
void members_kill_one(struct chaos *chaos);
void members_stop_one(struct chaos *chaos);
