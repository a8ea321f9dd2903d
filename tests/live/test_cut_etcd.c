/* SPDX-License-Identifier: Apache-2.0 */
/* A member of etcd that a network cuts off from the other two, each of which
 * may lead: a client that has this member alone is granted nothing, and neither
 * is a broker on its host, which knows all three. */
#include "cut_side.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/backends.h"
#include "platform/text.h"
#include "scene.h"
#include "support/lan.h"
#include "support/netns.h"
#include "support/server_etcd.h"
#include "support/test.h"

#define ADDRESS_SIZE 32
#define BEHIND       20 /* numbers of which a member does not hear */
#define HELD         16 /* numbers that a broker holds: fewer than a phase has */

static struct lan *lan;
static struct server *members[ETCD_MEMBERS];
static char addresses[ETCD_MEMBERS][ADDRESS_SIZE];

TEST(prepare)
{
    netns_require();
    server_require("etcd");
    lan = lan_new();
    server_etcd_cluster_on(lan, NULL, members);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        (void)text_format(addresses[i], ADDRESS_SIZE, "%s:%d",
                          server_address(members[i]),
                          (int)server_port(members[i]));
}

static void member_cut(void *context)
{
    lan_cut(lan, *(const int *)context);
}

static void network_heal(void *context)
{
    (void)context;
    lan_heal(lan);
}

/* A client of these members. */
static struct cut_taker taker_of(const char *const *endpoints)
{
    return (struct cut_taker){.ops = &backend_etcd,
                              .netns = -1,
                              .options = {.name = "etcd-a",
                                          .endpoints = endpoints,
                                          .timeout_ms = 500,
                                          .connect_timeout_ms = 500,
                                          .create = true}};
}

static void member_is_cut_off(int member)
{
    const char *const alone[] = {addresses[member], NULL};
    const char *const others[] = {addresses[(member + 1) % ETCD_MEMBERS],
                                  addresses[(member + 2) % ETCD_MEMBERS], NULL};
    struct cut_taker takers[] = {taker_of(alone), taker_of(others)};

    if (lan == NULL)
        skip();
    assert_int_equal(cut_run(takers, member_cut, network_heal, &member), 0);
}

TEST(member_0_is_granted_nothing_while_it_is_cut_off)
{
    member_is_cut_off(0);
}

TEST(member_1_is_granted_nothing_while_it_is_cut_off)
{
    member_is_cut_off(1);
}

TEST(member_2_is_granted_nothing_while_it_is_cut_off)
{
    member_is_cut_off(2);
}

/* --- how far it is behind --- */

/* The member hears nothing of what the others commit. This program reaches all
 * of them. */
TEST(member_that_is_cut_off_is_told_to_be_behind)
{
    const char *const all[] = {addresses[0], addresses[1], addresses[2], NULL};
    struct seqb_details details = {.node = ""};
    struct cut_taker taker = taker_of(all);
    struct seqb_error err;
    unsigned long long behind;
    int granted = 0;
    int64_t value;

    if (lan == NULL)
        skip();
    member_cut(&(int){(etcd_leader(members) + 1) % ETCD_MEMBERS});
    while (granted < BEHIND || taker.backend == NULL)
        granted += cut_take(&taker, &value);
    assert_done(backend_etcd.describe(taker.backend, &details, &err), err);
    assert_string_equal(details.quorum, "2 of 3 members");
    assert_int_equal(
        sscanf(details.replicas, "2, at most %llu entries behind", &behind), 1);
    assert_in_range(behind, BEHIND, 1000 * BEHIND);
    network_heal(NULL);
    backend_etcd.close(taker.backend);
}

/* --- brokers --- */

static const char topology[] =
    "broker = { interval = \"5ms\"; state_dir = \"%s/state-%d\"; };"
    "backends = ( { name = \"cluster\"; engine = \"etcd\";"
    "  connect_timeout = \"2s\"; endpoints = [ \"%s\", \"%s\", \"%s\" ]; } );"
    "pools = ( { name = \"main\"; partitions = [ \"cluster\" ];"
    "  timeout = \"1s\"; rescue_after = \"100ms\"; } );"
    "sequences = ( { key = \"order\"; max_unused = %d; deadline = \"1s\"; } );";

/* The broker of a host, whose member is its first endpoint. */
static void side_init(struct cut_side *side, const struct scene *scene,
                      int host)
{
    char text[SCENE_TEXT_SIZE];
    char name[16];

    assert_true(text_format(text, sizeof text, topology, scene->folder, host,
                            addresses[host], addresses[(host + 1) % 3],
                            addresses[(host + 2) % 3], HELD));
    (void)text_format(name, sizeof name, "side-%d", host);
    cut_side_init(side, scene_write(scene, name, text), "order");
}

TEST_WITH(SCENE, broker_on_the_minority_is_granted_nothing)
{
    struct cut_taker takers[2];
    struct cut_side sides[2];
    int leader;

    if (lan == NULL)
        skip();
    assert_int_equal(unsetenv("SEQBROKER_STATE_DIR"), 0); /* one for each */
    leader = etcd_leader(members);
    for (int i = 0; i < 2; i++) {
        const int host = (leader + i) % ETCD_MEMBERS;

        side_init(&sides[i], scene, host);
        takers[i] = (struct cut_taker){.take = cut_side_take,
                                       .context = &sides[i],
                                       .netns = lan_fd(lan, host)};
    }
    assert_in_range(cut_run(takers, member_cut, network_heal, &leader), 0,
                    HELD);
    for (int i = 0; i < 2; i++)
        cut_side_close(&sides[i]);
}

TEST(end)
{
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
    lan_free(lan);
}

TEST_BEFORE_ALL(without_sigpipe);
