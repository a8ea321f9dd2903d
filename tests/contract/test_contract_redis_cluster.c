/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the redis engine and a Redis Cluster, which the tests
 * share. */
#include <stdlib.h>

#include "backends/backends.h"
#include "contract/contract.h"
#include "contract/contract_server.h"
#include "platform/text.h"
#include "support/server_cluster.h"

static struct cluster *shared;
static char nowhere[32];

static struct contract_store *store_start(void)
{
    struct contract_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    if (shared == NULL)
        shared = cluster_new(60000);
    for (size_t i = 0; i < CLUSTER_MASTERS; i++)
        redis_execute(shared->servers[i], "FLUSHALL");
    store->options = (struct seqb_backend_options){
        .name = "redis-a",
        .endpoints = shared->endpoints,
        .timeout_ms = 120000,
        .connect_timeout_ms = 120000,
        .create = true,
    };
    return store;
}

static void store_stop(struct contract_store *store)
{
    free(store);
}

static void store_mislead(struct contract_store *store,
                          struct seqb_backend_options *out)
{
    static const char *const endpoints[] = {nowhere, NULL};

    (void)store;
    (void)text_format(nowhere, sizeof nowhere, "127.0.0.1:%d",
                      (int)free_port());
    out->endpoints = endpoints;
}

static void store_forget(struct contract_store *store)
{
    (void)store;
    for (size_t i = 0; i < CLUSTER_MASTERS; i++)
        redis_execute(shared->servers[i], "FLUSHALL");
}

static const struct contract_subject subject = {
    .name = "redis cluster",
    .ops = &backend_redis,
    .start = store_start,
    .stop = store_stop,
    .mislead = store_mislead,
    .forget = store_forget,
};

int main(void)
{
    const int failed = contract_run_on_program(&subject, "redis-server");

    cluster_free(shared);
    return failed;
}
