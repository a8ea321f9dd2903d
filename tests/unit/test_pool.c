/* SPDX-License-Identifier: Apache-2.0 */
/* Who may be asked, and what takes a partition out at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "pool_fixture.h"

static void every_state_has_a_name_of_its_own(void **state)
{
    static const char *const names[] = {"starting", "up", "quarantined",
                                        "probing", "refused"};

    (void)state;
    for (int i = 0; i <= SEQB_PARTITION_REFUSED; i++)
        assert_string_equal(
            seqb_partition_state_name((enum seqb_partition_state)i), names[i]);
    assert_string_equal(seqb_partition_state_name((enum seqb_partition_state)(
                            SEQB_PARTITION_REFUSED + 1)),
                        "unknown");
    assert_string_equal(
        seqb_partition_state_name((enum seqb_partition_state) - 1), "unknown");
}

static void partitions_start_out_of_use_until_they_answer(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 2);
    pool_init(&fixture.pool, &fixture.options, 5, START_MS);
    assert_int_equal(pool_pick(&fixture.pool, 0), -1);
    assert_false(pool_has_usable(&fixture.pool, 0));
    assert_int_equal(pool_probe_at(&fixture.pool, 3), INT64_MAX);
    assert_int_equal(state_of(&fixture, 3), SEQB_PARTITION_STARTING);
    assert_int_equal(fixture.pool.member[3].since_ms, START_MS);
    assert_int_equal(pool_succeeded(&fixture.pool, 3, FAST_US, 7000),
                     POOL_WENT_UP);
    assert_int_equal(fixture.pool.member[3].since_ms, 7000);
    assert_int_equal(pool_pick(&fixture.pool, 0), 3);
    assert_int_equal(pool_pick(&fixture.pool, 0), 3);
}

static void the_turn_goes_round_all_partitions_alike(void **state)
{
    (void)state;
    for (int32_t bits = 0; bits <= HA_BITS_MAX; bits++) {
        struct fixture fixture;

        fixture_init(&fixture, bits);
        for (int32_t turn = 0; turn < 3 << bits; turn++)
            assert_int_equal(pool_pick(&fixture.pool, 0),
                             turn & ((1 << bits) - 1));
    }
}

static void the_turn_goes_round_those_that_are_left_alike(void **state)
{
    struct fixture fixture;

    (void)state;
    for (unsigned down = 0; down < 255; down++) {
        int32_t picks[8] = {0};
        int32_t left = 0;

        fixture_init(&fixture, 3);
        for (int32_t i = 0; i < 8; i++) {
            if ((down >> i & 1) != 0)
                (void)fail_at(&fixture, i, SEQB_UNREACHABLE, START_MS);
            else
                left++;
        }
        for (int32_t turn = 0; turn < 5 * left; turn++)
            picks[pool_pick(&fixture.pool, 0)]++;
        for (int32_t i = 0; i < 8; i++)
            assert_int_equal(picks[i], (down >> i & 1) != 0 ? 0 : 5);
    }
}

/* Every set of partitions that are up, with every set to be skipped. */
static void none_is_picked_that_is_down_or_skipped(void **state)
{
    struct fixture fixture;

    (void)state;
    for (unsigned up = 0; up < 256; up++) {
        fixture_init(&fixture, 3);
        for (int32_t i = 0; i < 8; i++) {
            if ((up >> i & 1) == 0)
                (void)fail_at(&fixture, i, SEQB_UNREACHABLE, START_MS);
        }
        for (unsigned skip = 0; skip < 256; skip++) {
            const unsigned may = up & ~skip;
            const int32_t i = pool_pick(&fixture.pool, skip);

            assert_int_equal(i >= 0, may != 0);
            assert_true(i < 0 || (may >> i & 1) != 0);
            assert_int_equal(pool_has_usable(&fixture.pool, skip), may != 0);
        }
    }
}

static void the_last_of_64_partitions_is_skipped_as_any_other(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, HA_BITS_MAX);
    assert_int_equal(pool_pick(&fixture.pool, ~((uint64_t)1 << 63)), 63);
    assert_int_equal(pool_pick(&fixture.pool, 0), 0);
    assert_int_equal(pool_pick(&fixture.pool, UINT64_MAX), -1);
    assert_false(pool_has_usable(&fixture.pool, UINT64_MAX));
    for (int32_t i = 0; i < 63; i++)
        (void)fail_at(&fixture, i, SEQB_ROLE, START_MS);
    assert_true(pool_has_usable(&fixture.pool, 0));
    assert_false(pool_has_usable(&fixture.pool, (uint64_t)1 << 63));
}

