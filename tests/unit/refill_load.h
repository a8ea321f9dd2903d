/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load in virtual time: takers, one ring, its refill, and partitions that
 * answer late and in part. It imitates what queue and pool do around the plan.
 * The tests check the results.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "queue/refill.h"

#define LOAD_PARTITIONS 4
#define LOAD_SECOND     ((int64_t)1000000) /* us */

struct load_flight {
    bool is_busy;
    int64_t asked_us;
    int64_t lands_us;
    int64_t asked; /* number of numbers */
    int64_t granted;
};

/* Counted by load_run, since its start. */
struct load_seen {
    int64_t dry_us; /* time in which somebody waited */
    /* The last such time, since the start; 0: nobody waited. */
    int64_t dry_until_us;
    int64_t looks;
    int64_t asks;  /* each to one partition */
    int64_t asked; /* number of numbers */
    int64_t most;  /* most numbers held and asked for at a time */
    int64_t least_stock;
    int64_t least_target;
    int64_t most_target;
    int64_t turns; /* changes of the target's direction, by more than a tenth */
};

struct load {
    struct refill_rules rules;
    int64_t delay_us; /* usual duration of a reservation */
    /* Number of threads that take; 0: missing numbers are owed. */
    int64_t callers;
    bool is_noisy; /* looks are late, answers are slow, grants are partial */

    int64_t now_us;
    struct refill refill;
    struct refill_plan plan;
    int64_t look_us; /* the next look; INT64_MAX: when the ring is low */
    bool is_armed;   /* reaching the low-water mark triggers a look */
    int64_t stock;
    uint64_t consumed;
    int64_t owed;      /* numbers that callers wait for */
    int64_t millionth; /* part of a number that was used, in millionths */
    struct load_flight flights[LOAD_PARTITIONS];
    int32_t turn;
    uint64_t seed;

    struct load_seen seen;
    int64_t begun_us;
    /* The target's extreme since its direction last changed. */
    int64_t extreme;
    bool is_rising;
};

void load_init(struct load *load, const struct refill_rules *rules,
               int64_t delay_us);

/* Takers want `per_s` numbers a second for `us`. If the load is noisy, the rate
 * varies between a half and one and a half of that in each slice of `slice_us`.
 * Returns what was counted. */
struct load_seen load_run(struct load *load, int64_t us, int64_t per_s);
struct load_seen load_run_uneven(struct load *load, int64_t us, int64_t per_s,
                                 int64_t slice_us);
