/* SPDX-License-Identifier: Apache-2.0 */
/* config/mixed.conf over real servers, all but their ports as the sample has
 * it: two MariaDB, a PostgreSQL and a Redis. For programs that are started in
 * the folder that holds config/. */
#pragma once

#include "bench/direct.h"
#include "bench/topology.h"

#define MIXED 4 /* partitions */

/* The servers end with the program. */
void mixed_start(struct topology *out);

/* The same stores asked directly for one number at a time, in turn. */
struct mixed_direct;
struct mixed_direct *mixed_direct_new(void);
void mixed_direct_next(struct mixed_direct *direct);
void mixed_direct_free(struct mixed_direct *direct);

/* SIGSTOP to one store, and SIGCONT. */
void mixed_pause(size_t i);
void mixed_resume(size_t i);
