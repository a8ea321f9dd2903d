/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of periods and ids, of a sequence and over its pool. For check.c.
 */
#pragma once

#include "config/mistakes.h"
#include "config/schema.h"

/* `pool` is the sequence's, NULL if it was not found. */
void check_time(const struct draft *draft,
                const struct draft_sequence *sequence,
                const struct draft_pool *pool, struct mistakes *mistakes);
