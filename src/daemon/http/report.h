/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: answers that are made of a snapshot, on a thread of their own, one
 * after the other. However many sequences there are, no command waits for them.
 * Private to this folder.
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
    const char *type; /* of the content */
    size_t most;      /* sequences, the busiest; 0: all of them */
    void (*write)(struct buffer *out, const struct snapshot *snapshot);
};

/* NULL if memory or descriptors are short. */
struct reports *reports_open(struct daemon *daemon, struct event_base *base);

/* Has the exchange answered by a report. */
void report_start(struct exchange *exchange, const struct report_order *order);

/* Waits for the one that is being made; the others must be cancelled. Takes
 * NULL. */
void reports_close(struct reports *reports);
