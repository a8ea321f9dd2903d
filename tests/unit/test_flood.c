/* SPDX-License-Identifier: Apache-2.0 */
/* How many lines of an event are written, whatever clients do. */
#include "daemon/log/flood.h"

#include "support/test.h"

#define START_MS INT64_C(1000000)

static int64_t admitted(struct flood *flood, const char *line, int64_t now_ms,
                        int64_t times)
{
    int64_t count = 0;

    for (int64_t i = 0; i < times; i++)
        count += flood_admit(flood, line, now_ms);
    return count;
}

TEST(a_burst_of_lines_is_written_and_then_some_a_second)
{
    struct flood flood = {0};

    assert_int_equal(admitted(&flood, "event=drained a=1", START_MS, 5000),
                     FLOOD_BURST);
    assert_int_equal(
        admitted(&flood, "event=drained a=2", START_MS + 3000, 5000),
        3 * FLOOD_PER_SECOND);
    assert_int_equal(
        admitted(&flood, "event=drained a=2", START_MS + 86400000, 5000),
        FLOOD_BURST);
}

TEST(other_events_are_written_meanwhile)
{
    struct flood flood = {0};

    (void)admitted(&flood, "event=drained", START_MS, 5000);
    assert_int_equal(admitted(&flood, "event=poisoned x=1", START_MS, 1), 1);
    assert_int_equal(admitted(&flood, "no event", START_MS, 1), 1);
}

TEST(what_was_left_out_is_reported_now_and_then)
{
    struct flood flood = {0};
    int64_t count = 0;

    assert_null(flood_report(&flood, START_MS, &count));
    (void)admitted(&flood, "event=drained", START_MS, FLOOD_BURST + 7);
    assert_string_equal(flood_report(&flood, START_MS, &count), "drained");
    assert_int_equal(count, 7);
    assert_int_equal(admitted(&flood, "event=drained", START_MS + 1, 5), 0);
    assert_null(flood_report(&flood, START_MS + 1, &count));
    assert_string_equal(
        flood_report(&flood, START_MS + FLOOD_REPORT_MS, &count), "drained");
    assert_int_equal(count, 5);
}

TEST(more_events_than_there_is_room_for_share_it)
{
    struct flood flood = {0};
    char line[] = "event=aaa";
    int64_t count = 0;

    for (int i = 0; i < 26 * 26; i++) {
        line[7] = (char)('a' + i / 26);
        line[8] = (char)('a' + i % 26);
        count += flood_admit(&flood, line, START_MS);
    }
    assert_int_equal(count, 26 * 26);
    line[7] = 'z';
    assert_true(admitted(&flood, line, START_MS, 5000) <= FLOOD_BURST);
}
