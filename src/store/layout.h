/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a pool, and its text form that the stores keep. Pure. */
#pragma once

#include <seqbroker/admin.h>

#include "store/options.h"
#include "store/value.h"

#define LAYOUT_STORE_SIZE 64
#define LAYOUT_POOL_SIZE  (SEQB_NAME_MAX + 12) /* size of an internal name */

/* The bits of a sequence's windows: its own; if these are 0, the pool's. */
static inline int32_t layout_window_bits(const struct layout *layout,
                                         int32_t own)
{
    return own == 0 ? layout->window_bits : own;
}

/* The number of generations that the pool has had, this one included. */
static inline int32_t layout_generations(const struct layout *layout)
{
    return layout->generation > 1 ? layout->generation : 1;
}

/* The name of a pool in its stores: the pool's name, and "NAME~N" from
 * generation 2 on. No configured pool can have such a name. So a layout shares
 * no counter and no claim with the layouts before it. */
void layout_internal_name(const char *pool, int32_t generation, char *out,
                          size_t size);

/* The members of a pool are its partitions, followed by the authority if that
 * is not one of them. The functions answer the number of members, the backend
 * of the i-th, and which member is the authority; -1: none. */
int32_t layout_member_count(const struct layout *layout);
int32_t layout_member(const struct layout *layout, int32_t i);
int32_t layout_authority(const struct layout *layout);

/* One store of a pool as it was found: of a partition or of the authority. */
struct layout_store {
    const char *backend; /* its name in the topology */
    bool forgets;        /* its engine is windowed: the store may forget */
    bool is_windowed;    /* its partition counts in windows */
    bool is_reached;
    char id[LAYOUT_STORE_SIZE];    /* the id that it claims, "" if it has
                                      none */
    char place[LAYOUT_STORE_SIZE]; /* "<pool>/<partition>", or "" */
    char layout[SEQB_CLAIM_SIZE];  /* the layout that it claims, or "" */
};

/* The stores of a pool's members. */
struct layout_stores {
    struct layout_store *stores;
    int32_t count;
    int32_t partitions;
    int32_t authority; /* index of the authority's store; -1: none */
    /* By partition: the pool for which the authority leased windows to the
     * store, or "". */
    char lessees[STORE_PARTITIONS_MAX][LAYOUT_STORE_SIZE];
};

/* Whether backends of that engine may lease windows to their neighbours. */
bool layout_may_lease(const struct seqb_backend_ops *ops);

/*
 * The lessors of a pool with neighbours are its partitions that may lease, in
 * the order of the partitions' indexes. The functions answer their number (0
 * without neighbours), the partition of the i-th lessor, and how many low bits
 * of a window's number say which lessor leased it.
 */
int32_t layout_lessor_count(const struct layout *layout,
                            const struct store_options *backends);
int32_t layout_lessor(const struct layout *layout, int32_t i,
                      const struct store_options *backends);
int32_t layout_lessor_bits(int32_t count);

/*
 * Whether a member of the pool, which has that engine, counts in windows:
 * because its store may forget, or because the pool makes all members but its
 * authority count in windows, or all members.
 */
bool layout_is_windowed(const struct layout *layout, int32_t member,
                        const struct seqb_backend_ops *ops);

/* A backend's store, and the stores of a pool, before anything was read from
 * them. Errors: SEQB_NO_MEMORY. layout_stores_fini accepts zeroed stores. */
struct layout_store layout_store_of(const struct store_options *backend);
enum seqb_status layout_stores_init(struct layout_stores *stores,
                                    const struct layout *layout,
                                    const struct store_options *backends,
                                    struct seqb_error *err);
void layout_stores_fini(struct layout_stores *stores);

/* The layout as text, as every store of the pool keeps it. It has the ids of
 * direct stores and the names of the others. */
enum seqb_status layout_compose(const struct layout *layout,
                                const struct layout_stores *stores, char *out,
                                size_t size, struct seqb_error *err);

/* Whether the text is the layout of an earlier generation of the layout's
 * pool. */
bool layout_is_earlier(const struct layout *layout, const char *text);

/* The first store, in order, that has a claim; NULL: this is a first start. */
const struct layout_store *
layout_find_claim(const struct layout_stores *stores);

/* Answers SEQB_LAYOUT: no store has a claim of this generation, which is not
 * the first. So it is not known what the generation before it has issued. */
enum seqb_status layout_not_migrated(const struct layout *layout,
                                     struct seqb_error *err);

/* Finds two direct stores that were reached and have the same id; false if
 * there are none. */
bool layout_find_twins(const struct layout_stores *stores,
                       const struct layout_store **a,
                       const struct layout_store **b);

/* Whether a store that keeps claims was reached and has no claim of the
 * pool. */
bool layout_is_unclaimed(const struct layout_store *store);

/* The id that a stored claim names for the i-th store; "" if it names none. */
void layout_named(const char *standing, const struct layout_stores *stores,
                  int32_t i, char out[LAYOUT_STORE_SIZE]);

/* Fills in the ids of direct stores that were not reached from a stored claim,
 * so that the layout can be composed without them, and replaces the ids of
 * stores that have no claim of the pool. */
void layout_adopt(const char *standing, struct layout_stores *stores);

/* Compares a stored claim with the expected one. SEQB_OK, or SEQB_LAYOUT with
 * what differs and in which backend. */
enum seqb_status layout_compare(const char *backend, const char *standing,
                                const char *expected, struct seqb_error *err);
