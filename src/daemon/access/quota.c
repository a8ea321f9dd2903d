/* SPDX-License-Identifier: Apache-2.0 */
/* A token bucket for the rate and a counter for the day; see quota.h. */
#include "daemon/access/quota.h"

#include <stddef.h>

#define DAY_MS INT64_C(86400000)

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t quota_burst(const struct quota_limits *limits)
{
    return limits->rate > 0 && limits->burst > 0 ? limits->burst : limits->rate;
}

static struct bucket_size bucket_size_of(const struct quota_limits *limits)
{
    return (struct bucket_size){.at_once = quota_burst(limits),
                                .a_second = limits->rate};
}

int64_t quota_capacity(const struct quota *quota)
{
    const struct quota_limits *limits = &quota->limits;
    int64_t most = INT64_MAX;

    if (limits->rate > 0)
        most = bucket_size_of(limits).at_once;
    return limits->daily_limit > 0 ? least(most, limits->daily_limit) : most;
}

int64_t quota_max_count(const struct quota *quota)
{
    const int64_t most = quota_capacity(quota);
    const int64_t max_count = quota->limits.max_count;

    return max_count > 0 ? least(most, max_count) : most;
}

/* A clock that goes back a little is still in the same day. One that goes back
 * further was ahead: what it counted is of today. */
static void quota_begin_day(struct quota *quota, int64_t wall_ms)
{
    const int64_t day = wall_ms / DAY_MS;

    if (day + 1 < quota->day)
        quota->day = day;
    if (day <= quota->day)
        return;
    quota->day = day;
    quota->today = 0;
}

int64_t quota_left(struct quota *quota, struct quota_time time)
{
    const struct quota_limits *limits = &quota->limits;
    int64_t left = quota_max_count(quota);

    quota_begin_day(quota, time.wall_ms);
    if (limits->daily_limit > 0)
        left = least(left, limits->daily_limit - quota->today);
    if (limits->rate > 0) {
        const struct bucket_size size = bucket_size_of(limits);

        left = least(left, bucket_left(&quota->bucket, &size, time.now_ms));
    }
    return left > 0 ? left : 0;
}

enum quota_verdict quota_take(struct quota *quota, int64_t count,
                              int64_t beside, struct quota_time time,
                              int64_t *wait_ms)
{
    const struct quota_limits *limits = &quota->limits;
    const struct bucket_size size = bucket_size_of(limits);
    const int64_t all = count + beside;

    *wait_ms = 0;
    if (count > quota_max_count(quota))
        return QUOTA_COUNT;
    quota_begin_day(quota, time.wall_ms);
    if (limits->daily_limit > 0 && quota->today > limits->daily_limit - all) {
        *wait_ms = (quota->day + 1) * DAY_MS - time.wall_ms;
        return QUOTA_DAY;
    }
    if (limits->rate > 0 &&
        !bucket_take(&quota->bucket, &size, all, time.now_ms, wait_ms))
        return QUOTA_RATE;
    quota->today += all;
    return QUOTA_OK;
}

/* If a new day has begun since the numbers were taken, its count may be lower
 * than `count`: it stops at 0. */
void quota_give_back(struct quota *quota, int64_t count)
{
    bucket_give_back(&quota->bucket, count);
    quota->today = count < quota->today ? quota->today - count : 0;
}

bool quota_is_full(const struct quota *quota)
{
    const int64_t most = quota->limits.max_connections;

    return most > 0 && quota->connections >= most;
}

void quota_occupy(struct quota **place, struct quota *quota)
{
    if (*place != NULL)
        (*place)->connections--;
    *place = quota;
    if (quota != NULL)
        quota->connections++;
}
