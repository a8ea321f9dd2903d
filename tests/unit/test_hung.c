/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that hang in an engine that keeps no time itself: they are ended, the
 * partition rests and comes back, and nobody else notices. Which call is due
 * when is in test_watchdog.c; engines that keep the time are in test_ha.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "platform/clock.h"
#include "support/events.h"
#include "support/rig.h"

#define TIMEOUT_MS 50
#define IDLE_MS    200 /* well past the end of any call */

static void use_sockets(struct rig *rig)
{
    for (size_t i = 0; i < RIG_PARTITIONS; i++)
        fake_use_sockets(rig->stores[i]);
    fake_use_sockets(rig->authority);
    rig_set_timeout(rig, TIMEOUT_MS);
}

static bool one_was_ended(void *context)
{
    return fake_ended(context) == 1;
}

/* The call that was told to block is ended and costs its partition a rest, for
 * the reason that is given. */
static void expect_ended(struct rig *rig, struct rig_broker *broker,
                         const char *reason)
{
    struct numbers numbers;

    numbers_init(&numbers);
    rig_take_until_failed(broker, 0, 0, &numbers);
    rig_await(one_was_ended, rig->stores[0]);
    rig_await_state(broker, 0, SEQB_PARTITION_UP);
    rig_take(broker, 1000, &numbers);
    assert_int_equal(numbers_repeats(&numbers), 0);
    assert_true(events_count("event=quarantined", reason) > 0);
    numbers_fini(&numbers);
}

#define ENDED "no answer within 50 ms, ended: fake store-0"

static void a_reservation_that_hangs_is_ended_and_counts_as_slow(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;

    events_start();
    use_sockets(rig);
    rig->pool.slow_count = 1;
    broker = rig_open(rig);
    fake_block(rig->stores[0], FAKE_RESERVE);
    expect_ended(rig, broker, "slow: 1 calls past 50 ms");
}

static void a_claim_that_hangs_is_ended(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;

    events_start();
    use_sockets(rig);
    rig->queue.automatic = &rig->automatic;
    rig->queue.auto_pattern = "bill";
    rig->queue.auto_limit = 1;
    broker = rig_open(rig);
    fake_block(rig->stores[0], FAKE_CLAIM);
    (void)rig_sequence(broker, "bill");
    expect_ended(rig, broker, ENDED);
}

static void a_raise_that_hangs_is_ended(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;

    events_start();
    use_sockets(rig);
    broker = rig_open(rig);
    fake_block(rig->stores[0], FAKE_RAISE);
    fake_change_origin(rig->stores[0]);
    expect_ended(rig, broker, ENDED);
}

static void an_install_that_hangs_is_ended(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;

    events_start();
    use_sockets(rig);
    broker = rig_open(rig);
    fake_block(rig->stores[0], FAKE_INSTALL);
    expect_ended(rig, broker, ENDED);
}

static void a_store_that_hangs_at_the_start_is_done_without(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;

    rig_use(rig, 0, NULL);
    events_start();
    use_sockets(rig);
    fake_block(rig->stores[0], FAKE_CLAIM);
    broker = rig_open(rig);
    expect_ended(rig, broker, ENDED);
}

/* Closing waits for the worker, and the worker for the call. */
static void a_broker_closes_though_a_call_hangs(void **state)
{
    struct rig *rig = *state;
    struct numbers numbers;
    struct rig_broker *broker;

    numbers_init(&numbers);
    use_sockets(rig);
    broker = rig_open(rig);
    fake_block(rig->stores[0], FAKE_RESERVE);
    while (!fake_wait_for_hanging(rig->stores[0], 1, 0) &&
           fake_ended(rig->stores[0]) == 0)
        rig_take(broker, 16, &numbers);
    rig_close(broker);
    assert_int_equal(fake_ended(rig->stores[0]), 1);
    assert_int_equal(fake_open_backends(rig->stores[0]), 0);
    numbers_fini(&numbers);
}

static bool the_time_has_passed(void *context)
{
    return clock_now_ms() >= *(const int64_t *)context;
}

/*
 * Whether a broker that was idle for longer than a call may last finds its
 * connections as it left them. A stall of this machine may end a call.
 */
static bool idles_undisturbed(struct rig *rig)
{
    struct rig_broker *broker = rig_open(rig);
    struct numbers numbers;
    int64_t opens;
    int64_t calls;
    int64_t until_ms;
    bool is_undisturbed;

    numbers_init(&numbers);
    rig_take(broker, 100, &numbers);
    rig_await_rest(broker);
    opens = fake_calls(rig->stores[0], FAKE_OPEN);
    until_ms = clock_now_ms() + IDLE_MS;
    rig_await(the_time_has_passed, &until_ms);
    calls = fake_calls(rig->stores[0], FAKE_RESERVE);
    while (fake_calls(rig->stores[0], FAKE_RESERVE) == calls)
        rig_take(broker, 16, &numbers);
    is_undisturbed = fake_calls(rig->stores[0], FAKE_OPEN) == opens;
    rig_close(broker);
    numbers_fini(&numbers);
    return is_undisturbed;
}

static void an_idle_connection_is_left_alone(void **state)
{
    struct rig *rig = *state;
    bool is_undisturbed = false;

    rig_shape(rig, RIG_DIRECT, 0);
    use_sockets(rig);
    for (int i = 0; i < 20 && !is_undisturbed; i++)
        is_undisturbed = idles_undisturbed(rig);
    assert_true(is_undisturbed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECT(a_reservation_that_hangs_is_ended_and_counts_as_slow),
        DIRECT(a_claim_that_hangs_is_ended),
        DIRECT(a_raise_that_hangs_is_ended),
        WINDOWED(an_install_that_hangs_is_ended),
        DIRECT(a_store_that_hangs_at_the_start_is_done_without),
        DIRECT(a_broker_closes_though_a_call_hangs),
        DIRECT(an_idle_connection_is_left_alone),
    };

    return cmocka_run_group_tests_name("hung", tests, NULL, NULL);
}
