/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a broker asks for a lease and for its note, and when it looks again. */
#include <string.h>

#include "ha/policy/lessors.h"
#include "platform/minmax.h"
#include "support/test.h"

#define NOBODY ((struct lessors_lock_out){.own = -1, .level = -1})

/* Three lessors in partitions 1, 2 and 5, all level. */
static struct lessors three(void)
{
    const int32_t members[] = {1, 2, 5};
    struct lessors lessors;

    lessors_init(&lessors, members, 3, 1, 1000);
    for (int32_t i = 0; i < 3; i++)
        (void)lessors_set(&lessors, i, HA_LESSOR_LEVEL, 1000);
    return lessors;
}

TEST(window_carries_who_leased_it)
{
    const struct lessors lessors = three();

    assert_int_equal(lessors.bits, 2);
    assert_int_equal(lessors_window(&lessors, 1, 0), 4);
    assert_int_equal(lessors_window(&lessors, 1, 2), 6);
    assert_int_equal(lessors_window(&lessors, 2, 0), 8);
    /* A lease above that of a window is a window above it, whoever leases. */
    for (int64_t window = 0; window < 64; window++)
        assert_true(lessors_window(&lessors,
                                   lessors_lease(&lessors, window) + 1,
                                   0) > window);
    /* And back. */
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(
            lessors_lease(&lessors, lessors_window(&lessors, 9, i)), 9);
    assert_int_equal(lessors_find(&lessors, 1), 0);
    assert_int_equal(lessors_find(&lessors, 5), 2);
    assert_int_equal(lessors_find(&lessors, 0), -1);
    assert_int_equal(lessors_find(&lessors, 3), -1);
}

TEST(lessors_are_asked_in_turn)
{
    struct lessors lessors = three();

    for (int32_t n = 0; n < 9; n++)
        assert_int_equal(lessors_pick(&lessors, &NOBODY), n % 3);
}

/* One of two brokers that lease in step: each call of a store takes equally
 * long. */
struct leasing {
    struct lessors lessors;
    int32_t lessor; /* of the last lease, noted at the other one */
    int64_t lease;
    int32_t refusals;
};

static void leasing_ask(struct leasing *leasing, int64_t *counters)
{
    struct lessors_lock_out bar = NOBODY;

    bar.level = lessors_level(&leasing->lessors, 1 - leasing->lessor,
                              leasing->refusals);
    leasing->lessor = lessors_pick(&leasing->lessors, &bar);
    counters[leasing->lessor] =
        max_of(counters[leasing->lessor], leasing->lease) + 1;
    leasing->lease = counters[leasing->lessor];
}

/* False if the witness knows the lease already. */
static bool leasing_note(struct leasing *leasing, int64_t *counters)
{
    int64_t *known = &counters[1 - leasing->lessor];
    const bool is_noted = *known < leasing->lease;

    *known = max_of(*known, leasing->lease);
    leasing->lease = *known;
    leasing->refusals += !is_noted;
    return is_noted;
}

/* Each broker begins at another lessor. Returns in how many rounds the first
 * lease is noted. */
static int rounds_in_step(uint64_t seed)
{
    const int32_t members[] = {0, 1};
    int64_t counters[2] = {0, 0};
    struct leasing leasing[2] = {{.lessor = 0}, {.lessor = 1}};

    for (int i = 0; i < 2; i++) {
        lessors_init(&leasing[i].lessors, members, 2, seed + 1000 * (uint64_t)i,
                     1000);
        for (int32_t j = 0; j < 2; j++)
            (void)lessors_set(&leasing[i].lessors, j, HA_LESSOR_LEVEL, 1000);
    }
    for (int rounds = 1; rounds < 100; rounds++) {
        bool is_noted = false;

        for (int i = 0; i < 2; i++)
            leasing_ask(&leasing[i], counters);
        for (int i = 0; i < 2; i++)
            is_noted |= leasing_note(&leasing[i], counters);
        if (is_noted)
            return rounds;
    }
    return 100;
}

