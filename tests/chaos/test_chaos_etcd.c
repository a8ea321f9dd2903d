/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster of three etcd members, whose members are killed, stopped, and left
 * without a quorum, and which is made again from a snapshot, under brokers that
 * each know all of them. */
#include "etcd_pool.h"
#include "members.h"
#include "platform/text.h"
#include "support/test.h"
#include "wall.h"

#define FAULTS 4

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
    char text[ETCD_PLACE_SIZE];

    cluster_free();
    server_etcd_cluster(members);
    members_set(members, ETCD_MEMBERS, NULL);
    etcd_pool_place(members, text);
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
}

/* --- clocks --- */

static void step_and_kill_one(struct chaos *chaos)
{
    wall_step(chaos);
    members_kill_one(chaos);
}

TEST_WITH(CHAOS, clocks_of_brokers_stepped_while_members_are_killed)
{
    one_cluster(chaos);
    wall_reset();
    chaos_run(chaos, __func__, FAULTS, step_and_kill_one);
    wall_reset();
}

/* --- snapshots --- */

/* The members are of another cluster then, with or without its id. What was
 * granted since the snapshot is in no member. The same snapshot may be restored
 * several times. */
static void restore_snapshot(struct chaos *chaos)
{
    char token[16];
    const bool is_same = chaos_random(chaos, 2) == 0;

    if (chaos->faults == 0 || chaos_random(chaos, 2) == 0)
        etcd_pool_save(members);
    chaos_take_some(chaos);
    (void)text_format(token, sizeof token, "again-%d", chaos->faults);
    etcd_pool_restore(members, is_same ? NULL : token);
}

TEST_WITH(CHAOS, snapshot_restored_on_all_members)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, restore_snapshot);
    cluster_free();
}
