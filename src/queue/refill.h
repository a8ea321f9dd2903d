/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much to fetch, and when: sized in time by the recent consumption. Pure:
 * who looks at the ring, and who asks, is sequence.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ha/ha.h"

/* Held of every sequence in use, so that a first burst is met. Numbers. */
#define REFILL_MIN 256

struct refill_rules {
    int32_t runway_ms;
    int64_t max_unused; /* numbers */
    int64_t run;        /* 2^memory_bits numbers */
    int64_t wanted;     /* numbers that a caller wants at once; 0 */
    bool prefetch;
    int32_t interval_ms; /* between two looks at the ring */
};

/* What is remembered between two plans. Rates are numbers a ms. */
struct refill {
    int64_t last_ms; /* the averages are of then */
    uint64_t last_consumed;
    double rate;      /* over about a second */
    double burst;     /* over about 50 ms */
    double supposed;  /* doubled each time that the ring is outrun */
    int64_t since_ms; /* a moment not long ago, to tell that from */
    uint64_t since_consumed;
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

/* Why a plan has its size. */
enum refill_reason {
    REFILL_MINIMUM,    /* REFILL_MIN, or a run: the rate asks for less */
    REFILL_RATE,       /* the long average */
    REFILL_BURST,      /* the short average, well above the long one */
    REFILL_STARVED,    /* doubled, as the ring was outrun */
    REFILL_MAX_UNUSED, /* any of them, cut to max_unused */
    REFILL_ROOM        /* what is asked for was cut to what fits in */
};

struct refill_plan {
    int64_t runs; /* to ask for; 0: nothing */
    enum ha_spread spread;
    int64_t low;    /* numbers: plan again when the stock falls to this */
    int64_t target; /* numbers that ought to be held, for the status */
    enum refill_reason reason;
    double rate;     /* numbers a ms that it reckons with */
    int64_t span_ms; /* that the target is to last at this rate */
};

void refill_init(struct refill *refill, int64_t now_ms);

/* The averages of another sequence, whose callers are to be this one's. */
void refill_carry(struct refill *refill, const struct refill *from,
                  int64_t now_ms);

struct refill_plan refill_decide(struct refill *refill,
                                 const struct refill_rules *rules,
                                 const struct refill_view *view);

/* Numbers a second, the long average; nothing is changed. */
int64_t refill_rate(const struct refill *refill, int64_t now_ms,
                    uint64_t consumed);

/* How long `stock` numbers last at `rate` numbers a second; INT64_MAX if none
 * are used. */
int64_t refill_runway_ms(int64_t rate, int64_t stock);

/* "minimum", "rate", ... */
const char *refill_reason_text(enum refill_reason reason);

/* Writes why the plan has its size, as in "rate: 1,200 numbers/ms x 76 ms";
 * false if it was cut. */
bool refill_explain(const struct refill_plan *plan, char *out, size_t size);
