/* SPDX-License-Identifier: Apache-2.0 */
/* The postgres engine and a name with several addresses, such as one name for
 * all nodes of a cluster. This program's look-up answers for it. */
#include "contract/postgres_fixture.h"

#include <string.h>

#include "net/net.h"
#include "platform/text.h"
#include "support/proxy.h"

#define NAME "all-nodes"

static const char *const addresses[] = {"127.0.0.1", "127.0.0.2"};

const char *__real_lookup_host(const char *host, int port, int64_t deadline_ms,
                               struct addrinfo **out);
const char *__wrap_lookup_host(const char *host, int port, int64_t deadline_ms,
                               struct addrinfo **out);

/* glibc frees each item of a list for itself, so two lists may be joined. */
const char *__wrap_lookup_host(const char *host, int port, int64_t deadline_ms,
                               struct addrinfo **out)
{
    const char *why;

    if (strcmp(host, NAME) != 0)
        return __real_lookup_host(host, port, deadline_ms, out);
    why = __real_lookup_host(addresses[0], port, deadline_ms, out);
    return why != NULL ? why
                       : __real_lookup_host(addresses[1], port, deadline_ms,
                                            &(*out)->ai_next);
}

/* A way to each server, by one address of the name each. */
struct nodes {
    struct proxy *ways[2];
};

static void nodes_name(struct nodes *nodes, struct fixture *f,
                       const struct server *first, const struct server *second)
{
    const struct server *const servers[] = {first, second};

    f->options.host = NAME;
    f->options.port = free_port();
    for (size_t i = 0; i < COUNT(servers); i++) {
        const struct proxy_options options = {
            .from = {.address = addresses[i], .port = f->options.port},
            .to = {.port = server_port(servers[i])},
        };

        nodes->ways[i] = proxy_new(&options);
    }
}

static void nodes_end(struct nodes *nodes)
{
    for (size_t i = 0; i < COUNT(nodes->ways); i++)
        proxy_free(nodes->ways[i]);
}

TEST_SKIPPABLE(STARTED, address_with_the_primary_is_found)
{
    struct server *standby = server_postgres_standby(f->server);
    struct nodes nodes;

    must_take(f, 10, 0);
    nodes_name(&nodes, f, standby, f->server);
    must_open(f);
    must_take(f, 10, 10);
    proxy_set(nodes.ways[0], PROXY_REFUSE, 0);
    must_open(f);
    must_take(f, 10, 20);
    proxy_set(nodes.ways[1], PROXY_REFUSE, 0);
    must_not_open(f, SEQB_UNREACHABLE, "none of its 2 addresses is a primary");
    proxy_set(nodes.ways[0], PROXY_PASS, 0);
    must_not_open(f, SEQB_ROLE,
                  "a standby; none of its 2 addresses is a primary; ");
    assert_non_null(strstr(f->err.text, "refused")); /* by the other one */
    nodes_end(&nodes);
    postgres_kill(standby);
    server_free(standby);
}

/* As with hosts that are named by themselves. One that hangs is not waited
 * for. */
TEST_SKIPPABLE(STARTED, address_of_the_later_timeline_is_chosen)
{
    struct server *standby = server_postgres_standby(f->server);
    struct nodes nodes;
    char origin[SEQB_ORIGIN_SIZE];
    char promoted[SEQB_ORIGIN_SIZE];

    (void)text_copy(origin, sizeof origin, f->backend->origin);
    postgres_catch_up(f->server, standby);
    postgres_promote(standby);
    nodes_name(&nodes, f, f->server, standby);
    f->options.connect_timeout_ms = 120000; /* a look has a quarter */
    must_open(f);
    (void)text_copy(promoted, sizeof promoted, f->backend->origin);
    assert_string_not_equal(promoted, origin);
    nodes_end(&nodes);
    nodes_name(&nodes, f, standby, f->server);
    must_open(f);
    assert_string_equal(f->backend->origin, promoted);
    nodes_end(&nodes);
    nodes_name(&nodes, f, f->server, standby);
    f->options.connect_timeout_ms = 8000;
    proxy_set(nodes.ways[1], PROXY_BLACK_HOLE, 0);
    must_open(f);
    assert_string_equal(f->backend->origin, origin);
    nodes_end(&nodes);
    postgres_kill(standby);
    server_free(standby);
}
