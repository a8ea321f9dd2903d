/* SPDX-License-Identifier: Apache-2.0 */
/* A wait that has an end, which a stop of the daemon brings near. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct alarm_wait {
    int stop_fd; /* readable once the daemon stops */
    int64_t end_ms;
    int64_t grace_ms; /* what a stop leaves of it, at most */
    bool is_stopping;
};

/* Begins a wait of `span_ms`; `*wait` has its stop_fd and grace_ms. */
void alarm_wait_begin(struct alarm_wait *wait, int64_t span_ms);

/* ms that are left, to be passed to poll. */
int alarm_wait_left(const struct alarm_wait *wait);

/* The stop was seen. */
void alarm_wait_stop(struct alarm_wait *wait);

/* Waits until `fd` is readable; -1 stands for none. False: the end came. */
bool alarm_wait_for(struct alarm_wait *wait, int fd);
