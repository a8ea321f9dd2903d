/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms of the log of this process, and what the log says of them. */
#pragma once

#include "daemon/alarm/alarm.h"

#define ALARM_LOGGED_SIZE 512

struct alarm_fixture {
    struct alarm_settings settings; /* to be filled in by the test */
    struct alarm_limits limits;     /* patient, and quick to try again */
    struct alarms *alarms;          /* NULL before alarm_begin */
    char folder[128];
};

/* For cmocka. */
int alarm_setup(void **out);
int alarm_teardown(void **state);

/* From now on events become alarms. */
void alarm_begin(struct alarm_fixture *fixture);

/* Waits for its end. */
void alarm_end(struct alarm_fixture *fixture);

/* Waits until the log has said so much of the alarms themselves since the
 * begin, and returns the last such line. It is a hang if it never does. */
const char *alarm_wait_logged(size_t count);

/* How much it has said. */
size_t alarm_logged(void);
