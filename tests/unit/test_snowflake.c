/* SPDX-License-Identifier: Apache-2.0 */
/* The snowflake engine on the machine's clocks. The rules of its times are
 * test_snowflake_time.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backends.h"
#include "period/period.h"
#include "platform/clock.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define EPOCH INT64_C(1577836800000)

static struct seqb_backend *open_flake(int32_t time_bits, int32_t worker_bits,
                                       int32_t counter_bits)
{
    const struct seqb_backend_options options = {.name = "flake",
                                                 .epoch_ms = EPOCH,
                                                 .time_bits = time_bits,
                                                 .worker_bits = worker_bits,
                                                 .counter_bits = counter_bits};
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    if (backend_snowflake.open(&options, &backend, &err) != SEQB_OK)
        fail_msg("cannot open: %s", err.text);
    return backend;
}

/* A lease of an hour, of times from now on. */
static void lease_for(struct seqb_backend *backend, int64_t worker,
                      int64_t above, int64_t upto, int64_t until_ms)
{
    const struct seqb_window window = {.counter = "",
                                       .window = worker,
                                       .above = above,
                                       .upto = upto,
                                       .until_ms = until_ms};
    struct seqb_error err;
    int64_t standing;

    if (backend->ops->install(backend, &window, &standing, &err) != SEQB_OK)
        fail_msg("no lease: %s", err.text);
    assert_int_equal(standing, worker);
}

static void lease_now(struct seqb_backend *backend, int64_t worker)
{
    lease_for(backend, worker, 0, clock_wall_ms() + 3600000,
              clock_boot_ms() + 3600000);
}

static struct seqb_request reserve(struct seqb_backend *backend, int64_t want,
                                   int64_t limit)
{
    struct seqb_request request = {
        .counter = "main/0/order", .want = want, .limit = limit};
    struct seqb_error err;

    assert_int_equal(backend->ops->reserve(backend, &request, 1, &err),
                     SEQB_OK);
    return request;
}

static void every_value_is_higher_than_those_before(void **state)
{
    struct seqb_backend *backend = open_flake(41, 10, 12);
    const struct bits_layout layout = {EPOCH, 1, 41, 10, 12};
    int64_t before = 0;

    (void)state;
    lease_now(backend, 1023);
    for (int i = 0; i < 2000; i++) {
        const struct seqb_request request = reserve(backend, 3000, INT64_MAX);
        struct bits_parts parts;

        if (request.status == SEQB_AGAIN)
            continue;
        assert_int_equal(request.status, SEQB_OK);
        assert_in_range(request.block.count, 1, 3000);
        assert_true(request.block.first > before);
        before = request.block.first + request.block.count - 1;
        bits_take_apart(&layout, before, &parts);
        assert_int_equal(parts.shard, 1023);
        assert_true(parts.time_ms <= clock_wall_ms());
        assert_true(parts.time_ms >= clock_wall_ms() - 60000);
    }
    assert_true(before > 0);
    backend->ops->close(backend);
}

static void expect_refusal(struct seqb_backend *backend, int64_t limit,
                           enum seqb_status expected, const char *words)
{
    const struct seqb_request request = reserve(backend, 1, limit);

