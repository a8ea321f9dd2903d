/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows are bound to: the store and, once the store was found to differ
 * from the one that the base names, an epoch of it. So if a store returns to
 * its earlier place, it does not trust rows that were idle meanwhile, although
 * these rows name that place.
 *
 *   STORE           when the store is new
 *   STORE#EPOCH     after it was bound again
 *   STORE#EPOCH!    the same, in the base only: the base must be raised
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

/* Whether the base, which is bound to `base`, belongs to that store; `out` is
 * then what the store's rows are bound to. */
bool sql_epoch_read(const char *base, const char *store,
                    char out[static SEQB_ORIGIN_SIZE]);

/* Whether both texts name the same store, in any epochs. */
bool sql_epoch_shares_store(const char *bound, const char *other);

/* What rows of that store are bound to from now on; `where` begins messages. If
 * the base does not exist or is unbound (""), the result is that of a new
 * store, so that all brokers that raise the base agree. */
enum seqb_status sql_epoch_make(const char *where, const char *base,
                                const char *store,
                                char out[static SEQB_ORIGIN_SIZE],
                                struct seqb_error *err);

/* What the base is bound to until it is raised. */
#define SQL_EPOCH_DUE_SIZE (SEQB_ORIGIN_SIZE + 1)
void sql_epoch_due(const char *bound, char out[static SQL_EPOCH_DUE_SIZE]);
