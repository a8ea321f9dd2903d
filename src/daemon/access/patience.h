/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failed logins of one source make its next ones wait: five are free, then it
 * is 1 s, doubled by each failure up to 30 s. Pure; ms of any clock that only
 * goes forwards. Private to this folder.
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
    int64_t failed_ms; /* the last time */
    int64_t until_ms;  /* before that none is looked at */
};

/* Zeroed knows nobody. Of too many sources the one that failed longest ago is
 * forgotten. */
struct patience {
    struct patience_source sources[PATIENCE_SOURCES];
};

/* ms until a login of that source is looked at; 0: now. */
int64_t patience_left(const struct patience *patience, const char *source,
                      int64_t now_ms);

/* A login of it was wrong. One that is right changes nothing: who has a user of
 * their own may not guess another one's password any faster. */
void patience_fail(struct patience *patience, const char *source,
                   int64_t now_ms);
