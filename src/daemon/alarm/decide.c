/* SPDX-License-Identifier: Apache-2.0 */
/* Firing, holding back, reminding and resolving; see decide.h. */
#include "daemon/alarm/decide.h"

#include <stdio.h>
#include <string.h>

#define ESCAPE_SIZE 6 /* the longest: \u001b */

/* --- rows --- */

static bool row_lasts(const struct alarm_row *row)
{
    return row->kind != ALARM_OF_ONCE;
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

/* The subject has no row, or loses it. */
static enum alarm_verdict lack(struct alarm_state *state,
                               enum alarm_subject_kind kind,
                               const char *subject)
{
    state->left_out++;
    if (kind == ALARM_OF_ONCE || state->is_full[kind])
        return ALARM_HELD;
    state->is_full[kind] = true;
    snprintf(state->lacking, sizeof state->lacking, "%s", subject);
    return ALARM_LACKS;
}

/* What the displaced row did not send is left out. A row whose event was sent
 * is no loss, unless it is a state: its end will not be sent. */
static void displace(struct alarm_state *state, const struct alarm_row *row)
{
    if (row->is_waiting || row_lasts(row))
        (void)lack(state, row->kind, row->subject);
}

static enum alarm_verdict fire_first(struct alarm_state *state,
                                     const struct alarm_subject *subject,
                                     const struct alarm_event *event,
                                     int64_t now_ms)
{
    struct alarm_row *row = alarm_rows_make(state->rows, subject->kind);

    if (row == NULL)
        return lack(state, subject->kind, subject->name);
    if (row->is_used)
        displace(state, row);
    else
        state->is_full[subject->kind] = false;
    *row = (struct alarm_row){
        .is_used = true, .kind = subject->kind, .is_firing = true};
    snprintf(row->subject, sizeof row->subject, "%s", subject->name);
    snprintf(row->event, sizeof row->event, "%s", subject->event);
    row->since_ms = event->time_ms;
    row_describe(row, event);
    row_wait(row, now_ms);
    return ALARM_WAITS;
}

/* Whether the receiver knows of this event. */
static bool row_says(const struct alarm_state *state,
                     const struct alarm_row *row, const char *event,
                     int64_t now_ms)
{
    if (!row->is_announced || strcmp(row->sent_event, event) != 0)
        return false;
    return row_lasts(row) || now_ms < row->sent_ms + state->rules.reminder_ms;
}

/* Another event of a known subject. It replaces an event that waits to be
 * sent. News need not rest: the target may be well again. */
static enum alarm_verdict fire_again(struct alarm_state *state,
                                     struct alarm_row *row,
                                     const struct alarm_subject *subject,
                                     const struct alarm_event *event,
                                     int64_t now_ms)
{
    const bool is_known = row_says(state, row, subject->event, now_ms);
    const bool was_waiting = row->is_waiting;
    const bool was_firing = row->is_firing;
    const bool is_news = !was_firing || strcmp(row->event, subject->event) != 0;

    row->is_firing = true;
    snprintf(row->event, sizeof row->event, "%s", subject->event);
    row_describe(row, event);
    if (was_waiting)
        state->left_out++;
    if (is_known) {
        row->is_waiting = false;
        return hold(state);
    }
    if (!was_waiting && (!row_lasts(row) || !was_firing))
        row->since_ms = event->time_ms;
    if (is_news)
        row->rest_until_ms = now_ms;
    row_wait(row, now_ms);
    return was_waiting && !is_news ? ALARM_HELD : ALARM_WAITS;
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
    row->rest_until_ms = now_ms;
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
        (!is_alarm && !subject.ends) ||
        (state->rules.only_states && subject.kind == ALARM_OF_ONCE))
        return ALARM_IGNORED;
    row = alarm_rows_find(state->rows, subject.name);
    if (subject.ends)
        return row == NULL ? ALARM_IGNORED : end(state, row, event, now_ms);
    return row == NULL ? fire_first(state, &subject, event, now_ms)
                       : fire_again(state, row, &subject, event, now_ms);
}

