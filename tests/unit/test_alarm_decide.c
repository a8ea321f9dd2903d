/* SPDX-License-Identifier: Apache-2.0 */
/* Which events become alarms, and when they are sent:
 * src/daemon/alarm/decide.c, over time that is passed in. */
#include <stdio.h>
#include <string.h>

#include "alarm_desk.h"
#include "support/test.h"

/* Sends all that is due until nothing is left, however long that takes. */
static size_t send_all(struct desk *desk)
{
    size_t count = 0;

    for (;;) {
        const int64_t next_ms = alarm_next_ms(&desk->state);

        if (next_ms > desk->now_ms + REMINDER_MS / 2)
            return count;
        if (next_ms > desk->now_ms)
            desk->now_ms = next_ms;
        assert_true(is_due(desk));
        count++;
    }
}

TEST_WITH(DESK, failed_partition_fires_and_its_return_resolves)
{
    assert_int_equal(
        see(desk, SEQB_LOG_WARN, "event=quarantined was=up" PARTITION),
        ALARM_WAITS);
    assert_message(desk, ALARM_FIRING, "quarantined");
    assert_string_equal(desk->message.subject,
                        "partition pool=main partition=2 backend=b");
    assert_int_equal(desk->message.since_ms, WALL_MS + 5);
    assert_false(is_due(desk));
    desk->now_ms = 70;
    assert_int_equal(see(desk, SEQB_LOG_INFO, "event=up was=ramping" PARTITION),
                     ALARM_WAITS);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
    assert_int_equal(desk->message.level, SEQB_LOG_WARN);
    assert_int_equal(desk->message.since_ms, WALL_MS + 5);
    assert_int_equal(desk->message.time_ms, WALL_MS + 70);
    assert_string_equal(desk->message.line, "event=up was=ramping" PARTITION);
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
}

TEST_WITH(DESK, another_partition_resolves_nothing)
{
    see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION);
    assert_true(is_due(desk));
    assert_int_equal(
        see(desk, SEQB_LOG_INFO, "event=up pool=main partition=3 backend=b"),
        ALARM_IGNORED);
    assert_false(is_due(desk));
}

TEST_WITH(DESK, what_lasts_is_reminded_of)
{
    see(desk, SEQB_LOG_ERROR, "event=poisoned" PARTITION);
    assert_true(is_due(desk));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(alarm_next_ms(&desk->state),
                         desk->now_ms + REMINDER_MS);
        desk->now_ms += REMINDER_MS - 1;
        assert_false(is_due(desk));
        desk->now_ms++;
        assert_message(desk, ALARM_REMINDER, "poisoned");
    }
    see(desk, SEQB_LOG_INFO, "event=up" PARTITION);
    assert_message(desk, ALARM_RESOLVED, "poisoned");
    desk->now_ms += INT64_C(2) * REMINDER_MS;
    assert_false(is_due(desk));
}

TEST_WITH(DESK, what_just_happened_is_not)
{
    see(desk, SEQB_LOG_ERROR, "event=restart_refused reason=\"\"");
    assert_message(desk, ALARM_FIRING, "restart_refused");
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
    desk->now_ms += INT64_C(2) * REMINDER_MS;
    assert_false(is_due(desk));
}

/* One message in a reminder's time, which counts the others. */
TEST_WITH(DESK, what_happens_again_is_held_back)
{
    see(desk, SEQB_LOG_WARN, "event=cold sequences=1");
    assert_true(is_due(desk));
    for (int i = 0; i < 7; i++)
        assert_int_equal(see(desk, SEQB_LOG_WARN, "event=cold sequences=2"),
                         ALARM_HELD);
    assert_false(is_due(desk));
    desk->now_ms += REMINDER_MS;
    assert_int_equal(see(desk, SEQB_LOG_WARN, "event=cold sequences=3"),
                     ALARM_WAITS);
    assert_message(desk, ALARM_FIRING, "cold");
    assert_int_equal(desk->message.left_out, 7);
    assert_string_equal(desk->message.line, "event=cold sequences=3");
}