/* It leases windows; numbers of its own would be in no partition. */
static void an_authority_beside_the_partitions_is_never_picked(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 2);
    for (int32_t i = 0; i < 4; i++)
        (void)fail_at(&fixture, i, SEQB_UNREACHABLE, START_MS);
    assert_int_equal(state_of(&fixture, 4), SEQB_PARTITION_UP);
    assert_int_equal(pool_pick(&fixture.pool, 0), -1);
    assert_false(pool_has_usable(&fixture.pool, 0));
    assert_int_equal(fail_at(&fixture, 4, SEQB_ROLE, START_MS),
                     POOL_QUARANTINED);
}

static bool blames_the_backend(enum seqb_status status)
{
    const enum blame blame = status_blame(status);

    return blame == BLAME_BACKEND || blame == BLAME_LAYOUT;
}

/* Whose fault a failure is decides alone. */
static void a_failure_counts_only_if_it_is_the_backends(void **state)
{
    (void)state;
    for (int i = SEQB_OK + 1; i < STATUSES; i++) {
        const enum seqb_status status = (enum seqb_status)i;
        const bool counts = blames_the_backend(status);
        struct fixture fixture;
        const struct pool_member *member = &fixture.pool.member[1];

        fixture_init(&fixture, 2);
        assert_int_equal(fail_at(&fixture, 1, status, 9000),
                         !counts ? POOL_NOTHING
                         : status_blame(status) == BLAME_LAYOUT
                             ? POOL_REFUSED
                             : POOL_QUARANTINED);
        assert_int_equal(member->state == SEQB_PARTITION_UP, !counts);
        assert_int_equal(member->errors, counts);
        assert_int_equal(member->since_ms, counts ? 9000 : START_MS);
        assert_int_equal(
            strstr(member->reason, seqb_status_name(status)) != NULL, counts);
        (void)pool_pick(&fixture.pool, 0);
        assert_int_equal(pool_pick(&fixture.pool, 0), counts ? 2 : 1);
    }
}

static void the_callers_mistakes_never_add_up(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 0);
    for (int again = 0; again < 100; again++) {
        for (int i = SEQB_OK + 1; i < STATUSES; i++) {
            if (blames_the_backend((enum seqb_status)i))
                continue;
            assert_int_equal(
                fail_at(&fixture, 0, (enum seqb_status)i, START_MS + again),
                POOL_NOTHING);
        }
    }
    assert_int_equal(pool_pick(&fixture.pool, 0), 0);
    assert_int_equal(fixture.pool.member[0].errors, 0);
    assert_string_equal(fixture.pool.member[0].reason, "");
}

/* Brings member 1 into a state from which it may be refused. */
static void member_bring(struct fixture *fixture,
                         enum seqb_partition_state wanted)
{
    fixture_init(fixture, 2);
    if (wanted == SEQB_PARTITION_STARTING)
        pool_init(&fixture->pool, &fixture->options, 5, START_MS);
    if (wanted == SEQB_PARTITION_QUARANTINED ||
        wanted == SEQB_PARTITION_PROBING)
        (void)fail_at(fixture, 1, SEQB_UNREACHABLE, START_MS);
    if (wanted == SEQB_PARTITION_PROBING)
        pool_probe_begins(&fixture->pool, 1, START_MS + 100);
    assert_int_equal(state_of(fixture, 1), wanted);
}

static void what_could_repeat_a_number_is_refused_from_every_state(void **state)
{
    static const enum seqb_status why[] = {SEQB_LAYOUT, SEQB_POISONED};

    (void)state;
    for (int from = 0; from < SEQB_PARTITION_REFUSED; from++) {
        for (size_t i = 0; i < COUNT_OF(why); i++) {
            struct fixture fixture;

            member_bring(&fixture, (enum seqb_partition_state)from);
            assert_int_equal(fail_at(&fixture, 1, why[i], 8000), POOL_REFUSED);
            assert_int_equal(state_of(&fixture, 1), SEQB_PARTITION_REFUSED);
            assert_int_equal(fixture.pool.member[1].since_ms, 8000);
            assert_non_null(strstr(fixture.pool.member[1].reason,
                                   seqb_status_name(why[i])));
        }
    }
}

