/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator itself: that it repeats its runs, and that it finds faults;
 * and the bounds that are measured with it. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ha/policy/fence.h"
#include "platform/text.h"
#include "scenarios.h"
#include "support/folder.h"
#include "support/test.h"
#include "world.h"

#define SEEDS     20
#define MANY      800 /* seeds in which a missing guard must show */
#define DAY_US    (86400 * SECOND)
#define HOUR_US   (3600 * SECOND)
#define FLAP_US   (600 * SECOND)
#define BITS      2  /* of the scenarios' pool */
#define WINDOW    12 /* and its window_bits */
#define OVERTAKEN 1  /* grant that may come between an ask and its answer */

TEST(same_seed_is_the_same_run)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct score first;
        struct score second;

        run_seed(seed, 0, false, &first);
        run_seed(seed, 0, false, &second);
        assert_true(first.calls > 0);
        assert_int_equal(first.digest, second.digest);
        assert_int_equal(first.numbers, second.numbers);
    }
}

/* Nobody reads what it tells. */
static void run_told(uint64_t seed, struct score *out)
{
    const int nobody = open("/dev/null", O_WRONLY);
    const int told = dup(STDOUT_FILENO);

    (void)fflush(stdout);
    assert_int_equal(dup2(nobody, STDOUT_FILENO), STDOUT_FILENO);
    run_seed(seed, 0, true, out);
    (void)fflush(stdout);
    assert_int_equal(dup2(told, STDOUT_FILENO), STDOUT_FILENO);
    close(nobody);
    close(told);
}

TEST(seed_that_is_told_in_full_is_the_same_run)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct score first;
        struct score second;

        run_seed(seed, 0, false, &first);
        run_told(seed, &second);
        assert_int_equal(first.digest, second.digest);
    }
}

TEST(other_seeds_are_other_runs)
{
    struct score first;
    struct score second;

    run_seed(1, 0, false, &first);
    run_seed(2, 0, false, &second);
    assert_true(first.digest != second.digest);
}

#if !defined(__SANITIZE_ADDRESS__) /* which takes minutes for so many */
/* The first seed in which a number is repeated, 0 if there is none. */
static uint64_t find_repeat(int without)
{
    for (uint64_t seed = 1; seed <= MANY; seed++) {
        struct score score;

        run_seed(seed, without, false, &score);
        if (score.repeats > 0)
            return seed;
    }
    return 0;
}

TEST(store_that_lacks_a_guard_is_found_out)
{
    for (size_t i = 0; i < STORE_GUARDS; i++) {
        const uint64_t seed = find_repeat(store_guards[i].guard);

        print_message("# without %s: seed %d repeats\n", store_guards[i].name,
                      (int)seed);
        if (seed == 0)
            fail_msg("no seed repeats a number without %s",
                     store_guards[i].name);
    }
}
#endif

static void score_is_clean(const struct score *score)
{
    if (score->failures > 0)
        fail_msg("%s", score->failure);
    assert_int_equal(score->errors, 0);
    assert_true(score->numbers > 0);
}

static void away_for_a_day(bool is_windowed, struct score *score)
{
    scenario_away(is_windowed, DAY_US, score);
    score_is_clean(score);
    print_message("# %s: away for a day: disorder=%lld of %lld numbers, "
                  "largest grant %lld\n",
                  is_windowed ? "windowed" : "direct",
                  (long long)score->disorder, (long long)score->numbers,
                  (long long)score->largest);
}

TEST(direct_partition_comes_back_near_the_others)
{
    struct score score;

    away_for_a_day(false, &score);
    assert_true(score.disorder <=
                (FENCE_LAG_VALUES + (4 + OVERTAKEN) * score.largest) << BITS);
}

TEST(windowed_partition_comes_back_near_the_others)
{
    struct score score;

    away_for_a_day(true, &score);
    assert_true(score.disorder <= (int64_t)(FENCE_LAG_WINDOWS + 1)
                                      << (WINDOW + BITS));
}

TEST(flapping_partition_is_seldom_ejected)
{
    struct score score;

    scenario_flap(FLAP_US, &score);
    print_message("# flapping at 1 Hz for 10 minutes: %lld ejections\n",
                  (long long)score.ejections);
    score_is_clean(&score);
    assert_true(score.ejections >= 1);
    assert_true(score.ejections <= 12);
}

