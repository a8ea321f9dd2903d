/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms from the log of this process, and log lines about the alarms
 * themselves. */
#pragma once

#include "daemon/alarm/alarm.h"

#define ALARM_LOGGED_SIZE 512

struct alarm_fixture {
    struct alarm_settings settings; /* the test fills them in */
    /* Long time-outs and rests, short pauses between attempts. */
    struct alarm_limits limits;
    struct alarms *alarms; /* NULL before alarm_begin */
    char folder[128];
};

/* For cmocka. */
int alarm_setup(void **out);
int alarm_teardown(void **state);

/* From now on events become alarms. */
void alarm_begin(struct alarm_fixture *fixture);

/* Waits until the alarms have ended. */
void alarm_end(struct alarm_fixture *fixture);

/* Waits for the first (`number` = 1) or second line about the alarms themselves
 * since alarm_begin, and returns it. The test hangs if there is never one. */
const char *alarm_wait_logged(size_t number);

/* The number of such lines. */
size_t alarm_logged(void);
