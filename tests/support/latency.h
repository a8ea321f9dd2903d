/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of the durations of calls. The width of a bucket is 1/32 of its
 * value: a quantile is at most 3 % too high, and never too low.
 */
#pragma once

#include <stdint.h>

#define LATENCY_SUB_BITS 5
#define LATENCY_BUCKETS  (60 << LATENCY_SUB_BITS)

struct latency {
    int64_t count;
    int64_t max_ns; /* exact */
    int64_t buckets[LATENCY_BUCKETS];
};

void latency_init(struct latency *latency);

/* A negative duration counts as 0. Not thread-safe. */
void latency_add(struct latency *latency, int64_t ns);

/* The same for a caller that calls every `interval_ns`, but could not while
 * this call took longer. The calls that were delayed are added, too, each with
 * the time that it would have waited ("coordinated omission"). 0: no fixed
 * pace. */
void latency_add_paced(struct latency *latency, int64_t ns,
                       int64_t interval_ns);

/* Adds all calls of another histogram. */
void latency_merge(struct latency *latency, const struct latency *other);

/* The quantile `share` (0 ... 1), in ns; 0 if there was no call. */
int64_t latency_at(const struct latency *latency, double share);
