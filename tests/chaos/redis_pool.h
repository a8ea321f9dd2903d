/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of the scenarios of Redis: one counter, whose windows a SQLite file
 * leases. */
#pragma once

#include "chaos.h"

/* Writes the topology by chaos_topology or chaos_topology_odd. `place` is
 * what leads the backend to its servers. */
void redis_pool_set(struct chaos *chaos,
                    void (*set)(struct chaos *chaos, const char *text),
                    const char *place);
