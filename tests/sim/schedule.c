/* SPDX-License-Identifier: Apache-2.0 */
/* When faults come, and to whom; what they are is in faults.c. */
#include "schedule.h"

#include "broker.h"
#include "extras.h"
#include "faults.h"
#include "store/layout.h"
#include "world.h"

#define STREAM_FAULTS  2
#define FAULT_MIN_MS   20
#define FAULT_USUAL_MS 2000
#define ALL_PERCENT    6  /* of the faults are of all stores at once */
#define KILL_PERCENT   15 /* are of a broker */
#define BACK_PERCENT   35 /* of a lessor's are that a disk is put back */
#define EVICT_PERCENT  12 /* of one store's come to what forgets most */

static int64_t duration(struct run *run)
{
    return FAULT_MIN_MS * MS + random_wait(&run->faults, FAULT_USUAL_MS * MS);
}

static enum fault_kind kind_draw(struct run *run)
{
    const int64_t last = run->scene.has_surgery ? FAULT_HARMLESS : FAULT_LAST;
    int64_t kind = random_between(&run->faults, 0, last);

    if (!run->scene.has_surgery && random_chance(&run->faults, EVICT_PERCENT))
        return FAULT_EVICT;
    /* A store that is restarted may forget what surgery did to it. */
    if (run->scene.has_surgery && kind == FAULT_OUTAGE)
        kind = FAULT_BREAK;
    return (enum fault_kind)kind;
}

static void all_fail(struct run *run)
{
    const enum fault_kind kind =
        (enum fault_kind)random_between(&run->faults, FAULT_HANG, FAULT_CUT);
    const int64_t for_us = duration(run);

    for (int32_t i = 0; i < run->scene.backend_count; i++)
        (void)fault_begin(run, i,
                          run->scene.has_surgery ||
                                  random_chance(&run->faults, 50)
                              ? kind
                              : FAULT_OUTAGE,
                          for_us);
}

static void one_fails(struct run *run)
{
    const int32_t i =
        (int32_t)random_between(&run->faults, 0, run->scene.backend_count - 1);

    if ((run->scene.moves.is_on ? run->scene.moves.only_neighbours
                                : run->scene.pool.layout.neighbours) &&
        !scene_is_windowed(&run->scene, i) &&
        random_chance(&run->faults, BACK_PERCENT))
        (void)fault_begin(run, i, FAULT_BACK, duration(run));
    else
        (void)fault_begin(run, i, kind_draw(run), duration(run));
}

static void broker_dies(struct run *run)
{
    const int32_t i =
        (int32_t)random_between(&run->faults, 0, run->scene.brokers - 1);

    if (run->has_to_remember)
        return;
    if (extras_halts(run)) {
        machine_halt(&run->machines[i], duration(run));
        return;
    }
    run_report(run, "broker %d is killed", (int)i);
    machine_kill(&run->machines[i], duration(run));
}

static void next_fault(void *context)
{
    struct run *run = context;
    const int64_t what = random_between(&run->faults, 0, 99);

    if (world_now_us() >= run->begun_us + run->scene.faulty_us)
        return;
    if (what < ALL_PERCENT)
        all_fail(run);
    else if (what < ALL_PERCENT + KILL_PERCENT && !run->scene.has_surgery)
        broker_dies(run);
    else
        one_fails(run);
    world_at(world_now_us() + random_wait(&run->faults, run->scene.fault_us),
             next_fault, run);
}

/* Somebody puts the counters of one store back. */
static void surgery(void *context)
{
    struct run *run = context;
    const int32_t i =
        (int32_t)random_between(&run->faults, 0, run->scene.backend_count - 1);

    run_report(run, "backend %d goes back", (int)i);
    store_go_back(&run->scene.backends[i].store,
                  random_between(&run->faults, 1, 300));
}

/* The counters of one store come near to their end. */
static void end_nears(void *context)
{
    struct run *run = context;
    struct scene *scene = &run->scene;
    const int32_t i =
        (int32_t)random_between(&run->faults, 0, scene->backend_count - 1);
    int32_t memory_bits = 0;

    for (int32_t k = 0; k < scene->keys; k++) {
        if (scene->sequences[k].memory_bits > memory_bits)
            memory_bits = scene->sequences[k].memory_bits;
    }
    if (scene_is_windowed(scene, i))
        return;
    run_report(run, "backend %d comes to its end", (int)i);
    store_advance(&scene->backends[i].store, true,
                  layout_window_max(scene->pool.layout.bits, memory_bits,
                                    scene->pool.layout.window_bits) -
                      random_between(&run->faults, 0, 20));
    store_advance(&scene->backends[i].store, false,
                  layout_counter_max(scene->pool.layout.bits, memory_bits) -
                      random_between(&run->faults, 0, 20000));
}

void schedule_draw(struct run *run)
{
    const int64_t middle_us = world_now_us() + run->scene.faulty_us / 2;

    run->faults = random_of(run->scene.seed, STREAM_FAULTS);
    world_at(world_now_us() + SECOND, next_fault, run);
    if (run->scene.has_surgery)
        world_at(middle_us, surgery, run);
    if (run->scene.runs_out)
        world_at(middle_us, end_nears, run);
}
