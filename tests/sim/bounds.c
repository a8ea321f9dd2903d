/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds that README.md derives. */
#include "bounds.h"

#include "ha/policy/lessors.h"
#include "ha/policy/round_robin.h"
#include "platform/minmax.h"
#include "store/endpoint.h"
#include "world.h"

#define SLACK_US (200 * MS) /* a dozen round trips, some of them long */

static const struct net_server *server_of(const struct scene *scene, int32_t i)
{
    return scene->backends[i].server;
}

/* Since when all that lease to each other are well. */
static int64_t lessors_well_since(const struct scene *scene)
{
    int64_t since_us = 0;

    for (int32_t i = 0; i < scene->backend_count; i++)
        since_us = max_of(since_us, server_of(scene, i)->well_since_us);
    return since_us;
}

int64_t bounds_able_since(const struct broker *broker, int32_t partition)
{
    const struct scene *scene = &broker->run->scene;
    int64_t since_us =
        max_of(broker->opened_us, server_of(scene, partition)->well_since_us);

    if (scene->pool.layout.neighbours)
        return max_of(since_us, lessors_well_since(scene));
    if (scene_is_windowed(scene, partition))
        since_us = max_of(
            since_us,
            server_of(scene, scene->pool.layout.authority)->well_since_us);
    return since_us;
}

/* A probe that began just before the server was well may take so long. */
static int64_t probe_us(const struct scene *scene)
{
    return (scene->connect_timeout_ms + 4 * scene->pool.timeout_ms) * MS;
}

/* Each rest is twice the one before, less a fifth by chance, so that one is
 * never longer than five quarters of the time since the first began. */
static int64_t rest_us(const struct scene *scene, int64_t away_us)
{
    const int64_t longest_us = scene->pool.rescue_after_ms * MS;
    const int64_t rest = away_us + away_us / 4 + POOL_FIRST_PROBE_MS * MS;

    /* Twice, since the first probe may be what finds the connection broken. */
    if (scene->pool.rescue == HA_RESCUE_FIXED)
        return 2 * longest_us;
    return rest > longest_us ? longest_us : rest;
}

static int64_t rescue_us(const struct scene *scene, int64_t away_us)
{
    const int64_t probe = probe_us(scene);

    return probe + rest_us(scene, away_us + probe) +
           (ENDPOINT_ATTEMPT_MS + POOL_NEXT_PROBE_MS) * MS + SLACK_US;
}

/* Each relapse doubles the rest, also one that an forced probe cut short: then
 * the time that passed says nothing. */
static int64_t away_us(const struct scene *scene,
                       const struct net_server *server)
{
    int64_t away;

    if (server->well_since_us == WORLD_NEVER)
        return 0;
    away = server->well_since_us - server->ill_since_us;
    return server->relapses > 0 ? max_of(away, scene->pool.rescue_after_ms * MS)
                                : away;
}

/* The longest rest of a look, the patience of one that finds a store hung, and
 * the steps of a sync for each lessor. */
static int64_t sync_us(const struct scene *scene)
{
    return (LESSORS_LONGEST_MS + LESSORS_LONGEST_MS / 2) * MS +
           2 * probe_us(scene) + scene->backend_count * SLACK_US;
}

/* All others are rescued before a lessor is level. */
static int64_t neighbours_rescue(const struct scene *scene)
{
    int64_t away = 0;

    for (int32_t i = 0; i < scene->backend_count; i++)
        away = max_of(away, away_us(scene, server_of(scene, i)));
    away += rescue_us(scene, away) + sync_us(scene);
    return rescue_us(scene, away) + away;
}

int64_t bounds_rescue(const struct scene *scene, int32_t partition)
{
    const int64_t away = away_us(scene, server_of(scene, partition));
    int64_t authority;

    if (scene->pool.layout.neighbours)
        return neighbours_rescue(scene);
    if (!scene_is_windowed(scene, partition))
        return rescue_us(scene, away);
    authority = away_us(scene, server_of(scene, scene->pool.layout.authority));
    authority += rescue_us(scene, authority);
    return rescue_us(scene, max_of(away, authority)) + authority;
}

int64_t bounds_forced(const struct scene *scene, int32_t partition)
{
    const int64_t once = probe_us(scene) +
                         (ENDPOINT_ATTEMPT_MS + POOL_FORCE_REST_MS) * MS +
                         SLACK_US;

    if (scene->pool.rescue == HA_RESCUE_FIXED)
        return bounds_rescue(scene, partition);
    if (scene->pool.layout.neighbours)
        return neighbours_rescue(scene);
    return scene_is_windowed(scene, partition) ? 2 * once : once;
}
