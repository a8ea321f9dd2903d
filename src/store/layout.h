/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bits of a number, and the layout as a text that stores keep. Pure.
 *
 *   number = ((v << bits | partition) << memory_bits) | k
 *   v      = window << window_bits | offset      in a windowed partition
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#include "store/options.h"

#define LAYOUT_BITS_ALL   63 /* of a number */
#define LAYOUT_STORE_SIZE 64
#define LAYOUT_POOL_SIZE  (SEQB_NAME_MAX + 12) /* of an internal name */

/* How many windows a changed authority is raised by: leases are rare, so that
 * this covers more lost ones than a store can forget in practice. */
#define WINDOW_GAP 65536

/* The largest counter value whose numbers fit in 63 bits. */
int64_t layout_counter_max(int32_t bits, int32_t memory_bits);

/* The largest window whose numbers fit; 0: none does. */
int64_t layout_window_max(int32_t bits, int32_t memory_bits,
                          int32_t window_bits);

/* The first number of counter value `v`; `v` must not pass the maximum. */
int64_t layout_number(int64_t v, int32_t partition, int32_t bits,
                      int32_t memory_bits);

/* What the number's bits say. */
void layout_decode(int64_t number, int32_t bits, int32_t memory_bits,
                   struct seqb_decoded *out);

/*
 * What the stores call a pool: its name in the first generation, "NAME~N" in
 * the later ones, which no pool can be named. In counters and claims, so that
 * a layout shares none of them with those before it.
 */
void layout_internal_name(const char *pool, int32_t generation, char *out,
                          size_t size);

/* The members of a pool are its partitions, then the authority if it is none
 * of them: how many there are, which backend the i-th is, and which member is
 * the authority; -1: none. */
int32_t layout_member_count(const struct layout *layout);
int32_t layout_member(const struct layout *layout, int32_t i);
int32_t layout_authority(const struct layout *layout);

/* One store of a pool as it was found: a partition's, or the authority's. */
struct layout_store {
    const char *backend; /* its name in the topology */
    bool is_windowed;
    bool is_local;
    bool is_reached;
    char id[LAYOUT_STORE_SIZE];    /* what it says it is, "" if unclaimed */
    char place[LAYOUT_STORE_SIZE]; /* "<pool>/<partition>" it stands in, or
                                      "" */
    char layout[SEQB_CLAIM_SIZE];  /* the claim that stands there, or "" */
};

/* The stores of a pool: its partitions, then the authority if it is none of
 * them. */
struct layout_stores {
    struct layout_store *stores;
    int32_t count;
    int32_t partitions;
    int32_t authority; /* index of the authority's; -1: none */
};

/* A backend's store, and those of a pool, of which nothing is known yet.
 * SEQB_NO_MEMORY. layout_stores_fini takes zeroed ones. */
struct layout_store layout_store_of(const struct store_options *backend);
enum seqb_status layout_stores_init(struct layout_stores *stores,
                                    const struct layout *layout,
                                    const struct store_options *backends,
                                    struct seqb_error *err);
void layout_stores_fini(struct layout_stores *stores);

/* A store that keeps no id goes by a name that its backend's settings give: a
 * windowed one by the backend's, a local one by its bits and epoch as well. */
static inline bool layout_is_named(const struct layout_store *store)
{
    return store->is_windowed || store->is_local;
}
void layout_store_name(const struct store_options *backend, char *out,
                       size_t size);

/*
 * The layout as text, as every store of the pool keeps it. A direct store goes
 * by its id, the others by their names.
 */
enum seqb_status layout_compose(const struct layout *layout,
                                const struct layout_stores *stores, char *out,
                                size_t size, struct seqb_error *err);

/* The first store, in order, whose claim stands, or NULL: a first start. */
const struct layout_store *
layout_find_claim(const struct layout_stores *stores);

/* SEQB_LAYOUT: a later generation that no store has a claim of. What the one
 * before it has issued is not known then. */
enum seqb_status layout_not_migrated(const struct layout *layout,
                                     struct seqb_error *err);

/* Two direct stores that were reached and have one id; false if none have. */
bool layout_find_twins(const struct layout_stores *stores,
                       const struct layout_store **a,
                       const struct layout_store **b);

/* The first store after `past` (NULL: of all) that was reached, and is new in a
 * pool that is in use; NULL: none is. */
const struct layout_store *
layout_find_stranger(const struct layout_stores *stores,
                     const struct layout_store *past);

/*
 * Completes the ids of direct stores that were not reached with those of a
 * standing claim, so that the layout can be composed without them. The id of
 * an authority that the claim does not name stays "".
 */
void layout_adopt(const char *standing, struct layout_stores *stores);

/* A pool's layout as every store of it keeps it. */
struct layout_claim {
    char text[SEQB_CLAIM_SIZE];
    char store_ids[STORE_MEMBERS_MAX][LAYOUT_STORE_SIZE]; /* by member */
};

/* Compares a standing claim with what ought to stand: SEQB_OK or SEQB_LAYOUT
 * with what differs and where it stands. */
enum seqb_status layout_compare(const char *backend, const char *standing,
                                const char *expected, struct seqb_error *err);
