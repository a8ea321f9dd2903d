/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which log events are sent as alarms, and when. Pure: a struct of
 * fixed size, with the time passed in. It keeps only the newest event of each
 * subject (a partition, a counter, the clock), so that a flood needs no queue:
 * an event that was not sent in time is replaced by a newer one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/alarm/subject.h"

#define ALARM_ROWS      128
#define ALARM_ONCE_ROWS 64 /* at most, for events that are not states */
#define ALARM_LINE_SIZE 1024

/* At most ALARM_BURST messages at once, then one every ALARM_PACE_MS. */
#define ALARM_BURST   10
#define ALARM_PACE_MS 6000

struct alarm_rules {
    enum seqb_log_level level; /* events below it are no alarms */
    int64_t reminder_ms;
};

/* An event of the log. */
struct alarm_event {
    enum seqb_log_level level;
    int64_t time_ms; /* since 1970 */
    const char *line;
};

/* The state of one subject. */
struct alarm_row {
    bool is_used;
    bool lasts;      /* a state, until an event ends it; else a single event */
    bool is_firing;  /* has not been ended by an event */
    bool is_waiting; /* has something to send */
    bool was_sent;
    char subject[ALARM_SUBJECT_SIZE];
    char event[ALARM_EVENT_SIZE];
    char sent_event[ALARM_EVENT_SIZE];
    enum seqb_log_level level;
    int64_t since_ms;   /* since 1970: of the first event */
    int64_t time_ms;    /* since 1970: of the newest event */
    int64_t sent_ms;    /* read only if was_sent */
    int64_t waiting_ms; /* since when it waits; read only if is_waiting */
    char line[ALARM_LINE_SIZE];
};

struct alarm_state {
    struct alarm_rules rules;
    struct alarm_row rows[ALARM_ROWS];
    int64_t paid_until_ms; /* rate limit: each message sent moves it on by
                              ALARM_PACE_MS */
    uint64_t left_out;     /* events that no message reported */
};

enum alarm_verdict {
    ALARM_IGNORED, /* not an alarm, and does not end one */
    ALARM_HELD,  /* nothing new to send: already reported, or replaced a waiting
                    event, or no free row */
    ALARM_WAITS, /* a message became ready to send */
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

/* Takes the next message that may be sent now: waiting events first, by level
 * (errors first) and then the longest waiting, then reminders. False if there
 * is none. */
bool alarm_due(struct alarm_state *state, int64_t now_ms,
               struct alarm_message *out);

/* When the next message is due if no event comes; INT64_MAX: never. */
int64_t alarm_next_ms(const struct alarm_state *state);

/* The message could not be delivered: the next message counts it in
 * `left_out`. */
void alarm_lost(struct alarm_state *state, const struct alarm_message *message);
