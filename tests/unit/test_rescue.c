/* SPDX-License-Identifier: Apache-2.0 */
/* Slow partitions of a pool, and the way back: probes, rescues, urging. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "pool_fixture.h"

static void so_many_slow_calls_in_the_span_quarantine(void **state)
{
    struct fixture fixture;
    const struct pool_member *member = &fixture.pool.member[0];

    (void)state;
    fixture_init(&fixture, 1);
    assert_int_equal(slow_at(&fixture, 0, 10000), POOL_NOTHING);
    assert_int_equal(slow_at(&fixture, 0, 10001), POOL_NOTHING);
    assert_int_equal(member->state, SEQB_PARTITION_UP);
    assert_int_equal(slow_at(&fixture, 0, 10002), POOL_QUARANTINED);
    assert_int_equal(member->since_ms, 10002);
    assert_int_equal(pool_probe_at(&fixture.pool, 0),
                     10002 + POOL_FIRST_PROBE_MS);
    assert_string_equal(member->reason,
                        "slow: 3 calls past 200 ms, the last took 200 ms");
    assert_int_equal(member->slow, 3);
    assert_int_equal(member->errors, 0);
}

static void slow_means_at_or_past_the_time_out(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(
            pool_succeeded(&fixture.pool, 0, TIMEOUT_US - 1, 10000),
            POOL_NOTHING);
    assert_int_equal(fixture.pool.member[0].slow, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pool_succeeded(&fixture.pool, 0, TIMEOUT_US, 10000),
                         POOL_NOTHING);
    assert_int_equal(pool_succeeded(&fixture.pool, 0, INT64_MAX / 16, 10000),
                     POOL_QUARANTINED);
}

/* Fast calls in between make no slow one undone. */
static void when_slow_calls_are_too_many(void **state)
{
    static const struct {
        int64_t at_ms[4]; /* after the first; 0: no more */
        int32_t count;
        bool is_quarantined;
    } cases[] = {
        {{0}, 1, true},
        {{0}, 2, false},
        {{1}, 2, true},
        {{SLOW_WINDOW_MS}, 2, true},
        {{SLOW_WINDOW_MS + 1}, 2, false},
        {{1, SLOW_WINDOW_MS}, 3, true},
        {{1, SLOW_WINDOW_MS + 1}, 3, false},
        {{SLOW_WINDOW_MS + 1, SLOW_WINDOW_MS + 2}, 3, false},
        {{SLOW_WINDOW_MS + 1, SLOW_WINDOW_MS + 2, SLOW_WINDOW_MS + 3}, 3, true},
        {{70000, 140000, 210000, 280000}, 3, false},
        {{1, 2, 3}, 5, false},
        {{1, 2, 3, 4}, 5, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture;

        fixture_init(&fixture, 1);
        fixture.options.slow_count = cases[i].count;
        (void)slow_at(&fixture, 0, 10000);
        for (size_t j = 0; j < 4 && cases[i].at_ms[j] > 0; j++) {
            (void)pool_succeeded(&fixture.pool, 0, FAST_US, 10000);
            (void)slow_at(&fixture, 0, 10000 + cases[i].at_ms[j]);
        }
        if ((state_of(&fixture, 0) == SEQB_PARTITION_QUARANTINED) !=
            cases[i].is_quarantined)
            fail_msg("case %zu comes out otherwise", i);
    }
}

static enum pool_event uncertain_at(struct fixture *fixture, int32_t i,
                                    int64_t elapsed_us, int64_t now_ms)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_UNCERTAIN, "no answer");
    return pool_failed(&fixture->pool, i, &why, elapsed_us, now_ms);
}

/* A call that timed out is slow; one whose connection broke has failed. */
static void no_answer_is_slow_only_past_the_time_out(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    assert_int_equal(uncertain_at(&fixture, 0, TIMEOUT_US, 10000),
                     POOL_NOTHING);
    assert_int_equal(uncertain_at(&fixture, 0, TIMEOUT_US, 10001),
                     POOL_NOTHING);
    assert_int_equal(fixture.pool.member[0].errors, 2);
    assert_int_equal(uncertain_at(&fixture, 0, TIMEOUT_US, 10002),
                     POOL_QUARANTINED);
    assert_int_equal(uncertain_at(&fixture, 1, TIMEOUT_US - 1, 10003),
                     POOL_QUARANTINED);
}

