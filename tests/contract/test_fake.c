/* SPDX-License-Identifier: Apache-2.0 */
/* The script of the fake: that it fails as told, so that the tests which use
 * it test what they say. Its promises as an engine are in the suite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "support/fake.h"

#define ORDER "main/0/order"
#define LONG  20000 /* ms: no test waits for so long */

#define assert_status(actual, expected)                                        \
    assert_string_equal(seqb_status_name(actual), seqb_status_name(expected))

static int setup(void **state)
{
    *state = fake_store_new("script");
    return *state != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    const bool is_clean = fake_open_backends(*state) == 0;

    fake_store_free(*state);
    return is_clean ? 0 : -1;
}

static enum seqb_status open_within(int32_t timeout_ms,
                                    struct seqb_backend **out)
{
    const struct seqb_backend_options options = {
        .name = "script",
        .path = "script",
        .timeout_ms = timeout_ms,
        .connect_timeout_ms = timeout_ms,
    };

    return backend_fake.open(&options, out, NULL);
}

/* Opens, reserves `want` values and closes. */
static enum seqb_status take_within(int32_t timeout_ms, int64_t want,
                                    struct seqb_block *out)
{
    struct seqb_request request = {
        .counter = ORDER, .want = want, .limit = INT64_MAX};
    struct seqb_backend *backend = NULL;
    enum seqb_status status = open_within(timeout_ms, &backend);

    if (status != SEQB_OK)
        return status;
    status = backend_fake.reserve(backend, &request, 1, NULL);
    backend_fake.close(backend);
    if (status == SEQB_OK && request.status == SEQB_OK)
        *out = request.block;
    return status == SEQB_OK ? request.status : status;
}

static enum seqb_status take(int64_t want, struct seqb_block *out)
{
    return take_within(LONG, want, out);
}

static void told_failures_come_and_end(void **state)
{
    struct seqb_block block = {0, 0};

    fake_fail(*state, FAKE_OPEN, 2, SEQB_REFUSED);
    fake_fail(*state, FAKE_RESERVE, 1, SEQB_PROTOCOL);
    assert_status(take(5, &block), SEQB_REFUSED);
    assert_status(take(5, &block), SEQB_REFUSED);
    assert_status(take(5, &block), SEQB_PROTOCOL);
    assert_status(take(5, &block), SEQB_OK);
    assert_int_equal(block.first, 1);
    assert_int_equal(fake_calls(*state, FAKE_OPEN), 4);
    assert_int_equal(fake_calls(*state, FAKE_RESERVE), 2);
}

static void lost_answer_spends_its_block(void **state)
{
    struct seqb_block block = {0, 0};

    fake_lose_answers(*state, FAKE_RESERVE, 1);
    assert_status(take(5, &block), SEQB_UNCERTAIN);
    assert_int_equal(fake_value(*state, ORDER), 5);
    assert_status(take(5, &block), SEQB_OK);
    assert_int_equal(block.first, 6);
}

static void lost_answer_of_a_swap_leaves_it_done(void **state)
{
    const struct seqb_swap swap = {"worker", "", "mine", NULL};
    struct seqb_backend *backend = NULL;
    char standing[8] = "";

    fake_lose_answers(*state, FAKE_SWAP, 1);
    assert_status(open_within(LONG, &backend), SEQB_OK);
    assert_status(
        backend_fake.swap(backend, &swap, standing, sizeof standing, NULL),
        SEQB_UNCERTAIN);
    backend_fake.close(backend);
    assert_status(open_within(LONG, &backend), SEQB_OK);
    assert_status(backend_fake.claim(backend, "worker", NULL, standing,
                                     sizeof standing, NULL),
                  SEQB_OK);
    assert_string_equal(standing, "mine");
    backend_fake.close(backend);
}

static void clock_is_as_far_ahead_as_told(void **state)
{
    const int64_t hour_ms = 3600000;
    struct seqb_backend *backend = NULL;
    int64_t ms = -1;

    assert_status(open_within(LONG, &backend), SEQB_OK);
    assert_status(backend_fake.clock(backend, &ms, NULL), SEQB_OK);
    assert_int_equal(ms, 0);
    for (int64_t ahead_ms = -24 * hour_ms; ahead_ms <= 24 * hour_ms;
         ahead_ms += 24 * hour_ms) {
        fake_set_clock(*state, ahead_ms);
        assert_status(backend_fake.clock(backend, &ms, NULL), SEQB_OK);
        assert_in_range(ms - ahead_ms, clock_wall_ms() - hour_ms,
                        clock_wall_ms() + hour_ms);
    }
    assert_int_equal(fake_calls(*state, FAKE_CLOCK), 4);
    backend_fake.close(backend);
}

