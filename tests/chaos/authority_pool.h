/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool whose windows are leased by a cluster that is not a partition. Its
 * partitions are two Redis, a memcached and a SQLite file, which forget.
 */
#pragma once

#include "chaos.h"

/* Makes empty stores, and writes the topologies of brokers with even and odd
 * indexes. `even` and `odd` are the settings that name the cluster. */
void authority_pool_set(struct chaos *chaos, const char *even, const char *odd);

/* A fault, one of these in turn: the SQLite file is put back, both Redis are
 * emptied, the memcached is restarted, the brokers are killed and started.
 * Brokers take numbers at the end. */
void authority_pool_forget(struct chaos *chaos);