bool alarm_lacking(struct alarm_state *state, char out[ALARM_SUBJECT_SIZE])
{
    memcpy(out, state->lacking, ALARM_SUBJECT_SIZE);
    state->lacking[0] = '\0';
    return out[0] != '\0';
}

/* --- reloads --- */

void alarm_send_again(struct alarm_state *state, int64_t now_ms)
{
    for (size_t i = 0; i < ALARM_ROWS; i++) {
        struct alarm_row *row = &state->rows[i];

        if (!row->is_used)
            continue;
        row->rest_until_ms = now_ms;
        if (!row_lasts(row) || !row->is_firing)
            continue;
        row->is_announced = false;
        row_wait(row, now_ms);
    }
}

static bool row_has(const struct alarm_row *row, const char *event)
{
    return row != NULL && row->is_firing && strcmp(row->event, event) == 0;
}

void alarm_adopt(struct alarm_state *state, const struct alarm_state *known,
                 int64_t now_ms)
{
    for (size_t i = 0; i < ALARM_ROWS; i++) {
        const struct alarm_row *from = &known->rows[i];
        const struct alarm_event event = {from->level, from->time_ms,
                                          from->line};
        struct alarm_row *row = alarm_rows_find(state->rows, from->subject);
        const bool is_new = row == NULL;

        if (!from->is_used || row_has(row, from->event))
            continue;
        (void)alarm_decide(state, &event, now_ms);
        row = alarm_rows_find(state->rows, from->subject);
        if (is_new && row != NULL)
            row->since_ms = from->since_ms;
    }
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
    const bool is_counter = row->kind == ALARM_OF_COUNTER;

    if (other == NULL || row->level != other->level)
        return other == NULL || row->level < other->level;
    if (is_counter != (other->kind == ALARM_OF_COUNTER))
        return !is_counter;
    return row->waiting_ms < other->waiting_ms;
}

static bool row_is_reminded(const struct alarm_row *row)
{
    return row_lasts(row) && row->is_firing && row->was_sent &&
           !row->is_waiting;
}

/* When it has something to send; INT64_MAX: never. */
static int64_t row_next_ms(const struct alarm_state *state,
                           const struct alarm_row *row)
{
    if (!row->is_used || row->is_sending)
        return INT64_MAX;
    if (row->is_waiting)
        return later(row->waiting_ms, row->rest_until_ms);
    if (row_is_reminded(row))
        return later(row->sent_ms + state->rules.reminder_ms,
                     row->rest_until_ms);
    return INT64_MAX;
}

static struct alarm_row *row_pick(struct alarm_state *state, int64_t now_ms)
{
    struct alarm_row *waiting = NULL;
    struct alarm_row *reminded = NULL;

    for (size_t i = 0; i < ALARM_ROWS; i++) {
        struct alarm_row *row = &state->rows[i];

        if (now_ms < row_next_ms(state, row))
            continue;
        if (row->is_waiting && row_is_before(row, waiting))
            waiting = row;
        if (!row->is_waiting &&
            (reminded == NULL || row->sent_ms < reminded->sent_ms))
            reminded = row;
    }
    return waiting != NULL ? waiting : reminded;
}

static struct alarm_row *row_pick_last(struct alarm_state *state)
{
    struct alarm_row *waiting = NULL;

    for (size_t i = 0; i < ALARM_ROWS; i++) {
        struct alarm_row *row = &state->rows[i];

        if (row->is_used && row->is_waiting && row_is_before(row, waiting))
            waiting = row;
    }
    return waiting;
}

static enum alarm_kind row_kind(const struct alarm_row *row)
{
    if (!row->is_firing)
        return ALARM_RESOLVED;
    return row->is_waiting ? ALARM_FIRING : ALARM_REMINDER;
}

