/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stores of a pool say of themselves, compared with its layout and
 * with each other: at a start, by `seqctl check --probe`, by a migration. Pure.
 */
#pragma once

#include "store/layout.h"

/* The stores as claim_read found them, and who hears what is wrong. */
struct compare {
    const struct layout *layout;
    struct layout_stores *stores;
    /* `member` is the store at fault; the status is SEQB_LAYOUT. */
    void (*report)(void *context, int32_t member, const struct seqb_error *why);
    void *context;
};

/* Whether each store stands where the layout has it: by its own word, and for
 * one that may forget, by that of the authority which leases to it. */
void compare_places(const struct compare *compare);

/* Two backends that lead to one store would fail together, and a layout with
 * them could never be put right. */
void compare_twins(const struct compare *compare);

/* Stores that know nothing of a pool which is in use, as `claim` says, and that
 * it does not name. Before compare_claims. */
void compare_strangers(const struct compare *compare,
                       const struct layout_store *claim);

/*
 * The layout as text, with the ids that `claim` (NULL: none stands) has of
 * stores which were not reached, or know nothing of the pool; each store that
 * claims another one is reported. SEQB_LAYOUT if the text does not fit.
 */
enum seqb_status compare_claims(const struct compare *compare,
                                const struct layout_store *claim, char *out,
                                size_t size, struct seqb_error *err);

/* A store that says it is `standing` ("": new) stands where the layout names
 * `expected`; "": any will do. SEQB_LAYOUT if that is another one. */
enum seqb_status compare_id(const char *backend, const char *standing,
                            const char *expected, struct seqb_error *err);

/* A store that claims to stand in `standing` is configured as a partition.
 * SEQB_LAYOUT if that is another place. */
enum seqb_status compare_place(const char *backend, const char *standing,
                               const struct layout *layout, int32_t partition,
                               struct seqb_error *err);

/* The same for a store to which the authority leased windows for the pool
 * `standing`; "": for none. */
enum seqb_status compare_lessee(const char *backend, const char *standing,
                                const struct layout *layout,
                                struct seqb_error *err);

/* "<pool>/<partition>", as stores keep it. */
void compare_place_name(const struct layout *layout, int32_t partition,
                        char *out, size_t size);
