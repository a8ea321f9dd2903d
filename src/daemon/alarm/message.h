/* SPDX-License-Identifier: Apache-2.0 */
/* A message as the object of JSON that leaves the process. */
#pragma once

#include "daemon/alarm/decide.h"

/* Who says it. */
struct alarm_sender {
    const char *broker;
    const char *host;
};

/* For free(); NULL: out of memory. docs/alarms.md lists the members. */
char *alarm_message_json(const struct alarm_message *message,
                         const struct alarm_sender *sender);
