/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the four, and doing them harm. */
#include "support/four_stores.h"

#include <string.h>

#include "platform/text.h"
#include "support/folder.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_redis.h"
#include "support/test.h"

#define POSTGRES 3 /* the partition that it stands in */

static const char *const names[FOUR_STORES] = {"redis-a", "mysql-a", "redis-b",
                                               "pg-a"};

static const char *const engines[FOUR_STORES] = {
    "engine = \"redis\"",
    "engine = \"mysql-row\"; user = \"seqbroker\"; database = \"seqbroker\"",
    "engine = \"redis\"",
    "engine = \"postgres\"; user = \"seqbroker\"; database = \"seqbroker\"",
};

const char *fault_name(enum fault fault)
{
    static const char *const words[] = {
        [FAULT_NONE] = "none",
        [FAULT_REFUSED] = "refused",
        [FAULT_STOPPED] = "stopped",
        [FAULT_LOST] = "packets lost",
        [FAULT_SWALLOWED] = "swallowed",
        [FAULT_DELAYED] = "delayed",
        [FAULT_CUT] = "cut",
        [FAULT_FLAPPING] = "flapping",
    };

    return fault < FAULTS ? words[fault] : "unknown";
}

const char *four_stores_backend(size_t i)
{
    return names[i];
}

/* --- starting --- */

static void servers_start(struct four_stores *stores)
{
    mariadb_require();
    postgres_require();
    stores->servers[0] = server_redis(NULL);
    stores->servers[1] = server_mariadb(NULL);
    stores->servers[2] = server_redis(NULL);
    stores->servers[POSTGRES] = server_postgres(NULL);
    mariadb_execute(stores->servers[1],
                    "CREATE DATABASE seqbroker; CREATE USER seqbroker@'%%'; "
                    "GRANT ALL ON seqbroker.* TO seqbroker@'%%'");
    postgres_execute(stores->servers[POSTGRES], "postgres",
                     "CREATE ROLE seqbroker LOGIN");
    postgres_execute(stores->servers[POSTGRES], "postgres",
                     "CREATE DATABASE seqbroker OWNER seqbroker");
}

static const char *four_stores_address(const struct four_stores *stores)
{
    return stores->netns != NULL ? netns_address(stores->netns) : "127.0.0.1";
}

void four_stores_start(struct four_stores *stores, bool with_netns,
                       uint64_t seed)
{
    memset(stores, 0, sizeof *stores);
    if (with_netns)
        netns_require();
    assert_true(folder_make(stores->folder, sizeof stores->folder));
    servers_start(stores);
    if (with_netns)
        stores->netns = netns_new();
    for (size_t i = 0; i < FOUR_STORES; i++) {
        const struct proxy_options options = {
            .from.address = four_stores_address(stores),
            .to.port = server_port(stores->servers[i]),
            .netns = stores->netns,
            .seed = seed + i,
        };

        stores->proxies[i] = proxy_new(&options);
    }
}

/* Of a start that failed, too. */
void four_stores_end(struct four_stores *stores)
{
    if (stores->folder[0] == '\0') /* not started, or ended */
        return;
    four_stores_heal(stores);
    for (size_t i = 0; i < FOUR_STORES; i++)
        proxy_free(stores->proxies[i]);
    netns_free(stores->netns);
    folder_remove(stores->folder);
    memset(stores, 0, sizeof *stores);
}

void four_stores_topology(const struct four_stores *stores,
                          const char *settings,
                          char out[static QUARTET_TEXT_SIZE])
{
    (void)text_copy(out, QUARTET_TEXT_SIZE, "backends = (\n");
    for (size_t i = 0; i < FOUR_STORES; i++)
        (void)text_append(out, QUARTET_TEXT_SIZE,
                          "  { name = \"%s\"; %s; host = \"%s\"; port = %d; "
                          "connect_timeout = \"1s\"; },\n",
                          names[i], engines[i], four_stores_address(stores),
                          (int)proxy_port(stores->proxies[i]));
    assert_true(text_append(
        out, QUARTET_TEXT_SIZE,
        "  { name = \"file\"; engine = \"sqlite\"; path = \"%s/a.db\"; }\n"
        ");\n"
        "pools = ( { name = \"main\"; authority = \"file\";\n"
        "  partitions = [ \"redis-a\", \"mysql-a\", \"redis-b\", \"pg-a\" ];\n"
        "  %s } );\n",
        stores->folder, settings));
}

/* --- faults --- */

static void server_stop(struct four_stores *stores, size_t i)
{
    if (i == POSTGRES)
        postgres_pause(stores->servers[i]);
    else
        server_pause(stores->servers[i]);
}

static void server_go_on(struct four_stores *stores, size_t i)
{
    if (i == POSTGRES)
        postgres_resume(stores->servers[i]);
    else
        server_resume(stores->servers[i]);
}

static void fault_end(struct four_stores *stores, size_t i)
{
    switch (stores->faults[i]) {
    case FAULT_NONE:
        break;
    case FAULT_STOPPED:
        server_go_on(stores, i);
        break;
    case FAULT_LOST:
        netns_set(stores->netns, proxy_port(stores->proxies[i]), NETNS_PASS);
        break;
    default:
        proxy_set(stores->proxies[i], PROXY_PASS, 0);
    }
    stores->faults[i] = FAULT_NONE;
}

void four_stores_fault(struct four_stores *stores, size_t i, enum fault fault,
                       int32_t amount_ms)
{
    struct proxy *proxy = stores->proxies[i];

    fault_end(stores, i);
    stores->faults[i] = fault;
    switch (fault) {
    case FAULT_REFUSED:
        proxy_set(proxy, PROXY_REFUSE, 0);
        break;
    case FAULT_STOPPED:
        server_stop(stores, i);
        break;
    case FAULT_LOST:
        netns_set(stores->netns, proxy_port(proxy), NETNS_DROP);
        break;
    case FAULT_SWALLOWED:
        proxy_set(proxy, PROXY_BLACK_HOLE, 0);
        break;
    case FAULT_DELAYED:
        proxy_set(proxy, PROXY_DELAY, amount_ms);
        break;
    case FAULT_CUT:
        proxy_set(proxy, PROXY_CUT, 1);
        break;
    case FAULT_FLAPPING:
        proxy_flap(proxy, PROXY_REFUSE, 0, amount_ms);
        break;
    default:
        break;
    }
}

void four_stores_heal(struct four_stores *stores)
{
    for (size_t i = 0; i < FOUR_STORES; i++)
        fault_end(stores, i);
}
