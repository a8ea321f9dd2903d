/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate limiting of failed logins per source: five failures are free, then the
 * source has to wait 1 s before its next login, doubled by each failure up to
 * 30 s. Pure. The time is in ms of any clock that never goes back. Private to
 * this folder.
 */
#pragma once

#include <stdint.h>

#include "daemon/access/login.h"

#define PATIENCE_SOURCES   256
#define PATIENCE_FREE      5
#define PATIENCE_FIRST_MS  1000
#define PATIENCE_MOST_MS   30000
#define PATIENCE_FORGET_MS INT64_C(600000) /* after the last failure */

struct patience_source {
    char name[LOGIN_SOURCE_SIZE]; /* "": free */
    int failures;
    int64_t failed_ms; /* of the last failure */
    int64_t until_ms;  /* no login is checked before that */
};

/* A zeroed struct is empty. When it is full, the source whose last failure is
 * the oldest is forgotten. */
struct patience {
    struct patience_source sources[PATIENCE_SOURCES];
};

/* ms until a login of that source is checked; 0: now. */
int64_t patience_left(const struct patience *patience, const char *source,
                      int64_t now_ms);

/* Counts a failed login. A successful login does not reset the count, so that
 * the owner of one account cannot guess another one's password any faster. */
void patience_fail(struct patience *patience, const char *source,
                   int64_t now_ms);
