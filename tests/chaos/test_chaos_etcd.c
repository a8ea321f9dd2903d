/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster of three etcd members, whose members are killed, stopped, and left
 * without a quorum, under brokers that each know all of them. */
#include "chaos.h"
#include "platform/text.h"
#include "support/server_etcd.h"
#include "support/test.h"

#define FAULTS    4
#define TEXT_SIZE 1024

#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ( { name = \"etcd-a\"; engine = \"etcd\";"                     \
    "  endpoints = [ \"127.0.0.1:%d\", \"127.0.0.1:%d\", \"127.0.0.1:%d\" ];"  \
    "  } );"                                                                   \
    "pools = ( { name = \"main\"; partitions = [ \"etcd-a\" ];"                \
    "            timeout = \"1s\"; rescue_after = \"100ms\"; } );"             \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

static struct server *members[ETCD_MEMBERS];

static void cluster_free(void)
{
    for (int i = 0; i < ETCD_MEMBERS; i++) {
        server_free(members[i]);
        members[i] = NULL;
    }
}

static void one_cluster(struct chaos *chaos)
{
    char text[TEXT_SIZE];

    cluster_free();
    server_etcd_cluster(members);
    assert_true(text_format(
        text, sizeof text, TOPOLOGY, (int)server_port(members[0]),
        (int)server_port(members[1]), (int)server_port(members[2])));
    chaos_topology(chaos, text);
}

/* The others go on without it. */
static void kill_one(struct chaos *chaos)
{
    struct server *member = members[chaos_random(chaos, ETCD_MEMBERS)];

    server_kill(member);
    chaos_take_some(chaos);
    server_start(member);
}

TEST_WITH(CHAOS, member_killed_while_the_others_go_on)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_one);
}

static void stop_one(struct chaos *chaos)
{
    struct server *member = members[chaos_random(chaos, ETCD_MEMBERS)];

    server_pause(member);
    chaos_take_some(chaos);
    server_resume(member);
}

TEST_WITH(CHAOS, member_stopped_and_continued)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, stop_one);
}

/* Without a quorum nothing is granted: what is at hand runs out. */
static void kill_all_but_one(struct chaos *chaos)
{
    const uint64_t left = chaos_random(chaos, ETCD_MEMBERS);

    for (uint64_t i = 1; i < ETCD_MEMBERS; i++)
        server_kill(members[(left + i) % ETCD_MEMBERS]);
    for (uint64_t i = 1; i < ETCD_MEMBERS; i++)
        server_start(members[(left + i) % ETCD_MEMBERS]);
}

TEST_WITH(CHAOS, all_but_one_killed_and_started)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_all_but_one);
    cluster_free();
}
