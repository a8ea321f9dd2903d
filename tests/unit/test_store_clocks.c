/* SPDX-License-Identifier: Apache-2.0 */
/* The guarded clock at work, on machines whose clock is behind, ahead, or was
 * never set: at the start and later. */
#include <stdlib.h>
#include <unistd.h>

#include "clock_fixture.h"
#include "platform/file.h"
#include "queue/guarded_clock/text.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

/* --- behind, at the start --- */

TEST_WITH(WALL, restart_holds_the_stamp_that_was_kept)
{
    clock_case_start(c);
    clock_case_issue(c, NOON);
    clock_case_stop(c);
    clock_go_on(SECOND);
    clock_set(NOON - MINUTE);
    clock_case_start(c);
    clock_case_expect_now(c, NOON);
    assert_int_equal(clock_case_status(c).behind_ms, MINUTE);
    assert_ok(guarded_clock_issue(c->clock, NOON, 0, &c->err));
    clock_go_on(MINUTE + 1);
    clock_case_expect_now(c, NOON + 1);
}

TEST_WITH(WALL, restart_too_far_behind_the_file_is_refused)
{
    clock_case_start(c);
    clock_case_issue(c, NOON);
    clock_case_stop(c);
    clock_set(NOON - 10 * MINUTE);
    clock_case_start(c);
    clock_case_stop(c);
    clock_set(NOON - 3 * HOUR - 20 * MINUTE);
    clock_case_expect_start_fails(c, SEQB_CLOCK, "3 h 20 min behind");
    rig_expect_words(c->err.text, "2026-11-21T12:00:00Z");
    rig_expect_words(c->err.text, c->path);
    rig_expect_words(c->err.text, "max_rollback (10 min)");
    rig_expect_words(c->err.text, "remove the file");
    assert_int_equal(unlink(c->path), 0); /* as it says */
    clock_case_start(c);
    clock_case_expect_now(c, NOON - 3 * HOUR - 20 * MINUTE);
}

TEST_WITH(WALL, restart_elsewhere_is_refused_by_the_store)
{
    struct clock_world *world = clock_world();

    c->options.store = 0;
    atomic_store(&world->noted_ms, NOON + DAY);
    clock_case_expect_start_fails(c, SEQB_CLOCK, "1 d behind");
    rig_expect_words(c->err.text, "clock_store");
    atomic_store(&world->noted_ms, NOON + MINUTE);
    clock_case_start(c);
    clock_case_expect_now(c, NOON + MINUTE);
    clock_case_issue(c, NOON + 2 * MINUTE); /* the file has it as well */
    clock_case_stop(c);
    clock_set(NOON - DAY);
    clock_case_expect_start_fails(c, SEQB_CLOCK, c->path);
}

/* --- other starts that are refused --- */

TEST_WITH(WALL, start_needs_the_store_that_keeps_it)
{
    c->options.store = 0;
    atomic_store(&clock_world()->is_down, true);
    clock_case_expect_start_fails(c, SEQB_UNAVAILABLE, "backend 0 is down");
}

TEST_WITH(WALL, start_refuses_a_damaged_file)
{
    assert_ok(file_save(c->path, "what", 4, &c->err));
    clock_case_expect_start_fails(c, SEQB_CORRUPT, "damaged");
}

TEST_WITH(WALL, start_refuses_another_brokers_file)
{
    clock_case_start(c);
    clock_case_issue(c, NOON);
    clock_case_stop(c);
    c->options.broker = "bills";
    clock_case_expect_start_fails(c, SEQB_CORRUPT, "of the broker orders");
    rig_expect_words(c->err.text, "bills");
}

TEST_WITH(WALL, clock_of_1970_is_refused)
{
    clock_set(12 * SECOND);
    clock_case_expect_start_fails(c, SEQB_CLOCK, "1970-01-01T00:00:12Z");
    clock_set(NOON);
    clock_case_start(c);
    events_start();
    clock_set(12 * SECOND);
    clock_case_expect_no_time(c, SEQB_CLOCK, "is not set");
    clock_await_event("event=clock_unset wall_ms=12000");
}

TEST_WITH(WALL, start_far_ahead_of_the_stores_is_refused)
{
    struct clock_world *world = clock_world();

    atomic_store(&world->clocks, 1);
    clock_set(NOON + 5 * MINUTE);
    clock_case_start(c);
    clock_case_stop(c);
    clock_set(NOON + 365 * DAY);
    clock_case_expect_start_fails(c, SEQB_CLOCK,
                                  "365 d ahead of the stores' clocks");
    rig_expect_words(c->err.text, "max_ahead (5 min)");
}

