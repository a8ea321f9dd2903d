/* SPDX-License-Identifier: Apache-2.0 */
/* Four stores, one broker, one kind of trouble. */
#include "scenarios.h"

#include <stdlib.h>

#include "broker.h"
#include "clocks.h"
#include "world.h"

#define WARM_US  (10 * SECOND)
#define AFTER_US (1800 * SECOND)
#define FLAP_US  (SECOND / 2)
#define IDLE_US  (60 * SECOND)
#define STEP_US  (10 * MS)

static struct run *run_new(bool is_windowed)
{
    struct run *run = calloc(1, sizeof *run);

    if (run == NULL)
        abort();
    scene_plain(&run->scene, 1, is_windowed);
    return run;
}

static void refuse(struct run *run, int32_t i, bool is_down)
{
    struct net_server *server = run->scene.backends[i].server;

    server->is_down = is_down;
    if (is_down)
        server->epoch++;
    net_note(server);
}

static void run_finish(struct run *run, struct score *out)
{
    run_until_settled(run);
    run_end(run);
    *out = run->score;
    free(run);
}

void scenario_away(bool is_windowed, int64_t away_us, struct score *out)
{
    struct run *run = run_new(is_windowed);

    run_begin(run, 0);
    run_until(run, run->begun_us + WARM_US);
    refuse(run, 2, true);
    run_until(run, world_now_us() + away_us);
    refuse(run, 2, false);
    run_until(run, world_now_us() + AFTER_US);
    run_finish(run, out);
}

void scenario_flap(int64_t for_us, struct score *out)
{
    struct run *run = run_new(false);

    run_begin(run, 0);
    run_until(run, run->begun_us + WARM_US);
    for (int64_t us = 0; us < for_us; us += 2 * FLAP_US) {
        refuse(run, 2, true);
        run_until(run, world_now_us() + FLAP_US);
        refuse(run, 2, false);
        run_until(run, world_now_us() + FLAP_US);
    }
    *out = run->score;
    run_end(run);
    free(run);
}

static void hang(struct run *run, int32_t i)
{
    struct net_server *server = run->scene.backends[i].server;

    server->hung_until_us = world_now_us() + AFTER_US;
    net_note(server);
}

int64_t scenario_idle(bool is_hung, int64_t after_us)
{
    struct run *run = run_new(false);
    int64_t died_us;
    int64_t told_us = WORLD_NEVER;

    run->scene.callers = 0;
    run->scene.pool.check_interval_ms = 1500;
    run_begin(run, 0);
    run_until(run, run->begun_us + WARM_US + after_us);
    died_us = world_now_us();
    for (int32_t i = 0; i < run->scene.backend_count; i++) {
        if (is_hung)
            hang(run, i);
        else
            refuse(run, i, true);
    }
    while (told_us == WORLD_NEVER && world_now_us() < died_us + IDLE_US) {
        (void)world_run(world_now_us() + STEP_US);
        if (queue_health(run->machines[0].broker->queue, NULL, 0) ==
            SEQB_HEALTH_NOT_SERVING)
            told_us = world_now_us() - died_us;
    }
    run_end(run);
    free(run);
    return told_us;
}

void scenario_outage(int64_t for_us, struct score *out)
{
    struct run *run = run_new(false);

    run_begin(run, 0);
    run_until(run, run->begun_us + WARM_US);
    for (int32_t i = 0; i < run->scene.backend_count; i++)
        refuse(run, i, true);
    run_until(run, world_now_us() + for_us);
    for (int32_t i = 0; i < run->scene.backend_count; i++)
        refuse(run, i, false);
    run_finish(run, out);
}

static int32_t most_counters(const struct scene *scene)
{
    int32_t most = 0;

    for (int32_t i = 0; i < scene->backend_count; i++) {
        const struct store *store = &scene->backends[i].store;

        if (store->sides[0].content.count > most)
            most = store->sides[0].content.count;
    }
    return most;
}

void scenario_minutes(bool is_windowed, int64_t for_us, struct score *out,
                      int32_t *counters)
{
    struct run *run = run_new(is_windowed);

    clocks_use(&run->scene, PERIOD_MINUTE);
    run->scene.guard = (struct guard_rules){.on_rollback = GUARD_HOLD,
                                            .max_rollback_ms = 1000,
                                            .max_ahead_ms = 1000};
    run_begin(run, 0);
    run_until(run, run->begun_us + for_us);
    *counters = most_counters(&run->scene);
    run_finish(run, out);
}

void scenario_neighbours(int64_t for_us, struct score *out, int64_t *served)
{
    struct run *run = run_new(false);
    int64_t before;

    scene_neighbours(&run->scene, 1);
    run->scene.pool.layout.window_bits = 8;
    run_begin(run, 0);
    run_until(run, run->begun_us + WARM_US);
    refuse(run, 1, true);
    store_put_back(&run->scene.backends[0].store, 0, true);
    net_break(run->scene.backends[0].server);
    run_until(run, world_now_us() + 2 * SECOND);
    before = run->score.numbers;
    run->score.longest_us = 0;
    run->score.errors = 0;
    run_until(run, world_now_us() + for_us);
    *served = run->score.numbers - before;
    refuse(run, 1, false);
    run_finish(run, out);
}

void scenario_slow_neighbour(int32_t times, int64_t for_us, struct score *out)
{
    struct run *run = run_new(false);
    struct net_server *server;

    scene_neighbours(&run->scene, 1);
    run->scene.brokers = SCENE_BROKERS;
    run->scene.callers = 3;
    run->scene.pool.layout.window_bits = 1;
    clocks_use(&run->scene, PERIOD_SECOND);
    run->scene.guard = (struct guard_rules){.on_rollback = GUARD_HOLD,
                                            .max_rollback_ms = 1000,
                                            .max_ahead_ms = 1000};
    run_begin(run, 0);
    run_until(run, run->begun_us + WARM_US);
    server = run->scene.backends[1].server;
    server->slow = times;
    net_note(server);
    run_until(run, world_now_us() + for_us);
    server->slow = 1;
    net_note(server);
    run_finish(run, out);
}

/* To what they were at the start, and then in turn to what they were when they
 * last went back. */
static void put_all_back(struct run *run, int32_t time)
{
    for (int32_t i = 0; i < run->scene.backend_count; i++) {
        struct scene_backend *backend = &run->scene.backends[i];

        net_break(backend->server);
        store_keep(&backend->store, (time + 1) % STORE_PASTS);
        store_put_back(&backend->store, time % STORE_PASTS, true);
    }
}

void scenario_noted(bool is_windowed, int32_t times, const char *noted,
                    struct score *out)
{
    struct run *run = run_new(is_windowed);

    run->scene.noted = noted;
    run->scene.pool.layout.window_bits = 8;
    run_begin(run, 0);
    run_until(run, world_now_us() + WARM_US);
    for (int32_t i = 0; i < run->scene.backend_count; i++)
        store_keep(&run->scene.backends[i].store, 0);
    for (int32_t i = 0; i < times; i++) {
        run_until(run, world_now_us() + WARM_US);
        machine_kill(&run->machines[0], 2 * SECOND);
        run_until(run, world_now_us() + SECOND);
        put_all_back(run, i);
    }
    run_until(run, world_now_us() + WARM_US);
    run_finish(run, out);
}
