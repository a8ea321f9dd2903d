/* SPDX-License-Identifier: Apache-2.0 */
/* A wait with a deadline, which a stop of the daemon shortens. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct alarm_wait {
    int stop_fd; /* readable when the daemon stops */
    int64_t end_ms;
    int64_t grace_ms; /* what a stop leaves of the wait, at most */
    bool is_stopping;
};

/* Begins a wait of `span_ms`. The caller has set stop_fd and grace_ms of
 * `*wait`. */
void alarm_wait_begin(struct alarm_wait *wait, int64_t span_ms);

/* The ms that are left, for poll(). */
int alarm_wait_left(const struct alarm_wait *wait);

/* Notes the stop: at most grace_ms are left from now on. */
void alarm_wait_stop(struct alarm_wait *wait);

/* Waits until `fd` is readable (-1: only for the end). False if the wait ended
 * before, which it does at once if the kernel has no memory for it. */
bool alarm_wait_for(struct alarm_wait *wait, int fd);