/* --- behind, later --- */

TEST_WITH(WALL, clock_that_goes_back_is_told_once)
{
    clock_case_start(c);
    clock_case_issue(c, NOON);
    events_start();
    clock_set(NOON - SECOND);
    for (int i = 0; i < 10; i++)
        clock_case_expect_now(c, NOON);
    clock_await_event("event=clock_back behind_ms=1000 answer=holds");
    clock_set(NOON);
    for (int i = 0; i < 10; i++)
        clock_case_expect_now(c, NOON);
    clock_await_event("event=clock_ok");
    events_expect("event=clock_", "", 2);
    assert_int_equal(clock_case_status(c).steps_back, 1);
}

TEST_WITH(WALL, clock_too_far_back_says_by_how_much)
{
    clock_case_start(c);
    clock_case_issue(c, NOON);
    clock_set(NOON - 3 * HOUR - 20 * MINUTE);
    clock_case_expect_no_time(c, SEQB_CLOCK,
                              "the clock is 3 h 20 min behind the last stamp");
    rig_expect_words(c->err.text, "set the clock, or wait");
    rig_expect_words(clock_case_status(c).reason, "3 h 20 min behind");
    assert_int_equal(clock_case_status(c).guarded_ms, NOON);
}

TEST_WITH(WALL, clock_that_goes_back_is_waited_for)
{
    c->options.rules.on_rollback = GUARD_WAIT;
    clock_case_start(c);
    clock_case_issue(c, NOON);
    clock_set(NOON - MINUTE);
    clock_case_expect_no_time(c, SEQB_AGAIN, "1 min behind");
    clock_go_on(MINUTE);
    clock_case_expect_now(c, NOON);
}

/* --- ahead, later --- */

static bool day_is_believed(void *context)
{
    struct clock_case *c = context;
    int64_t time_ms;

    return guarded_clock_now(c->clock, &time_ms, NULL) == SEQB_OK &&
           time_ms == NOON + DAY;
}

TEST_WITH(WALL, leap_ahead_is_not_believed_until_the_stores_say_so)
{
    struct clock_world *world = clock_world();
    const int64_t began_ms = clock_now_ms();
    int64_t looks;

    atomic_store(&world->clocks, 1);
    clock_case_start(c);
    events_start();
    clock_go_on(SECOND);
    clock_set(NOON + DAY);
    clock_await_event("event=clock_ahead"); /* though nobody asks */
    clock_case_expect_now(c, NOON + SECOND);
    clock_await_more(&world->looks, 1);
    clock_case_expect_now(c, NOON + SECOND);
    assert_int_equal(clock_case_status(c).ahead_ms, DAY - SECOND);
    events_expect("event=clock_ahead", "", 1);
    assert_int_equal(events_count("event=clock_ok", ""), 0);
    atomic_fetch_add(&world->store_ms, DAY); /* they are there as well */
    rig_await(day_is_believed, c);
    clock_await_event("event=clock_ok");
    looks = atomic_load(&world->looks);
    assert_true(looks <= 1 + (clock_now_ms() - began_ms) / (2 * SECOND));
}

static bool is_refused(void *context)
{
    struct clock_case *c = context;
    int64_t time_ms;

    return guarded_clock_now(c->clock, &time_ms, &c->err) == SEQB_CLOCK;
}

TEST_WITH(WALL, store_that_comes_late_is_heard)
{
    clock_set(NOON + DAY);
    clock_case_start(c);
    clock_case_expect_now(c, NOON + DAY);
    clock_case_issue(c, NOON + DAY);
    atomic_store(&clock_world()->clocks, 1);
    rig_await(is_refused, c);
    rig_expect_words(c->err.text, "1 d ahead of the stores' clocks and not "
                                  "believed; the clock is 1 d behind");
}

/* --- words --- */

static const struct {
    int64_t ms;
    const char *text;
} spans[] = {
    {0, "0 ms"},
    {999, "999 ms"},
    {SECOND, "1 s"},
    {SECOND + 1, "1 s 1 ms"},
    {MINUTE - 1, "59 s 999 ms"},
    {10 * MINUTE, "10 min"},
    {3 * HOUR + 20 * MINUTE + 5 * SECOND, "3 h 20 min"},
    {3 * HOUR + 59 * SECOND, "3 h"},
    {365 * DAY + 23 * HOUR, "365 d 23 h"},
};

TEST(spans_are_told_in_two_units)
{
    char text[CLOCK_WORD_SIZE];

    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        clock_span_text(spans[i].ms, text, sizeof text);
        assert_string_equal(text, spans[i].text);
    }
}
