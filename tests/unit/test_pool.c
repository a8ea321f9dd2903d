/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may be asked, and what each outcome of a call makes of a partition in
 * each state. Slowness is in test_pool_slow.c, probes in test_rescue.c.
 */
#include "pool_fixture.h"

#include <string.h>

#include "platform/text.h"
#include "support/test.h"

static int32_t pick(struct fixture *fixture, uint64_t skip)
{
    return pool_pick(&fixture->pool, skip, false, NOW_MS);
}

TEST(every_state_has_a_name_of_its_own)
{
    static const char *const names[] = {
        "starting", "up",      "suspect", "quarantined", "probing",
        "ramping",  "drained", "refused", "poisoned",
    };

    assert_int_equal(COUNT_OF(names), STATES);
    for (int i = 0; i < STATES; i++)
        assert_string_equal(
            seqb_partition_state_name((enum seqb_partition_state)i), names[i]);
    assert_string_equal(
        seqb_partition_state_name((enum seqb_partition_state)STATES),
        "unknown");
    assert_string_equal(
        seqb_partition_state_name((enum seqb_partition_state) - 1), "unknown");
}

TEST_WITH(FOUR_MEMBERS, partitions_start_out_of_use_until_they_answer)
{
    pool_init(&fixture->pool, &fixture->options, 5, 1, START_MS);
    assert_int_equal(pick(fixture, 0), -1);
    assert_false(pool_has_usable(&fixture->pool, 0));
    assert_int_equal(pool_probe_at(&fixture->pool, 3), INT64_MAX);
    for (int32_t i = 0; i < 5; i++) {
        expect_state(fixture, i, SEQB_PARTITION_STARTING);
        assert_int_equal(fixture->pool.member[i].since_ms, START_MS);
        assert_int_equal(fixture->pool.member[i].well_since_ms, START_MS);
    }
    expect_change(answer_at(fixture, 3, 7000), SEQB_PARTITION_STARTING,
                  SEQB_PARTITION_UP);
    assert_int_equal(fixture->pool.member[3].since_ms, 7000);
    assert_int_equal(pick(fixture, 0), 3);
    assert_int_equal(pick(fixture, 0), 3);
}

/* --- turns --- */

TEST(the_turn_goes_round_all_partitions_alike)
{
    for (int32_t bits = 0; bits <= HA_BITS_MAX; bits++) {
        struct fixture fixture;

        fixture_init(&fixture, bits);
        for (int32_t next = 0; next < 3 << bits; next++)
            assert_int_equal(pick(&fixture, 0), next & ((1 << bits) - 1));
    }
}

TEST(the_turn_goes_round_those_that_are_left_alike)
{
    struct fixture fixture;

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
        for (int32_t next = 0; next < 5 * left; next++)
            picks[pick(&fixture, 0)]++;
        for (int32_t i = 0; i < 8; i++)
            assert_int_equal(picks[i], (down >> i & 1) != 0 ? 0 : 5);
    }
}

/* Every set of partitions that are up, with every set to be skipped. */
TEST(none_is_picked_that_is_down_or_skipped)
{
    struct fixture fixture;

    for (unsigned up = 0; up < 256; up++) {
        fixture_init(&fixture, 3);
        for (int32_t i = 0; i < 8; i++) {
            if ((up >> i & 1) == 0)
                (void)fail_at(&fixture, i, SEQB_UNREACHABLE, START_MS);
        }
        for (unsigned skip = 0; skip < 256; skip++) {
            const unsigned may = up & ~skip;
            const int32_t i = pick(&fixture, skip);

            assert_int_equal(i >= 0, may != 0);
            assert_true(i < 0 || (may >> i & 1) != 0);
            assert_int_equal(pool_has_usable(&fixture.pool, skip), may != 0);
        }
    }
}

