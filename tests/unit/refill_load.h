/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load in virtual time: takers, one ring, its refill, and partitions that
 * answer late and in part. What the queue and the pool do around the plan is
 * done here after their rules; the tests say what must come of it.
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
    int64_t asked; /* numbers */
    int64_t granted;
};

/* Counted by load_run, from its beginning. */
struct load_seen {
    int64_t dry_us;       /* somebody waited */
    int64_t dry_until_us; /* since the beginning; 0: nobody waited */
    int64_t looks;
    int64_t asks;  /* of one partition each */
    int64_t asked; /* numbers */
    int64_t most;  /* numbers held and asked for at once */
    int64_t least_stock;
    int64_t least_target;
    int64_t most_target;
    int64_t turns; /* of the target's direction, by more than a tenth */
};

struct load {
    struct refill_rules rules;
    int64_t delay_us; /* of a reservation, usually */
    int64_t callers;  /* threads that take; 0: what is not there is owed */
    bool is_noisy;    /* late looks, slow answers, partial grants */

    int64_t now_us;
    struct refill refill;
    struct refill_plan plan;
    int64_t look_us; /* INT64_MAX: when the ring is low */
    bool is_armed;   /* a look is called for at the low-water mark */
    int64_t stock;
    uint64_t consumed;
    int64_t owed;      /* numbers that callers wait for */
    int64_t millionth; /* of a number, used in part */
    struct load_flight flights[LOAD_PARTITIONS];
    int32_t turn;
    uint64_t seed;

    struct load_seen seen;
    int64_t begun_us;
    int64_t extreme; /* of the target, since its last turn */
    bool is_rising;
};

void load_init(struct load *load, const struct refill_rules *rules,
               int64_t delay_us);

/* `per_s` numbers a second are wanted for a while; if the load is noisy, half
 * to one and a half of it in each slice of `slice_us`. Returns what was seen.
 */
struct load_seen load_run(struct load *load, int64_t us, int64_t per_s);
struct load_seen load_run_uneven(struct load *load, int64_t us, int64_t per_s,
                                 int64_t slice_us);
