/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: answers that are made from a snapshot, on a separate thread, one
 * report after the other. However many sequences there are, no command waits
 * for a report. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct daemon;
struct event_base;
struct exchange;
struct reports;
struct snapshot;

struct report_order {
    const char *type; /* content type */
    size_t most;      /* how many of the busiest sequences; 0: all sequences */
    void (*write)(struct buffer *out, const struct snapshot *snapshot);
};

/* Returns NULL if memory or descriptors are short. */
struct reports *reports_open(struct daemon *daemon, struct event_base *base);

/* Answers the exchange by a report, later. */
void report_start(struct exchange *exchange, const struct report_order *order);

/* Waits for the report in progress. The other reports must have been cancelled.
 * NULL is allowed. */
void reports_close(struct reports *reports);
