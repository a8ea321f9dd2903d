/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims in a store: who it is, the partition that it stands in, the layout of
 * its pools, the memory bits of each sequence. The connection is open.
 */
#pragma once

#include "store/connection.h"
#include "store/layout.h"

#define CLAIM_TERMS_SIZE 192 /* of what a sequence claims */

/* Reads what the store says of itself, of its place, and of the pool's
 * layout; nothing is written. */
enum seqb_status claim_look(struct connection *connection,
                            const struct layout *layout,
                            struct layout_store *out, struct seqb_error *err);

/* Gives the store an id if it has none: a direct one by chance, a windowed
 * one its backend's name. */
enum seqb_status claim_identify(struct connection *connection,
                                struct layout_store *out,
                                struct seqb_error *err);

/* Compares the place that a store claims with where it is to stand now. */
enum seqb_status claim_compare_place(const char *name, const char *standing,
                                     const struct layout *layout,
                                     int32_t partition, struct seqb_error *err);

/* Compares the store with the layout of a pool, and claims it for that pool if
 * nobody has. SEQB_LAYOUT if it is another store or has another layout. */
enum seqb_status claim_verify(struct connection *connection,
                              const struct layout *layout,
                              const struct layout_claim *claim, int32_t member,
                              struct seqb_error *err);

/* SEQB_LAYOUT if the pool was migrated to a later generation. */
enum seqb_status claim_check_retired(struct connection *connection,
                                     const struct layout *layout,
                                     struct seqb_error *err);

/* Tells the pool's brokers that `by`, an internal name, has taken its place;
 * SEQB_LAYOUT if another one has. */
enum seqb_status claim_retire(struct connection *connection,
                              const struct layout *layout, const char *by,
                              struct seqb_error *err);

/* What of a sequence is claimed. */
struct claim_terms {
    const struct layout *layout; /* its pool's */
    const char *key;
    int32_t memory_bits;
    const char *more; /* claimed after the memory bits, " period=day"; "" */
};

/* What is claimed for the sequence in a generation of its pool, "" if nothing
 * is. */
enum seqb_status claim_look_sequence(struct connection *connection,
                                     const struct claim_terms *terms,
                                     int32_t generation, char *out, size_t size,
                                     struct seqb_error *err);

/* Claims or compares the memory bits of a sequence. SEQB_LAYOUT also
 * if it was used in an earlier generation and did not come along. */
enum seqb_status claim_sequence(struct connection *connection,
                                const struct claim_terms *terms,
                                struct seqb_error *err);

/* The same, by who brings it along. */
enum seqb_status claim_migrated(struct connection *connection,
                                const struct claim_terms *terms,
                                struct seqb_error *err);

/*
 * In a direct store: the number that stands under the name becomes at least
 * `value`, durably, and is told. A claim that is swapped for a higher one: no
 * counter, which would begin after the base, or bind that of a store that
 * changed. SEQB_AGAIN: other brokers were faster; SEQB_CORRUPT.
 */
enum seqb_status claim_raise(struct connection *connection, const char *name,
                             int64_t value, int64_t *standing,
                             struct seqb_error *err);
