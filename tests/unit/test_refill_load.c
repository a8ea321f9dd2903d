/* SPDX-License-Identifier: Apache-2.0 */
/* Refills under a simulated load: steady, rising, falling, in bursts, and
 * more than the backends can give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "refill_plan.h"

#define FLIGHTS 512

/* A ring, its takers, and backends that answer each ask after `delay_ms`. */
struct load {
    struct refill_rules rules;
    struct refill refill;
    struct refill_plan plan;
    int64_t delay_ms;
    int64_t now_ms;
    uint64_t consumed;
    int64_t stock;
    int64_t owed; /* numbers that callers wait for */
    int64_t dry_ms;
    int64_t asks;
    int64_t most; /* numbers held and asked for at once */
    struct {
        int64_t at_ms;
        int64_t numbers; /* 0: none under way */
    } flights[FLIGHTS];
};

static void load_init(struct load *load, const struct refill_rules *rules,
                      int64_t delay_ms)
{
    memset(load, 0, sizeof *load);
    load->rules = *rules;
    load->delay_ms = delay_ms;
    load->now_ms = 1000;
    refill_init(&load->refill, load->now_ms);
}

static int64_t load_in_flight(const struct load *load, int64_t since_ms)
{
    int64_t sum = 0;

    for (size_t i = 0; i < FLIGHTS; i++) {
        if (load->flights[i].at_ms >= since_ms)
            sum += load->flights[i].numbers;
    }
    return sum;
}

static void load_ask(struct load *load, int64_t numbers)
{
    size_t i = 0;

    while (i < FLIGHTS && load->flights[i].numbers > 0)
        i++;
    assert_in_range(i, 0, FLIGHTS - 1);
    load->flights[i].at_ms = load->now_ms;
    load->flights[i].numbers = numbers;
    load->asks++;
}

static void load_land(struct load *load)
{
    for (size_t i = 0; i < FLIGHTS; i++) {
        if (load->flights[i].at_ms + load->delay_ms > load->now_ms)
            continue;
        load->stock += load->flights[i].numbers;
        load->flights[i].numbers = 0;
    }
}

static void load_take(struct load *load, int64_t wanted)
{
    const int64_t taken = min_of(load->stock, load->owed + wanted);

    load->owed += wanted - taken;
    load->stock -= taken;
    load->consumed += (uint64_t)taken;
    load->dry_ms += load->owed > 0;
}

static void load_plan(struct load *load)
{
    const int64_t all = load_in_flight(load, 0);
    const struct refill_view view = {
        .now_ms = load->now_ms,
        .consumed = load->consumed,
        .stock = load->stock,
        .fresh =
            load_in_flight(load, load->now_ms - max_of(2, 3 * load->delay_ms)),
        .room =
            2 * load->rules.max_unused + load->rules.run - load->stock - all,
        .delay_ms = load->delay_ms,
        .is_starved =
            load->owed > 0 || (load->rules.prefetch && load->stock == 0),
    };

    load->plan = decide(&load->refill, &load->rules, &view);
    if (load->plan.runs > 0)
        load_ask(load, load->plan.runs * load->rules.run);
    load->most = max_of(load->most, load->stock + load_in_flight(load, 0));
}

/* `per_ms` numbers are wanted each ms, for `ms` of them. Planned every 20 ms,
 * and at once when the stock is low. */
static void load_run(struct load *load, int64_t ms, int64_t per_ms)
{
    load->dry_ms = 0;
    load->asks = 0;
    load->most = 0;
    for (int64_t end_ms = load->now_ms + ms; load->now_ms < end_ms;) {
        load->now_ms++;
        load_land(load);
        load_take(load, per_ms);
        if (load->now_ms % 20 == 0 || load->stock <= load->plan.low)
            load_plan(load);
    }
}