static void a_hard_error_that_took_long_is_a_hard_error(void **state)
{
    (void)state;
    for (int i = SEQB_OK + 1; i < STATUSES; i++) {
        struct fixture fixture;
        struct seqb_error why;

        if (status_blame((enum seqb_status)i) != BLAME_BACKEND ||
            i == SEQB_UNCERTAIN)
            continue;
        fixture_init(&fixture, 1);
        (void)error_set(&why, (enum seqb_status)i, "x");
        assert_int_equal(
            pool_failed(&fixture.pool, 0, &why, 10 * TIMEOUT_US, 10000),
            POOL_QUARANTINED);
    }
}

/* Slow numbers are better than none. */
static void
the_last_usable_partition_is_never_quarantined_for_slowness(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 2);
    for (int32_t i = 0; i < 3; i++)
        (void)fail_at(&fixture, i, SEQB_UNREACHABLE, 10000);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(slow_at(&fixture, 3, 10001 + i), POOL_NOTHING);
        assert_int_equal(uncertain_at(&fixture, 3, TIMEOUT_US, 10001 + i),
                         POOL_NOTHING);
    }
    assert_int_equal(pool_pick(&fixture.pool, 0), 3);
    /* Not for long, once another one is back. */
    (void)pool_succeeded(&fixture.pool, 1, FAST_US, 10100);
    assert_int_equal(slow_at(&fixture, 3, 10101), POOL_QUARANTINED);
    assert_int_equal(pool_pick(&fixture.pool, 0), 1);
}

static void a_single_partition_is_quarantined_for_errors_only(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(slow_at(&fixture, 0, 10000), POOL_NOTHING);
    assert_int_equal(fail_at(&fixture, 0, SEQB_UNREACHABLE, 10001),
                     POOL_QUARANTINED);
    assert_false(pool_has_usable(&fixture.pool, 0));
}

/* Its index is past the bits of a mask. */
static void an_authority_beside_64_partitions_may_be_slow(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, HA_BITS_MAX);
    for (int i = 0; i < 3; i++)
        (void)slow_at(&fixture, HA_PARTITIONS_MAX, 10000);
    assert_int_equal(fixture.pool.member[HA_PARTITIONS_MAX].slow, 3);
    assert_true(pool_has_usable(&fixture.pool, 0));
    assert_int_equal(pool_pick(&fixture.pool, 0), 0);
}

static void probes_come_after_100_ms_then_doubling_up_to_the_bound(void **state)
{
    static const int32_t bounds_ms[] = {100, 150, 400, 1000, 300000, 86400000};

    (void)state;
    for (size_t b = 0; b < COUNT_OF(bounds_ms); b++) {
        struct fixture fixture;
        int64_t rest_ms = POOL_FIRST_PROBE_MS;
        int64_t now_ms = 10000;

        fixture_init(&fixture, 1);
        fixture.options.rescue_after_ms = bounds_ms[b];
        (void)fail_at(&fixture, 0, SEQB_UNREACHABLE, now_ms);
        for (int probe = 0; probe < 40; probe++) {
            assert_int_equal(pool_probe_at(&fixture.pool, 0), now_ms + rest_ms);
            now_ms = probe_fails(&fixture, 0);
            rest_ms = 2 * rest_ms < bounds_ms[b] ? 2 * rest_ms : bounds_ms[b];
        }
    }
}

static void a_fixed_rescue_rests_as_long_each_time(void **state)
{
    struct fixture fixture;
    int64_t now_ms = 10000;

    (void)state;
    fixture_init(&fixture, 1);
    fixture.options.rescue = HA_RESCUE_FIXED;
    (void)fail_at(&fixture, 0, SEQB_UNREACHABLE, now_ms);
    for (int probe = 0; probe < 10; probe++) {
        assert_int_equal(pool_probe_at(&fixture.pool, 0),
                         now_ms + RESCUE_AFTER_MS);
        now_ms = probe_fails(&fixture, 0);
    }
}

