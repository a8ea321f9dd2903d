/* SPDX-License-Identifier: Apache-2.0 */
/* A load in virtual time, from event to event: a look, an answer, a ring that
 * falls low or dry. */

#include <string.h>

#include "refill_load.h"
#include "refill_plan.h"
#include "support/test.h"

#define SOON_US     2000 /* as the queue looks while it waits */
#define PATIENCE_US 2000 /* as the pool waits at least before it hedges */

void load_init(struct load *load, const struct refill_rules *rules,
               int64_t delay_us)
{
    memset(load, 0, sizeof *load);
    load->rules = *rules;
    load->delay_us = delay_us;
    load->now_us = LOAD_SECOND;
    load->look_us = INT64_MAX;
    load->seed = 20240229;
    refill_init(&load->refill, load->now_us / 1000);
}

static bool load_chance(struct load *load, int64_t one_in)
{
    return load->is_noisy && chance(&load->seed, one_in) == 0;
}

/* --- the pool --- */

static int64_t patience_us(const struct load *load)
{
    return max_of(PATIENCE_US, 3 * load->delay_us) + 1000;
}

static int64_t in_flight(const struct load *load, bool is_fresh)
{
    int64_t sum = 0;

    for (int i = 0; i < LOAD_PARTITIONS; i++) {
        const struct load_flight *flight = &load->flights[i];
        const int64_t late_us = flight->asked_us + patience_us(load);

        if (flight->is_busy && (!is_fresh || load->now_us < late_us))
            sum += flight->asked;
    }
    return sum;
}

static void flight_start(struct load *load, struct load_flight *flight,
                         int64_t numbers)
{
    int64_t delay_us = load->delay_us;

    if (load->is_noisy)
        delay_us += chance(&load->seed, load->delay_us + 1);
    if (load_chance(load, 5000))
        delay_us *= 100;
    *flight = (struct load_flight){.is_busy = true,
                                   .asked_us = load->now_us,
                                   .lands_us = load->now_us + delay_us,
                                   .asked = numbers,
                                   .granted = numbers};
    if (load_chance(load, 8))
        flight->granted = numbers / load->rules.run / 2 * load->rules.run;
    load->seen.asks++;
    load->seen.asked += numbers;
}

/* Of one partition, or of all, that are not busy. */
static void load_ask(struct load *load)
{
    int64_t runs = load->plan.runs;
    int64_t idle = 0;
    int64_t parts;

    for (int i = 0; i < LOAD_PARTITIONS; i++)
        idle += !load->flights[i].is_busy;
    if (load->plan.spread == HA_ASK_ONE)
        idle = min_of(idle, 1);
    parts = min_of(idle, runs);
    for (; parts > 0; load->turn = (load->turn + 1) % LOAD_PARTITIONS) {
        if (load->flights[load->turn].is_busy)
            continue;
        flight_start(load, &load->flights[load->turn],
                     runs / parts * load->rules.run);
        runs -= runs / parts;
        parts--;
    }
}

/* --- the queue --- */

/* By more than a tenth: less is no turn, but the same direction. */
static void see_target(struct load *load, int64_t target)
{
    struct load_seen *seen = &load->seen;
    const int64_t back =
        load->is_rising ? load->extreme - target : target - load->extreme;

    seen->least_target = min_of(seen->least_target, target);
    seen->most_target = max_of(seen->most_target, target);
    if (back < 0) {
        load->extreme = target;
    } else if (back > load->extreme / 10) {
        load->extreme = target;
        load->is_rising = !load->is_rising;
        seen->turns++;
    }
}

static int64_t next_look_us(const struct load *load, bool is_starved)
{
    int64_t next_us = load->now_us + load->rules.interval_ms * (int64_t)1000;

    if (load->plan.runs > 0 || is_starved)
        return load->now_us + SOON_US;
    if (in_flight(load, false) == 0)
        return INT64_MAX;
    for (int i = 0; i < LOAD_PARTITIONS; i++) {
        const int64_t late_us = load->flights[i].asked_us + patience_us(load);

        if (load->flights[i].is_busy && late_us > load->now_us)
            next_us = min_of(next_us, late_us);
    }
    return next_us;
}

static void load_poll(struct load *load)
{
    const struct refill_view view = {
        .now_ms = load->now_us / 1000,
        .consumed = load->consumed,
        .stock = load->stock,
        .fresh = in_flight(load, true),
        .room = 2 * load->rules.max_unused + load->rules.run - load->stock -
                in_flight(load, false),
        .delay_ms = load->delay_us / 1000,
        .is_starved =
            load->owed > 0 || (load->rules.prefetch && load->stock == 0),
    };

    load->plan = decide(&load->refill, &load->rules, &view);
    load_ask(load);
    load->is_armed = load->rules.prefetch;
    load->look_us = next_look_us(load, view.is_starved);
    load->seen.looks++;
    load->seen.most =
        max_of(load->seen.most, load->stock + in_flight(load, false));
    see_target(load, load->plan.target);
}

