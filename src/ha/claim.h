/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims in a store: who it is, the partition that it stands in, the layout of
 * its pools, the memory bits of each sequence. Called on the store's worker's
 * thread.
 */
#pragma once

#include "ha/state.h"

/* Reads what the store says of itself, of its place, and of the pool's
 * layout; nothing is written. */
enum seqb_status claim_look(struct worker *worker,
                            const struct ha_pool_options *pool,
                            struct layout_store *out, struct seqb_error *err);

/* Gives the store an id if it has none: a direct one by chance, a windowed
 * one its backend's name. */
enum seqb_status claim_identify(struct worker *worker, struct layout_store *out,
                                struct seqb_error *err);

/* Compares the place that a store claims with where it is to stand now. */
enum seqb_status claim_compare_place(const char *name, const char *standing,
                                     const struct ha_pool_options *pool,
                                     int32_t partition, struct seqb_error *err);

/* Compares the store with the layout of a pool, and claims it for that pool if
 * nobody has. SEQB_LAYOUT if it is another store or has another layout. */
enum seqb_status claim_verify(struct worker *worker, const struct ha_pool *pool,
                              int32_t member, struct seqb_error *err);

/* Claims or compares the memory bits of a counter's sequence. */
enum seqb_status claim_sequence(struct worker *worker,
                                const struct ha_counter *counter,
                                struct seqb_error *err);
