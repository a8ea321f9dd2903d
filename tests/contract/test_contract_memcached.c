/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the memcached engine and a memcached of its own. */
#include "backends/backends.h"
#include "contract/contract_server.h"
#include "support/server_memcached.h"

static struct contract_store *store_start(void)
{
    return server_store_new("mc-a", server_memcached(NULL));
}

static void store_forget(struct contract_store *store)
{
    char answer[64];

    memcached_execute(server_of(store), "flush_all", answer, sizeof answer);
    assert_string_equal(answer, "OK\r\n");
}

static const struct contract_subject subject = {
    .name = "memcached",
    .ops = &backend_memcached,
    .start = store_start,
    .stop = server_store_free,
    .mislead = server_store_mislead,
    .restart = server_store_restart,
    .forget = store_forget,
};

int main(void)
{
    return contract_run_on_program(&subject, "memcached");
}
