/* SPDX-License-Identifier: Apache-2.0 */
/* See alarm_desk.h. */
#include "alarm_desk.h"

#include <stdlib.h>

#include "support/test.h"

static int desk_setup_at(void **out, enum seqb_log_level level)
{
    const struct alarm_rules rules = {
        .level = level, .reminder_ms = REMINDER_MS, .rest_ms = REST_MS};
    struct desk *desk = calloc(1, sizeof *desk);

    if (desk == NULL)
        return -1;
    alarm_state_init(&desk->state, &rules);
    desk->now_ms = 5;
    *out = desk;
    return 0;
}

int desk_setup(void **out)
{
    return desk_setup_at(out, SEQB_LOG_WARN);
}

int desk_setup_errors(void **out)
{
    return desk_setup_at(out, SEQB_LOG_ERROR);
}

int desk_teardown(void **state)
{
    free(*state);
    return 0;
}

enum alarm_verdict see(struct desk *desk, enum seqb_log_level level,
                       const char *line)
{
    const struct alarm_event event = {level, WALL_MS + desk->now_ms, line};

    return alarm_decide(&desk->state, &event, desk->now_ms);
}

bool is_sent(struct desk *desk)
{
    return alarm_due(&desk->state, desk->now_ms, &desk->message);
}

bool is_due(struct desk *desk)
{
    const bool is_due = is_sent(desk);

    if (is_due)
        alarm_delivered(&desk->state, &desk->message, desk->now_ms);
    return is_due;
}

void assert_sent(struct desk *desk, enum alarm_kind kind, const char *event)
{
    assert_true(is_sent(desk));
    assert_int_equal(desk->message.kind, kind);
    assert_string_equal(desk->message.event, event);
}

void assert_message(struct desk *desk, enum alarm_kind kind, const char *event)
{
    assert_sent(desk, kind, event);
    alarm_delivered(&desk->state, &desk->message, desk->now_ms);
}

void assert_lost(struct desk *desk, enum alarm_kind kind, const char *event)
{
    assert_sent(desk, kind, event);
    alarm_lost(&desk->state, &desk->message, desk->now_ms);
}
