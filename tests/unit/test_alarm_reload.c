/* SPDX-License-Identifier: Apache-2.0 */
/* What a target is sent after a reload: src/daemon/alarm/decide.c, over time
 * that is passed in. */
#include "alarm_desk.h"
#include "support/test.h"

/* As alarms_open opens it. */
static void desk_know(struct desk *desk)
{
    const struct alarm_rules all = {.level = SEQB_LOG_WARN,
                                    .only_states = true};

    alarm_state_init(&desk->state, &all);
}

/* What began before there was a target, and lasts, is sent to it. Its begin is
 * when it was. */
TEST_WITH(DESK, target_that_is_added_is_sent_what_lasts)
{
    static struct alarm_state known;
    const struct alarm_rules rules = desk->state.rules;

    desk_know(desk);
    see(desk, SEQB_LOG_WARN, "event=cold");
    see(desk, SEQB_LOG_WARN, "event=clock_back behind_ms=3");
    see(desk, SEQB_LOG_WARN, "event=suspect" PARTITION);
    desk->now_ms = 70;
    see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION);
    see(desk, SEQB_LOG_INFO, "event=clock_ok");
    known = desk->state;
    alarm_state_init(&desk->state, &rules);
    alarm_adopt(&desk->state, &known, desk->now_ms);
    assert_message(desk, ALARM_FIRING, "quarantined");
    assert_int_equal(desk->message.since_ms, WALL_MS + 5);
    assert_int_equal(desk->message.time_ms, WALL_MS + 70);
    assert_int_equal(desk->message.left_out, 0);
    alarm_adopt(&desk->state, &known, desk->now_ms); /* each once */
    assert_int_equal(alarm_next_ms(&desk->state), desk->now_ms + REMINDER_MS);
    assert_int_equal(desk->state.left_out, 0);
}

/* At a lower level. The state that got better since is sent as it is now. */
TEST_WITH(ERRORS, level_that_is_lowered_sends_what_was_below_it)
{
    static struct alarm_state known;
    const struct alarm_rules rules = desk->state.rules;

    desk_know(desk);
    see(desk, SEQB_LOG_ERROR, "event=refused" PARTITION);
    see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION);
    see(desk, SEQB_LOG_WARN, "event=lessor_waits" PARTITION);
    known = desk->state;
    alarm_state_init(&desk->state, &rules);
    see(desk, SEQB_LOG_ERROR, "event=refused" PARTITION);
    assert_message(desk, ALARM_FIRING, "refused");
    alarm_adopt(&desk->state, &known, desk->now_ms);
    assert_false(is_due(desk)); /* the level is still that of errors */
    desk->state.rules.level = SEQB_LOG_WARN;
    alarm_adopt(&desk->state, &known, desk->now_ms);
    assert_message(desk, ALARM_FIRING, "quarantined");
    assert_message(desk, ALARM_FIRING, "lessor_waits");
}

/* Even if the target before could not be reached. */
TEST_WITH(DESK, target_that_is_another_one_is_sent_what_lasts_at_once)
{
    see(desk, SEQB_LOG_WARN, "event=quarantined" PARTITION);
    assert_message(desk, ALARM_FIRING, "quarantined");
    see(desk, SEQB_LOG_WARN, "event=lessor_waits" PARTITION);
    assert_lost(desk, ALARM_FIRING, "lessor_waits");
    see(desk, SEQB_LOG_WARN, "event=cold");
    assert_message(desk, ALARM_FIRING, "cold");
    assert_false(is_due(desk));
    alarm_send_again(&desk->state, desk->now_ms);
    assert_true(is_due(desk));
    assert_int_equal(desk->message.kind, ALARM_FIRING);
    assert_true(is_due(desk));
    assert_int_equal(desk->message.kind, ALARM_FIRING);
    assert_int_equal(alarm_next_ms(&desk->state), desk->now_ms + REMINDER_MS);
    see(desk, SEQB_LOG_INFO, "event=up" PARTITION);
    assert_message(desk, ALARM_RESOLVED, "quarantined");
}
