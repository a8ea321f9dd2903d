/* SPDX-License-Identifier: Apache-2.0 */
/* The guarded clock, by clocks that are scripted: steps of every size and
 * sign, sleep, stores that agree and that do not. */
#include <stdlib.h>

#include "guard_machine.h"
#include "support/test.h"

struct fixture {
    struct machine machine;
    struct guard guard;
    int64_t time_ms; /* that was read last */
};

static void begin(struct fixture *f, const struct guard_rules *rules)
{
    f->machine = (struct machine){NOON, 0};
    guard_init(&f->guard, rules, 0, reading_of(&f->machine));
}

static int setup(void **state)
{
    static struct fixture f;

    begin(&f, &usual);
    *state = &f;
    return 0;
}

#define GUARDED FIXTURE(struct fixture *f, setup, NULL)

static enum guard_verdict look(struct fixture *f)
{
    return guard_read(&f->guard, reading_of(&f->machine), &f->time_ms);
}

static void witness(struct fixture *f)
{
    guard_witness(&f->guard, f->machine.true_ms, reading_of(&f->machine));
}

static void issue(struct fixture *f, int64_t begin_ms)
{
    guard_keep(&f->guard, begin_ms);
    assert_true(guard_issue(&f->guard, begin_ms));
}

/* --- what may be issued --- */

TEST_WITH(GUARDED, stamp_is_issued_once_it_is_kept)
{
    assert_false(guard_issue(&f->guard, NOON));
    guard_keep(&f->guard, NOON - 1);
    assert_false(guard_issue(&f->guard, NOON));
    assert_int_equal(f->guard.issued_ms, 0);
    guard_keep(&f->guard, NOON);
    assert_true(guard_issue(&f->guard, NOON));
    assert_int_equal(f->guard.issued_ms, NOON);
    assert_true(guard_issue(&f->guard, NOON - DAY)); /* of a longer period */
    assert_int_equal(f->guard.issued_ms, NOON);
    guard_keep(&f->guard, NOON - 1);
    assert_int_equal(f->guard.kept_ms, NOON);
}

TEST(what_was_kept_counts_as_issued_after_a_restart)
{
    struct fixture f;

    f.machine = (struct machine){NOON, 0};
    guard_init(&f.guard, &usual, NOON + SECOND, reading_of(&f.machine));
    assert_true(guard_issue(&f.guard, NOON + SECOND));
    assert_false(guard_issue(&f.guard, NOON + SECOND + 1));
    assert_int_equal(look(&f), GUARD_HELD);
    assert_int_equal(f.time_ms, NOON + SECOND);
}

/* --- steps --- */

static const struct {
    const char *name;
    int64_t step_ms;  /* of the wall clock */
    int64_t since_ms; /* the last stamp's begin is so long ago */
    enum guard_verdict hold;
    enum guard_verdict wait;
    int64_t behind_ms;
} steps[] = {
    {"no step", 0, 0, GUARD_GO, GUARD_GO, 0},
    {"-1 ms at a begin", -1, 0, GUARD_HELD, GUARD_WAITS, 1},
    {"-1 ms after one", -1, 1, GUARD_GO, GUARD_GO, 0},
    {"-1 s", -SECOND, 300, GUARD_HELD, GUARD_WAITS, 700},
    {"-1 s in a long stamp", -SECOND, HOUR, GUARD_GO, GUARD_GO, 0},
    {"-10 min", -10 * MINUTE, 0, GUARD_HELD, GUARD_WAITS, 10 * MINUTE},
    {"-10 min and 1 ms", -10 * MINUTE - 1, 0, GUARD_REFUSES, GUARD_REFUSES,
     10 * MINUTE + 1},
    {"-1 h", -HOUR, 0, GUARD_REFUSES, GUARD_REFUSES, HOUR},
    {"-1 h in a long stamp", -HOUR, 11 * HOUR, GUARD_GO, GUARD_GO, 0},
    {"-1 d", -DAY, 12 * HOUR, GUARD_REFUSES, GUARD_REFUSES, 12 * HOUR},
    {"-1 year", -YEAR, 0, GUARD_REFUSES, GUARD_REFUSES, YEAR},
    {"+1 ms", 1, 0, GUARD_GO, GUARD_GO, 0},
    {"+1 s", SECOND, 0, GUARD_GO, GUARD_GO, 0},
    {"+1 year", YEAR, 0, GUARD_GO, GUARD_GO, 0},
};

