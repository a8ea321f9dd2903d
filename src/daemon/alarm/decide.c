/* SPDX-License-Identifier: Apache-2.0 */
/* Firing, holding back, reminding and resolving; see decide.h. */
#include "daemon/alarm/decide.h"

#include <stdio.h>
#include <string.h>

#define ESCAPE_SIZE 6 /* the longest: \u001b */

/* --- rows --- */

static struct alarm_row *row_find(struct alarm_state *state,
                                  const char *subject)
{
    for (size_t i = 0; i < ALARM_ROWS; i++) {
        struct alarm_row *row = &state->rows[i];

        if (row->is_used && strcmp(row->subject, subject) == 0)
            return row;
    }
    return NULL;
}

static struct alarm_row *row_free(struct alarm_state *state)
{
    for (size_t i = 0; i < ALARM_ROWS; i++) {
        if (!state->rows[i].is_used)
            return &state->rows[i];
    }
    return NULL;
}

/* The row of an event that is not a state, and was sent longest ago; NULL:
 * there is none. `*count` is the number of rows of such events, sent or not. */
static struct alarm_row *row_sent_once(struct alarm_state *state, size_t *count)
{
    struct alarm_row *oldest = NULL;

    *count = 0;
    for (size_t i = 0; i < ALARM_ROWS; i++) {
        struct alarm_row *row = &state->rows[i];

        if (!row->is_used || row->lasts)
            continue;
        (*count)++;
        if (!row->is_waiting &&
            (oldest == NULL || row->sent_ms < oldest->sent_ms))
            oldest = row;
    }
    return oldest;
}

/* A free row, but for events that are not states only while ALARM_ONCE_ROWS are
 * not in use; else the row of such an event that was sent. */
static struct alarm_row *row_make(struct alarm_state *state, bool lasts)
{
    size_t count = 0;
    struct alarm_row *sent = row_sent_once(state, &count);
    struct alarm_row *row = NULL;

    if (lasts || count < ALARM_ONCE_ROWS)
        row = row_free(state);
    return row != NULL ? row : sent;
}

/* A truncated line ends with `..."`, as in the log, and is not cut within a
 * character or an escape. */
static void line_copy(char to[ALARM_LINE_SIZE], const char *line)
{
    static const char cut[] = "...\"";
    size_t end = ALARM_LINE_SIZE - sizeof cut;

    snprintf(to, ALARM_LINE_SIZE, "%s", line);
    if (strlen(line) < ALARM_LINE_SIZE)
        return;
    for (size_t i = 1; i < ESCAPE_SIZE && to[end] != '\\'; i++)
        if (to[end - i] == '\\')
            end -= i;
    while (end > 0 &&
           ((unsigned char)to[end - 1] >= 0x80 || to[end - 1] == '\\'))
        end--;
    snprintf(to + end, ALARM_LINE_SIZE - end, "%s", cut);
}

static void row_describe(struct alarm_row *row, const struct alarm_event *event)
{
    row->level = event->level;
    row->time_ms = event->time_ms;
    line_copy(row->line, event->line);
}

static void row_wait(struct alarm_row *row, int64_t now_ms)
{
    if (!row->is_waiting)
        row->waiting_ms = now_ms;
    row->is_waiting = true;
}

/* --- events --- */

static enum alarm_verdict hold(struct alarm_state *state)
{
    state->left_out++;
    return ALARM_HELD;
}

static enum alarm_verdict fire_first(struct alarm_state *state,
                                     const struct alarm_subject *subject,
                                     const struct alarm_event *event,
                                     int64_t now_ms)
{
    struct alarm_row *row = row_make(state, subject->lasts);

    if (row == NULL)
        return hold(state);
    *row = (struct alarm_row){
        .is_used = true, .lasts = subject->lasts, .is_firing = true};
    snprintf(row->subject, sizeof row->subject, "%s", subject->name);
    snprintf(row->event, sizeof row->event, "%s", subject->event);
    row->since_ms = event->time_ms;
    row_describe(row, event);
    row_wait(row, now_ms);
    return ALARM_WAITS;
}

/* Whether the last message already reported this event. */
static bool row_says(const struct alarm_state *state,
                     const struct alarm_row *row, const char *event,
                     int64_t now_ms)
{
    if (!row->was_sent || strcmp(row->sent_event, event) != 0)
        return false;
    return row->lasts || now_ms < row->sent_ms + state->rules.reminder_ms;
}

/* Another event of a known subject. It replaces an event that waits to be
 * sent. */
static enum alarm_verdict fire_again(struct alarm_state *state,
                                     struct alarm_row *row,
                                     const struct alarm_subject *subject,
                                     const struct alarm_event *event,
                                     int64_t now_ms)
{
    const bool is_known = row_says(state, row, subject->event, now_ms);
    const bool was_waiting = row->is_waiting;

    row->is_firing = true;
    snprintf(row->event, sizeof row->event, "%s", subject->event);
    row_describe(row, event);
    if (was_waiting)
        state->left_out++;
    if (is_known) {
        row->is_waiting = false;
        return hold(state);
    }
    if (!row->lasts && !was_waiting)
        row->since_ms = event->time_ms;
    row_wait(row, now_ms);
    return was_waiting ? ALARM_HELD : ALARM_WAITS;
}

