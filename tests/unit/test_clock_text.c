/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with the clock, in words. */
#include <stdlib.h>

#include "queue/guarded_clock/text.h"
#include "support/events.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND   INT64_C(1000)
#define MINUTE   (60 * SECOND)
#define HOUR     (60 * MINUTE)
#define DAY      (24 * HOUR)

/* 2026-11-21T12:00:00Z */
#define NOON (INT64_C(1795262400) * SECOND)

TEST(span_is_told_in_its_two_largest_units)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "0 ms"},
        {1, "1 ms"},
        {SECOND - 1, "999 ms"},
        {SECOND, "1 s"},
        {SECOND + 1, "1 s 1 ms"},
        {MINUTE - 1, "59 s 999 ms"},
        {MINUTE, "1 min"},
        {MINUTE + SECOND - 1, "1 min"},
        {MINUTE + SECOND, "1 min 1 s"},
        {HOUR - 1, "59 min 59 s"},
        {HOUR, "1 h"},
        {3 * HOUR + 20 * MINUTE, "3 h 20 min"},
        {DAY - 1, "23 h 59 min"},
        {DAY, "1 d"},
        {DAY + HOUR, "1 d 1 h"},
        {400 * DAY + 23 * HOUR, "400 d 23 h"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[CLOCK_WORD_SIZE];

        clock_span_text(cases[i].ms, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(date_is_told_in_utc)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00Z"},
        {NOON + SECOND - 1, "2026-11-21T12:00:00Z"},
        {INT64_MIN, "-292275055-05-16T16:47:05Z"},
        {INT64_MAX, "292278994-08-17T07:12:55Z"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[CLOCK_WORD_SIZE];

        clock_date_text(cases[i].ms, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

/* A store's clock was seen at the boot time 0. */
static struct clock_view view_of(int64_t wall_ms, int64_t ahead_ms,
                                 int64_t behind_ms)
{
    return (struct clock_view){
        .now = {.wall_ms = wall_ms, .boot_ms = 0},
        .guard = {.is_witnessed = true,
                  .witness = {.wall_ms = NOON, .boot_ms = 0},
                  .ahead_ms = ahead_ms,
                  .behind_ms = behind_ms,
                  .issued_ms = NOON + HOUR},
    };
}

TEST(clock_is_explained)
{
    static const struct {
        int64_t wall_ms;
        int64_t ahead_ms;
        int64_t behind_ms;
        const char *text;
    } cases[] = {
        {0, 0, 0,
         "the machine's clock says 1970-01-01T00:00:00Z: it is not set; set "
         "it"},
        {GUARD_SANE_MS - 1, DAY, DAY,
         "the machine's clock says 2019-12-31T23:59:59Z: it is not set; set "
         "it"},
        {GUARD_SANE_MS, 0, 0, ""},
        {NOON, 0, HOUR,
         "the clock is 1 h behind the last stamp, which began at "
         "2026-11-21T13:00:00Z; set the clock, or wait"},
        {NOON, 0, 1,
         "the clock is 1 ms behind the last stamp, which began at "
         "2026-11-21T13:00:00Z; set the clock, or wait"},
        {NOON + DAY, 1, 0,
         "the machine's clock is 1 d ahead of the stores' clocks and not "
         "believed; "},
        {NOON + DAY, DAY, MINUTE,
         "the machine's clock is 1 d ahead of the stores' clocks and not "
         "believed; the clock is 1 min behind the last stamp, which began at "
         "2026-11-21T13:00:00Z; set the clock, or wait"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct clock_view view =
            view_of(cases[i].wall_ms, cases[i].ahead_ms, cases[i].behind_ms);
        char text[256] = "before";

        clock_explain(&view, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(mood_is_what_is_told_of_the_clock)
{
    struct clock_view view = view_of(GUARD_SANE_MS, 0, 0);
    const struct clock_state usual = clock_state_of(&view);
    struct clock_state other;

    assert_true(usual.is_set);
    assert_false(usual.is_behind);
    assert_false(usual.is_ahead);
    assert_true(clock_state_is(&usual, &usual));
    view = view_of(GUARD_SANE_MS - 1, 1, 1);
    other = clock_state_of(&view);
    assert_false(other.is_set);
    assert_true(other.is_behind);
    assert_true(other.is_ahead);
    for (int i = 0; i < 4; i++) {
        struct clock_state state = usual;

        state.is_set ^= i == 0;
        state.is_behind ^= i == 1;
        state.is_ahead ^= i == 2;
        state.verdict = i == 3 ? GUARD_HELD : usual.verdict;
        assert_false(clock_state_is(&usual, &state));
    }
}

TEST(log_says_all_that_is_wrong_with_the_clock_or_that_nothing_is)
{
    static const struct {
        int64_t wall_ms;
        int64_t ahead_ms;
        int64_t behind_ms;
        const char *lines[2];
    } rows[] = {
        {NOON, 0, 0, {"info event=clock_ok"}},
        {GUARD_SANE_MS - 1, 0, 0, {"warn event=clock_unset wall_ms="}},
        {GUARD_SANE_MS - 1, 0, 1, {"warn event=clock_unset wall_ms="}},
        {NOON, 0, 7, {"warn event=clock_back behind_ms=7 answer=waits"}},
        {NOON, 8, 0, {"warn event=clock_ahead ahead_ms=8"}},
        {NOON, 8, 7, {"event=clock_back", "event=clock_ahead"}},
        {GUARD_SANE_MS - 1, 8, 0, {"event=clock_unset", "event=clock_ahead"}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct clock_view view =
            view_of(rows[i].wall_ms, rows[i].ahead_ms, rows[i].behind_ms);

        view.verdict = GUARD_WAITS;
        events_start();
        clock_state_log(&view);
        assert_int_equal(events_count(rows[i].lines[0], ""), 1);
        if (rows[i].lines[1] != NULL)
            assert_int_equal(events_count(rows[i].lines[1], ""), 1);
        assert_int_equal(events_count("event=clock_", ""),
                         rows[i].lines[1] == NULL ? 1 : 2);
        events_stop();
    }
}