static void expect_step(size_t i, enum guard_rollback on_rollback,
                        enum guard_verdict expected)
{
    const struct guard_rules rules = {on_rollback, 10 * MINUTE, 5 * MINUTE};
    struct fixture f;

    begin(&f, &rules);
    issue(&f, NOON - steps[i].since_ms);
    assert_int_equal(look(&f), GUARD_GO);
    assert_int_equal(f.time_ms, NOON);
    f.machine.off_ms = steps[i].step_ms;
    assert_int_equal(look(&f), expected);
    assert_int_equal(f.guard.behind_ms, steps[i].behind_ms);
    assert_int_equal(f.time_ms, steps[i].behind_ms > 0
                                    ? f.guard.issued_ms
                                    : NOON + steps[i].step_ms);
    assert_int_equal(f.guard.steps_back, steps[i].step_ms < 0);
    f.machine.off_ms = 0;
    assert_int_equal(look(&f), GUARD_GO); /* as soon as it is right again */
    assert_int_equal(f.time_ms, NOON);
}

TEST(each_step_has_its_verdict)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        print_message("  %s\n", steps[i].name);
        expect_step(i, GUARD_HOLD, steps[i].hold);
        expect_step(i, GUARD_WAIT, steps[i].wait);
        expect_step(i, GUARD_REFUSE,
                    steps[i].hold == GUARD_GO ? GUARD_GO : GUARD_REFUSES);
    }
}

TEST_WITH(GUARDED, clock_that_catches_up_goes_on)
{
    issue(f, NOON);
    f->machine.off_ms = -MINUTE;
    for (int i = 0; i < 60; i++) {
        assert_int_equal(look(f), GUARD_HELD);
        assert_int_equal(f->time_ms, NOON);
        f->machine.true_ms += SECOND;
    }
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->guard.steps_back, 1);
}

TEST_WITH(GUARDED, repeated_leap_second_is_held)
{
    for (int ms = 0; ms < 3000; ms += 100) {
        const int64_t was_ms = f->guard.issued_ms;

        f->machine.true_ms = NOON + ms;
        f->machine.off_ms = ms < 1000 ? 0 : -SECOND;
        assert_in_range(look(f), GUARD_GO, GUARD_HELD);
        issue(f, f->time_ms / SECOND * SECOND);
        assert_true(f->guard.issued_ms >= was_ms);
    }
    assert_int_equal(f->guard.steps_back, 1);
}

TEST(clock_that_was_never_set_is_refused)
{
    const struct guard_reading in_1970 = {12 * SECOND, 0};
    struct guard guard;
    int64_t time_ms;

    guard_init(&guard, &usual, 0, in_1970);
    assert_int_equal(guard_read(&guard, in_1970, &time_ms), GUARD_REFUSES);
    assert_int_equal(guard_read(&guard,
                                (struct guard_reading){GUARD_SANE_MS - 1, 1},
                                &time_ms),
                     GUARD_REFUSES);
    assert_int_equal(
        guard_read(&guard, (struct guard_reading){GUARD_SANE_MS, 2}, &time_ms),
        GUARD_GO);
}

/* A machine whose clock is lost for a moment has its old one for comparison. */
TEST_WITH(GUARDED, clock_that_is_lost_for_a_while_is_no_anchor)
{
    witness(f);
    assert_int_equal(look(f), GUARD_GO);
    f->machine.off_ms = -NOON;
    assert_int_equal(look(f), GUARD_REFUSES);
    f->machine.off_ms = YEAR;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON);
    assert_int_equal(f->guard.ahead_ms, YEAR);
    /* It is not ahead while it is lost. */
    f->machine.off_ms = -NOON;
    assert_int_equal(look(f), GUARD_REFUSES);
    assert_int_equal(f->guard.ahead_ms, 0);
}

/* --- leaps ahead --- */

TEST_WITH(GUARDED, leap_ahead_is_not_believed_against_a_store)
{
    witness(f);
    f->machine.true_ms += SECOND;
    f->machine.off_ms = 5 * MINUTE;
    assert_int_equal(look(f), GUARD_GO); /* as far as is allowed */
    assert_int_equal(f->time_ms, NOON + SECOND + 5 * MINUTE);
    f->machine.off_ms = 0;
    assert_int_equal(look(f), GUARD_GO);
    f->machine.off_ms = 5 * MINUTE + 1;
    f->machine.true_ms += SECOND;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON + 2 * SECOND); /* by the boot clock */
    assert_int_equal(f->guard.ahead_ms, 5 * MINUTE + 1);
    f->machine.off_ms = YEAR;
    f->machine.true_ms += HOUR;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON + HOUR + 2 * SECOND);
    f->machine.off_ms = 0;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->guard.ahead_ms, 0);
}

