/* SPDX-License-Identifier: Apache-2.0 */
/* One target with what is to be told it: a thread of its own delivers. */
#pragma once

#include "daemon/alarm/alarm.h"
#include "daemon/alarm/decide.h"
#include "daemon/alarm/message.h"
#include "daemon/alarm/target.h"

struct alarm_channel;

struct alarm_channel_options {
    struct alarm_target *target; /* the channel's from now on, also if it fails;
                                    NULL: there is no memory for it */
    struct alarm_rules rules;
    struct alarm_limits limits;
    struct alarm_sender sender; /* the strings stay the caller's */
};

/* NULL: no memory, or no thread. */
struct alarm_channel *
alarm_channel_open(const struct alarm_channel_options *options);

/* Never waits for a delivery. Any thread. */
void alarm_channel_see(struct alarm_channel *channel,
                       const struct alarm_event *event);

/* Has the thread end; what it is at may go on for limits.grace_ms. */
void alarm_channel_stop(struct alarm_channel *channel);

/* Waits for the end of the thread, which was stopped. Takes NULL. */
void alarm_channel_close(struct alarm_channel *channel);
