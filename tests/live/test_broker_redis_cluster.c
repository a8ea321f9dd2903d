/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A broker over a private Redis Cluster and a SQLite authority, while most of
 * the masters are away, and while redis-cli moves slots. And what a probe tells
 * of the servers.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/redis/slot.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "probe_log.h"
#include "scene.h"
#include "support/server_cluster.h"
#include "support/test.h"

#define CLUSTER         0 /* the partition */
#define NODE_TIMEOUT_MS 1000
#define FOREVER_MS      600000
#define SOME            2000
#define SLOTS_MOVED     200
#define KEY_SIZE        32
#define IS_DOWN         "the cluster is down" /* for CLUSTERDOWN */

static const char topology[] =
    "broker = { interval = \"5ms\"; };"
    "backends = ("
    "  { name = \"cluster\"; engine = \"redis\"; cluster ="
    "    [ \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\" ]; },"
    "  { name = \"authority\"; engine = \"sqlite\"; path = \"windows.db\"; }"
    ");"
    "pools = ( { name = \"main\"; partitions = [ \"cluster\" ];"
    "            authority = \"authority\"; window_bits = 12;"
    "            timeout = \"2s\"; rescue = \"fixed\"; rescue_after = \"3s\";"
    "            check_interval = \"1d\"; } );"
    "sequences = ( { key = \"%s\"; max_unused = 1000; deadline = \"1s\"; } );";

static struct cluster *cluster;

static void servers_start(int node_timeout_ms)
{
    cluster_free(cluster);
    cluster = NULL;
    cluster = cluster_new(node_timeout_ms);
}

static void cluster_start(struct scene *scene, int node_timeout_ms,
                          const char *key)
{
    char text[SCENE_TEXT_SIZE];

    servers_start(node_timeout_ms);
    assert_true(text_format(text, sizeof text, topology, cluster->addresses[0],
                            cluster->addresses[1], cluster->addresses[2],
                            cluster->addresses[3], cluster->addresses[4],
                            cluster->addresses[5], key));
    scene_open(scene, scene_write(scene, "cluster.conf", text));
    scene_take_until(scene, key, CLUSTER, SEQB_PARTITION_UP);
}

static unsigned slot_of(const char *key)
{
    char name[64];

    (void)text_format(name, sizeof name, "seqbroker:{main/0/%s}", key);
    return slot_of_key(name);
}

static void more_await(struct scene *scene, const char *key)
{
    const int64_t before = scene_partition(scene, CLUSTER).granted;

    scene_take_until(scene, key, CLUSTER, SEQB_PARTITION_UP);
    while (scene_partition(scene, CLUSTER).granted < before + SOME)
        scene_take(scene, key, 100);
}

/* --- what a probe tells --- */

static const char probed[] =
    "backends = ( { name = \"cluster\"; engine = \"redis\";"
    "  connect_timeout = \"20s\"; cluster = [ \"%s\" ]; }," FILE_BACKEND(
        "authority") " );"
                     "pools = ( { name = \"main\"; partitions = [ \"cluster\" "
                     "];"
                     "  authority = \"authority\"; timeout = \"20s\"; } "
                     ");" ORDER;

TEST_WITH(SCENE, probe_tells_a_master_the_majority_and_its_replica)
{
    struct seqb_details expected = {.role = "master",
                                    .quorum = "2 of 3 masters, state ok",
                                    .replicas = "1, at most ",
                                    .tls = "none"};
    const struct probe_log *told;
    const char *path;
    char text[SCENE_TEXT_SIZE];

    servers_start(FOREVER_MS);
    assert_true(text_format(text, sizeof text, probed, cluster->addresses[0]));
    path = scene_write(scene, "probe.conf", text);
    scene_use(scene, path, 100);
    told = probe_log_of(path, NULL);
    probe_log_expect(told, SEQB_OK);
    probe_log_expect_well(told, 0, "main/0");
    (void)text_copy(expected.node, sizeof expected.node, cluster->addresses[0]);
    probe_log_expect_details(told, 0, &expected);
    scene_expect_words(told->found[0].details.replicas, " bytes behind");
}

/* --- most of the masters --- */

/* Takes what the broker holds, until the master says that the cluster is
 * down. A probe, which reads claims at the other masters, is refused by one
 * that does not run. */
static void down_await(struct scene *scene, const char *key)
{
    struct seqb_sequence *sequence = scene_sequence(scene, key);
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    struct seqb_error err;
    int64_t number;

    while (strstr(scene_partition(scene, CLUSTER).reason, IS_DOWN) == NULL) {
        if (clock_now_ms() > until_ms)
            fail_msg("the cluster is not down: %s",
                     scene_partition(scene, CLUSTER).reason);
        if (seqb_next(sequence, &number, &err) == SEQB_OK)
            numbers_add(&scene->numbers, &number, 1);
    }
    scene_await(scene, CLUSTER, SEQB_PARTITION_QUARANTINED);
}

/* The master of the counter runs on, and says that the cluster is down. No
 * replica is elected: two of three masters would have to vote. */
TEST_WITH(SCENE, cluster_without_most_masters_is_down_and_comes_back)
{
    size_t owner;

    cluster_start(scene, NODE_TIMEOUT_MS, "order");
    owner = cluster_owner(cluster, 0, slot_of("order"));
    for (size_t i = 1; i < CLUSTER_MASTERS; i++)
        server_kill(cluster->servers[(owner + i) % CLUSTER_MASTERS]);
    down_await(scene, "order");
    for (size_t i = 1; i < CLUSTER_MASTERS; i++)
        server_start(cluster->servers[(owner + i) % CLUSTER_MASTERS]);
    cluster_recover(cluster);
    more_await(scene, "order");
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

/* --- slots that redis-cli moves --- */

/* redis-cli moves the first slots of a master: the counter is in one of
 * them. */
static void key_choose(char key[static KEY_SIZE])
{
    for (int i = 0;; i++) {
        (void)text_format(key, KEY_SIZE, "order-%d", i);
        if (slot_of(key) < SLOTS_MOVED)
            return;
    }
}

static void reshard(size_t from, size_t to, const char *log)
{
    char count[8];
    const int fd = open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)text_format(count, sizeof count, "%d", SLOTS_MOVED);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
        _exit(127);
    execlp("redis-cli", "redis-cli", "--cluster", "reshard",
           cluster->addresses[0], "--cluster-from", cluster->ids[from],
           "--cluster-to", cluster->ids[to], "--cluster-slots", count,
           "--cluster-yes", (char *)NULL);
    _exit(127);
}

TEST_WITH(SCENE, reshard_repeats_nothing)
{
    char key[KEY_SIZE];
    const char *log = scene_path(scene, "reshard.log");
    int status = 0;
    pid_t pid;

    server_require("redis-cli");
    key_choose(key);
    cluster_start(scene, FOREVER_MS, key);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        reshard(0, 1, log);
    while (waitpid(pid, &status, WNOHANG) == 0)
        scene_take(scene, key, 100);
    assert_int_equal(status, 0);
    assert_int_equal(cluster_owner(cluster, 2, slot_of(key)), 1);
    more_await(scene, key);
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

static int cluster_end(void **state)
{
    (void)state;
    cluster_free(cluster);
    return 0;
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
