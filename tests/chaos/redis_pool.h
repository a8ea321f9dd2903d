/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of the Redis scenarios: one counter, whose windows a SQLite file
 * leases. */
#pragma once

#include "chaos.h"

/* Writes the topology by `set`, which is chaos_topology or chaos_topology_odd.
 * `place` has the backend's settings that name its servers. */
void redis_pool_set(struct chaos *chaos,
                    void (*set)(struct chaos *chaos, const char *text),
                    const char *place);
