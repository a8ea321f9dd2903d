/* SPDX-License-Identifier: Apache-2.0 */
/* The refill of a bucket; see bucket.h. */
#include "daemon/access/bucket.h"

#include <stddef.h>

#define UNIT 1000 /* units of a token: one ms refills `a_second` units */

static void bucket_refill(struct bucket *bucket, const struct bucket_size *size,
                          int64_t now_ms)
{
    const int64_t passed_ms = now_ms - bucket->looked_ms;

    bucket->looked_ms = now_ms;
    if (passed_ms >= bucket->spent / size->a_second + 1)
        bucket->spent = 0;
    else
        bucket->spent -= passed_ms * size->a_second;
}

bool bucket_take(struct bucket *bucket, const struct bucket_size *size,
                 int64_t count, int64_t now_ms, int64_t *wait_ms)
{
    int64_t over = 0;

    bucket_refill(bucket, size, now_ms);
    over = bucket->spent + (count - size->at_once) * UNIT;
    if (wait_ms != NULL)
        *wait_ms = over > 0 ? (over + size->a_second - 1) / size->a_second : 0;
    if (over > 0)
        return false;
    bucket->spent += count * UNIT;
    return true;
}

int64_t bucket_left(struct bucket *bucket, const struct bucket_size *size,
                    int64_t now_ms)
{
    int64_t left = 0;

    bucket_refill(bucket, size, now_ms);
    left = size->at_once - (bucket->spent + UNIT - 1) / UNIT;
    return left > 0 ? left : 0;
}

/* The bucket may have been refilled meanwhile: it is never more than full. */
void bucket_give_back(struct bucket *bucket, int64_t count)
{
    bucket->spent -= count * UNIT;
    if (bucket->spent < 0)
        bucket->spent = 0;
}
