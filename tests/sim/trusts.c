/* SPDX-License-Identifier: Apache-2.0 */
#include "trusts.h"

#include <stdlib.h>

#include "flakes.h"
#include "offline/offline.h"
#include "tool.h"
#include "world.h"

#define STREAM_TRUSTS 15
#define TRUST_US      (1 * SECOND) /* between two looks of the operator */
#define CUT_US        (20 * MS)    /* after that a program is killed */
#define MINUTE_MS     INT64_C(60000)

#define ONE_OF(random, ...)                                                    \
    ((const int64_t[]){__VA_ARGS__})[random_between(                           \
        random, 0, (int64_t)(sizeof(int64_t[]){__VA_ARGS__} / 8) - 1)]

/* --- drawing --- */

static void neighbours_draw(struct scene *scene, struct random *random)
{
    struct layout *layout = &scene->pool.layout;

    layout->bits = (int32_t)ONE_OF(random, 1, 2, 2, 2, 3);
    layout->neighbours = true;
    layout->authority = -1;
    layout->window_bits = (int32_t)ONE_OF(random, 1, 3, 5, 8);
    scene->backend_count = 1 << layout->bits;
    for (int32_t i = 0; i < scene->backend_count; i++) {
        layout->partitions[i] = i;
        scene->backends[i].server = &scene->backends[i].own;
        scene->backends[i].store.is_windowed =
            i >= 2 && random_chance(random, 25);
    }
}

/* Neighbours do not compare clocks. */
static void skews_draw(struct scene *scene, struct random *random)
{
    for (int32_t i = 0; i < SCENE_BROKERS; i++) {
        scene->extras.skew_ms[i] =
            scene->pool.layout.neighbours
                ? ONE_OF(random, 0, 90000, -1500, -90000, -8 * MINUTE_MS,
                         8 * MINUTE_MS)
                : ONE_OF(random, 0, 0, -1500, -90000, -8 * MINUTE_MS);
        scene->uses_ahead |= scene->extras.skew_ms[i] > 0;
    }
}

/* One store that leases ids bounds the times of a holder that is forgotten by
 * its clock: it must not be behind theirs. */
static void clocks_draw(struct scene *scene, struct random *random)
{
    for (int32_t i = 0; i < scene->backend_count; i++) {
        scene->backends[i].store.has_clock = true;
        scene->backends[i].store.ahead_ms = random_between(random, 0, 500);
    }
}

void trusts_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_TRUSTS);

    if (!trusts_are_drawn(seed))
        return;
    scene->has_surgery = false;
    scene->runs_out = false;
    scene->brokers = (int32_t)ONE_OF(&random, 2, 3, 3);
    if (random_chance(&random, 60))
        neighbours_draw(scene, &random);
    flakes_add(scene, &random);
    skews_draw(scene, &random);
    scene->has_steps = true;
    scene->steps_back = !scene->pool.layout.neighbours;
    if (!scene->pool.layout.neighbours)
        clocks_draw(scene, &random);
}

void trusts_settle(struct run *run)
{
    if (!trusts_are_drawn(run->scene.seed))
        return;
    for (int32_t i = 0; i < run->scene.brokers; i++)
        run->machines[i].clock.ahead_ms = run->scene.extras.skew_ms[i] = 0;
}

/* --- the operator --- */

struct truster {
    struct tool tool;
    int32_t partition;
};

static void *truster_run(void *argument)
{
    struct truster *truster = argument;
    struct run *run = truster->tool.run;
    const struct layout *layout = &run->scene.pool.layout;
    const struct store_topology topology = {truster->tool.backends,
                                            (size_t)run->scene.backend_count,
                                            &layout, 1, NULL};
    struct seqb_error err = {.text = ""};
    const enum seqb_status status =
        offline_trust(&(struct offline_trust){.topology = &topology,
                                              .partition = truster->partition,
                                              .report = tool_report,
                                              .context = &truster->tool},
                      &err);

    run_report(run, "backend %d is trusted: %s: %s", (int)truster->partition,
               seqb_status_name(status), err.text);
    run->score.trusts += status == SEQB_OK;
    tool_fini(&truster->tool);
    run->truster = NULL;
    free(truster);
    return NULL;
}

static void truster_start(struct run *run, int32_t partition)
{
    struct truster *truster = calloc(1, sizeof *truster);

    if (truster == NULL)
        abort();
    tool_init(&truster->tool, run);
    truster->partition = partition;
    run->truster = truster;
    (void)world_spawn(truster_run, truster, false);
}

static void cut_off(void *context)
{
    struct run *run = context;

    if (run->truster != NULL)
        tool_kill(&run->truster->tool);
}

/* A store that waits and did not go back since it was level. */
static int32_t find_waiting(struct run *run)
{
    int32_t found = -1;

    for (int32_t i = 0; i < run->scene.backend_count; i++) {
        struct store *store = &run->scene.backends[i].store;
        const bool is_level = store_is_level(store, SCENE_SYNCED);

        store->went_back = store->went_back && !is_level;
        if (!store->is_windowed && !is_level && !store->went_back &&
            (found < 0 || random_chance(&run->trusts, 50)))
            found = i;
    }
    return found;
}

static void next_look(void *context)
{
    struct run *run = context;
    const int32_t i = find_waiting(run);

    if (world_now_us() >= run->begun_us + run->scene.faulty_us)
        return;
    if (i >= 0 && run->truster == NULL && random_chance(&run->trusts, 60))
        truster_start(run, i);
    if (random_chance(&run->trusts, 20))
        world_at(world_now_us() + random_wait(&run->trusts, CUT_US), cut_off,
                 run);
    world_at(world_now_us() + random_wait(&run->trusts, TRUST_US), next_look,
             run);
}

void trusts_schedule(struct run *run)
{
    run->trusts = random_of(run->scene.seed, STREAM_TRUSTS + 1);
    if (trusts_are_drawn(run->scene.seed) && run->scene.pool.layout.neighbours)
        world_at(world_now_us() + random_wait(&run->trusts, TRUST_US),
                 next_look, run);
}
