/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows are bound to: the store, and once it was found to be another than
 * the base names, an epoch of it. A store that returns to where it was before
 * thus trusts no row that was idle meanwhile, though the row names that place.
 *
 *   STORE           as a store begins
 *   STORE#EPOCH     since it was bound again
 *   STORE#EPOCH!    the same, in the base alone: it is to be raised
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

/* Whether the base, which is bound to `base`, is of that store; then `out` is
 * what its rows are bound to. */
bool sql_epoch_read(const char *base, const char *store,
                    char out[static SEQB_ORIGIN_SIZE]);

/* Whether both are of one store, in whichever epochs. */
bool sql_epoch_shares_store(const char *bound, const char *other);

/* What rows of that store are bound to from now on; `where` begins messages.
 * If the base is not there or nobody's (""), as at the beginning, so that all
 * who raise it agree. */
enum seqb_status sql_epoch_make(const char *where, const char *base,
                                const char *store,
                                char out[static SEQB_ORIGIN_SIZE],
                                struct seqb_error *err);

/* What the base is bound to until it was raised. */
#define SQL_EPOCH_DUE_SIZE (SEQB_ORIGIN_SIZE + 1)
void sql_epoch_due(const char *bound, char out[static SQL_EPOCH_DUE_SIZE]);