TEST_WITH(DESK, state_that_gets_worse_is_sent_again)
{
    see(desk, SEQB_LOG_WARN, "event=suspect" PARTITION);
    assert_message(desk, ALARM_FIRING, "suspect");
    see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION);
    assert_message(desk, ALARM_FIRING, "quarantined");
    see(desk, SEQB_LOG_INFO, "event=up" PARTITION);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
    assert_int_equal(desk->message.left_out, 0);
}

/* Nobody hears of what was over before it could be told. */
TEST_WITH(DESK, state_that_ends_untold_is_only_counted)
{
    see(desk, SEQB_LOG_WARN, "event=suspect" PARTITION);
    assert_int_equal(see(desk, SEQB_LOG_INFO, "event=up" PARTITION),
                     ALARM_HELD);
    assert_false(is_due(desk));
    see(desk, SEQB_LOG_WARN, "event=resumed reason=\"\"");
    assert_message(desk, ALARM_FIRING, "resumed");
    assert_int_equal(desk->message.left_out, 2);
}

TEST_WITH(DESK, end_that_did_not_last_is_only_counted)
{
    see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION);
    assert_true(is_due(desk));
    see(desk, SEQB_LOG_INFO, "event=up" PARTITION);
    assert_int_equal(see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION),
                     ALARM_HELD);
    assert_false(is_due(desk));
    see(desk, SEQB_LOG_INFO, "event=up" PARTITION);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
    assert_int_equal(desk->message.left_out, 2);
}

/* The one that waits says what is true as it is sent. */
TEST_WITH(DESK, change_that_was_not_told_is_not_what_resolves)
{
    see(desk, SEQB_LOG_WARN, "event=suspect" PARTITION);
    assert_message(desk, ALARM_FIRING, "suspect");
    see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION);
    see(desk, SEQB_LOG_INFO, "event=up" PARTITION);
    assert_message(desk, ALARM_RESOLVED, "suspect");
    assert_int_equal(desk->message.left_out, 1);
}

TEST_WITH(ERRORS, warnings_are_no_alarms)
{
    assert_int_equal(see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION),
                     ALARM_IGNORED);
    assert_int_equal(see(desk, SEQB_LOG_INFO, "event=up" PARTITION),
                     ALARM_IGNORED);
    assert_int_equal(see(desk, SEQB_LOG_ERROR, "event=refused" PARTITION),
                     ALARM_WAITS);
    assert_message(desk, ALARM_FIRING, "refused");
    see(desk, SEQB_LOG_INFO, "event=drained" PARTITION);
    assert_message(desk, ALARM_RESOLVED, "refused");
}

TEST_WITH(DESK, alarms_of_alarms_and_other_lines_are_none)
{
    static const char *const lines[] = {
        "event=alarm_failed target=webhook reason=\"\"", "", "no event",
        "event", "event=a_name_that_is_longer_than_any_event_has pool=main"};

    for (size_t i = 0; i < COUNT_OF(lines); i++)
        assert_int_equal(see(desk, SEQB_LOG_ERROR, lines[i]), ALARM_IGNORED);
    assert_int_equal(see(desk, SEQB_LOG_INFO, "event=ready"), ALARM_IGNORED);
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
}

