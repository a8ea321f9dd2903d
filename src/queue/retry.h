/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the stores are asked again about the sequences that wait for stores of
 * other pools. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RETRY_FIRST_MS   1000 /* the rest before the first time; it doubles */
#define RETRY_LONGEST_MS 30000

struct retry {
    uint64_t usable; /* which stores could be asked the last time, see
                        ha_usable */
    int64_t at_ms;   /* the next time, if the same stores can be asked */
    int32_t rest_ms; /* the rest that follows */
};

/* The first sequence waits: the stores were asked just now. */
void retry_begin(struct retry *retry, uint64_t usable, int64_t now_ms);

/* Whether the stores are to be asked now: other ones can be asked than the last
 * time, or the rest is over. If so, that time is noted. */
bool retry_is_due(struct retry *retry, uint64_t usable, int64_t now_ms);
