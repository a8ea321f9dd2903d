/* SPDX-License-Identifier: Apache-2.0 */
/* How long an answer takes. */
#include "net.h"

#include "world.h"

#define USUAL_MIN_US 100
#define USUAL_MAX_US 2000
#define TAIL_PERCENT 1 /* of the commands take much longer */
#define TAIL_TIMES   10
#define LATE_PERCENT 30 /* of what was sent into a cut arrives after it */

/* What comes so soon after, and three times as long as it was away, is a
 * relapse to a broker: it rested as long, and noticed late. */
#define CALM_US (60 * SECOND)

void net_init(struct net_server *server, struct random random)
{
    *server = (struct net_server){.random = random,
                                  .slow = 1,
                                  .well_since_us = world_now_us(),
                                  .ill_since_us = world_now_us()};
    server->usual_us =
        random_between(&server->random, USUAL_MIN_US, USUAL_MAX_US);
}

static bool is_well(const struct net_server *server)
{
    return !server->is_down && !server->is_locked_out && server->slow == 1 &&
           server->lost == 0 && server->cut == 0 &&
           server->hung_until_us <= world_now_us();
}

static void note_ill(struct net_server *server)
{
    const int64_t away_us = server->well_since_us - server->ill_since_us;

    server->ills++;
    if (world_now_us() - server->well_since_us > CALM_US + 3 * away_us)
        server->ill_since_us = world_now_us();
    server->relapses =
        server->ill_since_us == world_now_us() ? 0 : server->relapses + 1;
    server->well_since_us = WORLD_NEVER;
}

void net_note(struct net_server *server)
{
    const bool was_well = server->well_since_us != WORLD_NEVER;

    if (was_well && !is_well(server))
        note_ill(server);
    else if (!was_well && is_well(server))
        server->well_since_us = world_now_us();
}

void net_break(struct net_server *server)
{
    server->epoch++;
    if (server->well_since_us == WORLD_NEVER)
        return;
    note_ill(server);
    server->well_since_us = world_now_us();
}

static int64_t one_way(struct net_server *server)
{
    int64_t us = server->usual_us / 4 +
                 random_wait(&server->random, server->usual_us / 4);

    if (random_chance(&server->random, TAIL_PERCENT))
        us *= TAIL_TIMES;
    return us * server->slow + 1;
}

struct net_fate net_send(struct net_server *server, int32_t broker)
{
    struct net_fate disposition = {.arrives_us =
                                       world_now_us() + one_way(server)};

    if ((server->cut >> broker & 1) != 0)
        return (struct net_fate){random_chance(&server->random, LATE_PERCENT)
                                     ? server->cut_until_us + one_way(server)
                                     : WORLD_NEVER,
                                 WORLD_NEVER};
    if (disposition.arrives_us < server->hung_until_us)
        disposition.arrives_us = server->hung_until_us + one_way(server);
    disposition.answer_us = disposition.arrives_us + one_way(server);
    if (server->lost > 0 && random_chance(&server->random, server->lost))
        disposition.answer_us = WORLD_NEVER;
    return disposition;
}
