/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A master of a Redis Cluster that a network cuts off, with a broker on its
 * side. It serves that broker for the cluster's node time-out, while its
 * replica takes over on the other side without what it grants: the cell came
 * with the replica, but it is fenced there.
 */
#include "cut_side.h"

#include <stdlib.h>

#include "backends/redis/slot.h"
#include "platform/text.h"
#include "scene.h"
#include "support/lan.h"
#include "support/netns.h"
#include "support/server_cluster.h"
#include "support/test.h"

#define CUT_OFF         0
#define NODE_TIMEOUT_MS 2000
#define TEXT_SIZE       256
#define HELD            16 /* numbers that a broker holds */

static struct lan *lan;
static struct cluster *cluster;
static char sequence[32]; /* the master on that host has its counter */

/* Its slots are the first third. */
static void sequence_choose(void)
{
    char key[64];
    int i = 0;

    do {
        (void)text_format(sequence, sizeof sequence, "order%d", i++);
        (void)text_format(key, sizeof key, "seqbroker:{main/0/%s}", sequence);
    } while (slot_of_key(key) >= REDIS_SLOTS / CLUSTER_MASTERS);
}

/* Each test has a cluster of its own, in which that host has that master. */
static void cluster_begin(void)
{
    netns_require();
    server_require("redis-server");
    lan = lan_new();
    cluster = cluster_new_on(lan, NODE_TIMEOUT_MS);
    sequence_choose();
}

static void cluster_end(void)
{
    cluster_free(cluster);
    lan_free(lan);
}

static void master_cut(void *context)
{
    (void)context;
    lan_cut(lan, CUT_OFF);
}

static void network_heal(void *context)
{
    (void)context;
    lan_heal(lan);
}

/* Their authority is a file, which no network cuts off. */
static const char topology[] =
    "broker = { interval = \"5ms\"; state_dir = \"%s/state-%d\"; };"
    "backends = ("
    "  { name = \"cluster\"; engine = \"redis\"; connect_timeout = \"2s\";"
    "    cluster = [ %s ]; },"
    "  { name = \"authority\"; engine = \"sqlite\";"
    "    path = \"%s/windows.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"cluster\" ];"
    "  authority = \"authority\"; window_bits = 20;"
    "  timeout = \"1s\"; rescue_after = \"100ms\"; } );"
    "sequences = ( { key = \"%s\"; max_unused = %d; deadline = \"1s\"; } );";

static void side_init(struct cut_side *side, const struct scene *scene,
                      int host)
{
    char servers[TEXT_SIZE] = "";
    char text[SCENE_TEXT_SIZE];
    char name[16];

    for (size_t i = 0; i < CLUSTER_SERVERS; i++)
        assert_true(text_append(servers, sizeof servers, "%s\"%s\"",
                                i > 0 ? ", " : "", cluster->addresses[i]));
    assert_true(text_format(text, sizeof text, topology, scene->folder, host,
                            servers, scene->folder, sequence, HELD));
    (void)text_format(name, sizeof name, "side-%d", host);
    cut_side_init(side, scene_write(scene, name, text), sequence);
}

TEST_WITH(SCENE, brokers_on_both_sides_repeat_nothing)
{
    struct cut_taker takers[2];
    struct cut_side sides[2];

    cluster_begin();
    assert_int_equal(unsetenv("SEQBROKER_STATE_DIR"), 0); /* one for each */
    for (int i = 0; i < 2; i++) {
        side_init(&sides[i], scene, CUT_OFF + i);
        takers[i] = (struct cut_taker){.take = cut_side_take,
                                       .context = &sides[i],
                                       .netns = lan_fd(lan, CUT_OFF + i)};
    }
    (void)cut_run(takers, master_cut, network_heal, NULL);
    for (int i = 0; i < 2; i++)
        cut_side_close(&sides[i]);
    cluster_end();
}

TEST_BEFORE_ALL(without_sigpipe);
