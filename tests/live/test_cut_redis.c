/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A master of a Redis Cluster that a network cuts off, with a client on its
 * side. It serves that client for the cluster's node time-out, while its
 * replica takes over on the other side without what it grants: the cell came
 * with the replica, but it is fenced there.
 */
#include "cut_side.h"

#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/redis/slot.h"
#include "platform/text.h"
#include "scene.h"
#include "support/lan.h"
#include "support/netns.h"
#include "support/server_cluster.h"
#include "support/test.h"

#define CUT_OFF         0
#define NODE_TIMEOUT_MS 2000
#define SIZE            ((int64_t)1 << 20)
#define TEXT_SIZE       256
#define HELD            16 /* numbers that a broker holds */

static struct lan *lan;
static struct cluster *cluster;
static char counter[SEQB_COUNTER_SIZE]; /* the master on that host has it */
static const char *sequence;            /* the counter's key, within it */

static atomic_llong leased; /* windows; what an authority grants */

/* Its slots are the first third. */
static void counter_choose(void)
{
    char key[SEQB_COUNTER_SIZE * 2];
    int i = 0;

    do {
        (void)text_format(counter, sizeof counter, "main/0/order%d", i++);
        (void)text_format(key, sizeof key, "seqbroker:{%s}", counter);
    } while (slot_of_key(key) >= REDIS_SLOTS / CLUSTER_MASTERS);
    sequence = counter + strlen("main/0/");
}

/* Each test has a cluster of its own, in which that host has that master. */
static void cluster_begin(void)
{
    netns_require();
    server_require("redis-server");
    lan = lan_new();
    cluster = cluster_new_on(lan, NODE_TIMEOUT_MS);
    counter_choose();
}

static void cluster_end(void)
{
    cluster_free(cluster);
    lan_free(lan);
}

static bool is_open(struct cut_taker *taker, struct seqb_error *err)
{
    return taker->backend != NULL ||
           taker->ops->open(&taker->options, &taker->backend, err) == SEQB_OK;
}

/* A window that nobody had; one that may not be installed is given up. */
static bool window_install(struct cut_taker *taker, struct seqb_error *err)
{
    const struct seqb_window window = {.counter = counter,
                                       .window =
                                           atomic_fetch_add(&leased, 1) + 1,
                                       .size = SIZE};
    int64_t standing;

    return taker->ops->install(taker->backend, &window, &standing, err) ==
           SEQB_OK;
}

static bool take_once(struct cut_taker *taker, int64_t *out,
                      struct seqb_error *err)
{
    struct seqb_request request;

    do {
        request = (struct seqb_request){.counter = counter,
                                        .want = 1,
                                        .limit = SIZE,
                                        .window = SEQB_NO_WINDOW};
        if (!is_open(taker, err) ||
            taker->ops->reserve(taker->backend, &request, 1, err) != SEQB_OK)
            return false;
        if (request.status == SEQB_OK) {
            *out = request.window * SIZE + request.block.first;
            return true;
        }
        *err = request.error;
    } while (
        (request.status == SEQB_FENCED || request.status == SEQB_EXHAUSTED) &&
        window_install(taker, err));
    return false;
}

static bool cell_take(struct cut_taker *taker, int64_t *out)
{
    struct seqb_error err = {.text = ""};

    if (take_once(taker, out, &err))
        return true;
    (void)text_copy(taker->error, sizeof taker->error, err.text);
    taker->ops->close(taker->backend);
    taker->backend = NULL;
    return false;
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

static struct cut_taker taker_of(int host)
{
    return (struct cut_taker){.take = cell_take,
                              .ops = &backend_redis,
                              .netns = lan_fd(lan, host),
                              .options = {.name = "redis-a",
                                          .endpoints = cluster->endpoints,
                                          .timeout_ms = 1000,
                                          .connect_timeout_ms = 1000}};
}

TEST(master_that_is_cut_off_repeats_nothing)
{
    struct cut_taker takers[2];

    cluster_begin();
    takers[0] = taker_of(CUT_OFF);
    takers[1] = taker_of(1);
    (void)cut_run(takers, master_cut, network_heal, NULL);
    print_message("%lld windows\n", (long long)leased);
    assert_true(leased > 1); /* the cell was fenced */
    cluster_end();
}

/* --- brokers --- */

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
