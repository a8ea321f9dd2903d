/* SPDX-License-Identifier: Apache-2.0 */
/* A broker over three members of etcd, whose leader is killed while a caller
 * takes numbers all the time: it gets them from what the broker holds. And what
 * a probe tells of the members. */
#include <unistd.h>

#include "election.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "probe_log.h"
#include "scene.h"
#include "support/server_etcd.h"
#include "support/test.h"

#define CLUSTER    0 /* the partitions */
#define FILE_STORE 1
#define HELD       4000 /* a caller that takes one in a ms needs seconds for it */

static const char topology[] =
    "broker = { interval = \"5ms\"; };"
    "backends = ( { name = \"cluster\"; engine = \"etcd\"; endpoints ="
    "  [ \"127.0.0.1:%d\", \"127.0.0.1:%d\", \"127.0.0.1:%d\" ]; }%s );"
    "pools = ( { name = \"main\"; partitions = [ \"cluster\"%s ];"
    "  timeout = \"1s\"; rescue_after = \"100ms\"; } );"
    "sequences = ( { key = \"order\"; runway = \"10s\"; max_unused = %d;"
    "    deadline = \"10s\"; },"
    "  { key = \"asked\"; max_unused = 10; deadline = \"1ms\"; } );";

static struct server *members[ETCD_MEMBERS];

static void members_free(void)
{
    for (int i = 0; i < ETCD_MEMBERS; i++) {
        server_free(members[i]);
        members[i] = NULL;
    }
}

/* New members, and their ports, the leader's first; returns the leader. */
static int members_start(int ports[static ETCD_MEMBERS])
{
    int leader;

    members_free();
    server_etcd_cluster(members);
    leader = etcd_leader(members);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        ports[i] = (int)server_port(members[(leader + i) % ETCD_MEMBERS]);
    return leader;
}

/* --- what a probe tells --- */

static const char probed[] =
    "backends = ( { name = \"cluster\"; engine = \"etcd\";"
    "  connect_timeout = \"20s\"; endpoints ="
    "  [ \"127.0.0.1:%d\", \"127.0.0.1:%d\", \"127.0.0.1:%d\" ]; } );" POOL(
        "\"cluster\"") ORDER;

/* The members may elect another leader while they are asked. */
TEST_WITH(SCENE, probe_tells_the_member_its_role_and_how_far_all_are)
{
    struct seqb_details expected = {
        .quorum = "2 of 3 members", .replicas = "2, at most ", .tls = "none"};
    const struct probe_log *told;
    const char *path;
    char text[SCENE_TEXT_SIZE];
    int ports[ETCD_MEMBERS];
    const int first = members_start(ports);
    int leader;

    assert_true(
        text_format(text, sizeof text, probed, ports[0], ports[1], ports[2]));
    path = scene_write(scene, "probe.conf", text);
    scene_use(scene, path, 100);
    do {
        leader = etcd_leader(members);
        told = probe_log_of(path, NULL);
    } while (etcd_leader(members) != leader);
    probe_log_expect(told, SEQB_OK);
    probe_log_expect_well(told, 0, "main/0");
    (void)text_format(expected.node, sizeof expected.node, "127.0.0.1:%d",
                      ports[0]);
    (void)text_copy(expected.role, sizeof expected.role,
                    leader == first ? "leader" : "follower");
    probe_log_expect_details(told, 0, &expected);
    scene_expect_words(told->found[0].details.replicas, " entries behind");
}

static const char probed_by_tls[] =
    "backends = ( { name = \"cluster\"; engine = \"etcd\";"
    "  connect_timeout = \"20s\"; endpoints = [ \"127.0.0.1:%d\" ];"
    "  tls = \"verify\"; tls_ca = \"%s\"; tls_cert = \"%s\";"
    "  tls_key = \"%s\"; } );" POOL("\"cluster\"") ORDER;

