/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides how much to fetch, and when, from the recent consumption. Pure:
 * sequence_refill.c polls the ring and asks for numbers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ha/ha.h"

/* Numbers. Every sequence in use holds at least this many, to meet a first
 * burst. */
#define REFILL_MIN 256

struct refill_rules {
    int32_t runway_ms;
    int64_t max_unused; /* numbers */
    int64_t run;        /* 2^memory_bits numbers */
    int64_t wanted;     /* numbers that a caller wants at once; 0: none does */
    bool prefetch;
    int32_t interval_ms; /* between two polls of the ring */
};

/* The state between two plans. Rates are in numbers per ms. */
struct refill {
    int64_t last_ms; /* when the averages were updated */
    uint64_t last_consumed;
    double rate;      /* average of about a second */
    double burst;     /* average of about 50 ms */
    double supposed;  /* assumed rate: doubled each time the ring runs dry too
                         soon */
    int64_t since_ms; /* begin of the span in which that is checked */
    uint64_t since_consumed;
};

/* The present state. */
struct refill_view {
    int64_t now_ms;
    uint64_t consumed; /* numbers, since the sequence was made */
    int64_t stock;     /* numbers in the ring */
    int64_t fresh;     /* numbers asked for that are not late */
    int64_t room;      /* numbers that fit, without all that is asked for */
    int64_t delay_ms;  /* the usual delay of a reservation */
    bool is_starved;   /* a caller waits, or the ring is empty though it
                          prefetches */
};

/* Why a plan has its size. */
enum refill_reason {
    REFILL_MINIMUM,    /* REFILL_MIN, or a run: the rate needs less */
    REFILL_RATE,       /* the long average */
    REFILL_BURST,      /* the short average, well above the long one */
    REFILL_STARVED,    /* doubled, because the ring ran dry too soon */
    REFILL_MAX_UNUSED, /* any of these, cut to max_unused */
    REFILL_ROOM        /* the ask was cut to what fits */
};

struct refill_plan {
    int64_t runs; /* to ask for; 0: nothing */
    enum ha_spread spread;
    int64_t low;    /* numbers: plan again when the stock falls to this */
    int64_t target; /* numbers to hold; the status shows it */
    enum refill_reason reason;
    double rate;     /* numbers per ms; the plan is based on it */
    int64_t span_ms; /* how long the target is to last at this rate */
};

void refill_init(struct refill *refill, int64_t now_ms);

/* Takes over the averages of another sequence, whose callers will use this
 * one. */
void refill_carry(struct refill *refill, const struct refill *from,
                  int64_t now_ms);

struct refill_plan refill_decide(struct refill *refill,
                                 const struct refill_rules *rules,
                                 const struct refill_view *view);

/* Numbers per second, by the long average. Changes nothing. */
int64_t refill_rate(const struct refill *refill, int64_t now_ms,
                    uint64_t consumed);

/* How long `stock` numbers last at `rate` numbers per second; INT64_MAX if no
 * numbers are used. */
int64_t refill_runway_ms(int64_t rate, int64_t stock);

/* "minimum", "rate", ... */
const char *refill_reason_text(enum refill_reason reason);

/* Writes why the plan has its size, as in "rate: 1,200 numbers/ms x 76 ms";
 * false if it was cut. */
bool refill_explain(const struct refill_plan *plan, char *out, size_t size);
