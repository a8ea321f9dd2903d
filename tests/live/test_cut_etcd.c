/* SPDX-License-Identifier: Apache-2.0 */
/* A member of etcd that a network cuts off from the other two, each of which
 * may lead: a client that has this member alone is granted nothing. */
#include "cut.h"

#include "backends/backends.h"
#include "platform/text.h"
#include "support/lan.h"
#include "support/netns.h"
#include "support/server_etcd.h"
#include "support/test.h"

#define ADDRESS_SIZE 32

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

TEST(end)
{
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
    lan_free(lan);
}

TEST_BEFORE_ALL(without_sigpipe);