TEST(the_last_of_64_partitions_is_skipped_as_any_other)
{
    struct fixture fixture;

    fixture_init(&fixture, HA_BITS_MAX);
    assert_int_equal(pick(&fixture, ~((uint64_t)1 << 63)), 63);
    assert_int_equal(pick(&fixture, 0), 0);
    assert_int_equal(pick(&fixture, UINT64_MAX), -1);
    assert_false(pool_has_usable(&fixture.pool, UINT64_MAX));
    for (int32_t i = 0; i < 63; i++)
        (void)fail_at(&fixture, i, SEQB_ROLE, START_MS);
    assert_true(pool_has_usable(&fixture.pool, 0));
    assert_false(pool_has_usable(&fixture.pool, (uint64_t)1 << 63));
}

/* It leases windows; numbers of its own would be in no partition. */
TEST_WITH(FOUR_MEMBERS, an_authority_beside_the_partitions_is_never_picked)
{
    for (int32_t i = 0; i < 4; i++)
        (void)fail_at(fixture, i, SEQB_UNREACHABLE, START_MS);
    expect_state(fixture, 4, SEQB_PARTITION_UP);
    assert_int_equal(pick(fixture, 0), -1);
    assert_false(pool_has_usable(&fixture->pool, 0));
    expect_change(fail_at(fixture, 4, SEQB_ROLE, START_MS), SEQB_PARTITION_UP,
                  SEQB_PARTITION_QUARANTINED);
}

TEST(those_that_may_be_asked_are_up_suspect_or_ramping)
{
    const uint64_t others = ~(uint64_t)2;

    for (int s = 0; s < STATES; s++) {
        const enum seqb_partition_state at = (enum seqb_partition_state)s;
        const bool may = is_usable_state(at);
        struct fixture fixture;

        fixture_bring(&fixture, at);
        assert_int_equal(pool_state_is_usable(at), may);
        assert_int_equal(pool_is_usable(&fixture.pool, 1), may);
        assert_int_equal(pool_has_usable(&fixture.pool, others), may);
        assert_int_equal(pick(&fixture, others), may ? 1 : -1);
        assert_int_equal(pool_pick(&fixture.pool, others, true, NOW_MS),
                         may ? 1 : -1);
    }
}

/* --- states and outcomes --- */

#define STARTING    SEQB_PARTITION_STARTING
#define UP          SEQB_PARTITION_UP
#define SUSPECT     SEQB_PARTITION_SUSPECT
#define QUARANTINED SEQB_PARTITION_QUARANTINED
#define PROBING     SEQB_PARTITION_PROBING
#define RAMPING     SEQB_PARTITION_RAMPING
#define DRAINED     SEQB_PARTITION_DRAINED
#define REFUSED     SEQB_PARTITION_REFUSED
#define POISONED    SEQB_PARTITION_POISONED

/* What becomes of one in a state when its call ... */
static const struct outcome {
    enum seqb_partition_state from;
    enum seqb_partition_state succeeded;
    enum seqb_partition_state nobodys; /* failed by nobody's or the caller's */
    enum seqb_partition_state backends;
    enum seqb_partition_state layout;
    enum seqb_partition_state poison;
} outcomes[] = {
    {STARTING, UP, QUARANTINED, QUARANTINED, REFUSED, POISONED},
    {UP, UP, UP, QUARANTINED, REFUSED, POISONED},
    {SUSPECT, SUSPECT, SUSPECT, QUARANTINED, REFUSED, POISONED},
    {QUARANTINED, QUARANTINED, QUARANTINED, QUARANTINED, REFUSED, POISONED},
    {PROBING, QUARANTINED, QUARANTINED, QUARANTINED, REFUSED, POISONED},
    {RAMPING, RAMPING, RAMPING, QUARANTINED, REFUSED, POISONED},
    {DRAINED, DRAINED, DRAINED, DRAINED, REFUSED, POISONED},
    {REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED},
    {POISONED, POISONED, POISONED, POISONED, POISONED, POISONED},
};

static bool blames_the_backend(enum seqb_status status)
{
    const enum blame blame = status_blame(status);

    return blame == BLAME_BACKEND || blame == BLAME_LAYOUT;
}

