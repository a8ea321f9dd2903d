/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing a scene. */
#include "scene.h"

#include "clocks.h"
#include "extras.h"
#include "flakes.h"
#include "moves.h"
#include "platform/text.h"
#include "trusts.h"
#include "world.h"

#define STREAM_SCENE      1
#define STREAM_NEIGHBOURS 7
#define STREAM_WINDOWS    10
#define STREAM_LOOKS      11
#define STREAM_SERVER     100 /* and one each */

#define NEIGHBOURS_PERCENT 20 /* of the pools */
#define RUNS_PERCENT       60 /* of those: so small windows that many are used */
#define NO_LOOKS_MS        86400000 /* the longest interval: none in a run */
#define WINDOWS_PERCENT    25 /* of the pools: a sequence has its own windows */

static int64_t one_of(struct random *random, const int64_t *values, int64_t n)
{
    return values[random_between(random, 0, n - 1)];
}

#define ONE_OF(random, ...)                                                    \
    one_of(random, (const int64_t[]){__VA_ARGS__},                             \
           (int64_t)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)))

bool scene_is_windowed(const struct scene *scene, int32_t backend)
{
    return scene->backends[backend].store.is_windowed;
}

const struct layout *scene_layout(const struct scene *scene, int32_t generation)
{
    return scene->moves.is_on ? &scene->moves.pools[generation].layout
                              : &scene->pool.layout;
}

static void backends_draw(struct scene *scene, struct random *random)
{
    const int32_t partitions = 1 << scene->pool.layout.bits;
    const int64_t windowed = ONE_OF(random, 0, 50, 100);
    bool has_windowed = false;

    for (int32_t i = 0; i < partitions; i++) {
        const bool is_windowed = random_chance(random, (int)windowed);

        scene->pool.layout.partitions[i] = i;
        scene->backends[i].store.is_windowed = is_windowed;
        has_windowed |= is_windowed;
    }
    scene->backend_count = partitions;
    scene->pool.layout.authority = -1;
    if (!has_windowed)
        return;
    for (int32_t i = 0; i < partitions; i++) {
        if (!scene->backends[i].store.is_windowed && random_chance(random, 50))
            scene->pool.layout.authority = i;
    }
    if (scene->pool.layout.authority < 0)
        scene->pool.layout.authority = scene->backend_count++;
}

/* Some stores of one kind are on one server. */
static void servers_draw(struct scene *scene, struct random *random)
{
    for (int32_t i = 0; i < scene->backend_count; i++) {
        struct scene_backend *backend = &scene->backends[i];
        const int32_t with = (int32_t)random_between(random, 0, i);

        backend->server = &backend->own;
        if (random_chance(random, 15) &&
            scene_is_windowed(scene, i) == scene_is_windowed(scene, with))
            backend->server = scene->backends[with].server;
    }
}

static void pool_draw(struct scene *scene, struct random *random)
{
    scene->pool = (struct ha_pool_options){
        .layout.name = "main",
        .layout.bits = (int32_t)ONE_OF(random, 0, 1, 1, 2, 2, 2, 3),
        .layout.window_bits = (int32_t)ONE_OF(random, 8, 10, 12, 20),
        .timeout_ms = (int32_t)ONE_OF(random, 200, 300),
        .slow_count = (int32_t)ONE_OF(random, 1, 2, 3, 3, 3),
        .slow_window_ms = 60000,
        .rescue_after_ms = (int32_t)ONE_OF(random, 1000, 5000, 300000, 300000),
        .rescue =
            random_chance(random, 10) ? HA_RESCUE_FIXED : HA_RESCUE_BACKOFF,
        .layout.failover_gap = 1000000,
    };
    if (scene->pool.rescue == HA_RESCUE_FIXED)
        scene->pool.rescue_after_ms = (int32_t)ONE_OF(random, 1000, 5000);
    scene->connect_timeout_ms = (int32_t)ONE_OF(random, 200, 500, 1000);
}

static void sequences_draw(struct scene *scene, struct random *random)
{
    static const char *const keys[] = {"order", "bill"};

    scene->keys = (int32_t)ONE_OF(random, 1, 1, 2);
    for (int32_t i = 0; i < scene->keys; i++)
        scene->sequences[i] = (struct queue_sequence_options){
            .key = keys[i],
            .memory_bits = (int32_t)ONE_OF(random, 0, 0, 2, 5),
            .deadline_ms = (int32_t)ONE_OF(random, 1000, 3000, 6000),
            .runway_ms = (int32_t)ONE_OF(random, 20, 50, 500),
            .max_unused = ONE_OF(random, 64, 300, 1000, 10000),
            .prefetch = random_chance(random, 85),
        };
}

static void load_draw(struct scene *scene, struct random *random)
{
    scene->brokers = (int32_t)ONE_OF(random, 1, 2, 2, 3);
    scene->load = (enum scene_load)random_between(random, 0, SCENE_LOADS - 1);
    scene->callers = (int32_t)random_between(random, 1, 3);
    scene->pause_us = ONE_OF(random, 30, 100, 300) * MS;
    scene->most = ONE_OF(random, 1, 10, 60);
    scene->faulty_us = random_between(random, 10, 40) * SECOND;
    scene->fault_us = ONE_OF(random, 500, 1500, 4000, 8000) * MS;
    scene->preempt = (int32_t)ONE_OF(random, 0, 0, 4, 32);
}

