/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the memcached engine and a memcached of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backends/backends.h"
#include "contract/contract.h"
#include "support/server_memcached.h"

struct memcached_store {
    struct contract_store base;
    struct server *server;
};

static struct server *server_of(struct contract_store *store)
{
    return ((struct memcached_store *)store)->server;
}

static struct contract_store *store_start(void)
{
    struct memcached_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    store->server = server_memcached(NULL);
    store->base.options = (struct seqb_backend_options){
        .name = "mc-a",
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
    char answer[64];

    memcached_tell(server_of(store), "flush_all", answer, sizeof answer);
    assert_string_equal(answer, "OK\r\n");
}

static const struct contract_subject subject = {
    .name = "memcached",
    .ops = &backend_memcached,
    .start = store_start,
    .stop = store_stop,
    .mislead = store_mislead,
    .restart = store_restart,
    .forget = store_forget,
};

static void memcached_is_installed(void **state)
{
    (void)state;
    server_require("memcached");
}

int main(void)
{
    /* The suite starts its stores where a test cannot be skipped any more. */
    const struct CMUnitTest required[] = {
        cmocka_unit_test(memcached_is_installed),
    };

    if (!server_is_installed("memcached"))
        return cmocka_run_group_tests_name("memcached", required, NULL, NULL);
    return contract_run(&subject);
}
