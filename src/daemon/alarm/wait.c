/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for descriptors until a deadline; see wait.h. */
#include "daemon/alarm/wait.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>

#include "daemon/daemon.h"

#define REST_MS 10 /* where the kernel has no memory to wait */

void alarm_wait_begin(struct alarm_wait *wait, int64_t span_ms)
{
    const int64_t now_ms = daemon_now_ms();

    wait->end_ms = span_ms < INT64_MAX - now_ms ? now_ms + span_ms : INT64_MAX;
}

int alarm_wait_left(const struct alarm_wait *wait)
{
    const int64_t left_ms = wait->end_ms - daemon_now_ms();

    if (left_ms <= 0)
        return 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

void alarm_wait_stop(struct alarm_wait *wait)
{
    const int64_t end_ms = daemon_now_ms() + wait->grace_ms;

    if (!wait->is_stopping && end_ms < wait->end_ms)
        wait->end_ms = end_ms;
    wait->is_stopping = true;
}

bool alarm_wait_for(struct alarm_wait *wait, int fd)
{
    for (;;) {
        struct pollfd both[] = {
            {.fd = fd, .events = POLLIN},
            {.fd = wait->is_stopping ? -1 : wait->stop_fd, .events = POLLIN}};
        const int left_ms = alarm_wait_left(wait);

        if (poll(both, 2, left_ms) < 0 && errno != EINTR) {
            (void)nanosleep(&(struct timespec){0, REST_MS * 1000000L}, NULL);
            return false;
        }
        if (both[0].revents != 0)
            return true;
        if (both[1].revents != 0)
            alarm_wait_stop(wait);
        else if (left_ms == 0)
            return false;
    }
}