static enum alarm_verdict end(struct alarm_state *state, struct alarm_row *row,
                              const struct alarm_event *event, int64_t now_ms)
{
    const enum seqb_log_level level = row->level;

    if (!row->is_firing)
        return ALARM_IGNORED;
    if (row->is_waiting)
        state->left_out++;
    row->is_firing = false;
    if (!row->was_sent) { /* never reported: nothing to resolve */
        row->is_used = false;
        return hold(state);
    }
    row_describe(row, event);
    row->level = level;
    row_wait(row, now_ms);
    return ALARM_WAITS;
}

enum alarm_verdict alarm_decide(struct alarm_state *state,
                                const struct alarm_event *event, int64_t now_ms)
{
    const bool is_alarm = event->level <= state->rules.level;
    struct alarm_subject subject;
    struct alarm_row *row;

    if (!alarm_subject_find(event->line, &subject) ||
        (!is_alarm && !subject.ends))
        return ALARM_IGNORED;
    row = row_find(state, subject.name);
    if (subject.ends)
        return row == NULL ? ALARM_IGNORED : end(state, row, event, now_ms);
    return row == NULL ? fire_first(state, &subject, event, now_ms)
                       : fire_again(state, row, &subject, event, now_ms);
}

/* --- sending --- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t pace_next_ms(const struct alarm_state *state)
{
    return state->paid_until_ms - (int64_t)(ALARM_BURST - 1) * ALARM_PACE_MS;
}

static bool row_is_before(const struct alarm_row *row,
                          const struct alarm_row *other)
{
    if (other == NULL || row->level != other->level)
        return other == NULL || row->level < other->level;
    return row->waiting_ms < other->waiting_ms;
}

static bool row_is_reminded(const struct alarm_row *row)
{
    return row->is_used && row->lasts && row->is_firing && row->was_sent &&
           !row->is_waiting;
}

static struct alarm_row *row_pick(struct alarm_state *state, int64_t now_ms)
{
    struct alarm_row *waiting = NULL;
    struct alarm_row *reminded = NULL;

    for (size_t i = 0; i < ALARM_ROWS; i++) {
        struct alarm_row *row = &state->rows[i];

        if (row->is_used && row->is_waiting && row_is_before(row, waiting))
            waiting = row;
        if (row_is_reminded(row) &&
            now_ms >= row->sent_ms + state->rules.reminder_ms)
            reminded = row;
    }
    return waiting != NULL ? waiting : reminded;
}

static enum alarm_kind row_kind(const struct alarm_row *row)
{
    if (!row->is_firing)
        return ALARM_RESOLVED;
    return row->is_waiting ? ALARM_FIRING : ALARM_REMINDER;
}

static void message_fill(struct alarm_message *out, const struct alarm_row *row)
{
    *out = (struct alarm_message){.kind = row_kind(row),
                                  .level = row->level,
                                  .since_ms = row->since_ms,
                                  .time_ms = row->time_ms};
    memcpy(out->subject, row->subject, sizeof out->subject);
    memcpy(out->event, row->is_firing ? row->event : row->sent_event,
           sizeof out->event);
    memcpy(out->line, row->line, sizeof out->line);
}

bool alarm_due(struct alarm_state *state, int64_t now_ms,
               struct alarm_message *out)
{
    struct alarm_row *row;

    if (now_ms < pace_next_ms(state))
        return false;
    row = row_pick(state, now_ms);
    if (row == NULL)
        return false;
    message_fill(out, row);
    out->left_out = state->left_out;
    state->left_out = 0;
    state->paid_until_ms = later(state->paid_until_ms, now_ms) + ALARM_PACE_MS;
    memcpy(row->sent_event, row->event, sizeof row->sent_event);
    row->sent_ms = now_ms;
    row->was_sent = true;
    row->is_waiting = false;
    row->is_used = row->is_firing;
    return true;
}

int64_t alarm_next_ms(const struct alarm_state *state)
{
    int64_t next_ms = INT64_MAX;

    for (size_t i = 0; i < ALARM_ROWS; i++) {
        const struct alarm_row *row = &state->rows[i];
        int64_t row_ms = INT64_MAX;

        if (row->is_used && row->is_waiting)
            row_ms = row->waiting_ms;
        else if (row_is_reminded(row))
            row_ms = row->sent_ms + state->rules.reminder_ms;
        if (row_ms < next_ms)
            next_ms = row_ms;
    }
    return next_ms == INT64_MAX ? next_ms : later(next_ms, pace_next_ms(state));
}

/* --- initialization --- */

void alarm_state_init(struct alarm_state *state,
                      const struct alarm_rules *rules)
{
    *state = (struct alarm_state){.rules = *rules};
    state->paid_until_ms = INT64_MIN / 2;
}

void alarm_lost(struct alarm_state *state, const struct alarm_message *message)
{
    state->left_out += message->left_out + 1;
}
