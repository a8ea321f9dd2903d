/* SPDX-License-Identifier: Apache-2.0 */
/* Pools with a snowflake in them: its bits, its calls, its neighbours, and who
 * has which worker id. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/backends.h"
#include "flake_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/folder.h"

#define MANY 2000

/* --- the engine --- */

/* A snowflake whose next call can be made to fail, so that it is opened anew:
 * then it knows nothing of what it gave. */
static atomic_bool is_to_break;
static atomic_int ms_used_up; /* so many calls find no value left of the ms */
static struct seqb_backend_ops brittle;

static enum seqb_status brittle_open(const struct seqb_backend_options *options,
                                     struct seqb_backend **out,
                                     struct seqb_error *err)
{
    const enum seqb_status status = backend_snowflake.open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &brittle;
    return status;
}

static enum seqb_status brittle_reserve(struct seqb_backend *backend,
                                        struct seqb_request *requests, size_t n,
                                        struct seqb_error *err)
{
    if (atomic_load(&ms_used_up) > 0 && atomic_fetch_sub(&ms_used_up, 1) > 0) {
        requests[0].status = SEQB_AGAIN;
        (void)text_copy(requests[0].error.text, sizeof requests[0].error.text,
                        "told so");
        requests[0].error.status = SEQB_AGAIN;
        return SEQB_OK;
    }
    if (!atomic_exchange(&is_to_break, false))
        return backend_snowflake.reserve(backend, requests, n, err);
    err->status = SEQB_UNREACHABLE;
    (void)text_copy(err->text, sizeof err->text, "told to break");
    return SEQB_UNREACHABLE;
}

static void put_brittle(struct rig *rig)
{
    brittle = backend_snowflake;
    brittle.open = brittle_open;
    brittle.reserve = brittle_reserve;
    rig->backends[0].ops = &brittle;
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
}

/* If each cost a rest, as a failure does, they would outlast any patience. */
static void ms_that_is_used_up_costs_a_ms_only(void **state)
{
    struct rig *rig = flake_rig_open(state, 10);
    struct rig_broker *broker;
    struct seqb_error err;
    enum seqb_status status;
    int64_t number;
    size_t taken;

    put_brittle(rig);
    broker = rig_open(rig);
    atomic_store(&ms_used_up, 2 * RIG_PATIENCE_MS / 100);
    do { /* nothing is wrong meanwhile */
        status = queue_try_many(rig_sequence(broker, "order"), 1, &number,
                                &taken, &err);
        assert_int_equal(status, SEQB_AGAIN);
    } while (atomic_load(&ms_used_up) > RIG_PATIENCE_MS / 100);
    assert_int_equal(rig_take_one(broker, &number, &err), SEQB_OK);
    assert_int_equal(rig_partition(broker, 0).errors, 0);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_UP);
}

static void engine_that_was_opened_anew_repeats_nothing(void **state)
{
    struct rig *rig = flake_rig_open(state, 10);
    struct numbers numbers;
    struct rig_broker *broker;

    numbers_init(&numbers);
    put_brittle(rig);
    rig->pool.rescue_after_ms = 1;
    broker = rig_open(rig);
    for (int i = 0; i < 10; i++) {
        rig_take(broker, 3000, &numbers);
        atomic_store(&is_to_break, true);
        rig_take_until_failed(broker, 0, i, &numbers);
    }
    flake_expect_no_repeat(&numbers);
}

/* --- the pool --- */

static void use_of_every_value_of_a_ms_is_no_failure(void **state)
{
    struct rig *rig = flake_rig(state, 10);
    struct seqb_partition_status partition;
    struct numbers numbers;
    struct rig_broker *broker;

    numbers_init(&numbers);
    rig->backends[0].options.counter_bits = 2; /* 4 values */
    broker = rig_open(rig);
    rig_take(broker, rig_scaled(MANY), &numbers);
    partition = rig_partition(broker, 0);
    assert_int_equal(partition.state, SEQB_PARTITION_UP);
    assert_int_equal(partition.slow, 0);
    flake_expect_no_repeat(&numbers);
}

static void other_bits_are_another_layout(void **state)
{
    struct rig *rig = flake_rig_open(state, 10);

    rig->backends[0].options.time_bits = 42;
    rig->backends[0].options.worker_bits = 9;
    rig_expect_open_fails(rig, SEQB_LAYOUT,
                          "store 'b0:41|10|12@1577836800000' and is "
                          "'b0:42|9|12@1577836800000'");
    rig->backends[0].options.time_bits = 41;
    rig->backends[0].options.worker_bits = 10;
    rig->backends[0].options.epoch_ms++;
    rig_expect_open_fails(rig, SEQB_LAYOUT, "partition 0 was store");
}

static void snowflake_needs_an_authority(void **state)
{
    struct rig *rig = flake_rig(state, 10);

    rig->pool.layout.authority = -1;
    rig->ha.backend_count = 1;
    rig_expect_open_fails(rig, SEQB_CONFIG, "needs an authority");
}

static void number_that_does_not_fit_is_refused(void **state)
{
    struct rig *rig = flake_rig(state, 10);
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t number;

    rig->sequences[0].memory_bits = 8; /* 71 bits */
    broker = rig_open(rig);
    assert_int_equal(rig_take_one(broker, &number, &err), SEQB_EXHAUSTED);
    rig_expect_words(err.text, "does not fit");
}

