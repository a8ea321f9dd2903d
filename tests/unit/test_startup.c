/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts over scripted stores: which ones a first and a later start need, and
 * how long they are waited for. What is claimed in them is in test_claim.c.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/rig.h"
#include "support/test.h"

TEST_WITH(DIRECT, first_start_needs_every_direct_store)
{
    fake_set_down(rig->stores[1], true);
    rig_expect_open_fails(rig, SEQB_UNAVAILABLE, "first start needs");
    rig_expect_open_fails(rig, SEQB_UNAVAILABLE,
                          "b1 fails: fake store-1: is down");
    fake_set_down(rig->stores[1], false);
    rig_use(rig, 100);
}

/* Nothing but looking can tell a first start from a later one. */
TEST_WITH(DIRECT, start_that_reaches_no_store_does_not_call_itself_the_first)
{
    struct seqb_error err = {SEQB_OK, ""};
    struct rig_broker *broker;

    rig_use(rig, 100);
    for (size_t i = 0; i < 2; i++)
        fake_fail(rig->stores[i], FAKE_OPEN, INT64_MAX, SEQB_REFUSED);
    assert_int_equal(rig_try_open(rig, &broker, &err), SEQB_UNAVAILABLE);
    assert_string_equal(err.text,
                        "pool main: no backend that answers knows the pool; if "
                        "it is new, the first start needs every direct "
                        "backend, and b0 fails: fake store-0: told to fail");
    for (size_t i = 0; i < 2; i++)
        fake_fail(rig->stores[i], FAKE_OPEN, 0, SEQB_OK);
    rig_use(rig, 100);
}

/* An option is wrong, whatever the stores say. */
TEST_WITH(DIRECT, option_that_is_wrong_is_told_as_that)
{
    struct seqb_error err = {SEQB_OK, ""};
    struct rig_broker *broker;

    fake_fail(rig->stores[1], FAKE_OPEN, INT64_MAX, SEQB_INVALID);
    assert_int_equal(rig_try_open(rig, &broker, &err), SEQB_INVALID);
    assert_string_equal(err.text, "pool main: backend b1 cannot be used as it "
                                  "is configured: fake store-1: told to fail");
    /* No store was asked to make anything. */
    assert_int_equal(fake_calls(rig->stores[1], FAKE_OPEN), 1);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_OPEN), 1);
    fake_fail(rig->stores[1], FAKE_OPEN, 0, SEQB_OK);
    rig_use(rig, 100);
    /* While another store knows the pool, the start goes on without it. */
    fake_fail(rig->stores[1], FAKE_OPEN, 1, SEQB_INVALID);
    rig_use(rig, 100);
}

TEST_WITH(WINDOWED, first_start_needs_the_authority_but_no_windowed_store)
{
    struct rig_broker *broker;

    fake_set_down(rig->authority, true);
    rig_expect_open_fails(rig, SEQB_UNAVAILABLE, "auth fails");
    fake_set_down(rig->authority, false);
    fake_set_down(rig->stores[0], true);
    broker = rig_open(rig);
    rig_take(broker, 100);
    fake_set_down(rig->stores[0], false);
    rig_await_use(broker, 0);
    rig_take(broker, 1000);
}

TEST_WITH(DIRECT, later_start_goes_on_with_one_store_down)
{
    struct rig_broker *broker;

    rig_use(rig, 500);
    fake_set_down(rig->stores[0], true);
    broker = rig_open(rig);
    rig_expect_words(rig_partition(broker, 0).reason, "is down");
    rig_take(broker, 500);
    fake_set_down(rig->stores[0], false);
    rig_await_use(broker, 0);
    rig_take(broker, 2000);
}
TEST_ALSO(WINDOWED, later_start_goes_on_with_one_store_down);

TEST_WITH(DIRECT, later_start_waits_only_so_long_for_a_hung_store)
{
    struct rig_broker *broker;

    rig_use(rig, 500);
    fake_hang(rig->stores[1]);
    /* Until the other one has answered in that time. */
    rig->ha.open_timeout_ms = 300;
    while (rig_try_open(rig, &broker, NULL) != SEQB_OK)
        rig->ha.open_timeout_ms *= 2;
    rig_take(broker, 500);
    rig_expect_words(rig_partition(broker, 1).reason, "no answer at start");
    fake_release(rig->stores[1]);
    rig_await_use(broker, 1);
    rig_take(broker, 2000);
}
TEST_ALSO(WINDOWED, later_start_waits_only_so_long_for_a_hung_store);

