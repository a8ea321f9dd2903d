/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long calls took, counted in buckets whose width is 1/32 of their value:
 * a figure read from it is at most 3 % too high, never too low.
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

/* A negative time counts as 0. One thread at a time. */
void latency_add(struct latency *latency, int64_t ns);

/* The same of a caller who calls every `interval_ns`, and who could not while
 * this call took longer: the calls that it kept from being made are added,
 * each with what it would have waited. 0: no such pace. */
void latency_add_paced(struct latency *latency, int64_t ns,
                       int64_t interval_ns);

/* Adds all of another one's. */
void latency_merge(struct latency *latency, const struct latency *other);

/* The ns that a share of the calls, 0 ... 1, did not pass; 0 if there was no
 * call. */
int64_t latency_at(const struct latency *latency, double share);
