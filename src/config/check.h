/* SPDX-License-Identifier: Apache-2.0 */
/* The rules between settings, all of them: what the reader cannot see in one
 * value, and what needs no file to be known. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/mistakes.h"
#include "config/schema.h"

/* Adds a mistake for every rule broken. Values that were reported as wrong
 * already break none. */
void check_draft(const struct draft *draft, struct mistakes *mistakes);

/* The index of what has that name, -1 if nothing has or the name is NULL. */
int32_t check_find_backend(const struct draft *draft, const char *name);

/* The index of a sequence's pool: the only one if none is named. */
int32_t check_find_pool(const struct draft *draft,
                        const struct draft_sequence *sequence);

/* Whether a partition of the pool has that guarantee. */
bool check_pool_has(const struct draft *draft, const struct draft_pool *pool,
                    enum seqb_guarantee guarantee);

/* n of 2^n; -1 if `count` is no power of two from 1 to HA_PARTITIONS_MAX. */
int32_t check_bits(size_t count);
