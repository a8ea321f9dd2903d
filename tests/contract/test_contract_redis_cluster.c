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
static bool has_dumps; /* of a test before, which masters read at a start */

static void masters_tell(const char *command)
{
    for (size_t i = 0; i < CLUSTER_MASTERS; i++)
        redis_execute(shared->servers[i], "%s", command);
}

static struct contract_store *store_start(void)
{
    struct contract_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    if (shared == NULL)
        shared = cluster_new(60000);
    masters_tell("FLUSHALL");
    if (has_dumps)
        masters_tell("SAVE");
    has_dumps = false;
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
    masters_tell("FLUSHALL");
}

/* Sooner than the node time-out, so that no replica takes over. */
static void store_restart(struct contract_store *store)
{
    (void)store;
    for (size_t i = 0; i < CLUSTER_MASTERS; i++)
        server_kill(shared->servers[i]);
    for (size_t i = 0; i < CLUSTER_MASTERS; i++)
        server_start(shared->servers[i]);
    cluster_recover(shared);
}

static void store_save(struct contract_store *store)
{
    (void)store;
    masters_tell("SAVE");
    has_dumps = true;
}

/* Without `demote`: a client of a cluster goes to the master that there is. */
static const struct contract_subject subject = {
    .name = "redis cluster",
    .ops = &backend_redis,
    .start = store_start,
    .stop = store_stop,
    .mislead = store_mislead,
    .restart = store_restart,
    .forget = store_forget,
    .save = store_save,
    .restore = store_restart,
};

int main(void)
{
    int failed;

    block_sigpipe();
    failed = contract_run_on_program(&subject, "redis-server");
    cluster_free(shared);
    return failed;
}