/* Some pools lease from neighbours; then as many stores as need be are direct.
 * Apart from the rest: other pools stay as they are drawn. */
static void neighbours_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_NEIGHBOURS);
    const int32_t partitions = 1 << scene->pool.layout.bits;
    int32_t lessors = 0;

    if (partitions < 2 || scene->has_surgery || scene->runs_out ||
        !random_chance(&random, NEIGHBOURS_PERCENT))
        return;
    for (int32_t i = 0; i < partitions; i++) {
        struct scene_backend *backend = &scene->backends[i];

        backend->store.is_windowed = i >= 2 && random_chance(&random, 40);
        backend->server = &backend->own;
        lessors += !backend->store.is_windowed;
    }
    scene->backend_count = partitions;
    scene->pool.layout.authority = -1;
    scene->pool.layout.neighbours = lessors >= 2;
    if (random_chance(&random, RUNS_PERCENT))
        scene->pool.layout.window_bits = (int32_t)ONE_OF(&random, 1, 3, 5);
}

/* The first sequence may have windows of its own size; larger ones only where
 * a number has room for them. Drawn apart, too. */
static void windows_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_WINDOWS);
    const int32_t own = (int32_t)ONE_OF(&random, 1, 3, 5, 8, 10, 12);
    const struct layout *layout = &scene->pool.layout;

    if ((layout->authority < 0 && !layout->neighbours) || scene->runs_out ||
        !random_chance(&random, WINDOWS_PERCENT))
        return;
    if (own < layout->window_bits || !scene->is_timed)
        scene->sequences[0].window_bits = own;
}

/* How soon a store that nobody asks is looked at. Drawn apart, too. */
static void looks_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_LOOKS);

    scene->pool.check_interval_ms =
        (int32_t)ONE_OF(&random, 100, 500, 2000, 2000, 2000, NO_LOOKS_MS);
}

void scene_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_SCENE);

    *scene = (struct scene){.seed = seed};
    pool_draw(scene, &random);
    backends_draw(scene, &random);
    servers_draw(scene, &random);
    sequences_draw(scene, &random);
    load_draw(scene, &random);
    scene->has_surgery = random_chance(&random, 4);
    scene->runs_out = !scene->has_surgery && random_chance(&random, 3);
    /* Surgery is only noticed by who had been granted what comes again. */
    if (scene->has_surgery)
        scene->brokers = 1;
    clocks_draw(scene, seed);
    neighbours_draw(scene, seed);
    windows_draw(scene, seed);
    flakes_draw(scene, seed);
    looks_draw(scene, seed);
    extras_draw(scene, seed);
    moves_draw(scene, seed);
    trusts_draw(scene, seed);
}

void scene_plain(struct scene *scene, uint64_t seed, bool is_windowed)
{
    *scene = (struct scene){
        .seed = seed,
        .brokers = 1,
        .backend_count = is_windowed ? 5 : 4,
        .pool = {.layout.name = "main",
                 .layout.bits = 2,
                 .layout.partitions = {0, 1, 2, 3},
                 .layout.authority = is_windowed ? 4 : -1,
                 .layout.window_bits = 12,
                 .timeout_ms = 200,
                 .slow_count = 3,
                 .slow_window_ms = 60000,
                 .rescue_after_ms = 300000,
                 .check_interval_ms = 2000,
                 .layout.failover_gap = 1000000},
        .sequences = {{.key = "order",
                       .deadline_ms = 1000,
                       .runway_ms = 50,
                       .max_unused = 10000,
                       .prefetch = true}},
        .keys = 1,
        .connect_timeout_ms = 1000,
        .callers = 1,
        .pause_us = 100 * MS,
        .most = 20,
    };
    for (int32_t i = 0; i < scene->backend_count; i++) {
        scene->backends[i].server = &scene->backends[i].own;
        scene->backends[i].store.is_windowed = is_windowed && i < 4;
    }
}

void scene_neighbours(struct scene *scene, uint64_t seed)
{
    scene_plain(scene, seed, false);
    scene->pool.layout.neighbours = true;
    scene->backends[3].store.is_windowed = true;
}

void scene_init(struct scene *scene, int without)
{
    /* A look finds a change before there is another one, which is what most
     * guards are for: a store that lacks one is nearly as good then. */
    if (without != 0)
        scene->pool.check_interval_ms = NO_LOOKS_MS;
    for (int32_t i = 0; i < scene->backend_count; i++) {
        struct scene_backend *backend = &scene->backends[i];

        store_init(&backend->store, backend->store.is_windowed, without);
        backend->store.claims_go_back = scene->moves.is_on;
        net_init(&backend->own,
                 random_of(scene->seed, STREAM_SERVER + (uint64_t)i));
        (void)text_format(backend->name, sizeof backend->name, "b%d", (int)i);
        for (int32_t j = 0; j <= i; j++) {
            if (&scene->backends[j].own == backend->server)
                (void)text_format(backend->host, sizeof backend->host,
                                  "server%d", (int)j);
        }
    }
}

void scene_fini(struct scene *scene)
{
    for (int32_t i = 0; i < scene->backend_count; i++)
        store_fini(&scene->backends[i].store);
}
