/* SPDX-License-Identifier: Apache-2.0 */
#include "extras.h"

#include <stdlib.h>

#include "broker.h"
#include "moves.h"
#include "trusts.h"
#include "world.h"

#define STREAM_EXTRAS 12
#define STREAM_ORDERS 13
#define ORDER_US      (3 * SECOND) /* between two orders, usually */
#define MINUTE_MS     INT64_C(60000)
#define ADVANCE_MOST  1000 /* values that an advance skips */

#define ONE_OF(random, ...)                                                    \
    ((const int64_t[]){__VA_ARGS__})[random_between(                           \
        random, 0, (int64_t)(sizeof(int64_t[]){__VA_ARGS__} / 8) - 1)]

/* --- drawing --- */

static bool has_flakes(const struct scene *scene)
{
    return scene->flakes.lease_ms > 0;
}

/* The only broker of a pool repeats nothing that it noted, whatever stores go
 * back. Neighbours need no notes, and snowflakes have none. */
static bool may_go_back(const struct scene *scene)
{
    return scene->brokers == 1 && !scene->pool.layout.neighbours &&
           !has_flakes(scene) && !scene->has_surgery && !scene->runs_out;
}

static void state_draw(struct scene *scene, struct random *random)
{
    struct scene_extras *extras = &scene->extras;

    extras->has_state = random_chance(random, 60);
    extras->loses_state = random_chance(random, 40) && extras->has_state;
    extras->goes_back = random_chance(random, 60) && extras->has_state &&
                        !extras->loses_state && may_go_back(scene);
    for (int32_t i = 0; i < scene->keys && extras->has_state; i++)
        scene->sequences[i].idle_after_ms = ONE_OF(random, 0, 500, 2000);
}

/* The first one always has the pool's gap, which is the largest. */
static void gaps_draw(struct scene *scene, struct random *random)
{
    const bool are_other = random_chance(random, 30);

    for (int32_t i = 0; i < SCENE_BROKERS; i++) {
        const int64_t gap = ONE_OF(random, 100, 30000, 1000000);

        scene->extras.gaps[i] =
            are_other && i > 0 ? gap : scene->pool.layout.failover_gap;
    }
}

/* Clocks that are always wrong; by less than the ten minutes for which a store
 * that lost counters allows. With the clock of a store beside it, a broker that
 * starts far behind is refused. */
static void skews_draw(struct scene *scene, struct random *random)
{
    const bool are_alone = !scene->backends[0].store.has_clock;

    if (!scene->is_timed || !random_chance(random, 50))
        return;
    for (int32_t i = 0; i < SCENE_BROKERS; i++) {
        const int64_t skew_ms =
            ONE_OF(random, 0, 0, 15000, -1500, -90000, -8 * MINUTE_MS);

        scene->extras.skew_ms[i] = are_alone ? skew_ms : 0;
    }
}

/* A second sequence, without a period. */
static void other_draw(struct scene *scene, struct random *random)
{
    if (!scene->is_timed || has_flakes(scene) || !random_chance(random, 60))
        return;
    scene->sequences[scene->keys++] = (struct queue_sequence_options){
        .key = "bill",
        .memory_bits = (int32_t)ONE_OF(random, 0, 2, 5),
        .deadline_ms = (int32_t)ONE_OF(random, 1000, 3000, 6000),
        .runway_ms = 50,
        .max_unused = ONE_OF(random, 64, 1000),
        .prefetch = random_chance(random, 85),
    };
}

void extras_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_EXTRAS);
    struct scene_extras *extras = &scene->extras;

    if (seed < EXTRAS_FROM || moves_are_drawn(seed) || trusts_are_drawn(seed))
        return;
    extras->is_on = true;
    other_draw(scene, &random);
    state_draw(scene, &random);
    gaps_draw(scene, &random);
    skews_draw(scene, &random);
    extras->has_cursors = random_chance(&random, 40);
    extras->is_advanced =
        random_chance(&random, 30) && !scene->has_surgery && !scene->runs_out;
    extras->is_reloaded =
        random_chance(&random, 40) && scene->keys == 2 && !has_flakes(scene);
}

void extras_set(struct broker *broker)
{
    const struct scene_extras *extras = &broker->run->scene.extras;

    broker->pool = broker->run->scene.pool;
    if (extras->is_on)
        broker->pool.layout.failover_gap = extras->gaps[broker->index];
}

bool extras_halts(struct run *run)
{
    return run->scene.extras.is_on && random_chance(&run->orders, 50);
}

bool extras_excuse(const struct run *run, int32_t key, enum seqb_status status)
{
    return run->scene.extras.is_reloaded && key == 1 &&
           status == SEQB_UNKNOWN_KEY;
}

