/* SPDX-License-Identifier: Apache-2.0 */
/* The subject of an event, and whether the event begins or ends a state: one
 * table. */
#pragma once

#include <stdbool.h>

#define ALARM_SUBJECT_SIZE 256
#define ALARM_EVENT_SIZE   32
#define ALARM_STATE_EVENTS 26 /* in the table */

enum alarm_subject_kind {
    ALARM_OF_ONCE,    /* no state: a single event */
    ALARM_OF_COUNTER, /* the state of a counter, of which there may be many */
    ALARM_OF_SYSTEM,  /* any other state: of a partition, the clock, ... */
    ALARM_SUBJECT_KINDS
};

struct alarm_subject {
    char event[ALARM_EVENT_SIZE];
    /* "partition pool=main partition=2 backend=pg-a": the same for the event
     * that begins a state and for the event that ends it. */
    char name[ALARM_SUBJECT_SIZE];
    enum alarm_subject_kind kind;
    bool ends;
};

/* False if the line has no event, or an event of the alarms themselves, which
 * are never sent as alarms. */
bool alarm_subject_find(const char *line, struct alarm_subject *out);
