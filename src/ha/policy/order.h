/* SPDX-License-Identifier: Apache-2.0 */
/* An operator's orders to a member: quarantine, rescue, drain, resume. Pure, as
 * pool.h. */
#pragma once

#include "ha/policy/pool.h"

/* Carries out an operator's order. A drain of a drained member and a resume of
 * one that is not drained change nothing. SEQB_INVALID, with the reason, if the
 * order makes no sense in the member's state. */
enum seqb_status pool_command(struct pool *pool, int32_t i,
                              enum seqb_order order, int64_t now_ms,
                              struct pool_change *change,
                              struct seqb_error *err);
