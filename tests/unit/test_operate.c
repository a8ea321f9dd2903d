/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator's orders and the broker's health, over scripted stores. Which
 * order makes sense in which state is test_pool_command.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/startup.h"
#include "operate_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "queue/sequence.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

static void expect_refused(struct rig_broker *broker, const char *pool,
                           int32_t i, enum seqb_order order, const char *words)
{
    assert_fails(ha_command(broker->ha, pool, i, order, &failure), SEQB_INVALID,
                 words);
}

/* Waits for a probe, which comes late by itself. */
static void rest_long(struct rig *rig)
{
    rig->pool.rescue = HA_RESCUE_FIXED;
    rig->pool.rescue_after_ms = RIG_FOREVER_MS;
}

TEST_WITH(DIRECT, quarantined_partition_rests_while_others_serve)
{
    struct rig_broker *broker;
    int64_t calls;

    events_start();
    rest_long(rig);
    broker = rig_open(rig);
    rig_take(broker, 100);
    rig_await_rest(broker);
    order(broker, "main", 0, SEQB_ORDER_QUARANTINE);
    assert_int_equal(rig_partition(broker, 0).state,
                     SEQB_PARTITION_QUARANTINED);
    rig_expect_words(rig_partition(broker, 0).reason, "by an operator");
    calls = fake_calls(rig->stores[0], FAKE_RESERVE);
    rig_take(broker, 5000);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), calls);
    events_expect("info event=quarantined was=up", "backend=b0", 1);
    expect_refused(broker, "main", 0, SEQB_ORDER_QUARANTINE,
                   "only one that is up");
    events_expect("event=quarantined", "", 1);
    /* Not in ten minutes: now. */
    order(broker, "main", 0, SEQB_ORDER_RESCUE);
    rig_await_state(broker, 0, SEQB_PARTITION_RAMPING);
    rig_take(broker, 1000);
}

/* What was ordered is information. That the store is down is not. */
TEST_WITH(DIRECT, store_that_is_down_when_it_is_resumed_is_a_warning)
{
    struct rig_broker *broker;

    events_start();
    broker = rig_open(rig);
    order(broker, "main", 1, SEQB_ORDER_DRAIN);
    fake_set_down(rig->stores[1], true);
    fake_restart(rig->stores[1]);
    order(broker, "main", 1, SEQB_ORDER_RESUME);
    events_await("warn event=quarantined was=quarantined", "is down");
    events_expect("info event=quarantined was=drained", "backend=b1", 1);
    assert_true(
        fake_wait_for_calls(rig->stores[1], FAKE_OPEN, 4, RIG_PATIENCE_MS));
    events_expect("warn event=quarantined", "backend=b1", 1); /* once */
    fake_set_down(rig->stores[1], false);
    rig_await_state(broker, 1, SEQB_PARTITION_RAMPING);
}

TEST_WITH(DIRECT, quarantined_partition_comes_back_by_itself)
{
    struct rig_broker *broker = rig_open(rig);

    order(broker, "main", 1, SEQB_ORDER_QUARANTINE);
    rig_await_state(broker, 1, SEQB_PARTITION_RAMPING);
    assert_string_equal(rig_partition(broker, 1).reason, "");
}

/* It would be a gap in the numbers of others. */
TEST_WITH(ONE_DIRECT, probe_takes_nothing_of_a_sequence_that_is_not_listed)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t value;

    rig_take(broker, 1);
    ha_counter_set_listed(rig_sequence(broker, "order")->counter, false);
    rig_await_rest(broker);
    value = fake_value(rig->stores[0], "main/0/order");
    order(broker, "main", 0, SEQB_ORDER_QUARANTINE);
    rig_await_use(broker, 0);
    assert_int_equal(fake_value(rig->stores[0], "main/0/order"), value);
}

