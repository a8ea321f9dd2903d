/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: a line for each order, each order that was refused, and each login
 * that was refused; in the log, and in a file if there is one. Of more than 20
 * a second the rest is counted. Private to the folder, but by access.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/status.h>

#include "daemon/access/bucket.h"

struct audit {
    const char *file; /* NULL: none; the caller's */
    struct bucket bucket;
    int64_t left_out; /* lines since the last one */
    int64_t logins_refused;
    bool has_failed; /* the file could not be written, which was said */
};

/* What is told. Texts may be NULL, and may come from a client. */
struct audit_entry {
    const char *user;
    const char *by;      /* the means by which that is known */
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

/* An order was carried out; one was refused; a login was refused. */
typedef void audit_function(struct audit *audit,
                            const struct audit_entry *entry,
                            struct audit_time time);

audit_function audit_order;
audit_function audit_order_refused;
audit_function audit_login_refused;
