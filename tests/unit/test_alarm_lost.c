/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of alarms that could not be delivered, and of those that wait at
 * the end: src/daemon/alarm/decide.c, over time that is passed in. */
#include <stdio.h>
#include <string.h>

#include "alarm_desk.h"
#include "support/test.h"

#define QUARANTINED "event=quarantined" PARTITION
#define UP          "event=up" PARTITION

/* Nothing is due before the rest is over. */
static void rest(struct desk *desk, int64_t span_ms)
{
    assert_int_equal(alarm_next_ms(&desk->state), desk->now_ms + span_ms);
    desk->now_ms += span_ms - 1;
    assert_false(is_sent(desk));
    desk->now_ms++;
}

TEST_WITH(DESK, lost_begin_is_sent_again)
{
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_lost(desk, ALARM_FIRING, "quarantined");
    rest(desk, REST_MS);
    assert_message(desk, ALARM_FIRING, "quarantined");
    assert_int_equal(desk->message.since_ms, WALL_MS + 5);
    assert_int_equal(desk->message.left_out, 0);
    assert_int_equal(alarm_next_ms(&desk->state), desk->now_ms + REMINDER_MS);
}

TEST_WITH(DESK, rest_grows_and_starts_again_after_a_delivery)
{
    int64_t rest_ms = REST_MS;

    see(desk, SEQB_LOG_WARN, QUARANTINED);
    for (int i = 0; i < 2 * ALARM_REST_DOUBLINGS; i++) {
        assert_lost(desk, ALARM_FIRING, "quarantined");
        rest(desk, rest_ms);
        if (i < ALARM_REST_DOUBLINGS)
            rest_ms *= 2;
    }
    assert_int_equal(rest_ms, INT64_C(640000));
    assert_message(desk, ALARM_FIRING, "quarantined");
    see(desk, SEQB_LOG_INFO, UP);
    assert_lost(desk, ALARM_RESOLVED, "quarantined");
    rest(desk, REST_MS);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
}

TEST_WITH(DESK, lost_end_is_sent_until_it_is_delivered)
{
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_message(desk, ALARM_FIRING, "quarantined");
    see(desk, SEQB_LOG_INFO, UP);
    assert_lost(desk, ALARM_RESOLVED, "quarantined");
    rest(desk, REST_MS);
    assert_lost(desk, ALARM_RESOLVED, "quarantined");
    rest(desk, INT64_C(2) * REST_MS);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
    assert_string_equal(desk->message.line, UP);
    assert_int_equal(desk->message.left_out, 0);
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
}

/* The same event is held back only once it was delivered. */
TEST_WITH(DESK, lost_event_that_is_no_state_is_sent_again)
{
    see(desk, SEQB_LOG_WARN, "event=cold sequences=1");
    assert_lost(desk, ALARM_FIRING, "cold");
    assert_int_equal(see(desk, SEQB_LOG_WARN, "event=cold sequences=2"),
                     ALARM_HELD);
    rest(desk, REST_MS);
    assert_message(desk, ALARM_FIRING, "cold");
    assert_string_equal(desk->message.line, "event=cold sequences=2");
    assert_int_equal(desk->message.left_out, 1);
    assert_int_equal(see(desk, SEQB_LOG_WARN, "event=cold sequences=3"),
                     ALARM_HELD);
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
}

/* The begin that failed may have arrived. */
TEST_WITH(DESK, end_of_a_lost_begin_is_one_message)
{
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_lost(desk, ALARM_FIRING, "quarantined");
    assert_int_equal(see(desk, SEQB_LOG_INFO, UP), ALARM_WAITS);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
    assert_int_equal(desk->message.since_ms, WALL_MS + 5);
    assert_int_equal(desk->message.left_out, 1);
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
}

/* The end that failed may have arrived. */
TEST_WITH(DESK, begin_after_a_lost_end_is_one_message)
{
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_message(desk, ALARM_FIRING, "quarantined");
    see(desk, SEQB_LOG_INFO, UP);
    assert_lost(desk, ALARM_RESOLVED, "quarantined");
    assert_int_equal(see(desk, SEQB_LOG_WARN, QUARANTINED), ALARM_WAITS);
    assert_message(desk, ALARM_FIRING, "quarantined");
    assert_int_equal(desk->message.left_out, 1);
    see(desk, SEQB_LOG_INFO, UP);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
}