/* Not even when nobody else is left. */
TEST_WITH(DIRECT, drained_partition_is_not_even_probed)
{
    struct rig_broker *broker;
    int64_t calls;
    struct seqb_error err;

    rig->queue.sequence_count = 2;
    rig->sequences[1].deadline_ms = 50;
    broker = rig_open(rig);
    rig_take(broker, 100);
    rig_await_rest(broker);
    order(broker, "main", 0, SEQB_ORDER_DRAIN);
    calls = all_calls(rig->stores[0]);
    rig_take(broker, 5000);
    fake_set_down(rig->stores[1], true);
    err = rig_take_refused(broker, "bill");
    assert_int_equal(err.status, SEQB_UNAVAILABLE);
    rig_expect_words(err.text, "partition 0 (b0): drained by an operator");
    assert_true(
        fake_wait_for_calls(rig->stores[1], FAKE_OPEN, 4, RIG_PATIENCE_MS));
    assert_int_equal(all_calls(rig->stores[0]), calls);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_DRAINED);
    expect_refused(broker, "main", 0, SEQB_ORDER_RESCUE, "resume it instead");
    order(broker, "main", 0, SEQB_ORDER_RESUME);
    rig_take(broker, 5000);
    assert_true(all_calls(rig->stores[0]) > calls);
}

/* The connection on which its claims were refused is not trusted. */
TEST_WITH(DIRECT, refused_partition_is_rescued_when_its_store_is_right)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 100);
    rig_await_rest(broker);
    fake_fail(rig->stores[0], FAKE_CLAIM, 1, SEQB_LAYOUT);
    order(broker, "main", 0, SEQB_ORDER_QUARANTINE);
    fake_restart(rig->stores[0]); /* so that the probe connects anew */
    rig_await_state(broker, 0, SEQB_PARTITION_REFUSED);
    fake_fail(rig->stores[0], FAKE_CLAIM, 1, SEQB_LAYOUT);
    order(broker, "main", 0, SEQB_ORDER_RESCUE);
    rig_await_state(broker, 0, SEQB_PARTITION_REFUSED);
    order(broker, "main", 0, SEQB_ORDER_RESCUE);
    rig_await_state(broker, 0, SEQB_PARTITION_RAMPING);
    rig_take(broker, 1000);
}

/* An order is no licence to repeat: what the broker held still counts. */
TEST_WITH(DIRECT, poisoned_partition_is_rescued_only_above_what_it_granted)
{
    struct rig_broker *broker = rig_open(rig);

    events_start();
    rig_take_from(broker, 0, 2000);
    fake_go_back(rig->stores[0], 200);
    rig_take_until(broker, 0, SEQB_PARTITION_POISONED);
    rig_await_rest(broker);
    fake_put(rig->stores[0], "main/0/order", 1); /* and once more */
    order(broker, "main", 0, SEQB_ORDER_RESCUE);
    rig_await_state(broker, 0, SEQB_PARTITION_POISONED);
    events_expect("event=poisoned", "backend=b0", 2);
    rig_await_rest(broker); /* the probe has ended, too */
    order(broker, "main", 0, SEQB_ORDER_RESCUE);
    rig_await_state(broker, 0, SEQB_PARTITION_RAMPING);
    rig_take(broker, 2000);
}

TEST_WITH(DIRECT, order_needs_a_place_that_there_is)
{
    struct rig_broker *broker = rig_open(rig);

    expect_refused(broker, "mian", 0, SEQB_ORDER_DRAIN, "no pool 'mian'");
    expect_refused(broker, "main", 2, SEQB_ORDER_DRAIN,
                   "no partition 2: they are 0 ... 1");
    expect_refused(broker, "main", -2, SEQB_ORDER_DRAIN, "no partition -2");
    expect_refused(broker, "main", -1, SEQB_ORDER_DRAIN, "no authority");
    expect_health(broker, SEQB_HEALTH_SERVING, "");
}

TEST_WITH(DIRECT, health_tells_whether_every_pool_can_serve)
{
    struct rig_broker *broker;

    rest_long(rig);
    broker = rig_open(rig);
    expect_health(broker, SEQB_HEALTH_SERVING, "");
    order(broker, "main", 1, SEQB_ORDER_DRAIN);
    expect_health(broker, SEQB_HEALTH_DEGRADED,
                  "pool main: partition 1 (b1) is drained: drained by an "
                  "operator");
    order(broker, "main", 0, SEQB_ORDER_QUARANTINE);
    expect_health(
        broker, SEQB_HEALTH_NOT_SERVING,
        "pool main cannot serve: partition 0 (b0) is quarantined: quarantined "
        "by an operator; partition 1 (b1) is drained: drained by an operator");
    order(broker, "main", 0, SEQB_ORDER_RESCUE);
    rig_await_state(broker, 0, SEQB_PARTITION_UP);
    assert_int_equal(ha_health(broker->ha, NULL, 0), SEQB_HEALTH_DEGRADED);
    assert_string_equal(seqb_health_name(SEQB_HEALTH_NOT_SERVING),
                        "not serving");
    assert_string_equal(seqb_health_name((enum seqb_health)99), "unknown");
}

