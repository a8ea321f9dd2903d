/* SPDX-License-Identifier: Apache-2.0 */
#include "clocks.h"

#include <stdlib.h>

#include "judge.h"
#include "moves.h"
#include "platform/text.h"
#include "support/folder.h"
#include "trusts.h"

#define STREAM_TIME   3
#define STREAM_STEPS  4
#define TIMED_PERCENT 25 /* of the scenes */
#define MINUTE_MS     INT64_C(60000)
#define HOUR_MS       (60 * MINUTE_MS)
#define DAY_MS        (24 * HOUR_MS)
#define YEAR_MS       (365 * DAY_MS)
#define AHEAD_MOST_MS (2 * MINUTE_MS) /* the rule of all brokers here */

/* Between two steps, how long one lasts, and what its end costs callers. */
#define STEP_US  (4 * SECOND)
#define ODD_US   (20 * SECOND)
#define QUIET_US (35 * SECOND) /* no step so long before the last fault */

/* A number is below; which of the run's stamps it is of is above. Chance may
 * raise a counter beyond. That two numbers of other stamps are then the same is
 * next to impossible. */
#define NUMBER_BITS 53
#define BEGIN_MS    INT64_C(1704067200000) /* 2024: clocks go back a year */

#define ONE_OF(random, ...)                                                    \
    ((const int64_t[]){__VA_ARGS__})[random_between(                           \
        random, 0, (int64_t)(sizeof(int64_t[]){__VA_ARGS__} / 8) - 1)]

static void ids_draw(struct scene *scene, struct random *random)
{
    scene->has_ids = random_chance(random, 40);
    scene->ids = (struct bits_layout){.epoch_ms = BEGIN_MS,
                                      .unit_ms = 1000,
                                      .time = 28,
                                      .shard = 2,
                                      .counter = 33};
    if (scene->has_ids && scene->rules.unit == PERIOD_MINUTE)
        scene->ids.unit_ms = MINUTE_MS;
}

static void witnesses_draw(struct scene *scene, struct random *random)
{
    if (random_chance(random, 40))
        return;
    for (int32_t i = 0; i < scene->backend_count; i++) {
        struct store *store = &scene->backends[i].store;

        store->has_clock = i == 0 || random_chance(random, 50);
        store->ahead_ms = random_between(random, -2000, 2000);
    }
}

static void guard_draw(struct scene *scene, struct random *random)
{
    scene->guard = (struct guard_rules){
        .on_rollback = (enum guard_rollback)ONE_OF(
            random, GUARD_HOLD, GUARD_HOLD, GUARD_WAIT, GUARD_REFUSE),
        .max_rollback_ms = ONE_OF(random, 1000, 10000, HOUR_MS),
        .max_ahead_ms = AHEAD_MOST_MS,
    };
}

void clocks_use(struct scene *scene, enum period_unit unit)
{
    scene->is_timed = true;
    scene->has_steps = true;
    scene->rules =
        (struct period_rules){.unit = unit, .year_month = 1, .year_day = 1};
    scene->keys = 1;
    scene->sequences[0].period = &scene->rules;
    scene->sequences[0].keep_periods = 2;
    scene->sequences[0].attributes = " period=drawn";
}

void clocks_draw(struct scene *scene, uint64_t seed)
{
    struct random random = random_of(seed, STREAM_TIME);
    const bool is_quick = scene->pool.rescue_after_ms <= 5000;

    if (moves_are_drawn(seed) || trusts_are_drawn(seed) ||
        !random_chance(&random, TIMED_PERCENT) || scene->has_surgery ||
        scene->runs_out)
        return;
    /* A counter a stamp: a long run has long stamps. */
    clocks_use(scene, is_quick ? PERIOD_SECOND : PERIOD_MINUTE);
    ids_draw(scene, &random);
    witnesses_draw(scene, &random);
    guard_draw(scene, &random);
    scene->sequences[0].ids = scene->has_ids ? &scene->ids : NULL;
}

/* What its clock shows while it does not step. */
static int64_t skew_of(const struct machine *machine)
{
    return machine->run->scene.extras.skew_ms[machine->index];
}

void clocks_begin(struct run *run)
{
    if ((run->scene.is_timed || run->scene.extras.has_state) &&
        !folder_make(run->folder, sizeof run->folder))
        judge_fail(run, "no folder for the brokers' files");
}

void clocks_end(struct run *run)
{
    if (run->folder[0] != '\0')
        folder_remove(run->folder);
}

void clocks_set(struct machine *machine, struct broker *broker)
{
    const struct run *run = machine->run;

    if (!run->scene.is_timed)
        return;
    (void)text_format(machine->path, sizeof machine->path, "%s/clock-%d",
                      run->folder, (int)machine->index);
    broker->clock = (struct queue_clock_options){
        .rules = run->scene.guard,
        .broker = "sim",
        .path = machine->path,
        .store = -1,
    };
    broker->queue_options.clock = &broker->clock;
    /* Whether a start finds a store to ask is not known: it is set before. */
    if (machine->clock.ahead_ms > AHEAD_MOST_MS)
        machine->clock.ahead_ms = skew_of(machine);
    broker->floor_ms = machine->highest_ms;
}