static void a_steady_load_never_runs_dry_once_it_is_known(void **state)
{
    static const int64_t rates[] = {1, 10, 100, 1000, 10000};
    static const int64_t delays_ms[] = {0, 1, 5, 50};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates) * COUNT_OF(delays_ms); i++) {
        const int64_t rate = rates[i / COUNT_OF(delays_ms)];
        const int64_t delay_ms = delays_ms[i % COUNT_OF(delays_ms)];
        struct refill_rules rules = usual;
        struct load load;

        rules.max_unused = 10000000;
        load_init(&load, &rules, delay_ms);
        load_run(&load, 2000, rate);
        load_run(&load, 5000, rate);
        assert_int_equal(load.dry_ms, 0);
        /* What the runway and two delays use up, and not one ask a ms. */
        assert_int_equal(load.plan.target,
                         max_of(REFILL_MIN, rate * (50 + 2 * delay_ms)));
        assert_true(load.asks <= 5000 / 5);
    }
}

/* However long the first answer is in coming. */
static void a_slow_start_of_a_small_load_fetches_little(void **state)
{
    (void)state;
    for (int64_t delay_ms = 1; delay_ms < 500; delay_ms *= 3) {
        struct load load;

        load_init(&load, &usual, delay_ms);
        load_run(&load, 1, 1);
        load_run(&load, 500, 0);
        assert_int_equal(load.owed, 0);
        assert_true(load.most <= (int64_t)4 * REFILL_MIN);
        load_run(&load, 500, 1);
        assert_int_equal(load.dry_ms, 0);
        assert_true(load.most <= (int64_t)4 * REFILL_MIN);
    }
}

static void a_step_in_the_load_is_met_within_few_delays(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, &usual, 5);
    load_run(&load, 3000, 10);
    load_run(&load, 1000, 1000);
    assert_in_range(load.dry_ms, 1, 10 * 5);
    load_run(&load, 1000, 1000);
    assert_int_equal(load.dry_ms, 0);
}

static void a_lull_brings_the_stock_down_to_little(void **state)
{
    struct load load;

    (void)state;
    load_init(&load, &usual, 5);
    load_run(&load, 3000, 1000);
    assert_true(load.plan.target >= 60000);
    load_run(&load, 10000, 0);
    assert_int_equal(load.asks, 0);
    assert_int_equal(load.plan.target, REFILL_MIN);
    assert_int_equal(refill_rate(&load.refill, load.now_ms, load.consumed), 0);
}

static void bursts_are_met_once_they_are_known(void **state)
{
    struct load load;
    int64_t dry_ms = 0;

    (void)state;
    load_init(&load, &usual, 2);
    for (int burst = 0; burst < 40; burst++) {
        load_run(&load, 20, 500);
        dry_ms += burst < 10 ? 0 : load.dry_ms;
        load_run(&load, 100, 0);
    }
    assert_int_equal(dry_ms, 0);
}

/* Slower than the load: the callers wait, and yet the bounds are kept (by
 * decide), and all that may be is under way. */
static void a_load_past_the_backends_keeps_the_bounds(void **state)
{
    static const int64_t bounds[] = {1, 2, 16, 4096};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        struct refill_rules rules = usual;
        struct load load;

        rules.max_unused = rules.run * bounds[i];
        load_init(&load, &rules, 20);
        load_run(&load, 3000, 10000);
        assert_true(load.dry_ms >= 2999);
        assert_true(load.consumed > 0);
        assert_true(load.most <= 2 * rules.max_unused + rules.run);
    }
}

static void without_prefetch_the_ring_is_filled_by_waiting_alone(void **state)
{
    struct refill_rules rules = usual;
    struct load load;

    (void)state;
    rules.prefetch = false;
    load_init(&load, &rules, 3);
    load_run(&load, 1000, 0);
    assert_int_equal(load.asks, 0);
    assert_int_equal(load.stock, 0);
    load_run(&load, 1000, 5);
    assert_true(load.asks > 0);
    assert_true(load.asks <= load.dry_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_load_never_runs_dry_once_it_is_known),
        cmocka_unit_test(a_slow_start_of_a_small_load_fetches_little),
        cmocka_unit_test(a_step_in_the_load_is_met_within_few_delays),
        cmocka_unit_test(a_lull_brings_the_stock_down_to_little),
        cmocka_unit_test(bursts_are_met_once_they_are_known),
        cmocka_unit_test(a_load_past_the_backends_keeps_the_bounds),
        cmocka_unit_test(without_prefetch_the_ring_is_filled_by_waiting_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
