/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a sequence's numbers: how many bits they have for what counts,
 * and what their texts need. For check.c. */
#pragma once

#include "config/mistakes.h"
#include "config/schema.h"

/* `pool` is the sequence's, NULL if it was not found. */
void check_number(const struct draft *draft,
                  const struct draft_sequence *sequence,
                  const struct draft_pool *pool, struct mistakes *mistakes);