static void snowflake_cannot_be_advanced(void **state)
{
    struct rig *rig = flake_rig_open(state, 10);
    struct rig_broker *broker = rig_open(rig);
    struct seqb_error err;

    assert_int_equal(queue_advance(broker->queue, "order", INT64_MAX / 2, &err),
                     SEQB_INVALID);
    rig_expect_words(err.text, "of the time");
}

/* Each partition of 2 has an id of its own, of the pool's. */
static void two_snowflakes_of_a_pool_have_two_ids(void **state)
{
    struct rig *rig = *state;
    struct numbers numbers;
    struct rig_broker *broker;
    int64_t seen = 0;

    numbers_init(&numbers);
    rig_shape(rig, RIG_WINDOWED, 1);
    rig->sequences[0].memory_bits = 0;
    flake_put(rig, 0, 9);
    flake_put(rig, 1, 9);
    broker = rig_open(rig);
    while (seen != 3) {
        int64_t number;

        rig_take(broker, 1, &numbers);
        number = numbers.values[numbers.count - 1];
        seen |= (int64_t)1 << (number & 1);
    }
    assert_int_not_equal(row_read(rig, 0).key, row_read(rig, 1).key);
    rig_take(broker, rig_scaled(MANY), &numbers);
    flake_expect_no_repeat(&numbers);
}

/* The other's values count on, however high those of the time are. */
static void counter_beside_a_snowflake_keeps_its_level(void **state)
{
    struct rig *rig = *state;
    struct numbers numbers;
    struct rig_broker *broker;

    numbers_init(&numbers);
    rig_shape(rig, RIG_WINDOWED, 1);
    rig->sequences[0].memory_bits = 0;
    flake_put(rig, 0, 9);
    rig->backends[1].ops = &backend_fake;
    broker = rig_open(rig);
    rig_await_use(broker, 0);
    while (rig_partition(broker, 0).granted < 1000 ||
           rig_partition(broker, 1).granted < 1000)
        rig_take(broker, 64, &numbers);
    assert_true(fake_value(rig->stores[1], "main/1/order") < 1000000);
    flake_expect_no_repeat(&numbers);
}

/* They would come back with times of long ago. */
static void what_is_left_at_a_stop_is_not_kept(void **state)
{
    struct rig *rig = flake_rig_open(state, 4);
    struct seqb_sequence_status status;
    struct rig_broker *broker;
    struct numbers numbers;
    char folder[64];
    char path[80];

    numbers_init(&numbers);
    assert_true(folder_make(folder, sizeof folder));
    (void)text_format(path, sizeof path, "%s/spool", folder);
    rig->queue.spool_path = path;
    broker = rig_open(rig);
    rig_take(broker, 1, &numbers);
    status = rig_status(broker, "order");
    assert_true(status.stock > 0);
    rig_close(broker);
    assert_int_equal(access(path, F_OK), -1);
    folder_remove(folder);
    numbers_fini(&numbers);
}

/* --- looking --- */

static void all_ids_that_were_ever_taken_are_listed(void **state)
{
    struct rig *rig = flake_rig_open(state, 10);
    struct rig_broker *broker;
    struct seqb_worker workers[8];
    struct seqb_error err;
    size_t count = 0;

    row_put_other(rig, 0, FLAKE_LONG_LEASE_MS);
    broker = rig_open(rig); /* it has id 1 */
    row_put(rig, 2, "nonsense");
    assert_int_equal(ha_workers(broker->ha, workers, 8, &count, &err), SEQB_OK);
    assert_int_equal(count, 3);
    for (int32_t i = 0; i < 3; i++) {
        assert_string_equal(workers[i].pool, "main");
        assert_int_equal(workers[i].worker, i);
        assert_int_equal(workers[i].is_ours, i == 1);
        assert_false(workers[i].is_free);
    }
    assert_string_equal(workers[0].holder, "bills@far:9");
    rig_expect_words(workers[1].holder, "orders@");
    assert_true(workers[1].renewed_ms > clock_wall_ms() - RIG_FOREVER_MS);
    assert_true(workers[1].used_upto_ms >= workers[1].renewed_ms);
    rig_expect_words(workers[2].holder, "damaged");
    assert_int_equal(ha_workers(broker->ha, workers, 1, &count, &err), SEQB_OK);
    assert_int_equal(count, 3);
    fake_set_down(rig->authority, true);
    assert_int_equal(ha_workers(broker->ha, workers, 8, &count, &err),
                     SEQB_UNAVAILABLE);
    rig_expect_words(err.text, "authority auth");
    fake_set_down(rig->authority, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WINDOWED(ms_that_is_used_up_costs_a_ms_only),
        WINDOWED(engine_that_was_opened_anew_repeats_nothing),
        WINDOWED(use_of_every_value_of_a_ms_is_no_failure),
        WINDOWED(other_bits_are_another_layout),
        WINDOWED(snowflake_needs_an_authority),
        WINDOWED(number_that_does_not_fit_is_refused),
        WINDOWED(snowflake_cannot_be_advanced),
        WINDOWED(two_snowflakes_of_a_pool_have_two_ids),
        WINDOWED(counter_beside_a_snowflake_keeps_its_level),
        WINDOWED(all_ids_that_were_ever_taken_are_listed),
        WINDOWED(what_is_left_at_a_stop_is_not_kept),
    };

    return cmocka_run_group_tests_name("snowflake_pool", tests, NULL, NULL);
}