/* As of a machine that stood still without its boot clock's knowing. */
/* Between two looks it was set back, and then far ahead. */
TEST_WITH(GUARDED, reading_of_a_clock_that_was_behind_leads_nobody_back)
{
    witness(f);
    issue(f, NOON - MINUTE);
    f->machine.off_ms = -2 * MINUTE;
    assert_int_equal(look(f), GUARD_HELD);
    f->machine.true_ms += SECOND;
    f->machine.off_ms = YEAR;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON + SECOND);
}

TEST_WITH(GUARDED, leap_ahead_is_believed_when_the_store_agrees)
{
    witness(f);
    f->machine.off_ms = HOUR;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON);
    guard_witness(&f->guard, NOON + HOUR - 5 * MINUTE, reading_of(&f->machine));
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON + HOUR);
    assert_int_equal(f->guard.ahead_ms, 0);
}

TEST_WITH(GUARDED, many_small_leaps_lead_no_farther_than_one)
{
    witness(f);
    for (int i = 0; i < 1000; i++) {
        f->machine.true_ms += SECOND;
        f->machine.off_ms += MINUTE;
        assert_int_equal(look(f), GUARD_GO);
        assert_true(f->time_ms <= f->machine.true_ms + usual.max_ahead_ms);
    }
}

TEST_WITH(GUARDED, leap_ahead_is_believed_without_a_store)
{
    f->machine.off_ms = YEAR;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON + YEAR);
    assert_int_equal(f->guard.ahead_ms, 0);
}

TEST_WITH(GUARDED, first_store_that_disagrees_is_believed_instead)
{
    f->machine.off_ms = YEAR;
    assert_int_equal(look(f), GUARD_GO);
    witness(f);
    f->machine.true_ms += SECOND;
    assert_int_equal(look(f), GUARD_GO); /* nothing was issued yet */
    assert_int_equal(f->time_ms, NOON + SECOND);
}

TEST_WITH(GUARDED,
          first_store_that_disagrees_comes_too_late_for_what_was_issued)
{
    f->machine.off_ms = YEAR;
    assert_int_equal(look(f), GUARD_GO);
    issue(f, f->time_ms);
    witness(f);
    assert_int_equal(look(f), GUARD_REFUSES);
    assert_int_equal(f->guard.behind_ms, YEAR);
}

TEST_WITH(GUARDED, store_that_goes_back_changes_nothing)
{
    witness(f);
    assert_int_equal(look(f), GUARD_GO);
    f->machine.true_ms += SECOND;
    guard_witness(&f->guard, NOON - HOUR, reading_of(&f->machine));
    f->machine.true_ms += SECOND;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON + 2 * SECOND);
}

TEST_WITH(GUARDED, store_without_a_clock_is_no_witness)
{
    guard_witness(&f->guard, 12 * SECOND, reading_of(&f->machine));
    assert_false(f->guard.is_witnessed);
    assert_int_equal(guard_ahead(&f->guard, reading_of(&f->machine)), 0);
}

TEST_WITH(GUARDED, clock_ahead_of_the_stores_is_known_at_the_start)
{
    f->machine.off_ms = HOUR;
    assert_int_equal(guard_ahead(&f->guard, reading_of(&f->machine)), 0);
    witness(f);
    assert_int_equal(guard_ahead(&f->guard, reading_of(&f->machine)), HOUR);
    f->machine.off_ms = -HOUR;
    assert_int_equal(guard_ahead(&f->guard, reading_of(&f->machine)), 0);
}

/* The boot clock goes on while the machine sleeps. */
TEST_WITH(GUARDED, sleep_of_the_machine_is_no_leap)
{
    witness(f);
    issue(f, NOON);
    f->machine.true_ms += 8 * HOUR;
    assert_int_equal(look(f), GUARD_GO);
    assert_int_equal(f->time_ms, NOON + 8 * HOUR);
    assert_int_equal(f->guard.ahead_ms, 0);
}
