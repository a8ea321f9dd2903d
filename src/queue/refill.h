/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much to fetch, and when: sized in time by the recent consumption. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ha/ha.h"

/* Held of every sequence in use, so that a first burst is met. Numbers. */
#define REFILL_MIN 256

struct refill_rules {
    int32_t runway_ms;
    int64_t max_unused; /* numbers */
    int64_t run;        /* 2^memory_bits numbers */
    bool prefetch;
};

/* What is remembered between two plans. */
struct refill {
    int64_t last_ms;
    uint64_t last_consumed;
    double rate;         /* numbers a ms, recent */
    int64_t boost;       /* numbers: doubled each time that the ring ran dry */
    uint64_t boosted_at; /* numbers consumed when it was doubled last */
};

/* What is now. */
struct refill_view {
    int64_t now_ms;
    uint64_t consumed; /* numbers, since the beginning */
    int64_t stock;     /* numbers in the ring */
    int64_t fresh;     /* numbers asked for that will come soon */
    int64_t room;      /* numbers that fit in, less all that is asked for */
    int64_t delay_ms;  /* that a reservation usually takes */
    bool is_starved;   /* somebody waits, or the ring is empty and ought not */
};

struct refill_plan {
    int64_t runs; /* to ask for; 0: nothing */
    enum ha_spread spread;
    int64_t low;    /* numbers: plan again when the stock falls to this */
    int64_t target; /* numbers that ought to be held, for the status */
};

void refill_init(struct refill *refill, int64_t now_ms);

struct refill_plan refill_decide(struct refill *refill,
                                 const struct refill_rules *rules,
                                 const struct refill_view *view);

/* Numbers a second, recent average; nothing is changed. */
int64_t refill_rate(const struct refill *refill, int64_t now_ms,
                    uint64_t consumed);