/* --- steps --- */

/* Whether the broker there knows a store's clock. */
static bool has_witness(const struct machine *machine)
{
    const struct broker *broker = machine->broker;
    int64_t store_ms;

    return broker != NULL && broker->is_open &&
           ha_clocks(broker->ha, &store_ms) > 0;
}

static int64_t step_draw(struct run *run, const struct machine *machine)
{
    if (run->scene.steps_back || !random_chance(&run->steps, 40))
        return ONE_OF(&run->steps, -1, -20, -1000, -1500, -30000,
                      -10 * MINUTE_MS, -HOUR_MS, -DAY_MS, -YEAR_MS);
    return random_chance(&run->steps, 50) && has_witness(machine)
               ? ONE_OF(&run->steps, HOUR_MS, DAY_MS, YEAR_MS)
               : ONE_OF(&run->steps, 1, 1000, 15000);
}

static void step_back(void *context)
{
    struct machine *machine = context;

    run_report(machine->run, "clock %d is right again", (int)machine->index);
    machine->clock.ahead_ms = skew_of(machine);
}

/* Behind or led ahead, callers may be refused until time has caught up. */
static void step_begin(struct machine *machine, int64_t by_ms, int64_t for_us)
{
    const int64_t believed_ms = by_ms > 0 && by_ms < AHEAD_MOST_MS ? by_ms : 0;
    const int64_t odd_us = world_now_us() + for_us + believed_ms * MS + ODD_US;

    run_report(machine->run, "clock %d steps by %lld ms", (int)machine->index,
               (long long)by_ms);
    machine->clock.ahead_ms = skew_of(machine) + by_ms;
    if (odd_us > machine->odd_until_us)
        machine->odd_until_us = odd_us;
    world_at(world_now_us() + for_us, step_back, machine);
}

static void next_step(void *context)
{
    struct run *run = context;
    const int64_t end_us = run->begun_us + run->scene.faulty_us - QUIET_US;
    struct machine *machine =
        &run->machines[random_between(&run->steps, 0, run->scene.brokers - 1)];

    if (world_now_us() >= end_us)
        return;
    if (machine->clock.ahead_ms == skew_of(machine))
        step_begin(machine, step_draw(run, machine),
                   random_wait(&run->steps, SECOND));
    world_at(world_now_us() + random_wait(&run->steps, STEP_US), next_step,
             run);
}

void clocks_schedule(struct run *run)
{
    run->steps = random_of(run->scene.seed, STREAM_STEPS);
    if (!run->scene.has_steps)
        return;
    if (run->scene.faulty_us < QUIET_US + 10 * SECOND)
        run->scene.faulty_us = QUIET_US + 10 * SECOND;
    world_at(world_now_us() + SECOND, next_step, run);
}

bool clocks_excuse(const struct machine *machine)
{
    return machine->run->scene.has_steps &&
           world_now_us() < machine->odd_until_us;
}

/* --- stamps --- */

/* Stamps are counted as they are seen. */
static int64_t stamp_index(struct run *run, const struct seqb_stamp *stamp)
{
    int32_t i = run->stamp_count;

    while (i > 0 && run->stamps[i - 1] != stamp->digits)
        i--;
    if (i > 0)
        return i;
    if (run->stamp_count == RUN_STAMPS)
        abort();
    run->stamps[run->stamp_count++] = stamp->digits;
    return run->stamp_count;
}

static void numbers_tag(struct broker *broker, const struct seqb_stamp *stamp,
                        int64_t *numbers, size_t n)
{
    const int64_t tag = stamp_index(broker->run, stamp) << NUMBER_BITS;

    for (size_t i = 0; i < n; i++)
        numbers[i] ^= tag;
}

void clocks_record(struct broker *broker, int32_t key, int64_t *last_ms,
                   const struct seqb_stamp *stamp, int64_t *numbers, size_t n)
{
    struct machine *machine = &broker->run->machines[broker->index];

    (void)key;
    if (stamp->begins_ms < *last_ms || stamp->begins_ms < broker->floor_ms)
        judge_fail(
            broker->run,
            "broker %d: a stamp goes back: %lld begins %lld ms before "
            "an earlier one",
            (int)broker->index, (long long)stamp->digits,
            (long long)((*last_ms > broker->floor_ms ? *last_ms
                                                     : broker->floor_ms) -
                        stamp->begins_ms));
    *last_ms = stamp->begins_ms;
    if (stamp->begins_ms > machine->highest_ms)
        machine->highest_ms = stamp->begins_ms;
    if (!broker->run->scene.has_ids)
        numbers_tag(broker, stamp, numbers, n);
}