/* No success rescues it, no failure softens it, no probe and no urge tries. */
static void a_refused_partition_waits_for_an_operator(void **state)
{
    struct fixture fixture;
    const struct pool_member *member = &fixture.pool.member[1];
    struct pool_member before;

    (void)state;
    fixture_init(&fixture, 2);
    (void)fail_at(&fixture, 1, SEQB_POISONED, 8000);
    before = *member;
    for (int i = SEQB_OK + 1; i < STATUSES; i++) {
        const int64_t now_ms = 9000 + i;

        assert_int_equal(fail_at(&fixture, 1, (enum seqb_status)i, now_ms),
                         POOL_NOTHING);
        assert_int_equal(pool_succeeded(&fixture.pool, 1, FAST_US, now_ms),
                         POOL_NOTHING);
        assert_int_equal(slow_at(&fixture, 1, now_ms), POOL_NOTHING);
    }
    assert_memory_equal(member, &before, sizeof before);
    assert_int_equal(pool_probe_at(&fixture.pool, 1), INT64_MAX);
    assert_int_equal(pool_pick(&fixture.pool, ~(uint64_t)2), -1);
    for (int32_t i = 0; i < 4; i++)
        (void)fail_at(&fixture, i, SEQB_LAYOUT, 10000);
    assert_int_equal(pool_urge(&fixture.pool, 0, 1000000), -1);
}

static void the_latency_is_a_moving_average(void **state)
{
    struct fixture fixture;
    const struct pool_member *member = &fixture.pool.member[0];

    (void)state;
    fixture_init(&fixture, 1);
    assert_int_equal(member->latency_us, FAST_US);
    (void)pool_succeeded(&fixture.pool, 0, 900, START_MS);
    assert_int_equal(member->latency_us, (7 * FAST_US + 900) / 8);
    for (int i = 0; i < 200; i++)
        (void)pool_succeeded(&fixture.pool, 0, 5000, START_MS);
    assert_in_range(member->latency_us, 4990, 5000);
    /* Never "none yet" again, however fast. */
    for (int i = 0; i < 200; i++)
        (void)pool_succeeded(&fixture.pool, 0, 0, START_MS);
    assert_int_equal(member->latency_us, 1);
}

static void a_failure_tells_nothing_about_the_latency(void **state)
{
    struct fixture fixture;
    struct seqb_error why;

    (void)state;
    fixture_init(&fixture, 1);
    (void)error_set(&why, SEQB_UNREACHABLE, "x");
    (void)pool_failed(&fixture.pool, 0, &why, 9000000, START_MS);
    assert_int_equal(fixture.pool.member[0].latency_us, FAST_US);
}

static void a_long_reason_is_cut(void **state)
{
    struct fixture fixture;
    struct seqb_error why = {.status = SEQB_REFUSED};

    (void)state;
    fixture_init(&fixture, 1);
    memset(why.text, 'x', sizeof why.text - 1);
    (void)pool_failed(&fixture.pool, 0, &why, 1, START_MS);
    assert_int_equal(strlen(fixture.pool.member[0].reason),
                     sizeof fixture.pool.member[0].reason - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_has_a_name_of_its_own),
        cmocka_unit_test(partitions_start_out_of_use_until_they_answer),
        cmocka_unit_test(the_turn_goes_round_all_partitions_alike),
        cmocka_unit_test(the_turn_goes_round_those_that_are_left_alike),
        cmocka_unit_test(none_is_picked_that_is_down_or_skipped),
        cmocka_unit_test(the_last_of_64_partitions_is_skipped_as_any_other),
        cmocka_unit_test(an_authority_beside_the_partitions_is_never_picked),
        cmocka_unit_test(a_failure_counts_only_if_it_is_the_backends),
        cmocka_unit_test(the_callers_mistakes_never_add_up),
        cmocka_unit_test(
            what_could_repeat_a_number_is_refused_from_every_state),
        cmocka_unit_test(a_refused_partition_waits_for_an_operator),
        cmocka_unit_test(the_latency_is_a_moving_average),
        cmocka_unit_test(a_failure_tells_nothing_about_the_latency),
        cmocka_unit_test(a_long_reason_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