TEST_WITH(DESK, states_end_by_their_own_events)
{
    static const struct {
        const char *begin, *end;
    } cases[] = {
        {"event=suspect" PARTITION, "event=drained" PARTITION},
        {"event=counter_refused key=k counter=c" PARTITION,
         "event=counter_recovered key=k counter=c" PARTITION},
        {"event=lessor_waits" PARTITION, "event=lessor_level" PARTITION},
        {"event=worker_lease_failed pool=p reason=\"\"",
         "event=worker_leased pool=p worker=3"},
        {"event=clock_unset wall_ms=3", "event=clock_ok"},
        {"event=clock_back behind_ms=3 answer=hold", "event=clock_ok"},
        {"event=clock_ahead ahead_ms=3", "event=clock_ok"},
        {"event=clock_not_kept file=\"a b\" reason=\"\"",
         "event=clock_kept file=\"a b\""},
        {"event=layout key=k" PARTITION,
         "event=counter_recovered key=k" PARTITION},
        {"event=exhausted key=k" PARTITION,
         "event=counter_recovered key=k" PARTITION},
        {"event=unasked sequences=2 keys=a,b waiting=2 reason=\"\"",
         "event=asked sequences=2 keys=a,b waiting=0"},
        {"event=tls_reload_failed reason=\"\"",
         "event=tls_reloaded expires=\"\""},
        {"event=audit_failed file=a reason=\"\"", "event=audit_written file=a"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(see(desk, SEQB_LOG_WARN, cases[i].begin), ALARM_WAITS);
        assert_int_equal(send_all(desk), 1);
        assert_int_equal(see(desk, SEQB_LOG_INFO, cases[i].end), ALARM_WAITS);
        assert_int_equal(send_all(desk), 1);
        assert_int_equal(desk->message.kind, ALARM_RESOLVED);
    }
}

/* Some of the sequences have begun. */
TEST_WITH(DESK, state_that_ends_in_part_lasts)
{
    see(desk, SEQB_LOG_WARN, "event=unasked sequences=2 keys=a,b waiting=2");
    assert_message(desk, ALARM_FIRING, "unasked");
    see(desk, SEQB_LOG_INFO, "event=asked sequences=1 keys=a waiting=1");
    assert_false(is_due(desk));
    desk->now_ms += REMINDER_MS;
    assert_message(desk, ALARM_REMINDER, "unasked");
    see(desk, SEQB_LOG_INFO, "event=asked sequences=1 keys=b waiting=0");
    assert_message(desk, ALARM_RESOLVED, "unasked");
}

TEST_WITH(DESK, errors_go_first_then_what_waits_longest)
{
    see(desk, SEQB_LOG_WARN, "event=cold");
    desk->now_ms++;
    see(desk, SEQB_LOG_WARN, "event=dropped");
    desk->now_ms++;
    see(desk, SEQB_LOG_ERROR, "event=exhausted");
    assert_message(desk, ALARM_FIRING, "exhausted");
    assert_message(desk, ALARM_FIRING, "cold");
    assert_message(desk, ALARM_FIRING, "dropped");
}

static void see_at(struct desk *desk, enum seqb_log_level level,
                   const char *event, int number)
{
    char line[64];

    snprintf(line, sizeof line, "event=%s pool=p%d", event, number);
    see(desk, level, line);
}

static void see_number(struct desk *desk, const char *event, int number)
{
    see_at(desk, SEQB_LOG_WARN, event, number);
}

static void see_error(struct desk *desk, const char *event, int number)
{
    see_at(desk, SEQB_LOG_ERROR, event, number);
}

TEST_WITH(DESK, messages_keep_their_pace)
{
    for (int i = 0; i < 3 * ALARM_BURST; i++)
        see_number(desk, "raised", i);
    for (int i = 0; i < ALARM_BURST; i++)
        assert_true(is_due(desk));
    for (int i = 0; i < 2 * ALARM_BURST; i++) {
        assert_false(is_due(desk));
        desk->now_ms += ALARM_PACE_MS - 1;
        assert_false(is_due(desk));
        desk->now_ms++;
        assert_int_equal(alarm_next_ms(&desk->state), desk->now_ms);
        assert_true(is_due(desk));
    }
    assert_false(is_due(desk));
}

TEST_WITH(DESK, rest_earns_one_burst_and_no_more)
{
    see(desk, SEQB_LOG_WARN, "event=cold");
    assert_int_equal(send_all(desk), 1);
    desk->now_ms += INT64_C(1000) * ALARM_BURST * ALARM_PACE_MS;
    for (int i = 0; i < 2 * ALARM_BURST; i++)
        see_number(desk, "raised", i);
    for (int i = 0; i < ALARM_BURST; i++)
        assert_true(is_due(desk));
    assert_false(is_due(desk));
}

/* A flood of what just happens leaves place for states, and none is forgotten:
 * each event was sent or is counted. */
TEST_WITH(DESK, flood_is_counted_and_leaves_place_for_states)
{
    enum { EVENTS = 100000 };
    uint64_t left_out = 0;
    size_t sent = 0;

    for (int i = 0; i < EVENTS; i++)
        see_number(desk, "raised", i);
    assert_int_equal(see(desk, SEQB_LOG_ERROR, "event=poisoned" PARTITION),
                     ALARM_WAITS);
    assert_message(desk, ALARM_FIRING, "poisoned");
    left_out = desk->message.left_out;
    for (sent = 1; alarm_next_ms(&desk->state) < REMINDER_MS; sent++) {
        desk->now_ms = alarm_next_ms(&desk->state);
        assert_true(is_due(desk));
        left_out += desk->message.left_out;
    }
    assert_int_equal(sent, ALARM_ONCE_ROWS + 1);
    assert_int_equal(left_out + sent, EVENTS + 1);
}

/* Those that were sent give their places to others. */
TEST_WITH(DESK, places_are_used_again)
{
    for (int i = 0; i < 10 * ALARM_ROWS; i++) {
        see_number(desk, "raised", i);
        assert_int_equal(send_all(desk), 1);
        see_number(desk, "lessor_waits", i);
        assert_int_equal(send_all(desk), 1);
        see_number(desk, "lessor_level", i);
        assert_int_equal(send_all(desk), 1);
        assert_int_equal(desk->message.left_out, 0);
    }
}

/* Nor do events that were sent long ago keep a state from its place. */
TEST_WITH(DESK, states_take_the_places_of_what_was_sent)
{
    for (int i = 0; i < ALARM_ONCE_ROWS; i++)
        see_number(desk, "raised", i);
    assert_int_equal(send_all(desk), ALARM_ONCE_ROWS);
    for (int i = 0; i < ALARM_ROWS; i++)
        see_number(desk, "lessor_waits", i);
    assert_int_equal(send_all(desk), ALARM_ROWS);
    assert_int_equal(desk->state.left_out, 0);
}

TEST_WITH(DESK, states_without_a_place_are_counted)
{
    for (int i = 0; i < ALARM_ROWS + 3; i++)
        see_number(desk, "lessor_waits", i);
    assert_true(is_due(desk));
    assert_int_equal(desk->message.left_out, 3);
}

/* Whether the alarms of the counters were sent or not. */
TEST_WITH(DESK, counters_leave_place_for_a_poisoned_partition)
{
    for (int i = 0; i < ALARM_ROWS; i++)
        see_error(desk, "exhausted", i);
    assert_int_equal(see(desk, SEQB_LOG_ERROR, "event=poisoned" PARTITION),
                     ALARM_WAITS);
    assert_message(desk, ALARM_FIRING, "poisoned"); /* first, too */
    assert_int_equal(send_all(desk), ALARM_COUNTER_ROWS);
    for (int i = 0; i < ALARM_ROWS - ALARM_COUNTER_ROWS - 1; i++)
        see_number(desk, "lessor_waits", i);
    send_all(desk);
    assert_int_equal(see(desk, SEQB_LOG_WARN, "event=clock_back behind_ms=3"),
                     ALARM_WAITS);
    desk->now_ms += INT64_C(2) * ALARM_PACE_MS;
    assert_message(desk, ALARM_FIRING, "clock_back");
    see(desk, SEQB_LOG_INFO, "event=up" PARTITION);
    assert_message(desk, ALARM_RESOLVED, "poisoned");
}

/* Counters and single events together fill the table: the least of them goes.
 */
TEST_WITH(DESK, table_that_is_full_has_place_for_a_poisoned_partition)
{
    for (int i = 0; i < ALARM_COUNTER_ROWS; i++)
        see_error(desk, "exhausted", i);
    for (int i = 0; i < ALARM_ONCE_ROWS; i++)
        see_number(desk, "raised", i);
    assert_int_equal(see(desk, SEQB_LOG_ERROR, "event=poisoned" PARTITION),
                     ALARM_WAITS);
    assert_message(desk, ALARM_FIRING, "poisoned");
    assert_int_equal(desk->message.left_out, 1);
    assert_int_equal(send_all(desk), ALARM_ROWS - 1);
}

/* Once, until a counter finds a place again. */
TEST_WITH(DESK, state_without_a_place_is_named_once)
{
    char subject[ALARM_SUBJECT_SIZE];

    for (int i = 0; i < ALARM_COUNTER_ROWS; i++)
        see_error(desk, "exhausted", i);
    assert_false(alarm_lacking(&desk->state, subject));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(see(desk, SEQB_LOG_ERROR, "event=layout pool=p key=a"),
                         ALARM_LACKS);
        assert_int_equal(see(desk, SEQB_LOG_ERROR, "event=layout pool=p key=b"),
                         ALARM_HELD);
        assert_true(alarm_lacking(&desk->state, subject));
        assert_string_equal(subject, "counter pool=p key=a");
        assert_false(alarm_lacking(&desk->state, subject));
        see_number(desk, "counter_recovered", 0);
        see_error(desk, "exhausted", 0);
    }
}

