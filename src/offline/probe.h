/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a look at every backend found, and what it means for the pools. The
 * verdicts are pure; offline_probe, which looks, is in offline.h.
 */
#pragma once

#include <seqbroker/admin.h>

#include "store/store.h"

/* A pool's stores as they were found; `found` has one element a backend of
 * the options, `backends` says which one each store is. */
struct probe_pool {
    const struct layout *options;
    const struct store_options *stored; /* the topology's backends; NULL: what
                                           fails together is not asked */
    struct layout_stores stores;
    int32_t backends[STORE_MEMBERS_MAX];
    struct seqb_probe *found;
};

/* Compares what the stores claim with the topology. A backend at odds with it
 * is SEQB_LAYOUT, with the reason. */
void probe_check_layout(struct probe_pool *pool);

/* A later generation that no store knows is not a pool to be, but one that was
 * not migrated: SEQB_LAYOUT for each backend that was reached. */
void probe_check_generation(struct probe_pool *pool);

/* Tells what of the pool fails together. */
void probe_warn_domains(const struct probe_pool *pool,
                        const struct seqb_probe_listener *listener);
