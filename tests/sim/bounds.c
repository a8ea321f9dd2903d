/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds that README.md derives. */
#include "bounds.h"

#include "ha/pool_turn.h"
#include "store/endpoint.h"
#include "world.h"

#define SLACK_US (200 * MS) /* a dozen round trips, some of them long */

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static const struct net_server *server_of(const struct scene *scene, int32_t i)
{
    return scene->backends[i].server;
}

int64_t bounds_able_since(const struct broker *broker, int32_t partition)
{
    const struct scene *scene = &broker->run->scene;
    int64_t since_us =
        max_of(broker->opened_us, server_of(scene, partition)->well_since_us);

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

static int64_t away_us(const struct net_server *server)
{
    return server->well_since_us == WORLD_NEVER
               ? 0
               : server->well_since_us - server->ill_since_us;
}

int64_t bounds_rescue(const struct scene *scene, int32_t partition)
{
    const int64_t away = away_us(server_of(scene, partition));
    int64_t authority;

    if (!scene_is_windowed(scene, partition))
        return rescue_us(scene, away);
    authority = away_us(server_of(scene, scene->pool.layout.authority));
    authority += rescue_us(scene, authority);
    return rescue_us(scene, max_of(away, authority)) + authority;
}

int64_t bounds_urged(const struct scene *scene, int32_t partition)
{
    const int64_t once = probe_us(scene) +
                         (ENDPOINT_ATTEMPT_MS + POOL_URGE_REST_MS) * MS +
                         SLACK_US;

    if (scene->pool.rescue == HA_RESCUE_FIXED)
        return bounds_rescue(scene, partition);
    return scene_is_windowed(scene, partition) ? 2 * once : once;
}
