/* SPDX-License-Identifier: Apache-2.0 */
/* One target, its pending messages, and the thread that delivers them. */
#pragma once

#include "daemon/alarm/alarm.h"
#include "daemon/alarm/decide.h"
#include "daemon/alarm/message.h"
#include "daemon/alarm/target.h"

struct alarm_channel;

struct alarm_channel_options {
    /* Owned by the channel from now on, also if the open fails. NULL: memory
     * was short, and the open fails. */
    struct alarm_target *target;
    struct alarm_rules rules;
    struct alarm_limits limits;
    struct alarm_sender sender; /* its strings stay the caller's */
};

/* Returns NULL if memory is short or no thread can be started. */
struct alarm_channel *
alarm_channel_open(const struct alarm_channel_options *options);

/* Takes note of an event. Never waits for a delivery. Any thread. */
void alarm_channel_see(struct alarm_channel *channel,
                       const struct alarm_event *event);

/* Moves the states of another channel, under the rules of this one. The other
 * one has none any more. It tells this one what becomes of a delivery that
 * runs, and so is to be closed first. `is_moved`: the receiver is another one,
 * so that the states that last are sent again. */
void alarm_channel_take_over(struct alarm_channel *channel,
                             struct alarm_channel *previous, bool is_moved);

/* Takes note of the states that last in `known` and not in the channel. */
void alarm_channel_adopt(struct alarm_channel *channel,
                         const struct alarm_state *known);

/* Asks the thread to end. It tries once more what waits, errors first, within
 * limits.grace_ms. */
void alarm_channel_stop(struct alarm_channel *channel);

/* Waits for the thread to end, and frees the channel. alarm_channel_stop must
 * have been called before. NULL is allowed. */
void alarm_channel_close(struct alarm_channel *channel);