    assert_int_equal(request.status, expected);
    if (strstr(request.error.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", request.error.text, words);
}

static void ended_lease_gives_nothing(void **state)
{
    struct seqb_backend *backend = open_flake(41, 10, 12);

    (void)state;
    expect_refusal(backend, INT64_MAX, SEQB_FENCED, "flake"); /* none yet */
    lease_now(backend, 3);
    assert_int_equal(reserve(backend, 1, INT64_MAX).status, SEQB_OK);
    lease_for(backend, 3, 0, clock_wall_ms() + 3600000, clock_boot_ms());
    expect_refusal(backend, INT64_MAX, SEQB_FENCED, "has ended");
    backend->ops->close(backend);
}

static void no_time_past_the_lease_is_given(void **state)
{
    struct seqb_backend *backend = open_flake(41, 10, 12);
    const int64_t hour_ms = 3600000;

    (void)state;
    lease_for(backend, 3, 0, clock_wall_ms() - 60000,
              clock_boot_ms() + hour_ms);
    expect_refusal(backend, INT64_MAX, SEQB_AGAIN, "flake");
    lease_for(backend, 3, clock_wall_ms() + hour_ms, clock_wall_ms() + hour_ms,
              clock_boot_ms() + hour_ms);
    expect_refusal(backend, INT64_MAX, SEQB_CLOCK, "ms behind");
    backend->ops->close(backend);
}

static void another_worker_id_begins_above_what_was_given(void **state)
{
    struct seqb_backend *backend = open_flake(41, 10, 12);
    struct seqb_request last;
    struct seqb_request next;

    (void)state;
    lease_now(backend, 9);
    last = reserve(backend, 1, INT64_MAX);
    assert_int_equal(last.status, SEQB_OK);
    lease_now(backend, 2);
    do
        next = reserve(backend, 1, INT64_MAX);
    while (next.status == SEQB_AGAIN);
    assert_int_equal(next.status, SEQB_OK);
    assert_true(next.block.first > last.block.first);
    backend->ops->close(backend);
}

static void what_does_not_fit_is_exhausted(void **state)
{
    struct seqb_backend *small = open_flake(30, 10, 12);
    struct seqb_backend *backend = open_flake(41, 10, 12);

    (void)state;
    lease_now(small, 0); /* 30 bits of ms were over in January 2020 */
    expect_refusal(small, INT64_MAX, SEQB_EXHAUSTED, "fit");
    small->ops->close(small);
    lease_now(backend, 0); /* a partition takes so many of the bits */
    expect_refusal(backend, INT64_MAX >> 8, SEQB_EXHAUSTED, "fit");
    assert_int_equal(reserve(backend, 1, INT64_MAX).status, SEQB_OK);
    backend->ops->close(backend);
}

static void impossible_splits_and_leases_are_refused(void **state)
{
    static const int32_t splits[][3] = {
        {41, 11, 12}, {0, 10, 12}, {41, 10, 0}, {41, -1, 12}, {63, 0, 1}};
    static const int64_t leases[][3] = {
        {-1, 0, 10}, {1024, 0, 10}, {0, 11, 10}, {0, -1, 10}};
    struct seqb_backend *backend = open_flake(41, 10, 12);
    struct seqb_error err;
    int64_t standing;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(splits); i++) {
        const struct seqb_backend_options options = {
            .name = "flake",
            .epoch_ms = EPOCH,
            .time_bits = splits[i][0],
            .worker_bits = splits[i][1],
            .counter_bits = splits[i][2]};
        struct seqb_backend *none = NULL;

        assert_int_equal(backend_snowflake.open(&options, &none, &err),
                         SEQB_INVALID);
        assert_non_null(strstr(err.text, "flake"));
        assert_null(none);
    }
    for (size_t i = 0; i < COUNT_OF(leases); i++) {
        const struct seqb_window window = {.counter = "",
                                           .window = leases[i][0],
                                           .above = leases[i][1],
                                           .upto = leases[i][2]};

        assert_int_equal(
            backend->ops->install(backend, &window, &standing, &err),
            SEQB_INVALID);
    }
    backend->ops->close(backend);
}

static void it_has_no_store(void **state)
{
    struct seqb_backend *backend = open_flake(41, 10, 12);
    const struct seqb_raise raise = {.counter = "main/0/order", .floor = 1};
    const struct seqb_purge purge = {
        .counter = "main/0/order", .keep = "main/0/order@20260101", .most = 10};
    const struct seqb_swap swap = {"name", "", "text"};
    char standing[16] = "?";
    struct seqb_error err;
    int32_t deleted = -1;
    int64_t value = -1;

    (void)state;
    assert_int_equal(backend->fd, -1);
    assert_string_equal(backend->server, "snowflake 41|10|12");
    assert_int_equal(backend->ops->guarantee, SEQB_LOCAL);
    assert_ptr_equal(backend_find("snowflake"), backend->ops);
    assert_int_equal(backend->ops->claim(backend, "a", "b", standing, 16, &err),
                     SEQB_OK);
    assert_string_equal(standing, "b");
    assert_int_equal(
        backend->ops->claim(backend, "a", NULL, standing, 16, &err), SEQB_OK);
    assert_string_equal(standing, "");
    assert_int_equal(
        backend->ops->claim(backend, "a", "long", standing, 4, &err),
        SEQB_PROTOCOL);
    assert_int_equal(backend->ops->swap(backend, &swap, standing, 16, &err),
                     SEQB_INVALID);
    assert_int_equal(backend->ops->raise(backend, &raise, &value, &err),
                     SEQB_INVALID);
    assert_int_equal(backend->ops->purge(backend, &purge, &deleted, &err),
                     SEQB_OK);
    assert_int_equal(deleted, 0);
    assert_int_equal(backend->ops->clock(backend, &value, &err), SEQB_OK);
    assert_int_equal(value, 0);
    backend->ops->close(backend);
    backend_snowflake.close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_higher_than_those_before),
        cmocka_unit_test(ended_lease_gives_nothing),
        cmocka_unit_test(no_time_past_the_lease_is_given),
        cmocka_unit_test(another_worker_id_begins_above_what_was_given),
        cmocka_unit_test(what_does_not_fit_is_exhausted),
        cmocka_unit_test(impossible_splits_and_leases_are_refused),
        cmocka_unit_test(it_has_no_store),
    };

    return cmocka_run_group_tests_name("snowflake", tests, NULL, NULL);
}
