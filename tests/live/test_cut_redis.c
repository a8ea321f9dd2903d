/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A master of a Redis Cluster that a network cuts off, with a client on its
 * side. It serves that client for the cluster's node time-out, while its
 * replica takes over on the other side without what it grants: the cell came
 * with the replica, but it is fenced there.
 */
#include "cut.h"

#include "backends/backends.h"
#include "backends/redis/slot.h"
#include "platform/text.h"
#include "support/lan.h"
#include "support/netns.h"
#include "support/server_cluster.h"
#include "support/test.h"

#define CUT_OFF         0
#define NODE_TIMEOUT_MS 2000
#define SIZE            ((int64_t)1 << 20)

static struct lan *lan;
static struct cluster *cluster;
static char counter[SEQB_COUNTER_SIZE]; /* the master on that host has it */

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

    netns_require();
    server_require("redis-server");
    lan = lan_new();
    cluster = cluster_new_on(lan, NODE_TIMEOUT_MS);
    counter_choose();
    takers[0] = taker_of(CUT_OFF);
    takers[1] = taker_of(1);
    (void)cut_run(takers, master_cut, network_heal, NULL);
    print_message("%lld windows\n", (long long)leased);
    assert_true(leased > 1); /* the cell was fenced */
    cluster_free(cluster);
    lan_free(lan);
}

TEST_BEFORE_ALL(without_sigpipe);
