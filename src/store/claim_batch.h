/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claims of many sequences, sent to one store in few calls. A batch says
 * which claims are stored as expected. claim.h then asks for a single claim to
 * find out why it is not. See docs/decisions/0055-claims-in-batches.md.
 */
#pragma once

#include "store/claim.h"

#define CLAIM_BATCH 512 /* the most claims in a batch */

struct claim_batch;

/* An empty batch, or NULL when out of memory. Free it with free(). */
struct claim_batch *claim_batch_new(void);

/* Empties the batch. */
void claim_batch_begin(struct claim_batch *batch);

/* Adds the first step of claim_sequence: claims the sequence's bits. If the
 * pool has an earlier generation, the claim of a direct store is only read,
 * because the earlier generation must be checked before a claim. The batch must
 * have less than CLAIM_BATCH claims. */
void claim_batch_add(struct claim_batch *batch,
                     const struct connection *connection,
                     const struct claim_attributes *attributes);

/* Adds the check that the store does not know the sequence in that generation
 * of the pool. The claim is only read. */
void claim_batch_add_absent(struct claim_batch *batch,
                            const struct layout *layout, int32_t generation,
                            const char *key);

/* Adds the check of claim_check_moved: that the sequence was not used in
 * `other`. It has a claim for each generation. */
void claim_batch_add_moved(struct claim_batch *batch,
                           const struct layout *other, const char *key);

size_t claim_batch_count(const struct claim_batch *batch);

/* One call to the store, for some of the claims that were not sent yet. Errors
 * as for connection_claim. After a failure no claim of the batch counts as
 * stored. */
enum seqb_status claim_batch_step(struct claim_batch *batch,
                                  struct connection *connection,
                                  struct seqb_error *err);
bool claim_batch_is_done(const struct claim_batch *batch);

/* Whether the i-th claim was sent, and is stored as expected. False: the caller
 * must ask for this claim alone. */
bool claim_batch_stands(const struct claim_batch *batch, size_t i);