/* With more of them than the pace allows in alarm_reminder. */
TEST_WITH(DESK, each_state_is_reminded_of_in_turn)
{
    enum { STATES = 3 };
    bool was_reminded[STATES] = {false};

    desk->state.rules.reminder_ms = ALARM_PACE_MS / 2;
    for (int i = 0; i < STATES; i++)
        see_number(desk, "lessor_waits", i);
    for (int i = 0; i < STATES; i++)
        assert_true(is_due(desk));
    for (int i = 0; i < 2 * ALARM_BURST; i++) {
        desk->now_ms += ALARM_PACE_MS;
        assert_true(is_due(desk));
        assert_int_equal(desk->message.kind, ALARM_REMINDER);
        was_reminded[desk->message.subject[strlen("lessor pool=p")] - '0'] =
            true;
    }
    for (int i = 0; i < STATES; i++)
        assert_true(was_reminded[i]);
}

TEST_WITH(DESK, line_that_is_too_long_is_cut)
{
    static const char *const fills[] = {"x", "\xc3\xa9", "\\\\", "\\u001b"};

    for (size_t i = 0; i < COUNT_OF(fills); i++) {
        char line[3 * ALARM_LINE_SIZE];
        const char *sent = desk->message.line;
        const size_t head = (size_t)snprintf(
            line, sizeof line, "event=refused pool=p%zu reason=\"a", i);
        size_t length = head;

        while (length + 7 < sizeof line)
            length += (size_t)snprintf(line + length, sizeof line - length,
                                       "%s", fills[i]);
        see(desk, SEQB_LOG_ERROR, line);
        assert_message(desk, ALARM_FIRING, "refused");
        assert_true(strlen(sent) < ALARM_LINE_SIZE);
        assert_string_equal(sent + strlen(sent) - 4, "...\"");
        assert_int_equal(strncmp(sent, line, strlen(sent) - 4), 0);
        assert_int_equal((strlen(sent) - 4 - head) % strlen(fills[i]), 0);
    }
}

TEST_WITH(DESK, subject_that_is_too_long_is_cut_between_characters)
{
    char line[2 * ALARM_SUBJECT_SIZE];
    const char *subject = desk->message.subject;

    for (size_t i = 0; i < 2; i++) { /* at each half of a character */
        size_t length = (size_t)snprintf(line, sizeof line,
                                         "event=clock_not_kept file=\"%s",
                                         i == 0 ? "" : "x");

        while (length + 3 < sizeof line)
            length += (size_t)snprintf(line + length, sizeof line - length,
                                       "\xc3\xa9");
        line[length++] = '"';
        line[length] = '\0';
        see(desk, SEQB_LOG_ERROR, line);
        assert_message(desk, ALARM_FIRING, "clock_not_kept");
        assert_int_equal(
            (strlen(subject) - strlen("clock_file file=\"") - i) % 2, 0);
        assert_true(strlen(subject) >= ALARM_SUBJECT_SIZE - 3);
    }
}