/* A quarantine is one event, however many probes fail in it, and as old as
 * its first failure. */
static void failing_probes_prolong_one_quarantine(void **state)
{
    struct fixture fixture;
    const struct pool_member *member = &fixture.pool.member[0];

    (void)state;
    fixture_init(&fixture, 1);
    assert_int_equal(fail_at(&fixture, 0, SEQB_UNREACHABLE, 10000),
                     POOL_QUARANTINED);
    for (int i = 1; i <= 20; i++) {
        const int64_t at_ms = pool_probe_at(&fixture.pool, 0);

        pool_probe_begins(&fixture.pool, 0, at_ms);
        assert_int_equal(member->state, SEQB_PARTITION_PROBING);
        assert_int_equal(pool_probe_at(&fixture.pool, 0), INT64_MAX);
        assert_int_equal(pool_pick(&fixture.pool, ~(uint64_t)1), -1);
        assert_int_equal(fail_at(&fixture, 0, SEQB_ROLE, at_ms + 3),
                         POOL_NOTHING);
        assert_int_equal(member->state, SEQB_PARTITION_QUARANTINED);
        assert_int_equal(member->since_ms, 10000);
        assert_int_equal(member->errors, 1 + i);
        assert_string_equal(member->reason, "because of ROLE");
    }
}

/* Whatever the reason, it has proved nothing; only a layout is final. */
static void a_probe_that_fails_for_any_reason_rescues_nothing(void **state)
{
    (void)state;
    for (int i = SEQB_OK + 1; i < STATUSES; i++) {
        const enum seqb_status status = (enum seqb_status)i;
        const bool is_final = status_blame(status) == BLAME_LAYOUT;
        struct fixture fixture;

        fixture_init(&fixture, 1);
        (void)fail_at(&fixture, 0, SEQB_UNREACHABLE, 10000);
        pool_probe_begins(&fixture.pool, 0, 10100);
        assert_int_equal(fail_at(&fixture, 0, status, 10101),
                         is_final ? POOL_REFUSED : POOL_NOTHING);
        assert_int_equal(state_of(&fixture, 0),
                         is_final ? SEQB_PARTITION_REFUSED
                                  : SEQB_PARTITION_QUARANTINED);
        assert_int_equal(pool_probe_at(&fixture.pool, 0),
                         is_final ? INT64_MAX : 10101 + 200);
    }
}

static void a_probe_without_answer_fails_however_long_it_took(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    (void)fail_at(&fixture, 0, SEQB_UNREACHABLE, 10000);
    pool_probe_begins(&fixture.pool, 0, 10100);
    assert_int_equal(uncertain_at(&fixture, 0, TIMEOUT_US, 10300),
                     POOL_NOTHING);
    assert_int_equal(state_of(&fixture, 0), SEQB_PARTITION_QUARANTINED);
    assert_int_equal(fixture.pool.member[0].slow, 0);
    assert_int_equal(pool_probe_at(&fixture.pool, 0), 10300 + 200);
}

static void a_success_rescues_once_and_ends_the_backoff(void **state)
{
    struct fixture fixture;
    const struct pool_member *member = &fixture.pool.member[0];

    (void)state;
    fixture_init(&fixture, 1);
    (void)fail_at(&fixture, 0, SEQB_UNREACHABLE, 10000);
    for (int i = 0; i < 5; i++)
        (void)probe_fails(&fixture, 0);
    pool_probe_begins(&fixture.pool, 0, 20000);
    assert_int_equal(pool_succeeded(&fixture.pool, 0, FAST_US, 20001),
                     POOL_WENT_UP);
    assert_int_equal(pool_succeeded(&fixture.pool, 0, FAST_US, 20002),
                     POOL_NOTHING);
    assert_int_equal(member->state, SEQB_PARTITION_UP);
    assert_int_equal(member->since_ms, 20001);
    assert_string_equal(member->reason, "");
    assert_int_equal(pool_probe_at(&fixture.pool, 0), INT64_MAX);
    assert_int_equal(pool_pick(&fixture.pool, 0), 0);
    assert_int_equal(fail_at(&fixture, 0, SEQB_ROLE, 30000), POOL_QUARANTINED);
    assert_int_equal(pool_probe_at(&fixture.pool, 0),
                     30000 + POOL_FIRST_PROBE_MS);
}

