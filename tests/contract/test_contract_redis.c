/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the redis engine and a redis-server of its own. */
#include "backends/backends.h"
#include "contract/contract_server.h"
#include "support/server_redis.h"

static struct contract_store *store_start(void)
{
    return server_store_new("redis-a", server_redis(NULL));
}

static void store_forget(struct contract_store *store)
{
    redis_execute(server_of(store), "FLUSHALL");
}

/* The server reads its dump when it starts, and writes none by itself. */
static void store_save(struct contract_store *store)
{
    redis_execute(server_of(store), "SAVE");
}

static void store_demote(struct contract_store *store)
{
    redis_execute(server_of(store), "REPLICAOF 127.0.0.1 %d", (int)free_port());
}

static const struct contract_subject subject = {
    .name = "redis",
    .ops = &backend_redis,
    .start = store_start,
    .stop = server_store_free,
    .mislead = server_store_mislead,
    .restart = server_store_restart,
    .forget = store_forget,
    .save = store_save,
    .restore = server_store_restart,
    .demote = store_demote,
};

int main(void)
{
    block_sigpipe();
    return contract_run_on_program(&subject, "redis-server");
}
