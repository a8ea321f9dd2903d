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

const char *quartet_backend(size_t i)
{
    return names[i];
}

/* --- starting --- */

static void servers_start(struct quartet *quartet)
{
    mariadb_require();
    postgres_require();
    quartet->servers[0] = server_redis(NULL);
    quartet->servers[1] = server_mariadb(NULL);
    quartet->servers[2] = server_redis(NULL);
    quartet->servers[POSTGRES] = server_postgres(NULL);
    mariadb_tell(quartet->servers[1],
                 "CREATE DATABASE seqbroker; CREATE USER seqbroker@'%%'; "
                 "GRANT ALL ON seqbroker.* TO seqbroker@'%%'");
    postgres_tell(quartet->servers[POSTGRES], "postgres",
                  "CREATE ROLE seqbroker LOGIN");
    postgres_tell(quartet->servers[POSTGRES], "postgres",
                  "CREATE DATABASE seqbroker OWNER seqbroker");
}

static const char *quartet_address(const struct quartet *quartet)
{
    return quartet->netns != NULL ? netns_address(quartet->netns) : "127.0.0.1";
}

void quartet_start(struct quartet *quartet, bool with_netns, uint64_t seed)
{
    memset(quartet, 0, sizeof *quartet);
    if (with_netns)
        netns_require();
    assert_true(folder_make(quartet->folder, sizeof quartet->folder));
    servers_start(quartet);
    if (with_netns)
        quartet->netns = netns_new();
    for (size_t i = 0; i < FOUR_STORES; i++) {
        const struct proxy_options options = {
            .from.address = quartet_address(quartet),
            .to.port = server_port(quartet->servers[i]),
            .netns = quartet->netns,
            .seed = seed + i,
        };

        quartet->proxies[i] = proxy_new(&options);
    }
}

/* Of a start that failed, too. */
void quartet_end(struct quartet *quartet)
{
    if (quartet->folder[0] == '\0') /* not started, or ended */
        return;
    quartet_heal(quartet);
    for (size_t i = 0; i < FOUR_STORES; i++)
        proxy_free(quartet->proxies[i]);
    netns_free(quartet->netns);
    folder_remove(quartet->folder);
    memset(quartet, 0, sizeof *quartet);
}

void quartet_topology(const struct quartet *quartet, const char *settings,
                      char out[static QUARTET_TEXT_SIZE])
{
    (void)text_copy(out, QUARTET_TEXT_SIZE, "backends = (\n");
    for (size_t i = 0; i < FOUR_STORES; i++)
        (void)text_append(out, QUARTET_TEXT_SIZE,
                          "  { name = \"%s\"; %s; host = \"%s\"; port = %d; "
                          "connect_timeout = \"1s\"; },\n",
                          names[i], engines[i], quartet_address(quartet),
                          (int)proxy_port(quartet->proxies[i]));
    assert_true(text_append(
        out, QUARTET_TEXT_SIZE,
        "  { name = \"file\"; engine = \"sqlite\"; path = \"%s/a.db\"; }\n"
        ");\n"
        "pools = ( { name = \"main\"; authority = \"file\";\n"
        "  partitions = [ \"redis-a\", \"mysql-a\", \"redis-b\", \"pg-a\" ];\n"
        "  %s } );\n",
        quartet->folder, settings));
}

/* --- faults --- */

static void server_stop(struct quartet *quartet, size_t i)
{
    if (i == POSTGRES)
        postgres_pause(quartet->servers[i]);
    else
        server_pause(quartet->servers[i]);
}

static void server_go_on(struct quartet *quartet, size_t i)
{
    if (i == POSTGRES)
        postgres_resume(quartet->servers[i]);
    else
        server_resume(quartet->servers[i]);
}

static void fault_end(struct quartet *quartet, size_t i)
{
    switch (quartet->faults[i]) {
    case FAULT_NONE:
        break;
    case FAULT_STOPPED:
        server_go_on(quartet, i);
        break;
    case FAULT_LOST:
        netns_set(quartet->netns, proxy_port(quartet->proxies[i]), NETNS_PASS);
        break;
    default:
        proxy_set(quartet->proxies[i], PROXY_PASS, 0);
    }
    quartet->faults[i] = FAULT_NONE;
}

void quartet_fault(struct quartet *quartet, size_t i, enum fault fault,
                   int32_t amount_ms)
{
    struct proxy *proxy = quartet->proxies[i];

    fault_end(quartet, i);
    quartet->faults[i] = fault;
    switch (fault) {
    case FAULT_REFUSED:
        proxy_set(proxy, PROXY_REFUSE, 0);
        break;
    case FAULT_STOPPED:
        server_stop(quartet, i);
        break;
    case FAULT_LOST:
        netns_set(quartet->netns, proxy_port(proxy), NETNS_DROP);
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

void quartet_heal(struct quartet *quartet)
{
    for (size_t i = 0; i < FOUR_STORES; i++)
        fault_end(quartet, i);
}
