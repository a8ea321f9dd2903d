/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that hang in an engine that keeps no time itself: they are ended, the
 * partition rests and comes back, and nobody else notices. And what is done
 * while a call hangs. Which call is due when is in test_watchdog.c; engines
 * that keep the time are in test_ha.c.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "ha/policy/round_robin.h"
#include "platform/clock.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define TIMEOUT_MS 50
#define IDLE_MS    200 /* well past the end of any call */
#define SLOW_COUNT 60  /* time-outs: 3 s */

static void use_sockets(struct rig *rig)
{
    for (size_t i = 0; i < RIG_PARTITIONS; i++)
        fake_use_sockets(rig->stores[i]);
    fake_use_sockets(rig->authority);
    rig_set_timeout(rig, TIMEOUT_MS);
    rig->pool.slow_count = POOL_SLOW_COUNT_MAX; /* it is ended before that */
}

/* A stall of this machine ends a call, and with it a start. */
static struct rig_broker *open_patiently(struct rig *rig)
{
    struct rig_broker *broker = NULL;

    RIG_AWAIT(rig_try_open(rig, &broker, NULL) == SEQB_OK);
    return broker;
}

/* The call that was told to block is ended and costs its partition a rest, for
 * the reason that is given. A stall may have ended another one before. */
static void expect_ended(struct rig *rig, struct rig_broker *broker,
                         const char *reason)
{
    RIG_AWAIT((rig_take(broker, 16), fake_ended(rig->stores[0]) > 0));
    rig_take_until_failed(broker, 0, 0);
    rig_await_use(broker, 0);
    rig_take(broker, 1000);
    events_await("event=quarantined", reason);
}

#define ENDED "no answer within 50 ms, ended: fake store-0"
#define SLOW  "slow: 1 time-outs of 50 ms"

/* Not the probe, which would fail. */
static void block_if_up(struct rig *rig, struct rig_broker *broker)
{
    if (rig_partition(broker, 0).state == SEQB_PARTITION_UP)
        fake_block(rig->stores[0], FAKE_RESERVE);
}

TEST_WITH(DIRECT, a_reservation_that_hangs_is_ended_and_counts_as_slow)
{
    struct rig_broker *broker;

    events_start();
    use_sockets(rig);
    rig->pool.slow_count = 1;
    broker = open_patiently(rig);
    /* A stall may have taken out the other partition: the last one is kept. */
    RIG_AWAIT((block_if_up(rig, broker), rig_take(broker, 16),
               fake_ended(rig->stores[0]) > 0 &&
                   events_count("event=quarantined", SLOW) > 0));
    expect_ended(rig, broker, SLOW);
}

TEST_WITH(DIRECT, a_claim_that_hangs_is_ended)
{
    struct rig_broker *broker;
    enum seqb_status status;

    events_start();
    use_sockets(rig);
    rig_automatic(rig, "bill", 1);
    broker = open_patiently(rig);
    fake_block(rig->stores[0], FAKE_CLAIM);
    /* Those that are listed were admitted by the start. The other partition
     * may have answered before it looks again. */
    status =
        queue_try_run(rig_sequence(broker, "bill"), 1, &(int64_t){0}, NULL);
    assert_true(status == SEQB_AGAIN || status == SEQB_OK);
    expect_ended(rig, broker, ENDED);
}

TEST_WITH(DIRECT, a_raise_that_hangs_is_ended)
{
    struct rig_broker *broker;

    events_start();
    use_sockets(rig);
    broker = open_patiently(rig);
    fake_block(rig->stores[0], FAKE_RAISE);
    fake_change_origin(rig->stores[0]);
    expect_ended(rig, broker, ENDED);
}

TEST_WITH(WINDOWED, an_install_that_hangs_is_ended)
{
    struct rig_broker *broker;

    events_start();
    use_sockets(rig);
    broker = open_patiently(rig);
    fake_block(rig->stores[0], FAKE_INSTALL);
    expect_ended(rig, broker, ENDED);
}

TEST_WITH(DIRECT, a_store_that_hangs_at_the_start_is_done_without)
{
    struct rig_broker *broker;

    rig_use(rig, 0);
    events_start();
    use_sockets(rig);
    RIG_AWAIT((fake_block(rig->stores[0], FAKE_CLAIM),
               rig_try_open(rig, &broker, NULL) == SEQB_OK));
    expect_ended(rig, broker, ENDED);
}

/* Closing waits for the worker, and the worker for the call. */
TEST_WITH(DIRECT, a_broker_closes_though_a_call_hangs)
{
    struct rig_broker *broker;

    use_sockets(rig);
    broker = open_patiently(rig);
    fake_block(rig->stores[0], FAKE_RESERVE);
    while (!fake_wait_for_hanging(rig->stores[0], 1, 0) &&
           fake_ended(rig->stores[0]) == 0)
        rig_take(broker, 16);
    rig_close(broker);
    assert_int_equal(fake_ended(rig->stores[0]), 1);
    assert_int_equal(fake_open_backends(rig->stores[0]), 0);
}

/*
 * Whether a broker that was idle for longer than a call may last finds its
 * connections as it left them. A stall of this machine may end a call.
 */
