/* SPDX-License-Identifier: Apache-2.0 */
/* A broker over three members of etcd, whose leader is killed while a caller
 * takes numbers all the time: it gets them from what the broker holds. */
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"
#include "support/server_etcd.h"
#include "support/test.h"

#define CLUSTER 0
#define HELD    4000 /* a caller that takes one in a ms needs seconds for it */

static const char topology[] =
    "broker = { interval = \"5ms\"; };"
    "backends = ( { name = \"cluster\"; engine = \"etcd\"; endpoints ="
    "  [ \"127.0.0.1:%d\", \"127.0.0.1:%d\", \"127.0.0.1:%d\" ]; } );"
    "pools = ( { name = \"main\"; partitions = [ \"cluster\" ];"
    "  timeout = \"1s\"; rescue_after = \"100ms\"; } );"
    "sequences = ( { key = \"order\"; runway = \"10s\"; deadline = \"10s\"; } "
    ");";

static struct server *members[ETCD_MEMBERS];

/* The broker uses the leader; returns it. */
static int cluster_start(struct scene *scene)
{
    char text[SCENE_TEXT_SIZE];
    int leader;

    server_etcd_cluster(members);
    leader = etcd_leader(members);
    assert_true(text_format(
        text, sizeof text, topology, (int)server_port(members[leader]),
        (int)server_port(members[(leader + 1) % ETCD_MEMBERS]),
        (int)server_port(members[(leader + 2) % ETCD_MEMBERS])));
    scene_open(scene, scene_write(scene, "etcd.conf", text));
    return leader;
}

static int64_t granted(const struct scene *scene)
{
    return scene_partition(scene, CLUSTER).granted;
}

static struct seqb_sequence_status sequence(const struct scene *scene)
{
    struct seqb_sequence_status status;
    struct seqb_error err;
    size_t count;

    assert_done(
        seqb_sequences(scene->broker, &status, sizeof status, 1, &count, &err),
        err);
    assert_int_equal(count, 1);
    return status;
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

/* Takes one in a ms until the partition has granted more, and is up; the
 * longest call in ms. */
static int64_t more_await(struct scene *scene)
{
    const int64_t before = granted(scene);
    int64_t longest_ms = 0;

    while (granted(scene) == before ||
           scene_partition(scene, CLUSTER).state != SEQB_PARTITION_UP) {
        const int64_t took_ms = take_timed(scene);

        longest_ms = took_ms > longest_ms ? took_ms : longest_ms;
        usleep(1000);
    }
    return longest_ms;
}

TEST_WITH(SCENE, leader_that_dies_keeps_no_caller_waiting)
{
    const int leader = cluster_start(scene);
    int64_t since_ms;
    int64_t longest_ms;

    while (sequence(scene).stock < HELD)
        (void)more_await(scene);
    server_kill(members[leader]);
    since_ms = clock_now_ms();
    longest_ms = more_await(scene);
    print_message("the leader was killed: the longest call took %lld ms, the "
                  "cluster granted more after %lld ms\n",
                  (long long)longest_ms,
                  (long long)(clock_now_ms() - since_ms));
    assert_int_not_equal(etcd_leader(members), leader);
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

static int cluster_end(void **state)
{
    (void)state;
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
    return 0;
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
