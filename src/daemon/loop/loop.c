/* SPDX-License-Identifier: Apache-2.0 */
/* Setting up libevent; see loop.h. */
#include "daemon/loop/loop.h"

#include <stddef.h>

/* Events of the second priority that are run before the loop looks for events
 * of the first one. A bound by time would need libevent's precise clock, which
 * costs a system call in each turn of the loop. */
#define OTHERS_MAX 16

struct event_base *loop_new(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config == NULL)
        return NULL;
    if (event_config_set_max_dispatch_interval(config, NULL, OTHERS_MAX,
                                               LOOP_OTHERS) == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    if (base == NULL || event_base_priority_init(base, LOOP_OTHERS + 1) == 0)
        return base;
    event_base_free(base);
    return NULL;
}

struct event *loop_wake_new(struct event_base *base, int fd,
                            event_callback_fn run, void *context)
{
    struct event *wake =
        event_new(base, fd, EV_READ | EV_PERSIST | EV_ET, run, context);

    if (wake != NULL)
        event_priority_set(wake, LOOP_CLIENTS);
    return wake;
}

void timer_start(struct event *timer, int64_t ms)
{
    const struct timeval delay = {(time_t)(ms / 1000),
                                  (suseconds_t)(ms % 1000) * 1000};

    if (event_add(timer, &delay) != 0)
        event_active(timer, EV_TIMEOUT, 0);
}
