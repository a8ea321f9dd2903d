/* SPDX-License-Identifier: Apache-2.0 */
/* How soon a broker must notice that a partition is well. Pure functions. */
#pragma once

#include "run.h"

/* The time since which that broker could have got answers: its partition's
 * server and, if the partition is windowed, the servers of its lessors are
 * well. WORLD_NEVER: it cannot. */
int64_t bounds_able_since(const struct broker *broker, int32_t partition);

/* The longest time from then until the partition is used again. */
int64_t bounds_rescue(const struct scene *scene, int32_t partition);

/* The same while somebody waits and no other partition is left. */
int64_t bounds_forced(const struct scene *scene, int32_t partition);