/* Others that came during the delivery, which then fails. */
TEST_WITH(DESK, what_is_lost_is_replaced_by_what_came_meanwhile)
{
    see(desk, SEQB_LOG_WARN, "event=suspect" PARTITION);
    assert_sent(desk, ALARM_FIRING, "suspect");
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_false(is_sent(desk)); /* not before the outcome is known */
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
    alarm_lost(&desk->state, &desk->message, desk->now_ms);
    rest(desk, REST_MS);
    assert_message(desk, ALARM_FIRING, "quarantined");
    assert_int_equal(desk->message.left_out, 1);
}

TEST_WITH(DESK, end_during_the_delivery_of_its_begin_comes_after_it)
{
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_sent(desk, ALARM_FIRING, "quarantined");
    see(desk, SEQB_LOG_INFO, UP);
    assert_false(is_sent(desk));
    alarm_delivered(&desk->state, &desk->message, desk->now_ms);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
}

TEST_WITH(DESK, begin_during_the_delivery_of_an_end_is_a_new_alarm)
{
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_message(desk, ALARM_FIRING, "quarantined");
    see(desk, SEQB_LOG_INFO, UP);
    assert_sent(desk, ALARM_RESOLVED, "quarantined");
    desk->now_ms = 70;
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    alarm_delivered(&desk->state, &desk->message, desk->now_ms);
    assert_message(desk, ALARM_FIRING, "quarantined");
    assert_int_equal(desk->message.since_ms, WALL_MS + 70);
}

/* It ends before it was told, and nobody hears of it. */
TEST_WITH(DESK, state_within_the_delivery_of_an_end_is_only_counted)
{
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_message(desk, ALARM_FIRING, "quarantined");
    see(desk, SEQB_LOG_INFO, UP);
    assert_sent(desk, ALARM_RESOLVED, "quarantined");
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    see(desk, SEQB_LOG_INFO, UP);
    alarm_delivered(&desk->state, &desk->message, desk->now_ms);
    assert_int_equal(alarm_next_ms(&desk->state), INT64_MAX);
    assert_int_equal(desk->state.left_out, 2);
}

TEST_WITH(DESK, lost_reminder_is_sent_again)
{
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    assert_message(desk, ALARM_FIRING, "quarantined");
    desk->now_ms += REMINDER_MS;
    assert_lost(desk, ALARM_REMINDER, "quarantined");
    rest(desk, REST_MS);
    assert_message(desk, ALARM_REMINDER, "quarantined");
    assert_int_equal(desk->message.left_out, 0);
    assert_int_equal(alarm_next_ms(&desk->state), desk->now_ms + REMINDER_MS);
}

/* What a target refuses for good holds up no other, and a delivery shortens the
 * rests: the target is well. */
TEST_WITH(DESK, rows_rest_on_their_own_and_less_after_a_delivery)
{
    int64_t rest_ms = REST_MS;

    see(desk, SEQB_LOG_ERROR, "event=restart_refused");
    for (int i = 0; i < ALARM_REST_DOUBLINGS; i++, rest_ms *= 2) {
        assert_lost(desk, ALARM_FIRING, "restart_refused");
        rest(desk, rest_ms);
    }
    assert_lost(desk, ALARM_FIRING, "restart_refused");
    see(desk, SEQB_LOG_WARN, "event=cold");
    assert_message(desk, ALARM_FIRING, "cold");
    rest(desk, REST_MS);
    assert_message(desk, ALARM_FIRING, "restart_refused");
}

/* A target that came back is sent at once what got worse. */
TEST_WITH(DESK, news_need_not_rest)
{
    see(desk, SEQB_LOG_WARN, "event=suspect" PARTITION);
    assert_lost(desk, ALARM_FIRING, "suspect");
    assert_int_equal(see(desk, SEQB_LOG_ERROR, "event=poisoned" PARTITION),
                     ALARM_WAITS);
    assert_message(desk, ALARM_FIRING, "poisoned");
}

static void see_waits(struct desk *desk, int pool, const char *event)
{
    char line[64];

    snprintf(line, sizeof line, "event=%s pool=p%d", event, pool);
    see(desk, SEQB_LOG_WARN, line);
}