TEST(brokers_that_lease_in_step_do_not_refuse_each_other_for_ever)
{
    int most = 0;
    int sum = 0;

    for (uint64_t seed = 1; seed <= 1000; seed++) {
        const int rounds = rounds_in_step(seed);

        most = rounds > most ? rounds : most;
        sum += rounds;
    }
    print_message("  %d rounds at most, %d in 1000 runs\n", most, sum);
    assert_true(most < 20);
    assert_true(sum < 4000);
}

/* The others would have to be raised first. */
TEST(lessor_that_has_the_last_lease_is_asked)
{
    struct lessors lessors = three();
    struct lessors_lock_out bar = NOBODY;

    bar.level = 2;
    for (int n = 0; n < 3; n++)
        assert_int_equal(lessors_pick(&lessors, &bar), 2);
    bar.own = 2;
    assert_int_equal(lessors_pick(&lessors, &bar), 0);
    bar.own = -1;
    bar.away = 1 << 2;
    assert_int_equal(lessors_pick(&lessors, &bar), 0);
    bar.tried = 1;
    assert_int_equal(lessors_pick(&lessors, &bar), 1);
}

TEST(own_lessor_is_the_last_resort)
{
    for (int32_t own = 0; own < 3; own++) {
        struct lessors lessors = three();
        struct lessors_lock_out bar = {.own = own, .level = -1};

        for (int n = 0; n < 4; n++)
            assert_int_not_equal(lessors_pick(&lessors, &bar), own);
        bar.away = 7 ^ (uint64_t)1 << own;
        assert_int_equal(lessors_pick(&lessors, &bar), own);
        (void)lessors_set(&lessors, own, HA_LESSOR_UNKNOWN, 1000);
        assert_int_equal(lessors_pick(&lessors, &bar), own);
        (void)lessors_set(&lessors, own, HA_LESSOR_SYNCING, 1000);
        assert_int_equal(lessors_pick(&lessors, &bar), -1);
        (void)lessors_set(&lessors, own, HA_LESSOR_LEVEL, 1000);
        bar.tried = (uint64_t)1 << own;
        assert_int_equal(lessors_pick(&lessors, &bar), -1);
    }
}

TEST(lessor_that_is_not_level_is_not_asked)
{
    struct lessors lessors = three();

    (void)lessors_set(&lessors, 0, HA_LESSOR_WAITING, 1000);
    lessors_doubt(&lessors, 2, false, 1000);
    assert_int_equal(lessors.lessor[2].state, HA_LESSOR_SYNCING);
    assert_int_equal(lessors_pick(&lessors, &NOBODY), 1);
    assert_int_equal(lessors_pick(&lessors, &NOBODY), 1);
    (void)lessors_set(&lessors, 1, HA_LESSOR_SYNCING, 1000);
    assert_int_equal(lessors_pick(&lessors, &NOBODY), -1);
    /* Nothing is known of it: the store compares in any case. */
    (void)lessors_set(&lessors, 0, HA_LESSOR_UNKNOWN, 1000);
    assert_int_equal(lessors_pick(&lessors, &NOBODY), 0);
}

/* A witness need not be level. */
TEST(lessor_never_witnesses_itself)
{
    struct lessors lessors = three();
    struct lessors_lock_out bar = NOBODY;

    (void)lessors_set(&lessors, 1, HA_LESSOR_WAITING, 1000);
    assert_int_equal(lessors_witness(&lessors, 0, &bar), 1);
    assert_int_equal(lessors_witness(&lessors, 2, &bar), 0);
    bar.away = 1 << 1;
    assert_int_equal(lessors_witness(&lessors, 0, &bar), 2);
    bar.tried = 1 << 2;
    assert_int_equal(lessors_witness(&lessors, 0, &bar), -1);
}

/* Less than three times as slow as the quickest is as good, and so is what no
 * clock in ms tells apart. */
