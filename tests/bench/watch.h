/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a broker's partitions every ms, and notes when each of them changed
 * first since a moment that is told. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#define WATCHED 4 /* partitions */

struct watch;

/* us after the mark; -1: it has not happened. */
struct watched {
    int64_t suspect_us; /* a call passed its first time-out */
    int64_t out_us;     /* quarantined */
    int64_t granted_us; /* granted values */
    int64_t full_us;    /* had its whole share of what was granted lately */
};

/* Ends the program if it cannot be started. */
struct watch *watch_new(struct seqb_broker *broker);
void watch_free(struct watch *watch); /* takes NULL */

/* What happens from now on is noted. */
void watch_mark(struct watch *watch);

/* The same of partition i alone. */
void watch_mark_one(struct watch *watch, int i);

struct watched watch_read(struct watch *watch, int i);

/* Waits until it has happened to partition i, at most so long. */
enum watch_what { WATCH_OUT, WATCH_GRANTED, WATCH_FULL };
bool watch_await(struct watch *watch, int i, enum watch_what what,
                 int64_t patience_ms);
