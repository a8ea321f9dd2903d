/* SPDX-License-Identifier: Apache-2.0 */
/* The script of the fake: that it fails as told, so that the tests which use
 * it test what they say. Its promises as an engine are in the suite. */

#include "platform/clock.h"
#include "platform/thread.h"
#include "support/fake.h"
#include "support/test.h"

#define ORDER "main/0/order"
#define LONG  20000 /* ms: no test waits for so long */

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

#define FAKE FIXTURE(struct fake_store *store, setup, teardown)

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

TEST_WITH(FAKE, told_failures_come_and_end)
{
    struct seqb_block block = {0, 0};

    fake_fail(store, FAKE_OPEN, 2, SEQB_REFUSED);
    fake_fail(store, FAKE_RESERVE, 1, SEQB_PROTOCOL);
    assert_status(take(5, &block), SEQB_REFUSED);
    assert_status(take(5, &block), SEQB_REFUSED);
    assert_status(take(5, &block), SEQB_PROTOCOL);
    assert_ok(take(5, &block));
    assert_int_equal(block.first, 1);
    assert_int_equal(fake_calls(store, FAKE_OPEN), 4);
    assert_int_equal(fake_calls(store, FAKE_RESERVE), 2);
}

TEST_WITH(FAKE, lost_answer_spends_its_block)
{
    struct seqb_block block = {0, 0};

    fake_lose_answers(store, FAKE_RESERVE, 1);
    assert_status(take(5, &block), SEQB_UNCERTAIN);
    assert_int_equal(fake_value(store, ORDER), 5);
    assert_ok(take(5, &block));
    assert_int_equal(block.first, 6);
}

TEST_WITH(FAKE, lost_answer_of_a_swap_leaves_it_done)
{
    const struct seqb_swap swap = {"worker", "", "mine", NULL};
    struct seqb_backend *backend = NULL;
    char standing[8] = "";

    fake_lose_answers(store, FAKE_SWAP, 1);
    assert_ok(open_within(LONG, &backend));
    assert_status(
        backend_fake.swap(backend, &swap, standing, sizeof standing, NULL),
        SEQB_UNCERTAIN);
    backend_fake.close(backend);
    assert_ok(open_within(LONG, &backend));
    assert_ok(backend_fake.claim(backend, "worker", NULL, standing,
                                 sizeof standing, NULL));
    assert_string_equal(standing, "mine");
    backend_fake.close(backend);
}

TEST_WITH(FAKE, clock_is_as_far_ahead_as_told)
{
    const int64_t hour_ms = 3600000;
    struct seqb_backend *backend = NULL;
    int64_t ms = -1;

    assert_ok(open_within(LONG, &backend));
    assert_ok(backend_fake.clock(backend, &ms, NULL));
    assert_int_equal(ms, 0);
    for (int64_t ahead_ms = -24 * hour_ms; ahead_ms <= 24 * hour_ms;
         ahead_ms += 24 * hour_ms) {
        fake_set_clock(store, ahead_ms);
        assert_ok(backend_fake.clock(backend, &ms, NULL));
        assert_in_range(ms - ahead_ms, clock_wall_ms() - hour_ms,
                        clock_wall_ms() + hour_ms);
    }
    assert_int_equal(fake_calls(store, FAKE_CLOCK), 4);
    backend_fake.close(backend);
}

TEST_WITH(FAKE, down_is_down_until_it_is_up)
{
    struct seqb_block block = {0, 0};

    fake_set_down(store, true);
    assert_status(take(5, &block), SEQB_UNREACHABLE);
    fake_set_down(store, false);
    assert_ok(take(5, &block));
}

TEST_WITH(FAKE, hang_past_the_time_out_spends_its_block)
{
    struct seqb_backend *backend = NULL;
    struct seqb_request request = {
        .counter = ORDER, .want = 5, .limit = INT64_MAX};

    assert_ok(open_within(5, &backend));
    fake_hang(store);
    assert_status(backend_fake.reserve(backend, &request, 1, NULL),
                  SEQB_UNCERTAIN);
    assert_status(request.status, SEQB_UNCERTAIN);
    backend_fake.close(backend);
    assert_status(open_within(5, &backend), SEQB_UNREACHABLE);
    assert_int_equal(fake_value(store, ORDER), 5);
}

TEST_WITH(FAKE, delay_past_the_time_out_spends_its_block)
{
    struct seqb_block block = {0, 0};

    fake_set_delay(store, 2);
    assert_ok(take(5, &block));
    fake_set_delay(store, LONG);
    assert_status(take_within(5, 5, &block), SEQB_UNREACHABLE); /* at open */
    assert_int_equal(fake_value(store, ORDER), 5);
}

static void *take_run(void *argument)
{
    struct seqb_block *block = argument;

    (void)take(5, block);
    return NULL;
}

TEST_WITH(FAKE, released_call_goes_on)
{
    struct seqb_block block = {0, 0};
    pthread_t thread;

    fake_hang(store);
    assert_ok(thread_start(&thread, "taker", take_run, &block, NULL));
    assert_true(fake_wait_for_hanging(store, 1, LONG));
    assert_int_equal(fake_calls(store, FAKE_RESERVE), 0);
    fake_release(store);
    assert_true(fake_wait_for_calls(store, FAKE_RESERVE, 1, LONG));
    pthread_join(thread, NULL);
    assert_int_equal(block.first, 1);
}

TEST_WITH(FAKE, store_goes_back_as_no_store_may)
{
    struct seqb_block block = {0, 0};

    assert_ok(take(100, &block));
    fake_go_back(store, 40);
    assert_ok(take(1, &block));
    assert_int_equal(block.first, 61);
    fake_go_back(store, 1000);
    assert_ok(take(1, &block));
    assert_int_equal(block.first, 1);
}

TEST_WITH(FAKE, grants_are_as_small_as_told)
{
    struct seqb_block block = {0, 0};

    fake_set_grant_max(store, 3);
    assert_ok(take(100, &block));
    assert_int_equal(block.count, 3);
}

TEST_WITH(FAKE, another_origin_fences)
{
    struct seqb_block block = {0, 0};

    fake_put(store, ORDER, 70);
    assert_ok(take(1, &block));
    assert_int_equal(block.first, 71);
    fake_change_origin(store);
    assert_status(take(1, &block), SEQB_FENCED);
}

TEST_WITH(FAKE, calls_on_a_dead_backend_are_misuses)
{
    struct seqb_backend *backend = NULL;
    struct seqb_request request = {
        .counter = ORDER, .want = 5, .limit = INT64_MAX};

    assert_ok(open_within(LONG, &backend));
    assert_int_equal(fake_open_backends(store), 1);
    fake_restart(store);
    assert_status(backend_fake.reserve(backend, &request, 1, NULL),
                  SEQB_UNREACHABLE);
    assert_int_equal(fake_misuses(store), 0);
    assert_status(backend_fake.reserve(backend, &request, 1, NULL),
                  SEQB_UNREACHABLE);
    assert_int_equal(fake_misuses(store), 1);
    backend_fake.close(backend);
    assert_int_equal(fake_open_backends(store), 0);
}
