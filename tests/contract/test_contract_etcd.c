/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the etcd engine and one server, which the tests share;
 * each has a prefix of its own. */
#include "backends/backends.h"
#include "contract/contract_server.h"

#include <stdlib.h>

#include "platform/text.h"
#include "support/server_etcd.h"

struct etcd_store {
    struct server_store base;
    char prefix[32];
};

static struct server *shared;
static int stores;
static int restores;

static struct contract_store *store_start(void)
{
    struct etcd_store *store = calloc(1, sizeof *store);
    struct contract_store *made;

    assert_non_null(store);
    if (shared == NULL)
        shared = server_etcd(NULL);
    made = server_store_new("etcd-a", shared);
    store->base = *(struct server_store *)made;
    free(made);
    (void)text_format(store->prefix, sizeof store->prefix, "store%d", ++stores);
    store->base.base.options.prefix = store->prefix;
    return &store->base.base;
}

static void store_stop(struct contract_store *store)
{
    free(store);
}

static void store_forget(struct contract_store *store)
{
    char prefix[64];

    (void)text_format(prefix, sizeof prefix, "%s/counter/",
                      ((struct etcd_store *)store)->prefix);
    etcd_forget(server_of(store), prefix);
}

static void store_save(struct contract_store *store)
{
    etcd_snapshot_save(server_of(store));
}

static void store_restore(struct contract_store *store)
{
    char token[32];

    (void)text_format(token, sizeof token, "restored%d", ++restores);
    server_kill(server_of(store));
    etcd_snapshot_restore(server_of(store), token);
    server_start(server_of(store));
}

static const struct contract_subject subject = {
    .name = "etcd",
    .ops = &backend_etcd,
    .start = store_start,
    .stop = store_stop,
    .mislead = server_store_mislead,
    .restart = server_store_restart,
    .renew = server_store_restart,
    .forget = store_forget,
    .save = store_save,
    .restore = store_restore,
};

int main(void)
{
    const int failed = contract_run_on_program(&subject, "etcd");

    server_free(shared);
    return failed;
}