TEST_WITH(DIRECT, start_with_every_store_down_is_unavailable)
{
    rig_set_down(rig, true);
    fake_set_down(rig->authority, true);
    rig_expect_open_fails(rig, SEQB_UNAVAILABLE, "is down");
    rig_set_down(rig, false);
    fake_set_down(rig->authority, false);
    rig_use(rig, 100);
    rig_set_down(rig, true);
    fake_set_down(rig->authority, true);
    rig_expect_open_fails(rig, SEQB_UNAVAILABLE, "is down");
}
TEST_ALSO(WINDOWED, start_with_every_store_down_is_unavailable);

/* The only store: without it there is no start. */
TEST_WITH(ONE_DIRECT, connection_that_breaks_at_start_is_made_again)
{
    rig_use(rig, 100);
    fake_fail(rig->stores[0], FAKE_CLAIM, 2, SEQB_UNREACHABLE);
    rig_use(rig, 100);
}

TEST_WITH(DIRECT, start_that_broke_off_can_be_repeated)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t tries = 0;

    /* Each time one more claim is answered before one is lost. */
    for (bool is_open = false; !is_open; tries++) {
        fake_lose_answers(rig->stores[tries % 2], FAKE_CLAIM, 1);
        is_open = rig_try_open(rig, &broker, &err) == SEQB_OK;
        assert_true(tries < 20);
    }
    rig_take(broker, 1000);
    rig_close(broker);
    rig_use(rig, 1000);
}
TEST_ALSO(WINDOWED, start_that_broke_off_can_be_repeated);

static void *open_at_once(void *argument)
{
    struct rig *rig = argument;
    struct seqb_error err;
    struct ha *ha = NULL;

    return ha_open(&rig->ha, &ha, &err) == SEQB_OK ? ha : NULL;
}

static void start_four_at_once(struct rig *rig)
{
    pthread_t threads[4];
    void *ha[4];

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_at_once, rig),
                         0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], &ha[i]);
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(ha[i]);
        ha_close(ha[i]);
    }
}

TEST_WITH(DIRECT, brokers_that_start_for_the_first_time_at_once_agree)
{
    for (size_t i = 0; i < rig_scaled(50) + 5; i++) {
        for (size_t j = 0; j < 2; j++) {
            fake_store_free(rig->stores[j]);
            rig->stores[j] = fake_store_new(j == 0 ? "store-0" : "store-1");
        }
        fake_store_free(rig->authority);
        rig->authority = fake_store_new("authority");
        start_four_at_once(rig);
    }
    rig_use(rig, 100);
}
TEST_ALSO(WINDOWED, brokers_that_start_for_the_first_time_at_once_agree);

/* The layout is known from the windowed stores alone. */
TEST_WITH(WINDOWED, later_start_adopts_a_direct_store_that_is_down)
{
    struct rig_broker *broker;

    rig_use(rig, 100);
    fake_set_down(rig->authority, true);
    broker = rig_open(rig);
    rig_take(broker, 100); /* what is left of the window */
    fake_set_down(rig->authority, false);
    rig_await_state(broker, -1, SEQB_PARTITION_UP);
    rig_take(broker, 3000);
}

/* The first admission breaks; what follows must not use that connection. */
TEST_WITH(DIRECT, admission_that_fails_is_made_good_later)
{
    struct rig_broker *broker;

    rig->queue.sequence_count = 0;
    rig_use(rig, 0);
    rig->queue.sequence_count = 1;
    assert_ok(ha_open(&rig->ha, &rig->brokers[0].ha, NULL));
    broker = &rig->brokers[0];
    fake_fail(rig->stores[0], FAKE_CLAIM, 1, SEQB_UNREACHABLE);
    assert_ok(queue_open(&rig->queue, broker->ha, &broker->queue, NULL));
    rig_take(broker, 1000);
    rig_await_use(broker, 0);
}
TEST_ALSO(WINDOWED, admission_that_fails_is_made_good_later);