TEST(lessor_that_is_far_slower_is_asked_last)
{
    static const int64_t slow[][3] = {
        {300, 2001, 200}, {1000, 90000, 3000}, {90000, 280000, 90000}};

    for (size_t i = 0; i < 3; i++) {
        struct lessors lessors = three();
        struct lessors_lock_out bar = NOBODY;

        memcpy(bar.wait_us, slow[i], sizeof slow[i]);
        for (int32_t n = 0; n < 8; n++)
            assert_int_equal(lessors_pick(&lessors, &bar), n % 2 * 2);
        assert_int_equal(lessors_witness(&lessors, 0, &bar), 2);
        bar.away = 1 << 0;
        bar.tried = 1 << 2;
        assert_int_equal(lessors_pick(&lessors, &bar), 1);
        assert_int_equal(lessors_witness(&lessors, 0, &bar), 1);
    }
}

/* However quick it is. */
TEST(quick_lessor_that_is_not_level_is_not_waited_for)
{
    struct lessors lessors = three();
    struct lessors_lock_out bar = {
        .own = 2, .level = -1, .wait_us = {100, 90000, 100}};

    (void)lessors_set(&lessors, 0, HA_LESSOR_SYNCING, 1000);
    assert_int_equal(lessors_pick(&lessors, &bar), 1);
}

/* One that may, and another one that notes it. */
TEST(lease_takes_a_lessor_and_a_witness)
{
    struct lessors lessors = three();

    assert_true(lessors_can_lease(&lessors, 0));
    assert_true(lessors_can_lease(&lessors, 1 << 0));
    assert_false(lessors_can_lease(&lessors, 1 << 0 | 1 << 2));
    (void)lessors_set(&lessors, 0, HA_LESSOR_WAITING, 1000);
    (void)lessors_set(&lessors, 1, HA_LESSOR_SYNCING, 1000);
    assert_true(lessors_can_lease(&lessors, 1 << 0));
    assert_false(lessors_can_lease(&lessors, 1 << 2));
    (void)lessors_set(&lessors, 1, HA_LESSOR_UNKNOWN, 1000);
    assert_true(lessors_can_lease(&lessors, 1 << 2));
}

TEST(state_is_as_old_as_its_last_change)
{
    struct lessors lessors = three();

    assert_false(lessors_set(&lessors, 1, HA_LESSOR_LEVEL, 2000));
    assert_int_equal(lessors.lessor[1].since_ms, 1000);
    assert_true(lessors_set(&lessors, 1, HA_LESSOR_WAITING, 3000));
    assert_int_equal(lessors.lessor[1].since_ms, 3000);
}

/* Whether it is not level or a mark of it is missing. */
TEST(lessor_in_doubt_is_looked_at)
{
    for (int is_level = 0; is_level < 2; is_level++) {
        struct lessors lessors = three();

        lessors_doubt(&lessors, 1, is_level != 0, 2000);
        assert_int_equal(lessors.poll_ms, 2000);
        assert_true(lessors.lessor[1].is_doubted);
        assert_false(lessors.lessor[0].is_doubted);
        assert_int_equal(lessors.lessor[1].state,
                         is_level != 0 ? HA_LESSOR_LEVEL : HA_LESSOR_SYNCING);
    }
}

/* Once a second at most. */
TEST(store_in_doubt_is_connected_once_more)
{
    struct lessors lessors = three();

    assert_false(lessors_take_doubt(&lessors, 1, 2000));
    lessors_doubt(&lessors, 1, true, 2000);
    assert_false(lessors_take_doubt(&lessors, 0, 2000));
    assert_true(lessors_take_doubt(&lessors, 1, 2000));
    assert_false(lessors_take_doubt(&lessors, 1, 2000 + LESSORS_FRESH_MS));
    lessors_doubt(&lessors, 1, true, 2500);
    assert_false(lessors_take_doubt(&lessors, 1, 2000 + LESSORS_FRESH_MS - 1));
    assert_true(lessors_take_doubt(&lessors, 1, 2000 + LESSORS_FRESH_MS));
}

