/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a look at every backend found, and what it means for the pools. The
 * verdicts are pure; ha_inspect, which looks, is in ha.h.
 */
#pragma once

#include "ha/layout.h"
#include "ha/pool.h"

/* A pool's stores as they were found; `found` has one element a backend of
 * the options, `backends` says which one each store is. */
struct inspect_pool {
    const struct ha_pool_options *options;
    struct layout_stores stores;
    int32_t backends[POOL_MEMBERS_MAX];
    struct seqb_probe *found;
};

/* Compares what the stores claim with the topology. A backend at odds with it
 * is SEQB_LAYOUT, with the reason. */
void inspect_layout(struct inspect_pool *pool);

/* A later generation that no store knows is not a pool to be, but one that was
 * not migrated: SEQB_LAYOUT for each backend that was reached. */
void inspect_generation(struct inspect_pool *pool);

/* Tells what of the pool fails together. */
void inspect_domains(const struct inspect_pool *pool,
                     const struct seqb_probe_listener *listener);