/* In a full table, the oldest end that failed makes place for a state. */
TEST_WITH(DESK, undelivered_ends_make_place_for_states)
{
    for (int i = 0; i < ALARM_ROWS; i++) {
        see_waits(desk, i, "lessor_waits");
        desk->now_ms += ALARM_PACE_MS;
        assert_message(desk, ALARM_FIRING, "lessor_waits");
    }
    for (int i = 0; i < 2; i++) {
        see_waits(desk, i, "lessor_level");
        assert_lost(desk, ALARM_RESOLVED, "lessor_waits");
        desk->now_ms++;
    }
    see_waits(desk, ALARM_ROWS, "lessor_waits");
    assert_message(desk, ALARM_FIRING, "lessor_waits");
    assert_int_equal(desk->message.left_out, 1);
    desk->now_ms += INT64_C(2) * ALARM_PACE_MS;
    assert_message(desk, ALARM_RESOLVED, "lessor_waits");
    assert_string_equal(desk->message.subject, "lessor pool=p1");
    see_waits(desk, ALARM_ROWS + 1, "lessor_waits"); /* in its place */
    assert_message(desk, ALARM_FIRING, "lessor_waits");
    assert_int_equal(desk->message.left_out, 0);
}

/* A row whose message is on its way is no place for others. */
TEST_WITH(DESK, message_on_its_way_keeps_its_place)
{
    char subject[ALARM_SUBJECT_SIZE];

    see_waits(desk, 0, "raised");
    assert_true(is_sent(desk));
    snprintf(subject, sizeof subject, "%s", desk->message.subject);
    for (int i = 0; i < ALARM_ROWS; i++)
        see_waits(desk, i, "lessor_waits");
    assert_int_equal(desk->state.left_out, 1);
    alarm_lost(&desk->state, &desk->message, desk->now_ms);
    desk->now_ms += INT64_C(2) * ALARM_ROWS * ALARM_PACE_MS;
    do
        assert_true(is_due(desk));
    while (strcmp(desk->message.subject, subject) != 0);
}

/* Errors first, whatever the pace and the rests; each once. */
TEST_WITH(DESK, at_the_end_all_that_waits_is_sent)
{
    struct alarm_message *message = &desk->message;

    see(desk, SEQB_LOG_WARN, "event=cold");
    assert_lost(desk, ALARM_FIRING, "cold");
    for (int i = 1; i < ALARM_BURST; i++) {
        see_waits(desk, i, "raised");
        assert_true(is_due(desk));
    }
    see(desk, SEQB_LOG_WARN, QUARANTINED);
    see(desk, SEQB_LOG_ERROR, "event=start_failed reason=\"\"");
    assert_false(is_sent(desk));
    assert_true(alarm_last(&desk->state, message));
    assert_string_equal(message->event, "start_failed");
    assert_true(alarm_last(&desk->state, message));
    assert_string_equal(message->event, "cold");
    assert_true(alarm_last(&desk->state, message));
    assert_string_equal(message->event, "quarantined");
    assert_false(alarm_last(&desk->state, message));
}

/* Users, the targets of orders, and the names of floods. */
TEST_WITH(DESK, events_of_others_are_not_held_back)
{
    static const struct {
        const char *line, *subject;
    } events[] = {
        {"event=limit_reached user=a limit=rate", "limit_reached user=a"},
        {"event=limit_reached user=b limit=rate", "limit_reached user=b"},
        {"event=limit_reached key=a limit=rate", "limit_reached key=a"},
        {"event=order_in_part user=a by=x target=k reason=\"\"",
         "order_in_part user=a target=k"},
        {"event=order_in_part user=a by=y target=l reason=\"\"",
         "order_in_part user=a target=l"},
        {"event=lines_left_out name=raised count=3",
         "lines_left_out name=raised"},
        {"event=lines_left_out name=cold count=3", "lines_left_out name=cold"},
    };

    for (size_t i = 0; i < COUNT_OF(events); i++) {
        assert_int_equal(see(desk, SEQB_LOG_WARN, events[i].line), ALARM_WAITS);
        assert_true(is_due(desk));
        assert_string_equal(desk->message.subject, events[i].subject);
        assert_int_equal(see(desk, SEQB_LOG_WARN, events[i].line), ALARM_HELD);
    }
}
