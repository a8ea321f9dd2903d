/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a pool, and as a text that its stores keep. Pure. */
#pragma once

#include <seqbroker/admin.h>

#include "store/options.h"
#include "store/value.h"

#define LAYOUT_STORE_SIZE 64
#define LAYOUT_POOL_SIZE  (SEQB_NAME_MAX + 12) /* of an internal name */

/* The bits of a sequence's windows: its own, or with 0 the pool's. */
static inline int32_t layout_window_bits(const struct layout *layout,
                                         int32_t own)
{
    return own == 0 ? layout->window_bits : own;
}

/* What the stores call a pool: its name, and "NAME~N" in later generations. No
 * pool can be named so: a layout shares no counter and no claim with those
 * before it. */
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
    bool forgets;        /* its engine is windowed */
    bool is_windowed;    /* its partition counts in windows */
    bool is_reached;
    char id[LAYOUT_STORE_SIZE];    /* what it says it is, "" if unclaimed */
    char place[LAYOUT_STORE_SIZE]; /* "<pool>/<partition>", or "" */
    char layout[SEQB_CLAIM_SIZE];  /* the claim that stands there, or "" */
};

/* The stores of a pool's members. */
struct layout_stores {
    struct layout_store *stores;
    int32_t count;
    int32_t partitions;
    int32_t authority; /* index of the authority's; -1: none */
    /* By partition: the pool for which the authority leased windows to the
     * store, or "". */
    char lessees[STORE_PARTITIONS_MAX][LAYOUT_STORE_SIZE];
};

/* Whether backends of that engine may lease windows to their neighbours. */
bool layout_may_lease(const struct seqb_backend_ops *ops);

/*
 * The lessors of a pool with neighbours are its partitions that may lease, in
 * the partitions' order, which is that of their indexes: how many there are (0
 * without neighbours), which partition the i-th is, and how many low bits of a
 * window's number say which one leased it.
 */
int32_t layout_lessor_count(const struct layout *layout,
                            const struct store_options *backends);
int32_t layout_lessor(const struct layout *layout, int32_t i,
                      const struct store_options *backends);
int32_t layout_lessor_bits(int32_t count);

/*
 * Whether a member of the pool, which has that engine, counts in windows: since
 * its store may forget, or since the pool believes none but its authority's, or
 * none alone.
 */
bool layout_is_windowed(const struct layout *layout, int32_t member,
                        const struct seqb_backend_ops *ops);

/* A backend's store, and those of a pool, of which nothing is known yet.
 * SEQB_NO_MEMORY. layout_stores_fini takes zeroed ones. */
struct layout_store layout_store_of(const struct store_options *backend);
enum seqb_status layout_stores_init(struct layout_stores *stores,
                                    const struct layout *layout,
                                    const struct store_options *backends,
                                    struct seqb_error *err);
void layout_stores_fini(struct layout_stores *stores);

/* The layout as text, as every store of the pool keeps it. A direct store goes
 * by its id, the others by their names. */
enum seqb_status layout_compose(const struct layout *layout,
                                const struct layout_stores *stores, char *out,
                                size_t size, struct seqb_error *err);

/* Whether the text is what an earlier generation of the layout's pool had. */
bool layout_is_earlier(const struct layout *layout, const char *text);

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

/* Whether a store that keeps claims was reached and has none of the pool. */
bool layout_is_unclaimed(const struct layout_store *store);

/* The id that a standing claim has of the i-th store; "" if it names none. */
void layout_named(const char *standing, const struct layout_stores *stores,
                  int32_t i, char out[LAYOUT_STORE_SIZE]);

/* Completes the ids of direct stores that were not reached with those of a
 * standing claim, so that the layout can be composed without them; and replaces
 * those of stores that know nothing of the pool. */
void layout_adopt(const char *standing, struct layout_stores *stores);

/* Compares a standing claim with what ought to stand: SEQB_OK or SEQB_LAYOUT
 * with what differs and where it stands. */
enum seqb_status layout_compare(const char *backend, const char *standing,
                                const char *expected, struct seqb_error *err);
