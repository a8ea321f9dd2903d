/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims in a store: who it is, the partition that it stands in, the layout of
 * its pools, the bits of each sequence. The connection is open.
 */
#pragma once

#include "store/connection.h"
#include "store/layout.h"

#define CLAIM_TERMS_SIZE 208 /* of what a sequence claims */

/* Under which a store says who it is. */
#define CLAIM_STORE "store"

/* A pool's layout as every store of it keeps it. */
struct layout_claim {
    const struct store_options *backends; /* of the topology */
    char text[SEQB_CLAIM_SIZE];
    char store_ids[STORE_MEMBERS_MAX][LAYOUT_STORE_SIZE]; /* by member */
};

/* Reads what the store says of itself, of its place, and of the pool's
 * layout; nothing is written. */
enum seqb_status claim_read(struct connection *connection,
                            const struct layout *layout,
                            struct layout_store *out, struct seqb_error *err);

/* One round trip, which changes nothing: whether the store answers. Errors as
 * connection_claim. */
enum seqb_status claim_look(struct connection *connection,
                            struct seqb_error *err);

/* Gives the store an id if it has none: a direct one by chance, a windowed
 * one its backend's name. */
enum seqb_status claim_identify(struct connection *connection,
                                struct layout_store *out,
                                struct seqb_error *err);

/*
 * Reads from the authority of a pool for which pool it leased windows to each
 * partition's store that may forget; "" for none. Such a store may be empty by
 * now, so that the authority alone knows that the pool's name was changed. A
 * store goes by its address there.
 */
enum seqb_status claim_read_lessees(struct connection *authority,
                                    const struct layout *layout,
                                    const struct store_options *backends,
                                    char (*out)[LAYOUT_STORE_SIZE],
                                    struct seqb_error *err);

/* Compares the store with the layout of a pool, and claims it for that pool if
 * nobody has; an authority for the pool's lessees too. SEQB_LAYOUT if it is
 * another store or has another layout. */
enum seqb_status claim_verify(struct connection *connection,
                              const struct layout *layout,
                              const struct layout_claim *claim, int32_t member,
                              struct seqb_error *err);

/* SEQB_LAYOUT if the pool was migrated to a later generation. */
enum seqb_status claim_check_retired(struct connection *connection,
                                     const struct layout *layout,
                                     struct seqb_error *err);

/* SEQB_LAYOUT if a direct store knows nothing of the pool's generation, which
 * its migration has told to all of them. */
enum seqb_status claim_check_migrated(struct connection *connection,
                                      const struct layout *layout,
                                      struct seqb_error *err);

/* Tells the pool's brokers that `by`, an internal name, has taken its place;
 * SEQB_LAYOUT if another one has. */
enum seqb_status claim_retire(struct connection *connection,
                              const struct layout *layout, const char *by,
                              struct seqb_error *err);

/* What of a sequence is claimed. */
struct claim_attributes {
    const struct layout *layout; /* its pool's */
    const char *key;
    int32_t memory_bits;
    int32_t window_bits; /* 0: the pool's. Its own are claimed if they differ
                            from the pool's, which the layout claims */
    const char *more;    /* claimed after the bits, " period=day"; "" */
};

/* Under which name the sequence's claim stands in a generation of its pool, and
 * what it claims. */
void claim_sequence_name(const struct claim_attributes *attributes,
                         int32_t generation, char *out, size_t size);
void claim_sequence_text(const struct claim_attributes *attributes, char *out,
                         size_t size);

/* What is claimed for the sequence in a generation of its pool, "" if nothing
 * is. */
enum seqb_status claim_read_sequence(struct connection *connection,
                                     const struct claim_attributes *attributes,
                                     int32_t generation, char *out, size_t size,
                                     struct seqb_error *err);

/* Claims or compares the bits of a sequence. SEQB_LAYOUT also
 * if it was used in an earlier generation and did not come along. */
enum seqb_status claim_sequence(struct connection *connection,
                                const struct claim_attributes *attributes,
                                struct seqb_error *err);

/* Whether claim_sequence reads the earlier generations in this store before it
 * claims. */
bool claim_has_history(const struct connection *connection,
                       const struct claim_attributes *attributes);

/* SEQB_LAYOUT if the sequence was used in `other`, a pool that this store is
 * in; it is configured in the pool `pool` of other stores. */
enum seqb_status claim_check_moved(struct connection *connection,
                                   const struct layout *other, const char *key,
                                   const char *pool, struct seqb_error *err);

/* The same as claim_sequence, by who brings it along. */
enum seqb_status claim_migrated(struct connection *connection,
                                const struct claim_attributes *attributes,
                                struct seqb_error *err);

/*
 * Raises `*gap` to the largest `failover_gap` that any broker of the pool had,
 * as this direct store says, or has the store keep `*gap` if that is larger: a
 * broker of another topology is granted numbers by it as well, and a store that
 * lost those is to be raised by as much by whoever comes first. Errors as
 * claim_raise.
 */
enum seqb_status claim_gap(struct connection *connection,
                           const struct layout *layout, int64_t *gap,
                           struct seqb_error *err);

/*
 * In a direct store: the number that stands under the name becomes at least
 * `value`, durably, and is answered. A claim that is swapped for a higher one:
 * no counter, which would begin after the base, or bind that of a store that
 * changed. SEQB_AGAIN: other brokers were faster; SEQB_CORRUPT.
 */
enum seqb_status claim_raise(struct connection *connection, const char *name,
                             int64_t value, int64_t *standing,
                             struct seqb_error *err);
