/* SPDX-License-Identifier: Apache-2.0 */
/* Raising a counter of mysql-row; see the raise of backend.h. */
#pragma once

#include <seqbroker/backend.h>

#include "backends/mysql_link.h"

/*
 * In a transaction of its own within the call that is under way, on a store
 * that was `origin` when it was opened. A failure leaves the transaction for
 * the caller to roll back.
 */
enum seqb_status mysql_row_raise_locked(struct mysql_link *link,
                                        const char *origin,
                                        const struct seqb_raise *raise,
                                        int64_t *out, struct seqb_error *err);
