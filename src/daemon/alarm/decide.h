/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the log leaves the process as an alarm, and when: pure, over a struct
 * of fixed size, with the time passed in. It keeps the newest event of each
 * subject (a partition, a counter, the clock), so that a flood needs no queue:
 * what is not sent in time is replaced by what is true now.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/alarm/subject.h"

#define ALARM_ROWS      128
#define ALARM_ONCE_ROWS 64 /* at most, of events that do not last */
#define ALARM_LINE_SIZE 1024

/* So many at once, and then one in so many ms. */
#define ALARM_BURST   10
#define ALARM_PACE_MS 6000

struct alarm_rules {
    enum seqb_log_level level; /* events below it are no alarms */
    int64_t reminder_ms;
};

/* A line of the log. */
struct alarm_event {
    enum seqb_log_level level;
    int64_t time_ms; /* since 1970 */
    const char *line;
};

/* What is known of one subject. */
struct alarm_row {
    bool is_used;
    bool lasts;      /* until an event ends it; else it just happened */
    bool is_firing;  /* no event ended it yet */
    bool is_waiting; /* to be sent */
    bool was_sent;
    char subject[ALARM_SUBJECT_SIZE];
    char event[ALARM_EVENT_SIZE];
    char sent_event[ALARM_EVENT_SIZE];
    enum seqb_log_level level;
    int64_t since_ms;   /* since 1970: the first event */
    int64_t time_ms;    /* since 1970: the newest one */
    int64_t sent_ms;    /* read only if was_sent */
    int64_t waiting_ms; /* since then; read only if is_waiting */
    char line[ALARM_LINE_SIZE];
};

struct alarm_state {
    struct alarm_rules rules;
    struct alarm_row rows[ALARM_ROWS];
    int64_t paid_until_ms; /* what was sent is paid for by then */
    uint64_t left_out;     /* events that no message told of */
};

enum alarm_verdict {
    ALARM_IGNORED, /* it is no alarm, and ends none */
    ALARM_HELD,    /* it is known, or replaced what waits, or has no place */
    ALARM_WAITS,   /* there is something to send */
};

enum alarm_kind { ALARM_FIRING, ALARM_REMINDER, ALARM_RESOLVED };

/* What is to be sent. */
struct alarm_message {
    enum alarm_kind kind;
    char subject[ALARM_SUBJECT_SIZE];
    char event[ALARM_EVENT_SIZE]; /* what fired, of one that is resolved, too */
    enum seqb_log_level level;
    int64_t since_ms;
    int64_t time_ms;
    uint64_t left_out;          /* since the message before */
    char line[ALARM_LINE_SIZE]; /* of the newest event: what ended it */
};

void alarm_state_init(struct alarm_state *state,
                      const struct alarm_rules *rules);

/* Takes note of an event. `now_ms` is of a clock that never goes back. */
enum alarm_verdict alarm_decide(struct alarm_state *state,
                                const struct alarm_event *event,
                                int64_t now_ms);

/* Takes what is to be sent now: errors first, then what waits longest, then
 * reminders. False: nothing. */
bool alarm_due(struct alarm_state *state, int64_t now_ms,
               struct alarm_message *out);

/* When there will be something to send if no event comes; INT64_MAX: never. */
int64_t alarm_next_ms(const struct alarm_state *state);

/* The message could not be delivered: the next one says so. */
void alarm_lost(struct alarm_state *state, const struct alarm_message *message);