/* Quarantined for slowness, it starts with a clean record. */
static void a_rescued_partition_is_not_slow_from_before(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    for (int i = 0; i < 3; i++)
        (void)slow_at(&fixture, 0, 10000);
    pool_probe_begins(&fixture.pool, 0, 10100);
    assert_int_equal(slow_at(&fixture, 0, 10300), POOL_WENT_UP);
    assert_int_equal(slow_at(&fixture, 0, 10301), POOL_NOTHING);
    assert_int_equal(slow_at(&fixture, 0, 10302), POOL_NOTHING);
    assert_int_equal(slow_at(&fixture, 0, 10303), POOL_QUARANTINED);
}

/* All quarantined at 10000, the authority as well, and probed in the order 2,
 * 0, 4, 3, 1 from 10100 on, every 10 ms; the next probes are far. */
static void bring_all_down(struct fixture *fixture)
{
    static const int32_t order[] = {2, 0, 4, 3, 1};

    fixture_init(fixture, 2);
    for (int32_t i = 0; i < 5; i++)
        (void)fail_at(fixture, i, SEQB_UNREACHABLE, 10000);
    for (int32_t i = 0; i < 5; i++) {
        pool_probe_begins(&fixture->pool, order[i], 10100 + 10 * i);
        fixture->pool.member[order[i]].rest_ms = 50000;
        (void)fail_at(fixture, order[i], SEQB_UNREACHABLE, 10101 + 10 * i);
    }
}

/* Windows come from the authority alone: it is urged in its turn. */
static void the_least_recently_probed_is_urged_when_none_is_up(void **state)
{
    struct fixture fixture;

    (void)state;
    bring_all_down(&fixture);
    assert_int_equal(pool_urge(&fixture.pool, 0, 11000), 2);
    assert_int_equal(pool_probe_at(&fixture.pool, 2), 11000);
    /* That one is due now; another waiting caller urges the next. */
    assert_int_equal(pool_urge(&fixture.pool, 0, 11000), 0);
    assert_int_equal(pool_urge(&fixture.pool, 0, 11000), 4);
    assert_int_equal(pool_urge(&fixture.pool, 0, 11000), 3);
    assert_int_equal(pool_urge(&fixture.pool, 0, 11000), 1);
    assert_int_equal(pool_urge(&fixture.pool, 0, 11000), -1);
}

static void none_is_urged_sooner_than_its_rest(void **state)
{
    struct fixture fixture;
    const int64_t first_ms = 10100 + POOL_URGE_REST_MS;

    (void)state;
    bring_all_down(&fixture);
    assert_int_equal(pool_urge(&fixture.pool, 0, first_ms - 1), -1);
    assert_int_equal(pool_urge(&fixture.pool, 0, first_ms), 2);
    assert_int_equal(pool_urge(&fixture.pool, 0, first_ms), -1);
    pool_probe_begins(&fixture.pool, 2, first_ms);
    (void)fail_at(&fixture, 2, SEQB_UNREACHABLE, first_ms + 1);
    assert_int_equal(pool_urge(&fixture.pool, 0, first_ms + 9), -1);
    assert_int_equal(pool_urge(&fixture.pool, 0, first_ms + 10), 0);
}

static void none_is_urged_while_one_is_up_that_may_be_asked(void **state)
{
    struct fixture fixture;

    (void)state;
    for (int32_t up = 0; up < 4; up++) {
        const uint64_t skip = (uint64_t)1 << up;

        bring_all_down(&fixture);
        (void)pool_succeeded(&fixture.pool, up, FAST_US, 10500);
        assert_int_equal(pool_urge(&fixture.pool, 0, 20000), -1);
        assert_int_equal(pool_urge(&fixture.pool, ~skip, 20000), -1);
        assert_int_equal(pool_urge(&fixture.pool, skip, 20000),
                         up == 2 ? 0 : 2);
    }
}

static void an_authority_that_is_up_gives_nobody_a_number(void **state)
{
    struct fixture fixture;

    (void)state;
    bring_all_down(&fixture);
    (void)pool_succeeded(&fixture.pool, 4, FAST_US, 10500);
    assert_int_equal(pool_urge(&fixture.pool, 0, 20000), 2);
}

