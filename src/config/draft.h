/* SPDX-License-Identifier: Apache-2.0 */
/* What a draft says across its sections, for its checks and its building. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/schema.h"

/* The index of what has that name, -1 if nothing has or the name is NULL. */
int32_t draft_find_backend(const struct draft *draft, const char *name);

/* The index of a sequence's pool: the only one if none is named. */
int32_t draft_find_pool(const struct draft *draft,
                        const struct draft_sequence *sequence);

/* Whether a partition of the pool has that guarantee. */
bool draft_pool_has(const struct draft *draft, const struct draft_pool *pool,
                    enum seqb_guarantee guarantee);

/* n of 2^n; -1 if `count` is no power of two from 1 to HA_PARTITIONS_MAX. */
int32_t draft_partition_bits(size_t count);

/* Bits that the sequence's numbers may have in all. */
int draft_value_bits(const struct draft_sequence *sequence);
