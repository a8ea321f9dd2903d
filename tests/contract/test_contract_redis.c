/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the redis engine and a redis-server of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backends/backends.h"
#include "contract/contract.h"
#include "support/server_redis.h"

struct redis_store {
    struct contract_store base;
    struct server *server;
};

static struct server *server_of(struct contract_store *store)
{
    return ((struct redis_store *)store)->server;
}

static struct contract_store *store_start(void)
{
    struct redis_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    store->server = server_redis(NULL);
    store->base.options = (struct seqb_backend_options){
        .name = "redis-a",
        .host = "127.0.0.1",
        .port = server_port(store->server),
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
        .create = true,
    };
    return &store->base;
}

static void store_stop(struct contract_store *store)
{
    server_free(server_of(store));
    free(store);
}

static void store_mislead(struct contract_store *store,
                          struct seqb_backend_options *out)
{
    (void)store;
    out->port = free_port();
}

static void store_restart(struct contract_store *store)
{
    server_kill(server_of(store));
    server_start(server_of(store));
}

static void store_forget(struct contract_store *store)
{
    server_tell(server_of(store), "FLUSHALL");
}

/* The server reads its dump when it starts, and writes none by itself. */
static void store_save(struct contract_store *store)
{
    server_tell(server_of(store), "SAVE");
}

static void store_demote(struct contract_store *store)
{
    server_tell(server_of(store), "REPLICAOF 127.0.0.1 %d", (int)free_port());
}

static const struct contract_subject subject = {
    .name = "redis",
    .ops = &backend_redis,
    .start = store_start,
    .stop = store_stop,
    .mislead = store_mislead,
    .restart = store_restart,
    .forget = store_forget,
    .save = store_save,
    .restore = store_restart,
    .demote = store_demote,
};

static void redis_server_is_installed(void **state)
{
    (void)state;
    server_require("redis-server");
}

int main(void)
{
    /* The suite starts its stores where a test cannot be skipped any more. */
    const struct CMUnitTest required[] = {
        cmocka_unit_test(redis_server_is_installed),
    };

    block_sigpipe();
    if (!server_is_installed("redis-server"))
        return cmocka_run_group_tests_name("redis", required, NULL, NULL);
    return contract_run(&subject);
}
