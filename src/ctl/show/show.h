/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon tells of itself by SEQ.SHOW: how it is shown. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ctl/ctl.h"
#include "ctl/table/table.h"

/* Which lines of the log are shown. */
struct event_filter {
    int64_t since_ms; /* ms since 1970 */
    size_t level;     /* the least that is shown: 0 is error, 3 is debug */
};

/* By --since and --level. False after having said what is wrong with them. */
bool event_filter_init(struct event_filter *filter,
                       const struct ctl_options *options);

/* Keeps the lines that pass it. */
void events_keep(struct rows *events, const struct event_filter *filter);

/* A line each: the moment, the level, and the words. */
bool events_print(const struct rows *events, const struct view *view);