TEST_WITH(SCENE, probe_tells_the_version_of_tls)
{
    struct seqb_details expected = {.role = "leader",
                                    .quorum = "1 of 1 members",
                                    .replicas = "none",
                                    .tls = "TLSv1.3"};
    const struct probe_log *told;
    const char *path;
    char text[SCENE_TEXT_SIZE];
    struct tls_files files;

    tls_files_make(&files, "root", "IP:127.0.0.1");
    members_free();
    members[0] = server_etcd_tls(&files);
    (void)text_format(expected.node, sizeof expected.node, "127.0.0.1:%d",
                      (int)server_port(members[0]));
    assert_true(text_format(text, sizeof text, probed_by_tls,
                            (int)server_port(members[0]), files.cert,
                            files.cert, files.key));
    path = scene_write(scene, "probe.conf", text);
    scene_use(scene, path, 100);
    told = probe_log_of(path, NULL);
    members_free();
    tls_files_remove(&files);
    probe_log_expect(told, SEQB_OK);
    probe_log_expect_well(told, 0, "main/0");
    probe_log_expect_details(told, 0, &expected);
}

/* --- a leader that dies --- */

/* Another partition; the broker then holds little. */
static const char file[] =
    ", { name = \"file\"; engine = \"sqlite\"; path = \"orders.db\"; }";

/* The broker uses the leader; returns it. */
static int cluster_start(struct scene *scene, bool has_file)
{
    char text[SCENE_TEXT_SIZE];
    int ports[ETCD_MEMBERS];
    const int leader = members_start(ports);

    assert_true(text_format(text, sizeof text, topology, ports[0], ports[1],
                            ports[2], has_file ? file : "",
                            has_file ? ", \"file\"" : "",
                            has_file ? 1000 : 100000));
    scene_open(scene, scene_write(scene, "etcd.conf", text));
    return leader;
}

static int64_t granted(const struct scene *scene)
{
    return scene_partition(scene, CLUSTER).granted;
}

/* Takes one within the sequence's deadline; the time in ms. */
static int64_t take_timed(struct scene *scene)
{
    const int64_t since_ms = clock_now_ms();
    struct seqb_error err;
    int64_t number;

    assert_done(seqb_next(scene_sequence(scene, "order"), &number, &err), err);
    numbers_add(&scene->numbers, &number, 1);
    return clock_now_ms() - since_ms;
}

/* Takes what the broker does not hold, so that the partition is asked all the
 * time. */
static void ask(struct scene *scene)
{
    struct seqb_error err;
    int64_t number;

    (void)!seqb_next(scene_sequence(scene, "asked"), &number, &err);
}

/* Takes one in a ms until the partition has granted more; the longest call in
 * ms. */
static int64_t more_await(struct scene *scene)
{
    const int64_t before = granted(scene);
    int64_t longest_ms = 0;

    while (granted(scene) == before) {
        const int64_t took_ms = take_timed(scene);

        longest_ms = took_ms > longest_ms ? took_ms : longest_ms;
        ask(scene);
        usleep(1000);
    }
    return longest_ms;
}

static void leader_await(void)
{
    (void)etcd_leader(members);
}

TEST_WITH(SCENE, leader_that_dies_keeps_no_caller_waiting)
{
    const int leader = cluster_start(scene, false);
    struct election election;

    while (election_stock(scene) < HELD)
        (void)more_await(scene);
    server_kill(members[leader]);
    election_begin(&election, leader_await);
    election_end(&election, "etcd", more_await(scene));
    assert_int_not_equal(etcd_leader(members), leader);
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

/* As in config/etcd.conf: the file's numbers go on. */
TEST_WITH(SCENE, leader_that_dies_refuses_no_take_where_another_store_serves)
{
    const int leader = cluster_start(scene, true);
    struct election election;

    scene_take(scene, "order", 1);
    (void)election_take(scene, CLUSTER, FILE_STORE);
    server_kill(members[leader]);
    election_begin(&election, leader_await);
    election_end(&election, "etcd", election_take(scene, CLUSTER, FILE_STORE));
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

static int cluster_end(void **state)
{
    (void)state;
    members_free();
    return 0;
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
