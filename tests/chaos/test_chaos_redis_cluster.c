/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redis Cluster of three masters and their replicas: the master that counts
 * is killed, or stopped, or comes back with older data, or gives way to its
 * replica, or its slot moves; each scenario has a cluster of its own.
 */
#include <unistd.h>

#include "backends/redis/slot.h"
#include "chaos.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "redis_pool.h"
#include "support/server_cluster.h"
#include "support/test.h"
#include "wall.h"

#define FAULTS          3
#define TEXT_SIZE       256
#define KEY             "seqbroker:{main/0/order}"
#define NODE_TIMEOUT_MS 1000
#define FOREVER_MS      600000
#define AGREEMENT_MS    6000

static struct cluster *cluster;

static void one_cluster(struct chaos *chaos, int node_timeout_ms)
{
    char place[TEXT_SIZE] = "cluster = [ ";

    cluster_free(cluster);
    cluster = NULL;
    cluster = cluster_new(node_timeout_ms);
    for (size_t i = 0; i < CLUSTER_SERVERS; i++)
        assert_true(text_append(place, sizeof place, "%s\"%s\"",
                                i > 0 ? ", " : "", cluster->addresses[i]));
    assert_true(text_append(place, sizeof place, " ];"));
    redis_pool_set(chaos, chaos_topology, place);
}

/* Who serves the slot of the counter, as `asked` believes. */
static size_t owner_by(size_t asked)
{
    return cluster_owner(cluster, asked, slot_of_key(KEY));
}

/* The one that believes it of itself: others may not have heard. */
static size_t owner(void)
{
    size_t i = 0;

    while (owner_by(i) != i)
        i = (i + 1) % CLUSTER_SERVERS;
    return i;
}

/* Waits until another one than `before` is known, but no longer than that. */
static bool is_replaced_within(size_t before, size_t asked, int64_t ms)
{
    const int64_t until_ms = clock_now_ms() + ms;

    while (owner_by(asked) == before && clock_now_ms() < until_ms)
        usleep(10000);
    return owner_by(asked) != before;
}

/* --- masters that are killed or stopped --- */

/* Its replica takes over, or it comes back before that, without data. */
static void kill_master(struct chaos *chaos)
{
    const size_t dead = owner();
    const size_t other = (dead + 1) % CLUSTER_SERVERS;

    server_kill(cluster->servers[dead]);
    if (chaos_random(chaos, 2) == 0)
        assert_true(is_replaced_within(dead, other, FOREVER_MS));
    server_start(cluster->servers[dead]);
    cluster_recover(cluster);
}

TEST_WITH(CHAOS, master_killed_and_started)
{
    one_cluster(chaos, NODE_TIMEOUT_MS);
    chaos_run(chaos, __func__, 2 * FAULTS, kill_master);
}

/* Its replica takes over. What brokers had asked it is still in its sockets: it
 * may grant that before it hears that it is a master no more. */
static void stop_master(struct chaos *chaos)
{
    const size_t stopped = owner();
    const size_t other = (stopped + 1) % CLUSTER_SERVERS;

    server_pause(cluster->servers[stopped]);
    assert_true(is_replaced_within(stopped, other, FOREVER_MS));
    if (chaos_random(chaos, 2) == 0)
        chaos_take_some(chaos);
    server_resume(cluster->servers[stopped]);
    cluster_recover(cluster);
}

TEST_WITH(CHAOS, master_stopped_and_continued)
{
    one_cluster(chaos, NODE_TIMEOUT_MS);
    chaos_run(chaos, __func__, 2 * FAULTS, stop_master);
}

/* The dump is of a moment before, or of several restarts ago. The others wait
 * for it. */
static void start_with_dump(struct chaos *chaos)
{
    const size_t master = owner();

    if (chaos->faults == 0 || chaos_random(chaos, 2) == 0)
        redis_execute(cluster->servers[master], "SAVE");
    chaos_take_some(chaos);
    server_kill(cluster->servers[master]);
    server_start(cluster->servers[master]);
    cluster_recover(cluster);
}

TEST_WITH(CHAOS, master_started_from_an_old_dump)
{
    one_cluster(chaos, FOREVER_MS);
    chaos_run(chaos, __func__, FAULTS, start_with_dump);
}

/* --- masters that give way --- */

/* After it has caught up, by the votes of the masters, or without asking them.
 * They give no two votes within two node time-outs; a replica that gets none
 * gives up after 5 s. */
static void replace_master(struct chaos *chaos)
{
    static const char *const ways[] = {NULL, "FORCE", "TAKEOVER"};
    const char *way = ways[chaos_random(chaos, COUNT_OF(ways))];
    const size_t master = owner();
    const size_t replica = cluster_replica(cluster, master);

    do
        server_tell_words(
            cluster->servers[replica],
            (const char *const[]){"CLUSTER", "FAILOVER", way, NULL});
    while (!is_replaced_within(master, master, AGREEMENT_MS));
    cluster_recover(cluster);
}

TEST_WITH(CHAOS, master_replaced_by_its_replica)
{
    one_cluster(chaos, NODE_TIMEOUT_MS);
    chaos_run(chaos, __func__, 2 * FAULTS, replace_master);
}

/* --- slots that move --- */

static void move_slot(struct chaos *chaos)
{
    const unsigned slot = slot_of_key(KEY);
    const size_t from = owner();
    const size_t to = (from + 1) % CLUSTER_MASTERS;

    cluster_slot_begin(cluster, from, to, slot);
    chaos_take_some(chaos);
    cluster_slot_keys(cluster, from, to, slot);
    chaos_take_some(chaos);
    cluster_slot_end(cluster, from, to, slot);
}

TEST_WITH(CHAOS, slot_moved_while_numbers_are_taken)
{
    one_cluster(chaos, FOREVER_MS);
    chaos_run(chaos, __func__, 4 * FAULTS, move_slot);
}

static void step_and_move_slot(struct chaos *chaos)
{
    wall_step(chaos);
    move_slot(chaos);
}

TEST_WITH(CHAOS, clocks_of_brokers_stepped_while_a_slot_moves)
{
    one_cluster(chaos, FOREVER_MS);
    wall_reset();
    chaos_run(chaos, __func__, 2 * FAULTS, step_and_move_slot);
    wall_reset();
}

static int cluster_end(void **state)
{
    (void)state;
    cluster_free(cluster);
    return 0;
}

TEST_AFTER_ALL(cluster_end);
