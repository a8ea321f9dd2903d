/* SPDX-License-Identifier: Apache-2.0 */
/* How soon a broker must notice that a partition is well. Pure. */
#pragma once

#include "run.h"

/* Since when the partition could have answered that broker: its server, and
 * where it is windowed the authority's, are well; WORLD_NEVER: it could not. */
int64_t bounds_able_since(const struct broker *broker, int32_t partition);

/* From then on, how long until it is used again. */
int64_t bounds_rescue(const struct scene *scene, int32_t partition);

/* The same while somebody waits and there is no other. */
int64_t bounds_forced(const struct scene *scene, int32_t partition);