TEST_WITH(DIRECT, health_is_one_line_however_short)
{
    struct rig_broker *broker = rig_open(rig);
    char words[12];

    order(broker, "main", 1, SEQB_ORDER_DRAIN);
    assert_int_equal(ha_health(broker->ha, words, sizeof words),
                     SEQB_HEALTH_DEGRADED);
    assert_string_equal(words, "pool main: ");
}

/* --- several pools --- */

/* Pools "main" and "other" of a windowed partition each, whose windows come
 * from one authority. */
static void two_pools(struct rig *rig)
{
    rig_split(rig);
    rig->sequences[1].pool = 1;
    rig->sequences[1].deadline_ms = 50;
    rig->queue.sequence_count = 2;
}

TEST_WITH(WINDOWED, order_to_a_shared_backend_is_for_one_pool)
{
    struct rig_broker *broker;

    two_pools(rig);
    broker = rig_open(rig);
    order(broker, "other", -1, SEQB_ORDER_DRAIN);
    /* It leases for the first pool, whatever is lost, and not for the other. */
    for (int i = 0; i < 5; i++) {
        fake_flush(rig->stores[0]);
        rig_take(broker, 300);
    }
    rig_expect_words(rig_take_refused(broker, "bill").text,
                     "no window: authority auth: ");
    order(broker, "other", -1, SEQB_ORDER_RESUME);
    order(broker, "main", -1, SEQB_ORDER_DRAIN);
    rig_set_deadline(broker, "bill", RIG_PATIENCE_MS);
    for (int i = 0; i < 5; i++) {
        fake_flush(rig->stores[1]);
        assert_int_equal(
            queue_next(rig_sequence(broker, "bill"), &(int64_t){0}, NULL),
            SEQB_OK);
    }
}

/* Its one backend is drained in a pool and fails in another: it is probed for
 * the latter alone. */
TEST_WITH(WINDOWED, probe_for_one_pool_asks_nothing_of_a_drained_one)
{
    struct rig_broker *broker;
    int64_t calls;

    two_pools(rig);
    rig->backends[0].ops = &backend_fake;
    rig_pools[0].layout.authority = -1;
    rig_pools[1].layout.authority = 0; /* the first pool's partition */
    rig->ha.backend_count = 2;
    broker = rig_open(rig);
    rig_take(broker, 100);
    rig_await_rest(broker);
    order(broker, "main", 0, SEQB_ORDER_DRAIN);
    calls = fake_calls(rig->stores[0], FAKE_RESERVE);
    order(broker, "other", -1, SEQB_ORDER_QUARANTINE);
    rig_await_state(broker, -1, SEQB_PARTITION_UP);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), calls);
}

TEST_WITH(DIRECT, status_says_when_the_next_probe_is_due)
{
    struct rig_broker *broker;

    rest_long(rig);
    broker = rig_open(rig);
    rig_await_state(broker, 0, SEQB_PARTITION_UP);
    assert_int_equal(rig_partition(broker, 0).next_probe_ms, -1);
    order(broker, "main", 0, SEQB_ORDER_QUARANTINE);
    assert_in_range(rig_partition(broker, 0).next_probe_ms, 1, RIG_FOREVER_MS);
}

/* A server's own words may have several. */
TEST_WITH(DIRECT, health_is_one_line)
{
    struct rig_broker *broker;
    struct ha_pool *pool;

    rest_long(rig);
    broker = rig_open(rig);
    pool = ha_pool_at(broker->ha, 0);
    order(broker, "main", 0, SEQB_ORDER_QUARANTINE);
    pthread_mutex_lock(pool->lock);
    (void)text_copy(pool->pool.member[0].reason,
                    sizeof pool->pool.member[0].reason,
                    "ERROR:\tno\nHINT: \x7f");
    pthread_mutex_unlock(pool->lock);
    expect_health(
        broker, SEQB_HEALTH_DEGRADED,
        "pool main: partition 0 (b0) is quarantined: ERROR: no HINT: \x7f");
}