static void down_is_down_until_it_is_up(void **state)
{
    struct seqb_block block = {0, 0};

    fake_set_down(*state, true);
    assert_status(take(5, &block), SEQB_UNREACHABLE);
    fake_set_down(*state, false);
    assert_status(take(5, &block), SEQB_OK);
}

static void hang_past_the_time_out_spends_its_block(void **state)
{
    struct seqb_backend *backend = NULL;
    struct seqb_request request = {
        .counter = ORDER, .want = 5, .limit = INT64_MAX};

    assert_status(open_within(5, &backend), SEQB_OK);
    fake_hang(*state);
    assert_status(backend_fake.reserve(backend, &request, 1, NULL),
                  SEQB_UNCERTAIN);
    assert_status(request.status, SEQB_UNCERTAIN);
    backend_fake.close(backend);
    assert_status(open_within(5, &backend), SEQB_UNREACHABLE);
    assert_int_equal(fake_value(*state, ORDER), 5);
}

static void delay_past_the_time_out_spends_its_block(void **state)
{
    struct seqb_block block = {0, 0};

    fake_set_delay(*state, 2);
    assert_status(take(5, &block), SEQB_OK);
    fake_set_delay(*state, LONG);
    assert_status(take_within(5, 5, &block), SEQB_UNREACHABLE); /* at open */
    assert_int_equal(fake_value(*state, ORDER), 5);
}

static void *take_run(void *argument)
{
    struct seqb_block *block = argument;

    (void)take(5, block);
    return NULL;
}

static void released_call_goes_on(void **state)
{
    struct seqb_block block = {0, 0};
    pthread_t thread;

    fake_hang(*state);
    assert_status(thread_start(&thread, "taker", take_run, &block, NULL),
                  SEQB_OK);
    assert_true(fake_wait_for_hanging(*state, 1, LONG));
    assert_int_equal(fake_calls(*state, FAKE_RESERVE), 0);
    fake_release(*state);
    assert_true(fake_wait_for_calls(*state, FAKE_RESERVE, 1, LONG));
    pthread_join(thread, NULL);
    assert_int_equal(block.first, 1);
}

static void store_goes_back_as_no_store_may(void **state)
{
    struct seqb_block block = {0, 0};

    assert_status(take(100, &block), SEQB_OK);
    fake_go_back(*state, 40);
    assert_status(take(1, &block), SEQB_OK);
    assert_int_equal(block.first, 61);
    fake_go_back(*state, 1000);
    assert_status(take(1, &block), SEQB_OK);
    assert_int_equal(block.first, 1);
}

static void grants_are_as_small_as_told(void **state)
{
    struct seqb_block block = {0, 0};

    fake_set_grant_max(*state, 3);
    assert_status(take(100, &block), SEQB_OK);
    assert_int_equal(block.count, 3);
}

static void another_origin_fences(void **state)
{
    struct seqb_block block = {0, 0};

    fake_put(*state, ORDER, 70);
    assert_status(take(1, &block), SEQB_OK);
    assert_int_equal(block.first, 71);
    fake_change_origin(*state);
    assert_status(take(1, &block), SEQB_FENCED);
}

static void calls_on_a_dead_backend_are_misuses(void **state)
{
    struct seqb_backend *backend = NULL;
    struct seqb_request request = {
        .counter = ORDER, .want = 5, .limit = INT64_MAX};

    assert_status(open_within(LONG, &backend), SEQB_OK);
    assert_int_equal(fake_open_backends(*state), 1);
    fake_restart(*state);
    assert_status(backend_fake.reserve(backend, &request, 1, NULL),
                  SEQB_UNREACHABLE);
    assert_int_equal(fake_misuses(*state), 0);
    assert_status(backend_fake.reserve(backend, &request, 1, NULL),
                  SEQB_UNREACHABLE);
    assert_int_equal(fake_misuses(*state), 1);
    backend_fake.close(backend);
    assert_int_equal(fake_open_backends(*state), 0);
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(told_failures_come_and_end),
        TEST(lost_answer_spends_its_block),
        TEST(lost_answer_of_a_swap_leaves_it_done),
        TEST(clock_is_as_far_ahead_as_told),
        TEST(down_is_down_until_it_is_up),
        TEST(hang_past_the_time_out_spends_its_block),
        TEST(delay_past_the_time_out_spends_its_block),
        TEST(released_call_goes_on),
        TEST(store_goes_back_as_no_store_may),
        TEST(grants_are_as_small_as_told),
        TEST(another_origin_fences),
        TEST(calls_on_a_dead_backend_are_misuses),
    };

    return cmocka_run_group_tests_name("fake", tests, NULL, NULL);
}
