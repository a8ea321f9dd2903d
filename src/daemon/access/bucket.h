/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token bucket: `at_once` tokens at most, refilled at `a_second`. Pure. The
 * time is in ms of any clock that never goes back. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A zeroed bucket is full. */
struct bucket {
    int64_t spent;     /* taken, in thousandths of a token, as of looked_ms */
    int64_t looked_ms; /* when `spent` was updated last */
};

struct bucket_size {
    int64_t at_once; /* 1 ... 2^40 */
    int64_t a_second;
};

/* Takes `count` tokens, at most `at_once`. Returns false and takes nothing if
 * the bucket holds fewer; `*wait_ms` (may be NULL) is then the time until it
 * holds enough. */
bool bucket_take(struct bucket *bucket, const struct bucket_size *size,
                 int64_t count, int64_t now_ms, int64_t *wait_ms);

/* The tokens that it holds now. */
int64_t bucket_left(struct bucket *bucket, const struct bucket_size *size,
                    int64_t now_ms);

/* Returns `count` tokens that were taken. */
void bucket_give_back(struct bucket *bucket, int64_t count);