static bool idles_undisturbed(struct rig *rig)
{
    struct rig_broker *broker = open_patiently(rig);
    int64_t opens;
    int64_t calls;
    int64_t until_ms;
    bool is_undisturbed;

    rig_take(broker, 100);
    rig_await_rest(broker);
    opens = fake_calls(rig->stores[0], FAKE_OPEN);
    until_ms = clock_now_ms() + IDLE_MS;
    RIG_AWAIT(clock_now_ms() >= until_ms);
    calls = fake_calls(rig->stores[0], FAKE_RESERVE);
    while (fake_calls(rig->stores[0], FAKE_RESERVE) == calls)
        rig_take(broker, 16);
    is_undisturbed = fake_calls(rig->stores[0], FAKE_OPEN) == opens;
    rig_close(broker);
    return is_undisturbed;
}

TEST_WITH(ONE_DIRECT, an_idle_connection_is_left_alone)
{
    bool is_undisturbed = false;

    use_sockets(rig);
    for (int i = 0; i < 20 && !is_undisturbed; i++)
        is_undisturbed = idles_undisturbed(rig);
    assert_true(is_undisturbed);
}

/* Its own time-out is far: what is judged is the call under way. It is suspect
 * for long enough to be seen, even if this machine stalls. */
TEST_WITH(DIRECT, a_partition_is_quarantined_while_its_call_hangs)
{
    const int64_t start_ms = clock_now_ms();
    struct rig_broker *broker;
    int64_t slow;

    events_start();
    rig->pool.timeout_ms = TIMEOUT_MS;
    rig->pool.slow_count = SLOW_COUNT;
    /* No probe hangs too before the time-outs were counted. */
    rig->pool.rescue = HA_RESCUE_FIXED;
    rig->pool.rescue_after_ms = 2000;
    broker = rig_open(rig);
    fake_hang(rig->stores[0]);
    while (!fake_wait_for_hanging(rig->stores[0], 1, 0))
        rig_take(broker, 16);
    rig_await_state(broker, 0, SEQB_PARTITION_QUARANTINED);
    assert_true(fake_wait_for_hanging(rig->stores[0], 1, 0));
    events_expect("event=suspect was=up", "backend=b0", 1);
    events_expect("event=quarantined was=suspect",
                  "slow: 60 time-outs of 50 ms", 1);
    /* Several are counted at once if the watchdog was late, but none twice. */
    slow = rig_partition(broker, 0).slow;
    assert_in_range(slow, SLOW_COUNT, (clock_now_ms() - start_ms) / TIMEOUT_MS);
    fake_release(rig->stores[0]);
    rig_await_use(broker, 0);
    assert_int_equal(rig_partition(broker, 0).slow, slow);
    rig_take(broker, 1000);
}

TEST_WITH(ONE_DIRECT, the_last_partition_is_kept_though_its_call_hangs)
{
    struct rig_broker *broker;
    int64_t number;
    size_t taken;

    events_start();
    rig->pool.timeout_ms = 5;
    broker = rig_open(rig);
    fake_hang(rig->stores[0]);
    assert_int_equal(
        queue_try_many(rig_sequence(broker, "order"), 1, &number, &taken, NULL),
        SEQB_AGAIN);
    RIG_AWAIT(rig_partition(broker, 0).slow > 10);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_SUSPECT);
    fake_release(rig->stores[0]);
    assert_ok(rig_take_one(broker, &number, NULL));
    assert_int_equal(events_count("event=quarantined", ""), 0);
    events_expect("event=suspect", "", 1);
}

/* Counts the runs that partition 1 delivered, and what was not of it. */
struct taker {
    struct ha_sink sink;
    struct ha_counter *counter;
    atomic_int of_1;
    atomic_int others;
};

static void taker_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct taker *taker = (struct taker *)sink;
    struct seqb_decoded decoded;

    ha_pool_decode(ha_counter_pool(taker->counter), 2, grant->first, &decoded);
    if (grant->count > 0 && decoded.partition == 1)
        atomic_fetch_add(&taker->of_1, 1);
    else
        atomic_fetch_add(&taker->others, 1);
}

/* A slot may be asked again only a while after its runs are delivered. */
static bool have_come(struct taker *taker, int count)
{
    struct ha_view view;

    ha_counter_view(taker->counter, clock_now_ms(), &view);
    return atomic_load(&taker->of_1) == count && view.all == 0;
}

/* A worker does one thing at a time: what hangs for one sequence would hang
 * for all. */
TEST_WITH(DIRECT, one_that_hangs_for_a_sequence_is_not_asked_for_others)
{
    struct taker taker = {.sink = {taker_deliver}};
    struct rig_broker *broker = rig_open(rig);
    int64_t until_ms;

    assert_ok(ha_counter_new(ha_pool_at(broker->ha, 0), "bill", 2, &taker.sink,
                             &taker.counter, NULL));
    fake_hang(rig->stores[0]);
    while (!fake_wait_for_hanging(rig->stores[0], 1, 0))
        rig_take(broker, 16);
    /* Longer than usual. */
    until_ms = clock_now_ms() + 5 + rig_partition(broker, 0).latency_us / 250;
    RIG_AWAIT(clock_now_ms() >= until_ms);
    for (int i = 1; i <= 20; i++) {
        assert_int_equal(
            ha_counter_ask(taker.counter, 8, HA_ASK_ONE, clock_now_ms()), 8);
        RIG_AWAIT(have_come(&taker, i));
    }
    assert_int_equal(atomic_load(&taker.others), 0);
    fake_release(rig->stores[0]);
    rig_close(broker);
    ha_counter_free(taker.counter);
}