static void message_take(struct alarm_state *state, const struct alarm_row *row,
                         struct alarm_message *out)
{
    *out = (struct alarm_message){.kind = row_kind(row),
                                  .level = row->level,
                                  .since_ms = row->since_ms,
                                  .time_ms = row->time_ms};
    memcpy(out->subject, row->subject, sizeof out->subject);
    memcpy(out->event, row->is_firing ? row->event : row->sent_event,
           sizeof out->event);
    memcpy(out->line, row->line, sizeof out->line);
    out->left_out = state->left_out;
    state->left_out = 0;
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
    message_take(state, row, out);
    state->paid_until_ms = later(state->paid_until_ms, now_ms) + ALARM_PACE_MS;
    if (row->is_firing)
        memcpy(row->sent_event, row->event, sizeof row->sent_event);
    row->sent_ms = now_ms;
    row->was_sent = true;
    row->is_announced = row->is_firing;
    row->is_waiting = false;
    row->is_sending = true;
    return true;
}

bool alarm_last(struct alarm_state *state, struct alarm_message *out)
{
    struct alarm_row *row = row_pick_last(state);

    if (row == NULL)
        return false;
    message_take(state, row, out);
    row->is_used = false;
    return true;
}

int64_t alarm_next_ms(const struct alarm_state *state)
{
    int64_t next_ms = INT64_MAX;

    for (size_t i = 0; i < ALARM_ROWS; i++) {
        const int64_t row_ms = row_next_ms(state, &state->rows[i]);

        if (row_ms < next_ms)
            next_ms = row_ms;
    }
    return next_ms == INT64_MAX ? next_ms : later(next_ms, pace_next_ms(state));
}

/* --- outcomes --- */

/* The row of the message, which sends no more. NULL: its target is another one
 * since a reload. */
static struct alarm_row *row_sending(struct alarm_state *state,
                                     const struct alarm_message *message)
{
    struct alarm_row *row = alarm_rows_find(state->rows, message->subject);

    if (row == NULL || !row->is_sending)
        return NULL;
    row->is_sending = false;
    return row;
}

void alarm_delivered(struct alarm_state *state,
                     const struct alarm_message *message, int64_t now_ms)
{
    struct alarm_row *sent = row_sending(state, message);

    for (size_t i = 0; i < ALARM_ROWS; i++) {
        struct alarm_row *row = &state->rows[i];

        if (row->rest_until_ms > now_ms + state->rules.rest_ms)
            row->rest_until_ms = now_ms + state->rules.rest_ms;
    }
    if (sent == NULL)
        return;
    sent->failures = 0;
    sent->rest_until_ms = now_ms;
    if (message->kind != ALARM_RESOLVED)
        return;
    sent->was_sent = false;
    if (sent->is_firing)
        return;
    if (sent->is_waiting) /* began and ended during the delivery */
        state->left_out++;
    sent->is_used = false;
}

static void row_rest(struct alarm_row *row, int64_t rest_ms, int64_t now_ms)
{
    const unsigned doublings = row->failures < ALARM_REST_DOUBLINGS
                                   ? row->failures
                                   : ALARM_REST_DOUBLINGS;

    row->failures++;
    row->rest_until_ms = now_ms + (rest_ms << doublings);
}

void alarm_lost(struct alarm_state *state, const struct alarm_message *message,
                int64_t now_ms)
{
    struct alarm_row *row = row_sending(state, message);

    state->left_out += message->left_out;
    if (row == NULL)
        return;
    row_rest(row, state->rules.rest_ms, now_ms);
    if (message->kind == ALARM_REMINDER) {
        row->sent_ms -= state->rules.reminder_ms; /* still due */
        return;
    }
    row->is_announced = false;
    if (row->is_waiting) /* replaced by what came during the delivery */
        state->left_out++;
    row_wait(row, now_ms);
}

/* --- initialization --- */

void alarm_state_init(struct alarm_state *state,
                      const struct alarm_rules *rules)
{
    *state = (struct alarm_state){.rules = *rules};
    state->paid_until_ms = INT64_MIN / 2;
}