/* Urged probes of one that is away do not make it rest longer. */
TEST(all_come_back_soon_after_a_short_outage)
{
    struct score score;

    scenario_outage(10 * SECOND, &score);
    if (score.failures > 0)
        fail_msg("%s", score.failure);
    print_message("# all away for 10 s: the last one back after %lld ms\n",
                  (long long)(score.rescue_us / MS));
    assert_true(score.errors > 0);
    assert_true(score.rescue_us < 15 * SECOND);
}

/* The longest of deaths at several moments between two looks. */
static int64_t idle_longest(bool is_hung)
{
    int64_t longest = 0;

    for (int64_t after_us = 0; after_us < 1500 * MS; after_us += 100 * MS) {
        const int64_t told_us = scenario_idle(is_hung, after_us);

        if (told_us > longest)
            longest = told_us;
    }
    return longest;
}

TEST(health_tells_within_3_s_that_all_stores_died_while_nobody_called)
{
    const int64_t refuses = idle_longest(false);
    const int64_t hangs = idle_longest(true);

    print_message("# all stores die, idle: told after %lld ms; if they hang, "
                  "after %lld ms\n",
                  (long long)(refuses / MS), (long long)(hangs / MS));
    assert_in_range(refuses, 1, 3 * SECOND);
    assert_in_range(hangs, 1, 3 * SECOND);
}

/* Three hours of minutes, of which an hour's and two are kept, and those that
 * were not yet deleted; a windowed store lets them vanish by itself. */
static void old_minutes_are_forgotten(bool is_windowed)
{
    struct score score;
    int32_t counters;

    scenario_minutes(is_windowed, 3 * HOUR_US, &score, &counters);
    score_is_clean(&score);
    print_message("# %s: %d counters after three hours of minutes\n",
                  is_windowed ? "windowed" : "direct", (int)counters);
    assert_in_range(counters, 55, is_windowed ? 4 * 70 : 70);
}

TEST(old_stamps_are_forgotten_in_direct_stores)
{
    old_minutes_are_forgotten(false);
}

TEST(old_stamps_are_forgotten_in_windowed_stores)
{
    old_minutes_are_forgotten(true);
}

/* The third one leases to all, and is noted at the one that was put back, which
 * waits for the one that is down. */
TEST(neighbours_serve_with_one_down_and_one_put_back)
{
    struct score score;
    int64_t served;

    scenario_neighbours(60 * SECOND, &score, &served);
    print_message("# one down, one put back: %lld numbers in 60 s after 2 s, "
                  "the longest wait %lld ms\n",
                  (long long)served, (long long)(score.longest_us / MS));
    score_is_clean(&score);
    assert_int_equal(score.repeats, 0);
    assert_true(served > 5000);
}

/* Its call takes longer than all others do, and yet is no time-out: if it were
 * asked in turn, most windows of each second would wait for it. */
TEST(neighbours_serve_seconds_with_a_slow_one)
{
    static const int32_t times[] = {10, 60, 120};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct score score;

        scenario_slow_neighbour(times[i], 60 * SECOND, &score);
        print_message("# one %d times slower: the longest wait %lld ms\n",
                      (int)times[i], (long long)(score.longest_us / MS));
        score_is_clean(&score);
    }
}

/* As physical copies and snapshots are put back. What the broker noted is all
 * that tells: without it numbers come again. */
static void stores_go_back(bool is_windowed)
{
    char folder[] = "/tmp/seqb-sim.XXXXXX";
    char noted[64];
    struct score score;

    assert_non_null(mkdtemp(folder));
    (void)text_format(noted, sizeof noted, "%s/granted", folder);
    scenario_noted(is_windowed, 10, noted, &score);
    folder_remove(folder);
    score_is_clean(&score);
    assert_int_equal(score.repeats, 0);
    scenario_noted(is_windowed, 10, NULL, &score);
    print_message("# not noted: %lld repeats of %lld\n",
                  (long long)score.repeats, (long long)score.numbers);
    assert_true(score.repeats > 0);
}

TEST(notes_tell_of_direct_stores_that_went_back)
{
    stores_go_back(false);
}

TEST(notes_tell_of_an_authority_and_its_cells_that_went_back)
{
    stores_go_back(true);
}