static void a_fixed_rescue_is_never_urged(void **state)
{
    struct fixture fixture;

    (void)state;
    bring_all_down(&fixture);
    fixture.options.rescue = HA_RESCUE_FIXED;
    assert_int_equal(pool_urge(&fixture.pool, 0, 20000), -1);
}

static void only_those_that_rest_are_urged(void **state)
{
    struct fixture fixture;

    (void)state;
    bring_all_down(&fixture);
    pool_probe_begins(&fixture.pool, 2, 11000);
    (void)fail_at(&fixture, 0, SEQB_POISONED, 11000);
    (void)fail_at(&fixture, 4, SEQB_LAYOUT, 11000);
    fixture.pool.member[3].state = SEQB_PARTITION_STARTING;
    assert_int_equal(pool_urge(&fixture.pool, 0, 12000), 1);
    assert_int_equal(pool_urge(&fixture.pool, 0, 12000), -1);
    assert_int_equal(state_of(&fixture, 1), SEQB_PARTITION_QUARANTINED);
    assert_int_equal(fixture.pool.member[1].since_ms, 10000);
}

static void a_failure_while_resting_begins_no_other_quarantine(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    (void)fail_at(&fixture, 0, SEQB_UNREACHABLE, 10000);
    (void)probe_fails(&fixture, 0);
    (void)probe_fails(&fixture, 0);
    (void)probe_fails(&fixture, 0); /* rests for 800 ms now */
    assert_int_equal(fail_at(&fixture, 0, SEQB_UNREACHABLE, 11000),
                     POOL_NOTHING);
    assert_int_equal(fail_at(&fixture, 0, SEQB_NO_MEMORY, 11000), POOL_NOTHING);
    assert_int_equal(fixture.pool.member[0].since_ms, 10000);
    assert_int_equal(fixture.pool.member[0].rest_ms, 800);
}

static void a_slow_authority_is_better_than_none(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 2);
    for (int i = 0; i < 10; i++)
        assert_int_equal(slow_at(&fixture, 4, 10000 + i), POOL_NOTHING);
    assert_int_equal(state_of(&fixture, 4), SEQB_PARTITION_UP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(so_many_slow_calls_in_the_span_quarantine),
        cmocka_unit_test(slow_means_at_or_past_the_time_out),
        cmocka_unit_test(when_slow_calls_are_too_many),
        cmocka_unit_test(no_answer_is_slow_only_past_the_time_out),
        cmocka_unit_test(a_hard_error_that_took_long_is_a_hard_error),
        cmocka_unit_test(
            the_last_usable_partition_is_never_quarantined_for_slowness),
        cmocka_unit_test(a_single_partition_is_quarantined_for_errors_only),
        cmocka_unit_test(an_authority_beside_64_partitions_may_be_slow),
        cmocka_unit_test(
            probes_come_after_100_ms_then_doubling_up_to_the_bound),
        cmocka_unit_test(a_fixed_rescue_rests_as_long_each_time),
        cmocka_unit_test(failing_probes_prolong_one_quarantine),
        cmocka_unit_test(a_probe_that_fails_for_any_reason_rescues_nothing),
        cmocka_unit_test(a_probe_without_answer_fails_however_long_it_took),
        cmocka_unit_test(a_success_rescues_once_and_ends_the_backoff),
        cmocka_unit_test(a_rescued_partition_is_not_slow_from_before),
        cmocka_unit_test(the_least_recently_probed_is_urged_when_none_is_up),
        cmocka_unit_test(none_is_urged_sooner_than_its_rest),
        cmocka_unit_test(none_is_urged_while_one_is_up_that_may_be_asked),
        cmocka_unit_test(an_authority_that_is_up_gives_nobody_a_number),
        cmocka_unit_test(a_failure_while_resting_begins_no_other_quarantine),
        cmocka_unit_test(a_slow_authority_is_better_than_none),
        cmocka_unit_test(a_fixed_rescue_is_never_urged),
        cmocka_unit_test(only_those_that_rest_are_urged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
