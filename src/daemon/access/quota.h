/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many numbers a user, or whoever asks for a key, may take: in one request,
 * a second, and a day. Pure. Private to the folder, but by access.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "daemon/access/bucket.h"

#define QUOTA_NAME_SIZE 65 /* of a user or a key, with its end */

/* 0: no limit. */
struct quota_limits {
    int64_t max_connections; /* of a user */
    int64_t max_count;       /* numbers of one request */
    int64_t rate;            /* numbers a second */
    int64_t burst;           /* numbers at once, if there is a rate; 0: rate */
    int64_t daily_limit;     /* numbers a day, which begins at 0:00 UTC */
};

struct quota {
    TAILQ_ENTRY(quota) entry; /* of quotas.h */
    char name[QUOTA_NAME_SIZE];
    struct quota_limits limits;
    struct bucket bucket;
    int64_t day;         /* since 1970, that `today` is of */
    int64_t today;       /* numbers that were taken in it */
    int64_t taken;       /* those since the start */
    int64_t refused;     /* requests since the start */
    int64_t connections; /* of the Redis protocol, now */
    int64_t told_ms;     /* a refusal is not logged again before that */
    int64_t refused_told;
    bool is_key; /* else a user */
};

TAILQ_HEAD(quota_list, quota);

struct quota_time {
    int64_t now_ms;  /* monotonic */
    int64_t wall_ms; /* since 1970 */
};

enum quota_verdict {
    QUOTA_OK,
    QUOTA_COUNT, /* so many are never given to one request */
    QUOTA_RATE,  /* later */
    QUOTA_DAY    /* tomorrow */
};

/* Numbers at once; 0: no limit. */
int64_t quota_burst(const struct quota_limits *limits);

/* The most numbers that one request may ask for; INT64_MAX: any number. */
int64_t quota_max_count(const struct quota *quota);

/* The most that quota_take would take now. */
int64_t quota_left(struct quota *quota, struct quota_time time);

/* Takes `count`, which is at least 1, or nothing. `*wait_ms`: after QUOTA_RATE
 * and QUOTA_DAY, when to try again. A clock that goes back begins no other day.
 */
enum quota_verdict quota_take(struct quota *quota, int64_t count,
                              struct quota_time time, int64_t *wait_ms);

/* So many that were taken did not come: they are there again. */
void quota_give_back(struct quota *quota, int64_t count);

/* Whether one connection more is too many. */
bool quota_is_full(const struct quota *quota);
