/* SPDX-License-Identifier: Apache-2.0 */
/* The decisions about alarms (src/daemon/alarm/decide.c) over a time that the
 * test sets. */
#pragma once

#include "daemon/alarm/decide.h"

#define REMINDER_MS 3600000
#define REST_MS     10000
#define WALL_MS     INT64_C(1795255200000)
#define PARTITION   " pool=main partition=2 backend=b reason=\"\""

struct desk {
    struct alarm_state state;
    int64_t now_ms;
    struct alarm_message message; /* the newest one */
};

/* For cmocka. Warnings are alarms; of desk_setup_errors errors only. */
int desk_setup(void **out);
int desk_setup_errors(void **out);
int desk_teardown(void **state);

#define DESK   FIXTURE(struct desk *desk, desk_setup, desk_teardown)
#define ERRORS FIXTURE(struct desk *desk, desk_setup_errors, desk_teardown)

enum alarm_verdict see(struct desk *desk, enum seqb_log_level level,
                       const char *line);

/* Whether a message is due. It is then being delivered. */
bool is_sent(struct desk *desk);

/* The same, and it is delivered. */
bool is_due(struct desk *desk);

/* Each of these begins a message, which must be this one. assert_message
 * delivers it, and assert_lost does not. */
void assert_sent(struct desk *desk, enum alarm_kind kind, const char *event);
void assert_message(struct desk *desk, enum alarm_kind kind, const char *event);
void assert_lost(struct desk *desk, enum alarm_kind kind, const char *event);
