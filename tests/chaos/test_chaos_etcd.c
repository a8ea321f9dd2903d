/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster of three etcd members, whose members are killed, stopped, and left
 * without a quorum, under brokers that each know all of them. */
#include "members.h"
#include "platform/text.h"
#include "support/server_etcd.h"
#include "support/test.h"

#define FAULTS    4
#define TEXT_SIZE 256

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
    members_set(members, ETCD_MEMBERS, NULL);
    assert_true(
        text_format(text, sizeof text,
                    "engine = \"etcd\"; endpoints = "
                    "[ \"127.0.0.1:%d\", \"127.0.0.1:%d\", \"127.0.0.1:%d\" ];",
                    (int)server_port(members[0]), (int)server_port(members[1]),
                    (int)server_port(members[2])));
    members_topology(chaos, text, text);
}

TEST_WITH(CHAOS, member_killed_while_the_others_go_on)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, members_kill_one);
}

TEST_WITH(CHAOS, member_stopped_and_continued)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, members_stop_one);
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
