/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate limit of the lines of each event: clients can cause some events as often
 * as they like, and a full disk is worse than a missing line. Pure, with the
 * time passed in. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOOD_EVENTS     128
#define FLOOD_NAME_SIZE  32
#define FLOOD_BURST      1000  /* lines of an event at once, at most */
#define FLOOD_PER_SECOND 10    /* lines of an event per second after that */
#define FLOOD_REPORT_MS  10000 /* between two reports of an event */

struct flood_event {
    char name[FLOOD_NAME_SIZE]; /* "": not in use */
    int64_t lines_ms;  /* credit: a line costs 1000 / FLOOD_PER_SECOND */
    int64_t at_ms;     /* when lines_ms was updated */
    int64_t left_out;  /* lines dropped since the last report */
    int64_t report_ms; /* the next report is not before that */
};

/* A zeroed struct has seen no event. */
struct flood {
    struct flood_event events[FLOOD_EVENTS];
};

/* Whether the line "event=NAME ..." may be written. Counts it as dropped if
 * not. */
bool flood_admit(struct flood *flood, const char *line, int64_t now_ms);

/* The name of an event whose dropped lines are due to be reported, with their
 * number in `*count`, which starts again at 0. NULL if there is none. */
const char *flood_report(struct flood *flood, int64_t now_ms, int64_t *count);
