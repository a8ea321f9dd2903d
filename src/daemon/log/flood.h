/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many lines of an event are written: clients can cause some as often as
 * they like, and a full disk is worse than a line that is missing. Pure, with
 * the time passed in. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOOD_EVENTS     128
#define FLOOD_NAME_SIZE  32
#define FLOOD_BURST      1000  /* lines of an event at once */
#define FLOOD_PER_SECOND 10    /* lines of it later on */
#define FLOOD_REPORT_MS  10000 /* between two reports of what was left out */

struct flood_event {
    char name[FLOOD_NAME_SIZE]; /* "": not in use */
    int64_t lines_ms;  /* that are left, each 1000 / FLOOD_PER_SECOND */
    int64_t at_ms;     /* when that was */
    int64_t left_out;  /* since the last report */
    int64_t report_ms; /* the next one is not before that */
};

/* All zero is one that has seen nothing. */
struct flood {
    struct flood_event events[FLOOD_EVENTS];
};

/* Whether a line "event=NAME ..." is to be written. */
bool flood_admit(struct flood *flood, const char *line, int64_t now_ms);

/* An event of which lines were left out, if one is due to be reported: its
 * name, and `*count`, which begins again. NULL: none is. */
const char *flood_report(struct flood *flood, int64_t now_ms, int64_t *count);
