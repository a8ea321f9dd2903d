/* SPDX-License-Identifier: Apache-2.0 */
/* See patroni_pool.h. */
#include "patroni_pool.h"

#include "members.h"
#include "platform/text.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define TEXT_SIZE 256

static void backend_name(const struct patroni *patroni, size_t first,
                         char out[static TEXT_SIZE])
{
    const struct server *one = patroni->nodes[first];
    const struct server *other = patroni->nodes[1 - first];

    assert_true(
        text_format(out, TEXT_SIZE,
                    "engine = \"postgres\"; conninfo = \"host=%s,%s port=%d,%d "
                    "user=postgres dbname=" PATRONI_POOL_DATABASE
                    " target_session_attrs=read-write\";",
                    server_address(one), server_address(other),
                    (int)server_port(one), (int)server_port(other)));
}

void patroni_pool_set(struct chaos *chaos, struct patroni *patroni)
{
    char even[TEXT_SIZE];
    char odd[TEXT_SIZE];

    postgres_execute(patroni->nodes[patroni_await_streaming(patroni)],
                     PATRONI_POOL_DATABASE,
                     "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    backend_name(patroni, 0, even);
    backend_name(patroni, 1, odd);
    members_topology(chaos, even, odd);
}

struct patroni *patroni_pool_shared(struct chaos *chaos)
{
    static struct patroni *patroni;

    patroni_require();
    if (patroni == NULL)
        patroni = server_patroni();
    patroni_pool_set(chaos, patroni);
    return patroni;
}
