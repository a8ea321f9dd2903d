/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token bucket: at most so many at once, and so many a second on average.
 * Pure; ms of any clock that only goes forwards. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zeroed is full. */
struct bucket {
    int64_t spent;     /* thousandths of what is out of it */
    int64_t looked_ms; /* when that was so */
};

struct bucket_size {
    int64_t at_once; /* 1 ... 2^40 */
    int64_t a_second;
};

/* Takes `count`, which is at most `at_once`. False, and nothing taken, if it
 * does not hold as many; `*wait_ms` (may be NULL): when it will. */
bool bucket_take(struct bucket *bucket, const struct bucket_size *size,
                 int64_t count, int64_t now_ms, int64_t *wait_ms);

/* How many it holds. */
int64_t bucket_left(struct bucket *bucket, const struct bucket_size *size,
                    int64_t now_ms);

/* Puts `count` that were taken back. */
void bucket_give_back(struct bucket *bucket, int64_t count);