void extras_put_back(struct run *run)
{
    if (!run->scene.extras.goes_back)
        return;
    for (int32_t i = 0; i < run->scene.backend_count; i++) {
        struct scene_backend *backend = &run->scene.backends[i];
        const bool is_kept = random_chance(&run->orders, 50);
        const bool is_back = random_chance(&run->orders, 40);
        const int32_t past =
            (int32_t)random_between(&run->orders, 0, STORE_PASTS - 1);

        if (backend->server->is_taken)
            continue;
        if (is_kept)
            store_keep(&backend->store, 1 - past);
        if (!is_back)
            continue;
        run_report(run, "backend %d is put back unnoticed", (int)i);
        net_break(backend->server);
        store_put_back(&backend->store, past, true);
    }
}

/* --- orders, each in a task of its own --- */

struct order {
    struct broker *broker;
    int64_t key;
    int64_t by; /* how far it is advanced */
    bool is_less;
};

static void advance(const struct order *order)
{
    struct broker *broker = order->broker;
    const char *key = broker->run->scene.sequences[order->key].key;
    const int64_t to = broker->highest[order->key] + order->by;
    struct seqb_error err = {.text = ""};

    run_report(broker->run, "broker %d: %s is advanced to %lld",
               (int)broker->index, key, (long long)to);
    if (queue_advance(broker->queue, key, to, &err) != SEQB_OK)
        run_report(broker->run, "broker %d: %s", (int)broker->index, err.text);
}

/* With all sequences, or without the last one; and with the pool's gap. */
static void reload(const struct order *order)
{
    struct broker *broker = order->broker;
    struct queue_options *next = &broker->reloaded[order->is_less];
    struct ha_reload *ha = NULL;
    struct queue_reload *queue = NULL;
    struct seqb_error err = {.text = ""};

    run_report(broker->run, "broker %d is reloaded with %s", (int)broker->index,
               order->is_less ? "one sequence" : "all sequences");
    broker->is_reloading = true;
    *next = broker->queue_options;
    next->sequence_count -= order->is_less;
    broker->pool.layout.failover_gap =
        broker->run->scene.pool.layout.failover_gap;
    if (ha_prepare(broker->ha, &broker->ha_options, &ha, &err) == SEQB_OK &&
        queue_prepare(broker->queue, next, NULL, &queue, &err) == SEQB_OK &&
        queue_commit(queue, &err) == SEQB_OK) {
        ha_commit(ha);
        ha = NULL;
    }
    queue_reload_free(queue);
    ha_reload_free(ha);
    broker->is_reloading = false;
    if (err.text[0] != '\0')
        run_report(broker->run, "broker %d: %s", (int)broker->index, err.text);
}

static void *order_run(void *argument)
{
    struct order *order = argument;
    struct broker *broker = order->broker;

    world_use_clock(&broker->run->machines[broker->index].clock);
    if (order->by > 0)
        advance(order);
    else
        reload(order);
    if (--broker->orders == 0)
        world_wake(&broker->orders, true);
    free(order);
    return NULL;
}

/* The broker is not closed before the order has ended. */
static void order_give(struct run *run, struct broker *broker, bool advances)
{
    struct order *order = malloc(sizeof *order);
    const int32_t last = run->scene.keys - 1;
    const int64_t most = (int64_t)ADVANCE_MOST
                         << (run->scene.pool.layout.bits +
                             run->scene.sequences[last].memory_bits);

    if (order == NULL)
        abort();
    *order = (struct order){
        .broker = broker,
        .key = last,
        .by = advances ? random_between(&run->orders, 1, most) : 0,
        .is_less = random_chance(&run->orders, 50),
    };
    broker->orders++;
    (void)world_spawn(order_run, order, false);
}

/* A broker that stops and starts has its numbers kept meanwhile. Who has to
 * notice surgery is not stopped. */
static void stop(struct run *run, struct machine *machine)
{
    if (!run->has_to_remember && !run->scene.has_surgery)
        machine_halt(machine, random_wait(&run->orders, SECOND));
}

static void next_order(void *context)
{
    struct run *run = context;
    const struct scene_extras *extras = &run->scene.extras;
    struct machine *machine =
        &run->machines[random_between(&run->orders, 0, run->scene.brokers - 1)];
    struct broker *broker = machine->broker;
    const bool stops = extras->has_state && random_chance(&run->orders, 40);
    const bool advances =
        extras->is_advanced &&
        (!extras->is_reloaded || random_chance(&run->orders, 50));

    if (world_now_us() >= run->begun_us + run->scene.faulty_us)
        return;
    if (stops)
        stop(run, machine);
    else if (broker != NULL && broker->is_open &&
             (advances || (extras->is_reloaded && !broker->is_reloading)))
        order_give(run, broker, advances);
    world_at(world_now_us() + random_wait(&run->orders, ORDER_US), next_order,
             run);
}

void extras_begin(struct run *run)
{
    run->orders = random_of(run->scene.seed, STREAM_ORDERS);
}

void extras_schedule(struct run *run)
{
    const struct scene_extras *extras = &run->scene.extras;

    if (extras->has_state || extras->is_advanced || extras->is_reloaded)
        world_at(world_now_us() + random_wait(&run->orders, ORDER_US),
                 next_order, run);
}
