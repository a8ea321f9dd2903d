/* SPDX-License-Identifier: Apache-2.0 */
#include "moves.h"

#include <stdlib.h>

#include "broker.h"
#include "faults.h"
#include "judge.h"
#include "offline/offline.h"
#include "tool.h"
#include "world.h"

#define STREAM_MOVES 14
#define MOVE_US      (4 * SECOND)   /* between two migrations, usually */
#define CUT_US       (100 * MS)     /* after that a migration is cut off */
#define BACK_US      (2 * SECOND)   /* between two stores that are put back */
#define SETTLE_US    (700 * SECOND) /* longer than any rest of a partition */
#define EARLIER      25 /* percent of the brokers know an earlier generation */
#define LATER        10 /* percent know the next one before it is there */

#define ONE_OF(random, ...)                                                    \
    ((const int64_t[]){__VA_ARGS__})[random_between(                           \
        random, 0, (int64_t)(sizeof(int64_t[]){__VA_ARGS__} / 8) - 1)]

/* --- drawing --- */

static void backends_draw(struct scene *scene, struct random *random)
{
    const int64_t windowed = ONE_OF(random, 0, 30, 60);

    scene->backend_count = (int32_t)random_between(random, 4, SCENE_BACKENDS);
    for (int32_t i = 0; i < scene->backend_count; i++) {
        scene->backends[i].server = &scene->backends[i].own;
        scene->backends[i].store.is_windowed =
            i >= 2 && random_chance(random, (int)windowed);
    }
}

static void partitions_draw(struct scene *scene, struct random *random,
                            struct layout *layout)
{
    int32_t order[SCENE_BACKENDS];

    for (int32_t i = 0; i < scene->backend_count; i++)
        order[i] = i;
    for (int32_t i = 0; i < 1 << layout->bits; i++) {
        const int32_t with =
            (int32_t)random_between(random, i, scene->backend_count - 1);

        layout->partitions[i] = order[with];
        order[with] = order[i];
    }
}

static int32_t direct_count(const struct scene *scene,
                            const struct layout *layout)
{
    int32_t count = layout->authority >= 0;

    for (int32_t i = 0; i < 1 << layout->bits; i++)
        count += !scene_is_windowed(scene, layout->partitions[i]) &&
                 layout->partitions[i] != layout->authority;
    return count;
}

/* Who leases the windows of a layout; nobody, if it has none. */
static void lessors_draw(struct scene *scene, struct random *random,
                         struct layout *layout)
{
    const int32_t direct = direct_count(scene, layout);

    layout->neighbours = direct >= 2 && (scene->moves.only_neighbours ||
                                         random_chance(random, 30));
    if (layout->neighbours)
        return;
    layout->all_windowed = random_chance(random, 30);
    if (direct == 1 << layout->bits && !layout->all_windowed)
        return;
    layout->authority = (int32_t)random_between(random, 0, 1);
}

/* Of neighbours alone, each layout has two of them. */
static void generation_draw(struct scene *scene, struct random *random,
                            int32_t g)
{
    struct layout *layout = &scene->moves.pools[g].layout;

    scene->moves.pools[g] = scene->pool;
    *layout = (struct layout){
        .name = "main",
        .generation = g + 1,
        .authority = -1,
        .window_bits = (int32_t)ONE_OF(random, 1, 3, 5, 8, 10, 12, 20),
        .failover_gap = scene->moves.gap,
    };
    do {
        layout->bits = (int32_t)ONE_OF(random, 0, 1, 1, 2, 2, 3);
        if (1 << layout->bits > scene->backend_count)
            layout->bits = 2;
        partitions_draw(scene, random, layout);
    } while (scene->moves.only_neighbours && direct_count(scene, layout) < 2);
    lessors_draw(scene, random, layout);
    scene->moves.has_two &= direct_count(scene, layout) >= 2;
    for (int32_t k = 0; k < scene->keys; k++) {
        struct queue_sequence_options *sequence = &scene->moves.sequences[g][k];

        *sequence = scene->sequences[k];
        sequence->memory_bits = (int32_t)ONE_OF(random, 0, 0, 2, 5);
        sequence->window_bits = layout->authority >= 0 || layout->neighbours
                                    ? (int32_t)ONE_OF(random, 0, 0, 0, 4)
                                    : 0;
    }
}

void moves_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_MOVES);

    if (!moves_are_drawn(seed))
        return;
    scene->moves.is_on = true;
    scene->moves.only_neighbours = random_chance(&random, 40);
    scene->moves.has_two = true;
    scene->has_surgery = false;
    scene->runs_out = false;
    scene->brokers = (int32_t)ONE_OF(&random, 1, 2, 3, 3);
    backends_draw(scene, &random);
    scene->moves.gap = scene->moves.only_neighbours
                           ? 100
                           : ONE_OF(&random, 1000, 30000, 1000000);
    for (int32_t g = 0; g < SCENE_GENERATIONS; g++)
        generation_draw(scene, &random, g);
    scene->pool = scene->moves.pools[0];
    for (int32_t k = 0; k < scene->keys; k++)
        scene->sequences[k] = scene->moves.sequences[0][k];
}

