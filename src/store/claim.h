/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims in a store: the store's id, its partition, the layout of its pools,
 * the bits of each sequence. The connection must be open.
 */
#pragma once

#include "store/connection.h"
#include "store/layout.h"

#define CLAIM_SEQUENCE_SIZE 208 /* the text of a sequence's claim */

/* The name of the claim that has the store's id. */
#define CLAIM_STORE "store"

/* A pool's layout as every store of it keeps it. */
struct layout_claim {
    const struct store_options *backends; /* of the topology */
    char text[SEQB_CLAIM_SIZE];
    char store_ids[STORE_MEMBERS_MAX][LAYOUT_STORE_SIZE]; /* by member */
};

/* The name of a claim of the pool: "<kind>/<the pool's internal name>". */
void claim_pool_name(const char *kind, const struct layout *layout, char *out,
                     size_t size);

/* Reads the store's id, its place, and its claim of the pool's layout. Writes
 * nothing. */
enum seqb_status claim_read(struct connection *connection,
                            const struct layout *layout,
                            struct layout_store *out, struct seqb_error *err);

/* Checks in one round trip, without a write, whether the store answers. Errors
 * as for connection_claim. */
enum seqb_status claim_look(struct connection *connection,
                            struct seqb_error *err);

/* Gives the store an id if it has none: a random one for a direct store, the
 * backend's name for a windowed store. */
enum seqb_status claim_identify(struct connection *connection,
                                struct layout_store *out,
                                struct seqb_error *err);

/*
 * Reads from a pool's authority, for each partition whose store may forget, the
 * pool for which the authority leased windows to that store; "" for none. Such
 * a store may be empty by now, so only the authority knows that the pool was
 * renamed. The authority identifies the store by its address.
 */
enum seqb_status claim_read_lessees(struct connection *authority,
                                    const struct layout *layout,
                                    const struct store_options *backends,
                                    char (*out)[LAYOUT_STORE_SIZE],
                                    struct seqb_error *err);

/* Compares the store with the layout of a pool, and claims the store for that
 * pool if no pool has claimed it; an authority also for the pool's lessees.
 * SEQB_LAYOUT if it is another store or has another layout. */
enum seqb_status claim_verify(struct connection *connection,
                              const struct layout *layout,
                              const struct layout_claim *claim, int32_t member,
                              struct seqb_error *err);

/* The part of claim_verify that a store which may forget needs again and again:
 * compares the layout that the pool claimed there, or claims it again.
 * SEQB_LAYOUT if brokers of another layout have claimed it. */
enum seqb_status claim_layout(struct connection *connection,
                              const struct layout *layout,
                              const struct layout_claim *claim,
                              struct seqb_error *err);

/* SEQB_LAYOUT if the pool was migrated to a later generation. */
enum seqb_status claim_check_retired(struct connection *connection,
                                     const struct layout *layout,
                                     struct seqb_error *err);

/* SEQB_LAYOUT if a direct store has no claim of the pool's generation, which
 * the migration wrote to all direct stores. */
enum seqb_status claim_check_migrated(struct connection *connection,
                                      const struct layout *layout,
                                      struct seqb_error *err);

/* Notes for the pool's brokers that `by`, an internal name, has replaced the
 * pool; SEQB_LAYOUT if another one has replaced it already. */
enum seqb_status claim_retire(struct connection *connection,
                              const struct layout *layout, const char *by,
                              struct seqb_error *err);

/* The attributes of a sequence that are claimed. */
struct claim_attributes {
    const struct layout *layout; /* of its pool */
    const char *key;
    int32_t memory_bits;
    int32_t window_bits; /* 0: the pool's. A sequence's own bits are claimed if
                            they differ from the pool's, which the layout
                            claims */
    const char *more;    /* appended to the claim after the bits, " period=day";
                            "" */
};

/* The name of the sequence's claim in a generation of its pool, and the text of
 * the claim. */
void claim_sequence_name(const struct claim_attributes *attributes,
                         int32_t generation, char *out, size_t size);
void claim_sequence_text(const struct claim_attributes *attributes, char *out,
                         size_t size);

/* Reads the sequence's claim in a generation of its pool; "" if there is
 * none. */
enum seqb_status claim_read_sequence(struct connection *connection,
                                     const struct claim_attributes *attributes,
                                     int32_t generation, char *out, size_t size,
                                     struct seqb_error *err);

/* SEQB_LAYOUT if the store knows the sequence of an earlier generation of its
 * pool, and not of this one. */
enum seqb_status claim_check_history(struct connection *connection,
                                     const struct claim_attributes *attributes,
                                     struct seqb_error *err);

/* Claims or compares the bits of a sequence. SEQB_LAYOUT also if it was used in
 * an earlier generation and was not migrated. */
enum seqb_status claim_sequence(struct connection *connection,
                                const struct claim_attributes *attributes,
                                struct seqb_error *err);

/* Whether claim_sequence reads the claims of earlier generations in this store
 * before it writes one. */
bool claim_has_history(const struct connection *connection,
                       const struct claim_attributes *attributes);

/* SEQB_LAYOUT if the sequence was used in `other`, a pool that this store
 * belongs to, in any of its generations, although it is configured in pool
 * `pool` of other stores. */
enum seqb_status claim_check_moved(struct connection *connection,
                                   const struct layout *other, const char *key,
                                   const char *pool, struct seqb_error *err);

/* As claim_sequence, for the migration that brings the sequence along: it does
 * not check earlier generations. */
enum seqb_status claim_migrated(struct connection *connection,
                                const struct claim_attributes *attributes,
                                struct seqb_error *err);

/*
 * Raises `*gap` to the largest `failover_gap` that any broker of the pool had,
 * according to this direct store, or has the store keep `*gap` if that is
 * larger. It is stored because brokers with another topology are granted
 * numbers by their own gap, and any broker may be the one that has to raise a
 * store that lost those numbers. Errors as for claim_raise.
 */
enum seqb_status claim_gap(struct connection *connection,
                           const struct layout *layout, int64_t *gap,
                           struct seqb_error *err);

/* Reads the largest `failover_gap` that any broker of the pool had, as
 * claim_gap stored it; 0: none. Writes nothing. */
enum seqb_status claim_read_gap(struct connection *connection,
                                const struct layout *layout, int64_t *gap,
                                struct seqb_error *err);

/*
 * Direct stores only. Sets the number stored under the name to at least
 * `value`, durably, and answers the result. It is a claim that is swapped for a
 * higher one, not a counter: a counter would begin after the base, or would
 * bind that of a changed store. SEQB_AGAIN: other brokers were faster;
 * SEQB_CORRUPT.
 */
enum seqb_status claim_raise(struct connection *connection, const char *name,
                             int64_t value, int64_t *standing,
                             struct seqb_error *err);
