/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: one line for each administrative command that was executed or
 * refused, and for each login that was refused. It goes to the log, and to a
 * file if there is one. Orders that cannot be undone are always written. Of
 * other orders, of refused orders, and of refused logins, at most 20 lines a
 * second are written of each kind; the rest is only counted. A line that the
 * file does not get is counted, too: an order is carried out even then, since
 * the log has it. Private to the folder, except through access.h.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/status.h>

#include "daemon/access/bucket.h"

/* The lines of one kind, which are limited. */
struct audit_kind {
    struct bucket bucket;
    int64_t left_out; /* lines that were dropped since the last one */
};

/* A zeroed struct has no file. */
struct audit {
    const char *file; /* NULL: none; the caller's */
    struct audit_kind orders_lines, orders_refused_lines, logins_refused_lines;
    int64_t logins_refused;
    _Atomic int64_t lost; /* lines that the file lacks, since the start */
    pthread_mutex_t lock; /* guards the file and the next field */
    int64_t lost_lately;  /* since it was written for the last time */
};

/* One entry of the audit. Texts may be NULL, and may come from a client. */
struct audit_entry {
    const char *user;
    const char *by;      /* how the user was identified */
    const char *from;    /* an address */
    const char *command; /* "SEQ.DRAIN", "AUTH", "GET /metrics" */
    const char *target;  /* a partition, a key */
    const char *before, *after;
    const char *reason; /* of a refusal */
};

/* Whether the file can be written. SEQB_INVALID. NULL is allowed. */
enum seqb_status audit_check(const char *file, struct seqb_error *err);

struct audit_time {
    int64_t now_ms;  /* monotonic */
    int64_t wall_ms; /* since 1970 */
};

typedef void audit_function(struct audit *audit,
                            const struct audit_entry *entry,
                            struct audit_time time);

audit_function audit_order;          /* a command was executed */
audit_function audit_order_for_good; /* one that cannot be undone was executed;
                                        always written */
audit_function audit_order_in_part;  /* it was executed in some stores only */
audit_function audit_order_refused;
audit_function audit_login_refused;

/* A command that cannot be undone and may take long begins. Always written. Any
 * thread may call it. */
audit_function audit_order_begun;

/* The daemon ends: writes how many lines were left out, and how many the file
 * lacks, where no other line has said that. */
void audit_end(struct audit *audit, int64_t wall_ms);