/* --- brokers --- */

/* The place of the backend among those that the broker uses. */
static int32_t backend_use(struct broker *broker, int32_t backend)
{
    const struct store_options *options = &broker->backends[backend];
    size_t *count = &broker->ha_options.backend_count;
    size_t i = 0;

    while (i < *count && broker->used[i].options.name != options->options.name)
        i++;
    if (i == *count)
        broker->used[(*count)++] = *options;
    return (int32_t)i;
}

/* A topology has no backend that no pool uses. */
static void backends_use(struct broker *broker)
{
    struct layout *layout = &broker->pool.layout;

    broker->ha_options.backends = broker->used;
    broker->ha_options.backend_count = 0;
    for (int32_t i = 0; i < 1 << layout->bits; i++)
        layout->partitions[i] = backend_use(broker, layout->partitions[i]);
    if (layout->authority >= 0)
        layout->authority = backend_use(broker, layout->authority);
}

void moves_set(struct machine *machine, struct broker *broker)
{
    struct run *run = machine->run;
    int32_t g = run->generation;

    if (!run->scene.moves.is_on)
        return;
    if (!run->is_settling && random_chance(&run->orders, EARLIER))
        g = (int32_t)random_between(&run->orders, 0, g);
    else if (run->generation > 0 && !run->is_settling &&
             random_chance(&run->orders, LATER) && g + 1 < SCENE_GENERATIONS)
        g++;
    broker->generation = g;
    broker->pool = run->scene.moves.pools[g];
    backends_use(broker);
    broker->queue_options.sequences = run->scene.moves.sequences[g];
    run_report(run, "broker %d starts with generation %d", (int)broker->index,
               (int)g + 1);
}

/* --- an operator's migration --- */

struct mover {
    struct tool tool;
    int32_t to; /* index of the generation */
};

static enum seqb_status mover_migrate(struct mover *mover,
                                      struct seqb_error *err)
{
    const struct scene *scene = &mover->tool.run->scene;
    const struct layout *was = &scene->moves.pools[mover->to - 1].layout;
    const struct layout *is = &scene->moves.pools[mover->to].layout;
    const size_t count = (size_t)scene->backend_count;
    struct offline_key keys[SCENE_KEYS];
    const struct store_topology before = {mover->tool.backends, count, &was, 1,
                                          NULL};
    const struct store_topology after = {mover->tool.backends, count, &is, 1,
                                         NULL};
    const struct offline_pool pool = {.keys = keys,
                                      .key_count = (size_t)scene->keys};

    for (int32_t k = 0; k < scene->keys; k++) {
        const struct queue_sequence_options *old =
            &scene->moves.sequences[mover->to - 1][k];
        const struct queue_sequence_options *new =
            &scene->moves.sequences[mover->to][k];

        keys[k] = (struct offline_key){
            .key = old->key,
            .was_bits = old->memory_bits,
            .is_bits = new->memory_bits,
            .was_window_bits = layout_window_bits(was, old->window_bits),
            .is_window_bits = layout_window_bits(is, new->window_bits),
            .is_value_bits = LAYOUT_BITS_ALL};
    }
    return offline_migrate(&(struct offline_migration){.was = &before,
                                                       .is = &after,
                                                       .pools = &pool,
                                                       .pool_count = 1,
                                                       .report = tool_report,
                                                       .context = &mover->tool},
                           err);
}

static void *mover_run(void *argument)
{
    struct mover *mover = argument;
    struct run *run = mover->tool.run;
    struct seqb_error err = {.text = ""};
    const enum seqb_status status = mover_migrate(mover, &err);

    run_report(run, "migrate to generation %d: %s: %s", (int)mover->to + 1,
               seqb_status_name(status), err.text);
    run->moved = status == SEQB_OK ? mover->to : -1;
    run->has_to_redo = status == SEQB_LAYOUT;
    if (status == SEQB_OK && mover->to > run->generation)
        run->generation = mover->to;
    tool_fini(&mover->tool);
    run->mover = NULL;
    free(mover);
    return NULL;
}

/* A store that went back is brought along by the migration that it went back
 * over: that one is run again first. */
static int32_t next_move(struct run *run)
{
    const int32_t again = run->generation > 0 ? run->generation : 1;
    const int32_t next = run->is_settling || again == SCENE_GENERATIONS - 1
                             ? run->tried
                             : run->generation + 1;

    if (run->has_to_redo || next < again)
        return again;
    return run->is_settling || random_chance(&run->orders, 60) ? next : again;
}

/* A backup of each store from before the migration. */
static void keep_all(struct run *run)
{
    for (int32_t i = 0; i < run->scene.backend_count; i++)
        store_keep(&run->scene.backends[i].store, 0);
}

