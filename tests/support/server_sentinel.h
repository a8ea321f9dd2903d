/* SPDX-License-Identifier: Apache-2.0 */
/* A private redis-sentinel; server_ask and redis_execute work on it, too. */
#pragma once

#include "support/server_redis.h"

/* One that watches nothing yet. `args` are as of server_redis. */
struct server *server_sentinel(void);
struct server *server_sentinel_with(const char *const *args);

/* A redis-server that is a replica of that one, and in step with it when it
 * returns. */
struct server *server_replica(struct server *master);

/* Has the sentinel watch a redis-server under that name, on its own vote. It
 * knows the server's replicas, `replicas` of them, when it returns. */
void sentinel_watch(struct server *sentinel, const char *name,
                    const struct server *master, size_t replicas);

/* From now on it replaces a master that does not answer for 200 ms; before, a
 * machine that stalls must not make it do so. */
void sentinel_hurry(struct server *sentinel, const char *name);
