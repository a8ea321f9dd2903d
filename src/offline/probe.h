/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a probe of every backend found, and what it means for the pools. These
 * functions are pure; offline_probe, which does the I/O, is in offline.h.
 */
#pragma once

#include <seqbroker/admin.h>

#include "store/store.h"

/* A pool's stores as they were read. `found` has one element for each backend
 * of the topology; `backends` maps stores to backends. */
struct probe_pool {
    const struct layout *options;
    const struct store_options *stored; /* the topology's backends; NULL: no
                                           comparison of failure domains */
    struct layout_stores stores;
    int32_t backends[STORE_MEMBERS_MAX];
    struct seqb_probe *found;
};

/* Compares the stores' claims with the topology. A backend whose claims differ
 * gets SEQB_LAYOUT with the reason. */
void probe_check_layout(struct probe_pool *pool);

/* A generation above the first that no store knows is not a new pool: the pool
 * was not migrated. SEQB_LAYOUT for each backend that was reached. */
void probe_check_generation(struct probe_pool *pool);

/* Warns of the pool's stores that fail together. */
void probe_warn_domains(const struct probe_pool *pool,
                        const struct seqb_probe_listener *listener);