static enum seqb_partition_state after(const struct outcome *outcome,
                                       enum seqb_status status)
{
    if (status == SEQB_OK)
        return outcome->succeeded;
    if (status == SEQB_POISONED)
        return outcome->poison;
    if (status == SEQB_LAYOUT)
        return outcome->layout;
    return blames_the_backend(status) ? outcome->backends : outcome->nobodys;
}

static void expect_outcome(const struct outcome *outcome,
                           enum seqb_status status)
{
    const enum seqb_partition_state to = after(outcome, status);
    /* A probe is part of a quarantine: that it ends is no change. */
    const bool is_change =
        to != outcome->from && !(outcome->from == PROBING && to == QUARANTINED);
    const bool counts = blames_the_backend(status) &&
                        outcome->from != REFUSED && outcome->from != POISONED;
    struct fixture fixture;
    struct pool_member *member = &fixture.pool.member[1];
    struct pool_change change;
    int64_t errors;

    fixture_bring(&fixture, outcome->from);
    errors = member->errors;
    member->reason[0] = '\0';
    change = status == SEQB_OK ? answer_at(&fixture, 1, NOW_MS)
                               : fail_at(&fixture, 1, status, NOW_MS);
    expect_state(&fixture, 1, to);
    if (is_change)
        expect_change(change, outcome->from, to);
    else
        expect_none(change);
    assert_int_equal(member->since_ms == NOW_MS, is_change);
    assert_int_equal(member->errors, errors + counts);
    assert_int_equal(strstr(member->reason, seqb_status_name(status)) != NULL,
                     status != SEQB_OK &&
                         (is_change || outcome->from == PROBING));
}

TEST(each_outcome_does_in_each_state_what_the_table_says)
{
    assert_int_equal(COUNT_OF(outcomes), STATES);
    for (size_t i = 0; i < COUNT_OF(outcomes); i++) {
        assert_int_equal(outcomes[i].from, i);
        for (int status = 0; status < STATUSES; status++)
            expect_outcome(&outcomes[i], (enum seqb_status)status);
    }
}

TEST_WITH(ONE_MEMBER, the_callers_mistakes_never_add_up)
{
    for (int again = 0; again < 100; again++) {
        for (int i = SEQB_OK + 1; i < STATUSES; i++) {
            if (!blames_the_backend((enum seqb_status)i))
                expect_none(fail_after(fixture, 0, (enum seqb_status)i,
                                       10 * TIMEOUT_US, NOW_MS + again));
        }
    }
    assert_int_equal(pick(fixture, 0), 0);
    expect_state(fixture, 0, UP);
    assert_int_equal(fixture->pool.member[0].errors, 0);
    assert_int_equal(fixture->pool.member[0].slow, 0);
    assert_string_equal(fixture->pool.member[0].reason, "");
}

/* No success rescues it, no failure softens it, no probe and no forced probe
 * tries. */
TEST(one_that_could_repeat_a_number_waits_for_an_operator)
{
    static const enum seqb_status why[] = {SEQB_LAYOUT, SEQB_POISONED};

    for (size_t k = 0; k < COUNT_OF(why); k++) {
        struct fixture fixture;
        const struct pool_member *member = &fixture.pool.member[1];
        struct pool_member before;
        int64_t next_ms;

        fixture_init(&fixture, 2);
        (void)fail_at(&fixture, 1, why[k], 8000);
        before = *member;
        for (int i = SEQB_OK + 1; i < STATUSES; i++) {
            const int64_t now_ms = 9000 + (int64_t)i * 1000000;

            expect_none(fail_at(&fixture, 1, (enum seqb_status)i, now_ms));
            expect_none(answer_at(&fixture, 1, now_ms));
            expect_none(slow_at(&fixture, 1, now_ms));
            expect_none(
                pool_evaluate(&fixture.pool, 1, 9000, now_ms, &next_ms));
            assert_int_equal(next_ms, INT64_MAX);
        }
        assert_memory_equal(member, &before, sizeof before);
        assert_int_equal(pool_probe_at(&fixture.pool, 1), INT64_MAX);
        for (int32_t i = 0; i < 5; i++)
            (void)fail_at(&fixture, i, SEQB_LAYOUT, 10000);
        assert_int_equal(pick(&fixture, 0), -1);
        assert_int_equal(pool_force_probe(&fixture.pool, 0, 1000000000), -1);
    }
}

