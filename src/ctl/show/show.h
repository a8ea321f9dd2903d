/* SPDX-License-Identifier: Apache-2.0 */
/* How the daemon's answers to SEQ.SHOW are shown. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ctl/ctl.h"
#include "ctl/table/table.h"

/* Which lines of the log to show. */
struct event_filter {
    int64_t since_ms; /* ms since 1970 */
    size_t level;     /* the least severe level to show: 0 is error, 3 is
                         debug */
};

/* Reads --since and --level. False, with the error reported. */
bool event_filter_init(struct event_filter *filter,
                       const struct ctl_options *options);

/* Keeps the lines that pass the filter. */
void events_keep(struct rows *events, const struct event_filter *filter);

/* Prints each event on a line: the moment, the level, and the words. */
bool events_print(const struct rows *events, const struct view *view);
