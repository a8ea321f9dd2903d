/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A broker's life. One that was killed is closed in order as well, behind a
 * curtain: its calls reach no store, and nobody hears its numbers.
 */
#include "broker.h"

#include <stdlib.h>

#include "callers.h"
#include "clocks.h"
#include "extras.h"
#include "flakes.h"
#include "judge.h"
#include "moves.h"
#include "state.h"
#include "world.h"

#define OPEN_TIMEOUT_MS 3000
#define AGAIN_US        (300 * MS) /* before opening is tried again */
#define INTERVAL_MS     20

static void site_set(struct broker *broker, int32_t i)
{
    struct scene_backend *backend = &broker->run->scene.backends[i];
    struct site *site = &broker->sites[i];

    *site = (struct site){.store = &backend->store,
                          .server = backend->server,
                          .broker = broker->index,
                          .first_here = site,
                          .owner = broker,
                          .index = i,
                          .tries = judge_try,
                          .hangs = judge_hang,
                          .is_granted = judge_grant};
    for (int32_t j = i - 1; j >= 0; j--) {
        if (broker->sites[j].server == site->server)
            site->first_here = &broker->sites[j];
    }
    site_add(site);
}

static void backend_set(struct broker *broker, int32_t i)
{
    const struct scene *scene = &broker->run->scene;

    site_set(broker, i);
    broker->backends[i] = (struct store_options){
        .ops = scene_is_windowed(scene, i) ? &engine_windowed : &engine_direct,
        .options = {.name = scene->backends[i].name,
                    .host = scene->backends[i].host,
                    .path = broker->sites[i].path,
                    .timeout_ms = scene->pool.timeout_ms,
                    .connect_timeout_ms = scene->connect_timeout_ms,
                    .auto_create = true},
    };
}

static struct broker *broker_new(struct machine *machine)
{
    const struct scene *scene = &machine->run->scene;
    struct broker *broker = calloc(1, sizeof *broker);

    if (broker == NULL)
        abort();
    broker->run = machine->run;
    broker->index = machine->index;
    for (int32_t i = 0; i < scene->backend_count; i++)
        backend_set(broker, i);
    extras_set(broker);
    broker->ha_options = (struct ha_options){
        .backends = broker->backends,
        .backend_count = (size_t)scene->backend_count,
        .pools = &broker->pool,
        .pool_count = 1,
        .open_timeout_ms = OPEN_TIMEOUT_MS,
        .granted_path = scene->noted,
    };
    broker->queue_options = (struct queue_options){
        .interval_ms = INTERVAL_MS,
        .sequences = scene->sequences,
        .sequence_count = (size_t)scene->keys,
    };
    moves_set(machine, broker);
    clocks_set(machine, broker);
    flakes_set(scene, broker);
    state_set(machine, broker);
    return broker;
}

static void broker_close(struct broker *broker)
{
    broker->is_open = false;
    while (broker->orders > 0)
        (void)world_wait(&broker->orders, WORLD_NEVER);
    queue_stop(broker->queue);
    ha_close(broker->ha);
    while (broker->callers > 0)
        (void)world_wait(&broker->callers, WORLD_NEVER);
    queue_free(broker->queue);
    broker->ha = NULL;
    broker->queue = NULL;
}

static void broker_free(struct broker *broker)
{
    for (int32_t i = 0; i < broker->run->scene.backend_count; i++)
        site_remove(&broker->sites[i]);
    free(broker);
}

static void *broker_bury(void *argument)
{
    broker_close(argument);
    broker_free(argument);
    return NULL;
}

static bool broker_open(struct broker *broker)
{
    const struct scene *scene = &broker->run->scene;
    struct seqb_error err;
    enum seqb_status status = ha_open(&broker->ha_options, &broker->ha, &err);

    if (status == SEQB_OK)
        status = queue_open(&broker->queue_options, broker->ha, &broker->queue,
                            &err);
    for (int32_t i = 0; i < scene->keys && status == SEQB_OK; i++)
        status = queue_find(broker->queue, scene->sequences[i].key,
                            &broker->sequences[i], &err);
    if (status != SEQB_OK) {
        judge_unopened(broker, &err);
        broker_close(broker);
        return false;
    }
    ha_on_event(broker->ha, judge_event, broker);
    broker->opened_us = world_now_us();
    broker->is_open = !broker->is_gone;
    return true;
}

/* One life; afterwards somebody else closes it. */
static void machine_serve(struct machine *machine)
{
    struct broker *broker = broker_new(machine);

    machine->broker = broker;
    while (!machine->run->is_over && !broker->is_gone && !broker_open(broker)) {
        world_sleep(AGAIN_US);
        moves_set(machine, broker);
    }
    if (broker->is_open)
        callers_start(broker);
    while (!machine->run->is_over && !broker->is_gone && !broker->is_halting)
        (void)world_wait(machine, WORLD_NEVER);
    machine->broker = NULL;
    if (broker->is_halting && !broker->is_gone)
        (void)broker_bury(broker);
    else
        (void)world_spawn(broker_bury, broker, false);
}

static void *machine_run(void *argument)
{
    struct machine *machine = argument;

    world_use_clock(&machine->clock);
    do {
        world_sleep(machine->rest_us);
        extras_put_back(machine->run);
        machine_serve(machine);
    } while (!machine->run->is_over);
    return NULL;
}

void machine_start(struct machine *machine, int64_t after_us)
{
    machine->rest_us = after_us;
    (void)world_spawn(machine_run, machine, false);
}

void machine_kill(struct machine *machine, int64_t rest_us)
{
    struct broker *broker = machine->broker;

    if (broker == NULL || broker->is_gone)
        return;
    broker->is_gone = true;
    broker->is_open = false;
    for (int32_t i = 0; i < machine->run->scene.backend_count; i++)
        broker->sites[i].is_gone = true;
    state_crash(machine);
    machine->rest_us = rest_us;
    machine->run->score.kills++;
    world_wake(machine, true);
}

void machine_halt(struct machine *machine, int64_t rest_us)
{
    struct broker *broker = machine->broker;

    if (broker == NULL || broker->is_gone || !broker->is_open)
        return;
    run_report(machine->run, "broker %d is stopped", (int)machine->index);
    broker->is_halting = true;
    broker->is_open = false;
    machine->rest_us = rest_us;
    world_wake(machine, true);
}

void machine_stop(struct machine *machine)
{
    world_wake(machine, true);
}
