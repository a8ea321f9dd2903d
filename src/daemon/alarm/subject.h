/* SPDX-License-Identifier: Apache-2.0 */
/* What an event is about, and whether it lasts or ends something: one table. */
#pragma once

#include <stdbool.h>

#define ALARM_SUBJECT_SIZE 256
#define ALARM_EVENT_SIZE   32
#define ALARM_STATE_EVENTS 19 /* in the table */

struct alarm_subject {
    char event[ALARM_EVENT_SIZE];
    /* "partition pool=main partition=2 backend=pg-a": alike for what begins a
     * state and for what ends it. */
    char name[ALARM_SUBJECT_SIZE];
    bool lasts;
    bool ends;
};

/* False: a line without an event, or an event of the alarms themselves, which
 * never is an alarm. */
bool alarm_subject_find(const char *line, struct alarm_subject *out);
