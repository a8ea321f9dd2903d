/* SPDX-License-Identifier: Apache-2.0 */
/* A private redis-sentinel. server_ask and redis_execute work on it, too. */
#pragma once

#include "support/server_redis.h"

/* A sentinel that watches nothing yet. `args` as for server_redis. */
struct server *server_sentinel(void);
struct server *server_sentinel_with(const char *const *args);

/* A redis-server that is a replica of `master`. On return, it has all of the
 * master's data. */
struct server *server_replica(struct server *master);

/* Makes the sentinel watch a redis-server under that name, with a quorum of 1.
 * On return, the sentinel knows the server's `replicas` replicas. */
void sentinel_watch(struct server *sentinel, const char *name,
                    const struct server *master, size_t replicas);

/* From now on the sentinel replaces a master that does not answer for 200 ms.
 * Before this call it waits longer, so that a stalling machine causes no
 * failover. */
void sentinel_hurry(struct server *sentinel, const char *name);
