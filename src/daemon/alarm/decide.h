/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which log events are sent as alarms, and when. Pure: a struct of
 * fixed size, with the time passed in. It keeps only the newest event of each
 * subject (a partition, a counter, the clock), so that a flood needs no queue:
 * an event that was not sent in time is replaced by a newer one. A message
 * stays in its row until it is delivered.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/alarm/rows.h"

/* At most ALARM_BURST messages at once, then one every ALARM_PACE_MS. */
#define ALARM_BURST   10
#define ALARM_PACE_MS 6000

/* A row rests after a failure, each time twice as long: rest_ms to 64 times
 * that. */
#define ALARM_REST_DOUBLINGS 6

struct alarm_rules {
    enum seqb_log_level level; /* events below it are no alarms */
    int64_t reminder_ms;
    int64_t rest_ms;  /* after the first failure of a row */
    bool only_states; /* ignores single events */
};

/* An event of the log. */
struct alarm_event {
    enum seqb_log_level level;
    int64_t time_ms; /* since 1970 */
    const char *line;
};

struct alarm_state {
    struct alarm_rules rules;
    struct alarm_row rows[ALARM_ROWS];
    int64_t paid_until_ms; /* rate limit: each message sent moves it on by
                              ALARM_PACE_MS */
    uint64_t left_out;     /* events that no message reported */
    /* A state of this kind lacked a row, and none has found a free one since.
     */
    bool is_full[ALARM_SUBJECT_KINDS];
    char lacking[ALARM_SUBJECT_SIZE]; /* that state's subject, until it is
                                         logged */
};

enum alarm_verdict {
    ALARM_IGNORED, /* not an alarm, and does not end one */
    ALARM_HELD,  /* nothing new to send: already reported, or replaced a waiting
                    event, or no free row, which was logged */
    ALARM_WAITS, /* a message became ready to send */
    ALARM_LACKS, /* no free row, which is to be logged: see alarm_lacking */
};

enum alarm_kind { ALARM_FIRING, ALARM_REMINDER, ALARM_RESOLVED };

/* A message to be sent. */
struct alarm_message {
    enum alarm_kind kind;
    char subject[ALARM_SUBJECT_SIZE];
    char event[ALARM_EVENT_SIZE]; /* the event that fired, also if
                                     ALARM_RESOLVED */
    enum seqb_log_level level;
    int64_t since_ms;
    int64_t time_ms;
    uint64_t left_out; /* events not reported since the previous message */
    char line[ALARM_LINE_SIZE]; /* of the newest event; if ALARM_RESOLVED, of
                                   the event that ended the alarm */
};

void alarm_state_init(struct alarm_state *state,
                      const struct alarm_rules *rules);

/* Takes note of an event. `now_ms` is of a clock that never goes back, here as
 * below. */
enum alarm_verdict alarm_decide(struct alarm_state *state,
                                const struct alarm_event *event,
                                int64_t now_ms);

/* Whether a state is without a row, or has lost it, for the first time since
 * there was one: writes its subject. */
bool alarm_lacking(struct alarm_state *state, char out[ALARM_SUBJECT_SIZE]);

/* Takes the next message that may be sent now: waiting events first, by level
 * (errors first), counters last, and then the longest waiting; then reminders.
 * False if there is none. Its row sends nothing else before alarm_delivered or
 * alarm_lost. */
bool alarm_due(struct alarm_state *state, int64_t now_ms,
               struct alarm_message *out);

/* The same for a process that ends: the next event that waits, without pace or
 * rest, and for the last time. */
bool alarm_last(struct alarm_state *state, struct alarm_message *out);

/* When the next message is due if no event comes; INT64_MAX: never. */
int64_t alarm_next_ms(const struct alarm_state *state);

/* The receiver is another one from now on: sends it the states that last. */
void alarm_send_again(struct alarm_state *state, int64_t now_ms);

/* Takes note of the states that last in `known` and not here: they began when
 * nothing was sent, or below the level. */
void alarm_adopt(struct alarm_state *state, const struct alarm_state *known,
                 int64_t now_ms);

/* The message of alarm_due was delivered. Rows that rest do so for rest_ms at
 * most from now on. */
void alarm_delivered(struct alarm_state *state,
                     const struct alarm_message *message, int64_t now_ms);

/* The message of alarm_due could not be delivered: its row rests, and then
 * sends what is true by then. */
void alarm_lost(struct alarm_state *state, const struct alarm_message *message,
                int64_t now_ms);