/* A thread wakes up, which takes a while. */
static void load_wake(struct load *load)
{
    const int64_t late_us = load->is_noisy ? chance(&load->seed, 200) : 0;

    load->look_us = min_of(load->look_us, load->now_us + late_us);
}

/* --- time --- */

static bool load_land(struct load *load)
{
    bool has_landed = false;

    for (int i = 0; i < LOAD_PARTITIONS; i++) {
        struct load_flight *flight = &load->flights[i];

        if (!flight->is_busy || flight->lands_us > load->now_us)
            continue;
        flight->is_busy = false;
        load->stock += flight->granted;
        load->is_armed = load->rules.prefetch;
        has_landed = true;
        if (load->rules.prefetch && load->stock <= load->plan.low)
            load_wake(load);
    }
    return has_landed;
}

/* Until so many numbers more are used, rounded up. */
static int64_t us_until_used(const struct load *load, int64_t per_s,
                             int64_t numbers)
{
    if (per_s == 0 || numbers <= 0)
        return INT64_MAX / 2;
    return (numbers * LOAD_SECOND - load->millionth + per_s - 1) / per_s;
}

static int64_t next_event_us(const struct load *load, int64_t per_s)
{
    int64_t next_us = load->look_us;

    for (int i = 0; i < LOAD_PARTITIONS; i++) {
        if (load->flights[i].is_busy)
            next_us = min_of(next_us, load->flights[i].lands_us);
    }
    if (load->is_armed)
        next_us =
            min_of(next_us,
                   load->now_us + us_until_used(load, per_s,
                                                load->stock - load->plan.low));
    if (load->owed == 0)
        next_us =
            min_of(next_us,
                   load->now_us + us_until_used(load, per_s, load->stock + 1));
    return next_us;
}

static void load_take(struct load *load, int64_t us, int64_t per_s)
{
    const int64_t used = per_s * us + load->millionth;
    const int64_t wanted = load->owed + used / LOAD_SECOND;
    const int64_t taken = min_of(load->stock, wanted);
    const int64_t was = load->stock;

    load->millionth = used % LOAD_SECOND;
    load->stock -= taken;
    load->consumed += (uint64_t)taken;
    load->owed = wanted - taken;
    if (load->callers > 0)
        load->owed = min_of(load->owed, load->callers);
    if (load->is_armed && load->stock <= load->plan.low) {
        load->is_armed = false;
        if (was > load->plan.low)
            load_wake(load);
    }
    load->seen.least_stock = min_of(load->seen.least_stock, load->stock);
}

static void load_step(struct load *load, int64_t until_us, int64_t per_s)
{
    const bool was_dry = load->owed > 0;
    const int64_t us = until_us - load->now_us;
    bool has_landed;

    if (was_dry) {
        load->seen.dry_us += us;
        load->seen.dry_until_us = until_us - load->begun_us;
    }
    load->now_us = until_us;
    has_landed = load_land(load);
    load_take(load, us, per_s);
    if (load->owed > 0 && (!was_dry || has_landed))
        load_wake(load);
    if (load->look_us <= load->now_us)
        load_poll(load);
}

static void seen_reset(struct load *load)
{
    load->seen =
        (struct load_seen){.least_stock = INT64_MAX, .least_target = INT64_MAX};
    load->begun_us = load->now_us;
    load->extreme = load->plan.target;
}

static void load_slice(struct load *load, int64_t us, int64_t per_s)
{
    const int64_t end_us = load->now_us + us;

    while (load->now_us < end_us) {
        const int64_t next_us = min_of(next_event_us(load, per_s), end_us);

        load_step(load, max_of(next_us, load->now_us + 1), per_s);
    }
}

struct load_seen load_run(struct load *load, int64_t us, int64_t per_s)
{
    seen_reset(load);
    load_slice(load, us, per_s);
    return load->seen;
}

struct load_seen load_run_uneven(struct load *load, int64_t us, int64_t per_s,
                                 int64_t slice_us)
{
    seen_reset(load);
    for (; us > 0; us -= slice_us)
        load_slice(load, min_of(us, slice_us),
                   per_s / 2 + chance(&load->seed, per_s + 1));
    return load->seen;
}