static void move_start(struct run *run)
{
    struct mover *mover;

    if (run->mover != NULL)
        return;
    mover = calloc(1, sizeof *mover);
    if (mover == NULL)
        abort();
    tool_init(&mover->tool, run);
    mover->to = next_move(run);
    if (mover->to > run->tried)
        run->tried = mover->to;
    run->mover = mover;
    if (random_chance(&run->orders, 50))
        keep_all(run);
    (void)world_spawn(mover_run, mover, false);
}

static void cut_off(void *context)
{
    struct run *run = context;

    if (run->mover == NULL || run->is_settling)
        return;
    run_report(run, "the migration is cut off");
    tool_kill(&run->mover->tool);
}

static void next_order(void *context)
{
    struct run *run = context;

    if (world_now_us() >= run->begun_us + run->scene.faulty_us)
        return;
    move_start(run);
    if (random_chance(&run->orders, 60))
        world_at(world_now_us() + random_wait(&run->orders, CUT_US), cut_off,
                 run);
    world_at(world_now_us() + random_wait(&run->orders, MOVE_US), next_order,
             run);
}

/* --- stores that go back --- */

static bool has_authority(const struct run *run)
{
    for (int32_t g = 0; g < SCENE_GENERATIONS; g++) {
        if (run->scene.moves.pools[g].layout.authority >= 0)
            return true;
    }
    return false;
}

/* Of a pool with an authority, a store from before two migrations is refused
 * for ever: what was leased since, the authority alone knew. */
bool moves_may_put_back(const struct run *run, const struct store *store,
                        int32_t past)
{
    const struct store_side *was = &store->pasts[past];

    if (run->generation > 1 && has_authority(run))
        return false;
    return run->scene.moves.has_two && fault_is_alone(run, store) &&
           !run->has_to_redo && run->tried == run->generation &&
           !run->scene.moves.only_neighbours && !store->is_windowed &&
           was->history == store->sides[0].history &&
           !fault_is_too_old(run, store, &was->content) &&
           store_lacks(store, &was->content, false) <
               run->scene.pool.layout.failover_gap;
}

/* To what it was before, with another origin; or it is only remembered. */
static void next_back(void *context)
{
    struct run *run = context;
    const int64_t i =
        random_between(&run->orders, 0, run->scene.backend_count - 1);
    struct scene_backend *backend = &run->scene.backends[i];
    const int32_t past =
        (int32_t)random_between(&run->orders, 0, STORE_PASTS - 1);

    if (world_now_us() >= run->begun_us + run->scene.faulty_us)
        return;
    fault_look(run);
    if (random_chance(&run->orders, 30)) {
        store_keep(&backend->store, past);
    } else if (!backend->server->is_taken &&
               moves_may_put_back(run, &backend->store, past)) {
        run_report(run, "backend %d is put back", (int)i);
        net_break(backend->server);
        store_put_back(&backend->store, past, false);
        run->has_to_redo = run->generation > 0;
    }
    world_at(world_now_us() + random_wait(&run->orders, BACK_US), next_back,
             run);
}

void moves_schedule(struct run *run)
{
    if (!run->scene.moves.is_on)
        return;
    world_at(world_now_us() + random_wait(&run->orders, MOVE_US), next_order,
             run);
    world_at(world_now_us() + random_wait(&run->orders, BACK_US), next_back,
             run);
}

/* --- the end --- */

static bool serves(const struct run *run, int32_t i, int64_t since_us)
{
    const struct broker *broker = run->machines[i].broker;

    return broker != NULL && broker->is_open &&
           broker->generation == run->generation &&
           broker->granted_us > since_us;
}

static bool all_serve(const struct run *run, int64_t since_us)
{
    for (int32_t i = 0; i < run->scene.brokers; i++) {
        if (!serves(run, i, since_us))
            return false;
    }
    return true;
}

static void moves_finish(struct run *run, int64_t until_us)
{
    run->moved = -1;
    while (
        run->score.failures == 0 && world_now_us() < until_us &&
        (run->mover != NULL || run->tried == 0 || run->moved != run->tried)) {
        move_start(run);
        run_until(run, world_now_us() + SECOND);
    }
    if (run->score.failures == 0 && run->moved != run->tried)
        judge_fail(run, "no migration comes to its end");
}

void moves_settle(struct run *run)
{
    const int64_t until_us = world_now_us() + SETTLE_US;
    int64_t since_us;

    run->is_settling = true;
    moves_finish(run, until_us);
    for (int32_t i = 0; i < run->scene.brokers; i++) {
        const struct broker *broker = run->machines[i].broker;

        if (broker != NULL)
            machine_kill(&run->machines[i], SECOND);
    }
    since_us = world_now_us();
    while (run->score.failures == 0 && world_now_us() < until_us &&
           !all_serve(run, since_us))
        run_until(run, world_now_us() + SECOND);
    if (run->score.failures == 0 && !all_serve(run, since_us))
        judge_fail(run, "a broker does not serve after the migration");
}
