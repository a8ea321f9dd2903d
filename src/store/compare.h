/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares what the stores of a pool say about themselves with the layout and
 * with each other: at a start, by `seqctl check --probe`, and by a migration.
 * Pure.
 */
#pragma once

#include "store/layout.h"

/* The stores as claim_read found them, and the caller's report function. */
struct compare {
    const struct layout *layout;
    struct layout_stores *stores;
    /* `member` is the store at fault; the status is SEQB_LAYOUT. */
    void (*report)(void *context, int32_t member, const struct seqb_error *why);
    void *context;
};

/* Checks that each store is in its place in the layout: by the store's own
 * claim and, for a store that may forget, by the claim of the authority that
 * leases to it. */
void compare_places(const struct compare *compare);

/* Reports two backends that lead to the same store: they would fail together,
 * and a layout with both could never be corrected. */
void compare_twins(const struct compare *compare);

/* Reports stores that have no claim of a pool although it is in use, as `claim`
 * says, and that `claim` does not name. To be called before compare_claims. */
void compare_strangers(const struct compare *compare,
                       const struct layout_store *claim);

/*
 * Composes the layout as text. For stores that were not reached or have no
 * claim of the pool, it takes the ids from `claim` (NULL: there is none). Each
 * store that claims another layout is reported. SEQB_LAYOUT if the text does
 * not fit.
 */
enum seqb_status compare_claims(const struct compare *compare,
                                const struct layout_store *claim, char *out,
                                size_t size, struct seqb_error *err);

/* Compares the id `standing` of a store ("": a new store) with the id
 * `expected` of the layout ("": any id is accepted). SEQB_LAYOUT if they
 * differ. */
enum seqb_status compare_id(const char *backend, const char *standing,
                            const char *expected, struct seqb_error *err);

/* Compares the place `standing` that a store claims with the partition that it
 * is configured as. SEQB_LAYOUT if they differ. */
enum seqb_status compare_place(const char *backend, const char *standing,
                               const struct layout *layout, int32_t partition,
                               struct seqb_error *err);

/* Compares the pool `standing` for which the authority leased windows to the
 * store ("": for none) with the layout's pool. */
enum seqb_status compare_lessee(const char *backend, const char *standing,
                                const struct layout *layout,
                                struct seqb_error *err);

/* "<pool>/<partition>", as stores keep it. */
void compare_place_name(const struct layout *layout, int32_t partition,
                        char *out, size_t size);
