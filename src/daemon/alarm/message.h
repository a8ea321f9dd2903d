/* SPDX-License-Identifier: Apache-2.0 */
/* A message as the JSON object that is sent. */
#pragma once

#include "daemon/alarm/decide.h"

/* The broker that sends the message. */
struct alarm_sender {
    const char *broker;
    const char *host;
};

/* Returns the text, to be freed with free(); NULL if memory is short.
 * docs/alarms.md lists the members. */
char *alarm_message_json(const struct alarm_message *message,
                         const struct alarm_sender *sender);
