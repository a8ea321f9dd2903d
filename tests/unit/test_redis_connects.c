/* SPDX-License-Identifier: Apache-2.0 */
/* Which servers the redis engine connects to, and how much of its time each
 * gets. Nobody answers but a sentinel that this program plays, and time passes
 * only while it connects. */
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/redis/script.h"
#include "platform/error.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/wrap.h"

#define NOW_MS 1000000

static int64_t now_ms;
static int64_t lasts_ms;  /* a connect */
static const char *says;  /* what every server answers; NULL: it is down */
static bool is_connected; /* whether a session with a server begins */
static char connects[256];

WRAPPED(int64_t, clock_now_ms, void)
{
    return now_ms;
}

static void connect_note(const struct address *to, int32_t budget_ms)
{
    assert_true(text_append(connects, sizeof connects, "%s:%d for %d, ",
                            to->host, to->port, (int)budget_ms));
    now_ms += lasts_ms;
}

WRAPPED(enum seqb_status, link_connect, struct redis_link *link,
        const struct seqb_backend_options *options,
        const struct address *address, int32_t budget_ms,
        struct seqb_error *err)
{
    (void)options;
    connect_note(address, budget_ms);
    if (says != NULL && address->port < 10)
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE, "%s: down", link->where);
}

WRAPPED(bool, link_append, struct redis_link *link, const char *const *words,
        int n)
{
    (void)link;
    (void)words;
    (void)n;
    return true;
}

WRAPPED(bool, link_flush, struct redis_link *link)
{
    (void)link;
    return true;
}

WRAPPED(redisReply *, link_read, struct redis_link *link)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;

    (void)link;
    assert_int_equal(redisReaderFeed(reader, says, strlen(says)), REDIS_OK);
    assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
    redisReaderFree(reader);
    return reply;
}

/* Of the nodes of a cluster. */
WRAPPED(enum seqb_status, session_connect, struct redis_node *node,
        const struct seqb_backend_options *options, int32_t budget_ms,
        struct seqb_error *err)
{
    (void)options;
    connect_note(&node->address, budget_ms);
    return is_connected ? SEQB_OK : error_set(err, SEQB_UNREACHABLE, "down");
}

static void begin(int64_t connect_lasts_ms, const char *answer)
{
    now_ms = NOW_MS;
    lasts_ms = connect_lasts_ms;
    says = answer;
    is_connected = false;
    connects[0] = '\0';
}

static void must_not_open(const struct seqb_backend_options *options,
                          const char *words)
{
    struct seqb_backend *backend = NULL;

    assert_fails(backend_redis.open(options, &backend, &failure),
                 SEQB_UNREACHABLE, words);
    assert_null(backend);
}

/* --- sentinels --- */

/* One share more than there are sentinels is the master's. */
TEST(sentinels_and_the_master_share_the_time)
{
    static const char *const sentinels[] = {"a:1", "b:2", NULL};
    const struct seqb_backend_options options = {.name = "r",
                                                 .sentinels = sentinels,
                                                 .master_name = "orders",
                                                 .connect_timeout_ms = 300};

    begin(100, NULL);
    must_not_open(&options,
                  "r: no sentinel leads to a master 'orders', check sentinels "
                  "and master_name: sentinel a:1: down; sentinel b:2: down");
    assert_string_equal(connects, "a:1 for 100, b:2 for 100, ");
    begin(299, NULL);
    must_not_open(&options, "sentinel a:1: down; sentinel b:2: down");
    assert_string_equal(connects, "a:1 for 100, b:2 for 0, ");
    begin(300, NULL);
    must_not_open(&options,
                  "sentinel a:1: down; no time was left for the others");
    assert_string_equal(connects, "a:1 for 100, ");
}

/* The second sentinel names the same master, which is not tried again. */
TEST(master_that_a_sentinel_names_has_the_rest_of_the_time)
{
    static const char *const sentinels[] = {"a:1", "b:2", NULL};
    const struct seqb_backend_options options = {.name = "r",
                                                 .sentinels = sentinels,
                                                 .master_name = "orders",
                                                 .connect_timeout_ms = 300};

    begin(50, "*2\r\n$1\r\nm\r\n$4\r\n6379\r\n");
    must_not_open(&options, "sentinel a:1 led to r (redis m:6379): down");
    assert_string_equal(connects, "a:1 for 100, m:6379 for 250, b:2 for 100, ");
}

/* --- clusters --- */

TEST(servers_of_a_cluster_share_the_time)
{
    static const char *const endpoints[] = {"a:1", "b:2", "c:3", NULL};
    const struct seqb_backend_options options = {
        .name = "r", .endpoints = endpoints, .connect_timeout_ms = 300};

    begin(60, NULL);
    must_not_open(&options, "r (redis c:3): down");
    assert_string_equal(connects, "a:1 for 100, b:2 for 120, c:3 for 180, ");
    begin(400, NULL);
    must_not_open(&options, "r (redis c:3): down");
    assert_string_equal(connects, "a:1 for 100, b:2 for 0, c:3 for 0, ");
    begin(60, "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nm\r\n:65535\r\n");
    must_not_open(&options, "down");
    assert_string_equal(connects,
                        "a:1 for 100, m:65535 for 40, b:2 for 90, "
                        "m:65535 for 30, c:3 for 60, m:65535 for 0, ");
}

