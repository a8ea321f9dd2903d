/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of a cluster, and what befalls one of its members. */
#include "members.h"

#include "platform/text.h"
#include "support/test.h"

#define TOPOLOGY                                                               \
    "broker = { interval = \"2ms\"; };"                                        \
    "backends = ( { name = \"cluster\"; connect_timeout = \"10s\"; %s } );"    \
    "pools = ( { name = \"main\"; partitions = [ \"cluster\" ];"               \
    "            timeout = \"1s\"; rescue_after = \"100ms\";"                  \
    "            failover_gap = 100000000; } );"                               \
    "sequences = ( { key = \"order\"; max_unused = 2000;"                      \
    "                deadline = \"1s\"; } );"

static struct server *const *members;
static size_t member_count;
static void (*members_settle)(void);

void members_set(struct server *const *these, size_t count,
                 void (*settle)(void))
{
    members = these;
    member_count = count;
    members_settle = settle;
}

void members_topology(struct chaos *chaos, const char *even, const char *odd)
{
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(text, sizeof text, TOPOLOGY, even));
    chaos_topology(chaos, text);
    assert_true(text_format(text, sizeof text, TOPOLOGY, odd));
    chaos_topology_odd(chaos, text);
}

static void settle(void)
{
    if (members_settle != NULL)
        members_settle();
}

void members_kill_while(struct chaos *chaos,
                        void (*meanwhile)(struct chaos *chaos))
{
    struct server *member = members[chaos_random(chaos, member_count)];

    server_kill(member);
    meanwhile(chaos);
    server_start(member);
    settle();
}

void members_stop_while(struct chaos *chaos,
                        void (*meanwhile)(struct chaos *chaos))
{
    struct server *member = members[chaos_random(chaos, member_count)];

    server_pause(member);
    meanwhile(chaos);
    server_resume(member);
    settle();
}

void members_kill_one(struct chaos *chaos)
{
    members_kill_while(chaos, chaos_take_some);
}

void members_stop_one(struct chaos *chaos)
{
    members_stop_while(chaos, chaos_take_some);
}