/* --- what is reported of a partition --- */

TEST_WITH(DIRECT, status_of_a_partition_is_whole)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);
    struct pool_member *member = &pool->pool.member[1];
    struct seqb_partition_status status;
    const int64_t now_ms = clock_now_ms();

    pthread_mutex_lock(pool->lock);
    *member = (struct pool_member){.state = SEQB_PARTITION_QUARANTINED,
                                   .since_ms = now_ms - 5000,
                                   .next_probe_ms = now_ms + RIG_FOREVER_MS,
                                   .latency_us = 1,
                                   .granted = 2,
                                   .errors = 3,
                                   .slow = 4,
                                   .ejections = 5,
                                   .raises = 6,
                                   .server = "a server",
                                   .domain = "a domain",
                                   .loss = "a loss"};
    pthread_mutex_unlock(pool->lock);
    status = rig_partition(broker, 1);
    assert_int_equal(status.partition, 1);
    assert_int_equal(status.state, SEQB_PARTITION_QUARANTINED);
    assert_in_range(status.since_ms, 5000, RIG_FOREVER_MS);
    assert_in_range(status.next_probe_ms, 1, RIG_FOREVER_MS);
    assert_int_equal(status.latency_us, 1);
    assert_int_equal(status.granted, 2);
    assert_int_equal(status.errors, 3);
    assert_int_equal(status.slow, 4);
    assert_int_equal(status.ejections, 5);
    assert_int_equal(status.raises, 6);
    assert_int_equal(status.clock_ms, INT64_MIN);
    assert_in_range(status.last_ok_ms, 0, RIG_FOREVER_MS);
    assert_false(status.is_windowed || status.is_authority);
    assert_string_equal(status.pool, "main");
    assert_string_equal(status.backend, "b1");
    assert_string_equal(status.engine, "fake");
    assert_string_equal(status.server, "a server");
    assert_string_equal(status.domain, "a domain");
    assert_string_equal(status.loss, "a loss");
    pthread_mutex_lock(pool->lock);
    member->next_probe_ms = now_ms - 1;
    pthread_mutex_unlock(pool->lock);
    assert_int_equal(rig_partition(broker, 1).next_probe_ms, 0);
    assert_int_equal(rig_partition(broker, 0).next_probe_ms, -1);
    pthread_mutex_lock(pool->lock);
    member->state = SEQB_PARTITION_UP;
    pthread_mutex_unlock(pool->lock);
}

TEST_WITH(DIRECT, reason_is_that_of_the_partition)
{
    struct rig_broker *broker = rig_open(rig);
    char reason[SEQB_REASON_SIZE];
    struct seqb_error err;

    order(broker, "main", 1, SEQB_ORDER_DRAIN);
    assert_ok(ha_reason(broker->ha, "main", 1, reason, &err));
    assert_string_equal(reason, rig_partition(broker, 1).reason);
    assert_true(strlen(reason) > 0);
    assert_ok(ha_reason(broker->ha, "main", 0, reason, &err));
    assert_string_equal(reason, "");
    assert_int_equal(ha_reason(broker->ha, "main", 2, reason, &err),
                     SEQB_INVALID);
    assert_int_equal(ha_reason(broker->ha, "other", 0, reason, &err),
                     SEQB_INVALID);
}

/* Who leases: the authority, each neighbour, or else the first that keeps. */
static void expect_lessors(struct rig *rig, int32_t first, int32_t second)
{
    struct rig_broker *broker = rig_open(rig);
    const struct ha_pool *pool = ha_pool_at(broker->ha, 0);

    assert_int_equal(ha_pool_lessor(pool, 0), first);
    assert_int_equal(ha_pool_lessor(pool, 1), second);
    assert_int_equal(ha_pool_lessor(pool, 2), -1);
    rig_close(broker);
}

TEST_WITH(WINDOWED, lessors_are_told_by_their_members)
{
    expect_lessors(rig, 2, -1);
}

TEST_WITH(DIRECT, lessor_without_an_authority_is_the_first_that_keeps)
{
    expect_lessors(rig, 0, -1);
}

TEST_WITH(NEIGHBOURS, each_neighbour_is_a_lessor)
{
    expect_lessors(rig, 0, 1);
}
