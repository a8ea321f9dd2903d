/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many numbers a user, or all clients of a key, may take: in one request,
 * per second, and per day. Pure. Private to the folder, except through
 * access.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "daemon/access/bucket.h"

#define QUOTA_NAME_SIZE 65 /* of a user or a key, with its NUL */

/* 0: no limit. */
struct quota_limits {
    int64_t max_connections; /* of a user */
    int64_t max_count;       /* numbers of one request */
    int64_t rate;            /* numbers a second */
    int64_t burst; /* size of the rate's bucket, in numbers; 0: as `rate` */
    int64_t daily_limit; /* numbers a day; a day begins at 0:00 UTC */
};

struct quota {
    TAILQ_ENTRY(quota) entry; /* of quotas.h */
    char name[QUOTA_NAME_SIZE];
    struct quota_limits limits;
    struct bucket bucket;
    int64_t day;         /* days since 1970, of `today` */
    int64_t today;       /* numbers taken on that day */
    int64_t taken;       /* numbers delivered since the start; never
                            decreases */
    int64_t refused;     /* requests and connections refused since the start */
    int64_t connections; /* of both protocols, now */
    int64_t next_log_ms; /* the next refusal is logged at this time or later */
    int64_t refused_logged;
    bool is_key; /* else a user */
};

TAILQ_HEAD(quota_list, quota);

struct quota_time {
    int64_t now_ms;  /* monotonic */
    int64_t wall_ms; /* since 1970 */
};

enum quota_verdict {
    QUOTA_OK,
    QUOTA_COUNT, /* more than one request may ever ask for */
    QUOTA_RATE,  /* over the rate: try again later */
    QUOTA_DAY    /* the day's numbers are used up */
};

/* The size of the rate's bucket, in numbers; 0: no limit. */
int64_t quota_burst(const struct quota_limits *limits);

/* The most numbers that one request may ask for; INT64_MAX: any number. */
int64_t quota_max_count(const struct quota *quota);

/* The most that it can ever charge at once; INT64_MAX: any number. */
int64_t quota_capacity(const struct quota *quota);

/* The most that quota_take would take now. */
int64_t quota_left(struct quota *quota, struct quota_time time);

/* Takes `count` numbers (at least 1) and `beside` them, which no client gets,
 * or none. Both together are at most quota_capacity, or `beside` is 0. After
 * QUOTA_RATE and QUOTA_DAY,
 * `*wait_ms` says when to try again. A wall clock that goes back does not begin
 * another day. */
enum quota_verdict quota_take(struct quota *quota, int64_t count,
                              int64_t beside, struct quota_time time,
                              int64_t *wait_ms);

/* Returns `count` numbers that were charged but not delivered. */
void quota_give_back(struct quota *quota, int64_t count);

/* Whether the user has as many connections as it may. */
bool quota_is_full(const struct quota *quota);

/* Counts a connection, whose user is in `*place`, as one of `quota`; NULL: of
 * nobody. */
void quota_occupy(struct quota **place, struct quota *quota);
