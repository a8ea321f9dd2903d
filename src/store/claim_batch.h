/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claims of many sequences, asked of one store in few calls. A batch says
 * which of them stand as they ought to. Why one does not is for claim.h, which
 * asks for that one alone. See docs/decisions/0055-claims-in-batches.md.
 */
#pragma once

#include "store/claim.h"

#define CLAIM_BATCH 512 /* claims in one at most */

struct claim_batch;

/* An empty one, or NULL when out of memory. Free with free(). */
struct claim_batch *claim_batch_new(void);

/* Empties it. */
void claim_batch_begin(struct claim_batch *batch);

/* What claim_sequence asks first: claims the sequence's bits. In a pool with an
 * earlier generation a direct store is only read, since what it says of that
 * one comes before a claim. The batch has less than CLAIM_BATCH claims. */
void claim_batch_add(struct claim_batch *batch,
                     const struct connection *connection,
                     const struct claim_attributes *attributes);

/* What claim_check_moved asks: that the sequence was not used in `other`. */
void claim_batch_add_moved(struct claim_batch *batch,
                           const struct layout *other, const char *key);

size_t claim_batch_count(const struct claim_batch *batch);

/* One call to the store, for some of the claims that were not asked yet.
 * Errors as connection_claim. After a failure the batch says of no claim that
 * it stands. */
enum seqb_status claim_batch_step(struct claim_batch *batch,
                                  struct connection *connection,
                                  struct seqb_error *err);
bool claim_batch_is_done(const struct claim_batch *batch);

/* Whether the i-th claim was asked for, and stands as it ought to. False: it
 * must be asked for alone. */
bool claim_batch_stands(const struct claim_batch *batch, size_t i);
