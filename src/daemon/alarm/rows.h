/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of subjects, and which row a new subject gets. The number of
 * counters and of single events has no limit, so each kind may use a part of
 * the table only. All other states are few: a partition, a lessor, the clock.
 * Such a state displaces a row of the two other kinds if the table is full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/alarm/subject.h"

#define ALARM_ROWS         128
#define ALARM_ONCE_ROWS    64 /* at most, for events that are not states */
#define ALARM_COUNTER_ROWS 64 /* at most, for states of counters */
#define ALARM_LINE_SIZE    1024

/* The state of one subject. */
struct alarm_row {
    bool is_used;
    enum alarm_subject_kind kind;
    bool is_firing;    /* has not been ended by an event */
    bool is_waiting;   /* has something to send */
    bool is_sending;   /* a message is being delivered */
    bool was_sent;     /* the receiver may think that it fires: a delivery that
                          failed may have arrived */
    bool is_announced; /* the newest message said that sent_event fires, and has
                     not failed */
    unsigned failures; /* since the last delivery */
    char subject[ALARM_SUBJECT_SIZE];
    char event[ALARM_EVENT_SIZE];
    char sent_event[ALARM_EVENT_SIZE];
    enum seqb_log_level level;
    int64_t since_ms;   /* since 1970: of the first event */
    int64_t time_ms;    /* since 1970: of the newest event */
    int64_t sent_ms;    /* read only if was_sent */
    int64_t waiting_ms; /* since when it waits; read only if is_waiting */
    int64_t rest_until_ms;
    char line[ALARM_LINE_SIZE];
};

/* The row of the subject; NULL: it has none. */
struct alarm_row *alarm_rows_find(struct alarm_row rows[ALARM_ROWS],
                                  const char *subject);

/* A row for a subject of that kind: a free one, or else one that is used and
 * may be overwritten. NULL: there is none. */
struct alarm_row *alarm_rows_make(struct alarm_row rows[ALARM_ROWS],
                                  enum alarm_subject_kind kind);