static struct redis_node nodes[3];
static struct redis_node *listed[CLUSTER_NODES_MAX];

/* A cluster whose call of 500 ms began 200 ms ago. */
static void cluster_make(struct redis_cluster *cluster, size_t count)
{
    memset(nodes, 0, sizeof nodes);
    memset(cluster, 0, sizeof *cluster);
    cluster->options.name = "r";
    cluster->nodes = listed;
    begin(0, NULL);
    assert_ok(cluster_begin(cluster, 500, &failure));
    now_ms += 200;
    for (size_t i = 0; i < count; i++) {
        listed[i] = &nodes[i < 2 ? i : 2];
        (void)text_format(listed[i]->address.host, 64, "n%zu", i);
    }
    cluster->count = count;
}

TEST(key_is_asked_of_who_has_its_slot)
{
    static struct redis_cluster cluster;
    struct redis_node *found;

    cluster_make(&cluster, 2);
    is_connected = true;
    assert_ok(cluster_find(&cluster, "a", &found, &failure));
    assert_ptr_equal(found, &nodes[0]); /* it is not known */
    cluster.owner[slot_of_key("a")] = 2;
    assert_ok(cluster_find(&cluster, "a", &found, &failure));
    assert_ptr_equal(found, &nodes[1]);
    assert_string_equal(connects, "n0:0 for 300, n1:0 for 300, ");
    now_ms += 299;
    assert_ok(cluster_find(&cluster, "a", &found, &failure));
    assert_non_null(strstr(connects, "n1:0 for 1, "));
    now_ms += 2;
    is_connected = false;
    assert_fails(cluster_find(&cluster, "a", &found, &failure),
                 SEQB_UNREACHABLE, "down");
    assert_non_null(strstr(connects, "n1:0 for 0, "));
}

/* A slot is the new server's once that is connected, and stays where it is if
 * the server only asks. */
TEST(slot_moves_to_a_server_that_is_connected)
{
    static struct redis_cluster cluster;
    struct redirection to = {.slot = 7, .to = {.host = "n1"}};
    struct redis_node *found;

    cluster_make(&cluster, 2);
    assert_fails(cluster_follow(&cluster, &to, &nodes[0], &found, &failure),
                 SEQB_UNREACHABLE, "down");
    assert_int_equal(cluster.owner[7], 0);
    is_connected = true;
    to.is_ask = true;
    assert_ok(cluster_follow(&cluster, &to, &nodes[0], &found, &failure));
    assert_int_equal(cluster.owner[7], 0);
    to.is_ask = false;
    assert_ok(cluster_follow(&cluster, &to, &nodes[0], &found, &failure));
    assert_int_equal(cluster.owner[7], 2);
    assert_ptr_equal(found, &nodes[1]);
    to.to.host[0] = '\0'; /* where it came from */
    assert_ok(cluster_follow(&cluster, &to, &nodes[0], &found, &failure));
    assert_ptr_equal(found, &nodes[0]);
    assert_int_equal(cluster.owner[7], 1);
    assert_int_equal(cluster.count, 2);
}

TEST(cluster_has_so_many_servers_at_most)
{
    static struct redis_cluster cluster;
    struct redirection to = {.slot = 7, .to = {.host = "new"}};
    struct redis_node *found;

    cluster_make(&cluster, CLUSTER_NODES_MAX);
    is_connected = true;
    assert_fails(cluster_follow(&cluster, &to, &nodes[0], &found, &failure),
                 SEQB_NO_MEMORY, "more than 1000 servers");
    cluster.count--;
    assert_ok(cluster_follow(&cluster, &to, &nodes[0], &found, &failure));
    assert_int_equal(cluster.owner[7], CLUSTER_NODES_MAX);
    assert_ptr_equal(found, listed[CLUSTER_NODES_MAX - 1]);
    free(found);
}

/* Whatever their order is. Cells of older versions have it, too. */
TEST(origin_of_a_cluster_is_that_of_all_its_servers)
{
    static struct redis_cluster cluster;
    char origins[4][SEQB_ORIGIN_SIZE];

    cluster_make(&cluster, 2);
    for (int i = 0; i < 4; i++) {
        (void)text_copy(nodes[i % 2].session.origin, 8, "one");
        (void)text_copy(nodes[1 - i % 2].session.origin, 8,
                        i == 2 ? "one" : "two");
        cluster.count = i == 3 ? 1 : 2;
        cluster_origin(&cluster, origins[i]);
    }
    assert_string_equal(origins[0], origins[1]);
    assert_string_not_equal(origins[0], origins[2]);
    assert_string_equal(origins[0], "cluster:2:9dbe934aee8ab8db");
    assert_memory_equal(origins[3], "cluster:1:", 10);
    assert_string_not_equal(origins[3] + 10, "0000000000000000");
}