TEST(connection_has_all_looked_at)
{
    struct lessors lessors = three();
    uint32_t run;

    lessors_connected(&lessors, 1, "a", 2000);
    assert_int_equal(lessors.poll_ms, 2000);
    assert_int_equal(lessors.lessor[1].state, HA_LESSOR_UNKNOWN);
    run = lessors.lessor[1].run;
    lessors_poll(&lessors);
    (void)lessors_set(&lessors, 1, HA_LESSOR_LEVEL, 2000);
    lessors_connected(&lessors, 1, "a", 3000);
    assert_int_equal(lessors.poll_ms, 3000);
    assert_int_equal(lessors.lessor[1].state, HA_LESSOR_LEVEL);
    assert_int_equal(lessors.lessor[1].run, run);
    lessors_connected(&lessors, 1, "b", 3000);
    assert_int_equal(lessors.lessor[1].state, HA_LESSOR_UNKNOWN);
    assert_int_not_equal(lessors.lessor[1].run, run);
}

TEST(looks_that_do_not_help_come_less_and_less_often)
{
    struct lessors lessors = three();
    int64_t longest_ms = 0;
    int64_t now_ms = 0;

    for (int i = 0; i < 100; i++) {
        int64_t rest_ms;

        lessors_poll(&lessors);
        lessors_polled(&lessors, false, now_ms);
        rest_ms = lessors.poll_ms - now_ms;
        assert_in_range(rest_ms, i == 0 ? LESSORS_FIRST_MS / 2 : 1,
                        LESSORS_LONGEST_MS * 3 / 2);
        longest_ms = rest_ms > longest_ms ? rest_ms : longest_ms;
        now_ms = lessors.poll_ms;
    }
    assert_true(longest_ms > LESSORS_LONGEST_MS / 2);
    lessors_poll(&lessors);
    lessors_polled(&lessors, true, now_ms);
    assert_int_equal(lessors.poll_ms, INT64_MAX);
    assert_int_equal(lessors.rest_ms, LESSORS_FIRST_MS);
    /* What is wanted during a look is not forgotten. */
    lessors_want(&lessors, now_ms);
    lessors_polled(&lessors, true, now_ms);
    assert_int_equal(lessors.poll_ms, now_ms);
}

/* Half of the rest to all of it and a half, so that brokers spread; the rest
 * doubles. */
TEST(rests_between_looks_are_spread)
{
    int64_t least_ms[2] = {INT64_MAX, INT64_MAX};
    int64_t most_ms[2] = {0, 0};

    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct lessors lessors;
        const int32_t members[] = {0, 1};

        lessors_init(&lessors, members, 2, seed, 0);
        for (int k = 0; k < 2; k++) {
            lessors_poll(&lessors);
            lessors_polled(&lessors, false, 0);
            least_ms[k] = min_of(least_ms[k], lessors.poll_ms);
            most_ms[k] = max_of(most_ms[k], lessors.poll_ms);
        }
    }
    for (int k = 0; k < 2; k++) {
        assert_int_equal(least_ms[k], (LESSORS_FIRST_MS << k) / 2);
        assert_int_equal(most_ms[k], (LESSORS_FIRST_MS << k) * 3 / 2 - 1);
    }
}

TEST(leases_are_counted_by_the_minute)
{
    struct lessors lessors = three();

    for (int i = 0; i < 60; i++)
        lessors_leased(&lessors, 0, 1000 + i * 1000);
    assert_int_equal(lessors_rate(&lessors.lessor[0], 60999), 60);
    assert_int_equal(lessors_rate(&lessors.lessor[0], 61000), 60);
    assert_int_equal(lessors_rate(&lessors.lessor[0], 91000), 30);
    assert_int_equal(lessors_rate(&lessors.lessor[0], 181000), 0);
    lessors_leased(&lessors, 0, 61000);
    assert_int_equal(lessors_rate(&lessors.lessor[0], 61000), 61);
    assert_int_equal(lessors_rate(&lessors.lessor[0], 121000), 1);
}
