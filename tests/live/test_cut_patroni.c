/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of Patroni that a network cuts off from the etcd and from the other
 * node, with a broker on its side. If it is the leader, the other node is
 * promoted without what the old leader still grants.
 */
#include "cut_side.h"

#include <stdlib.h>
#include <unistd.h>

#include "platform/text.h"
#include "scene.h"
#include "support/lan.h"
#include "support/netns.h"
#include "support/server_patroni.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define HELD 16 /* numbers that a broker holds: fewer than a phase has */

static struct lan *lan;
static struct patroni *patroni;

/* --- brokers --- */

static const char topology[] =
    "broker = { interval = \"5ms\"; state_dir = \"%s/state-%s\"; };"
    "backends = ( { name = \"cluster\"; engine = \"postgres\";"
    "  connect_timeout = \"2s\"; conninfo = \"host=%s,%s port=%d,%d "
    "user=postgres dbname=postgres target_session_attrs=read-write\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"cluster\" ];"
    "  authority = \"none\"; timeout = \"1s\"; rescue_after = \"100ms\"; } );"
    "sequences = ( { key = \"main\"; pool = \"main\"; max_unused = %d;"
    "  deadline = \"1s\"; } );";

static void side_init(struct cut_side *side, const struct scene *scene,
                      const char *name)
{
    const struct server *const *nodes =
        (const struct server *const *)patroni->nodes;
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(text, sizeof text, topology, scene->folder, name,
                            server_address(nodes[0]), server_address(nodes[1]),
                            (int)server_port(nodes[0]),
                            (int)server_port(nodes[1]), HELD));
    cut_side_init(side, scene_write(scene, name, text), "main");
}

/* --- the cut --- */

/* Of tests before there is nothing left in the database. */
static size_t cluster_require(void)
{
    size_t leader;

    netns_require();
    patroni_require();
    if (lan == NULL) {
        lan = lan_new();
        patroni = server_patroni_on(lan);
    }
    leader = patroni_await_streaming(patroni);
    postgres_execute(patroni->nodes[leader], "postgres",
                     "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    assert_int_equal(unsetenv("SEQBROKER_STATE_DIR"), 0); /* one for each */
    return leader;
}

static void node_cut(void *context)
{
    lan_cut(lan, (int)*(const size_t *)context);
}

/* The old leader is demoted by its Patroni. Its PostgreSQL ends once it has
 * sent all to the other node, or has given that up after a minute. */
static void leader_heal(void *context)
{
    const size_t leader = *(const size_t *)context;

    while (patroni_role(patroni, leader) == PATRONI_PRIMARY)
        usleep(20000);
    assert_int_equal(patroni_role(patroni, 1 - leader), PATRONI_PRIMARY);
    lan_heal(lan);
}

/* The standby's Patroni promotes nobody: it does not reach the etcd. */
static void standby_heal(void *context)
{
    const size_t standby = *(const size_t *)context;

    assert_int_equal(patroni_role(patroni, standby), PATRONI_STANDBY);
    assert_int_equal(patroni_role(patroni, 1 - standby), PATRONI_PRIMARY);
    lan_heal(lan);
}

/* Returns how many numbers the side of that node was granted. */
static int64_t node_is_cut_off(const struct scene *scene, size_t node,
                               void (*heal)(void *context))
{
    struct cut_taker takers[2];
    struct cut_side sides[2];
    int64_t granted;

    side_init(&sides[0], scene, "cut");
    side_init(&sides[1], scene, "other");
    for (int i = 0; i < 2; i++)
        takers[i] =
            (struct cut_taker){.take = cut_side_take, .context = &sides[i]};
    takers[0].netns = lan_fd(lan, (int)node);
    takers[1].netns = lan_fd(lan, (int)(1 - node));
    granted = cut_run(takers, node_cut, heal, &node);
    for (int i = 0; i < 2; i++)
        cut_side_close(&sides[i]);
    return granted;
}

TEST_WITH(SCENE, leader_that_is_cut_off_repeats_nothing)
{
    const size_t leader = cluster_require();

    (void)node_is_cut_off(scene, leader, leader_heal);
}

TEST_WITH(SCENE, standby_that_is_cut_off_costs_its_side_only)
{
    const size_t leader = cluster_require();

    assert_in_range(node_is_cut_off(scene, 1 - leader, standby_heal), 0, HELD);
}

/* Its commits wait for a standby that is on the other side. */
TEST_WITH(SCENE, synchronous_leader_that_is_cut_off_grants_nothing)
{
    size_t leader;

    (void)cluster_require();
    patroni_synchronous(patroni, true);
    leader = cluster_require();
    assert_in_range(node_is_cut_off(scene, leader, leader_heal), 0, HELD);
}

/* Patroni removes it from synchronous_standby_names. */
TEST_WITH(SCENE, synchronous_standby_that_is_cut_off_costs_its_side_only)
{
    size_t leader;

    (void)cluster_require();
    patroni_synchronous(patroni, true);
    leader = cluster_require();
    assert_in_range(node_is_cut_off(scene, 1 - leader, standby_heal), 0, HELD);
}

static int cluster_end(void **state)
{
    (void)state;
    patroni_free(patroni);
    lan_free(lan);
    return 0;
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