TEST(only_those_that_were_in_use_are_counted_as_ejected)
{
    for (size_t i = 0; i < COUNT_OF(outcomes); i++) {
        const enum seqb_partition_state from = outcomes[i].from;
        struct fixture fixture;
        int64_t ejections;

        fixture_bring(&fixture, from);
        ejections = fixture.pool.member[1].ejections;
        (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, NOW_MS);
        (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, NOW_MS);
        assert_int_equal(fixture.pool.member[1].ejections,
                         ejections + is_usable_state(from));
    }
}

/* --- what is kept of the calls --- */

TEST_WITH(TWO_MEMBERS, the_latency_is_a_moving_average)
{
    const struct pool_member *member = &fixture->pool.member[0];

    assert_int_equal(member->latency_us, FAST_US);
    (void)pool_succeeded(&fixture->pool, 0, 900, START_MS);
    assert_int_equal(member->latency_us, (7 * FAST_US + 900) / 8);
    for (int i = 0; i < 200; i++)
        (void)pool_succeeded(&fixture->pool, 0, 5000, START_MS);
    assert_in_range(member->latency_us, 4990, 5000);
    /* Never "none yet" again, however fast. */
    for (int i = 0; i < 200; i++)
        (void)pool_succeeded(&fixture->pool, 0, 0, START_MS);
    assert_int_equal(member->latency_us, 1);
}

TEST(the_latency_of_a_probe_counts_as_any)
{
    struct fixture fixture;

    fixture_bring(&fixture, PROBING);
    (void)pool_succeeded(&fixture.pool, 1, 900, NOW_MS);
    assert_int_equal(fixture.pool.member[1].latency_us,
                     (7 * FAST_US + 900) / 8);
}

TEST_WITH(TWO_MEMBERS, a_failure_tells_nothing_about_the_latency)
{
    (void)fail_after(fixture, 0, SEQB_UNREACHABLE, 9000000, START_MS);
    assert_int_equal(fixture->pool.member[0].latency_us, FAST_US);
}

TEST_WITH(TWO_MEMBERS, patience_is_three_times_the_usual_and_never_none)
{
    static const struct {
        int64_t latency_us;
        int64_t patience_ms;
    } cases[] = {{0, 2},    {1, 2},    {666, 2},     {999, 2},
                 {1000, 3}, {2000, 6}, {50000, 150}, {200000, 600}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fixture->pool.member[0].latency_us = cases[i].latency_us;
        assert_int_equal(pool_patience_ms(&fixture->pool, 0),
                         cases[i].patience_ms);
    }
}

TEST_WITH(TWO_MEMBERS, a_long_reason_is_cut)
{
    struct seqb_error why = {.status = SEQB_REFUSED};

    memset(why.text, 'x', sizeof why.text - 1);
    (void)pool_failed(&fixture->pool, 0, &why, 1, START_MS);
    assert_int_equal(strlen(fixture->pool.member[0].reason),
                     sizeof fixture->pool.member[0].reason - 1);
}

TEST_WITH(FOUR_MEMBERS, a_connection_tells_who_serves)
{
    const struct pool_member *member = &fixture->pool.member[2];
    struct seqb_backend backend = {.ops = NULL};

    (void)text_copy(backend.server, sizeof backend.server, "10.0.0.3:5432");
    (void)text_copy(backend.domain, sizeof backend.domain, "rack 7");
    (void)text_copy(backend.loss, sizeof backend.loss, "fsync is off");
    (void)text_copy(backend.origin, sizeof backend.origin, "the third");
    pool_connected(&fixture->pool, 2, &backend);
    assert_string_equal(member->server, "10.0.0.3:5432");
    assert_string_equal(member->domain, "rack 7");
    assert_string_equal(member->loss, "fsync is off");
    assert_string_equal(member->origin, "the third");
    assert_string_equal(fixture->pool.member[1].server, "");
    expect_state(fixture, 2, UP);
}
