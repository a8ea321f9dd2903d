/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a sequence runs out: the values that its counters have left, divided by
 * the rate at which these counters grow in the stores, whichever broker asks
 * them. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORECAST_DAY_MS    INT64_C(86400000)
#define FORECAST_SAMPLE_MS INT64_C(60000)  /* at least, between samples */
#define FORECAST_SPAN_MS   FORECAST_DAY_MS /* the average's memory */
#define FORECAST_FAR_MS    (365250 * FORECAST_DAY_MS) /* 1000 years */
#define FORECAST_NEVER     INT64_MAX                  /* later than that */

struct forecast {
    int64_t at_ms;   /* of the last sample */
    int64_t span_ms; /* over which the rate was measured; 0: not measured yet */
    double rate;     /* values a ms, all partitions together */
    int32_t warned;  /* terms that were warned of already */
    bool is_new;     /* sampled since a warning was last considered */
};

void forecast_init(struct forecast *forecast, int64_t now_ms);

bool forecast_is_due(const struct forecast *forecast, int64_t now_ms);

/*
 * Updates the rate from the highest values of n partitions at the last sample
 * and now. A partition with 0 in either was not known then, and its growth is
 * left out. The rate is an average over a day, so a jump within one minute,
 * such as a raise of the counter, fades in the following days.
 */
void forecast_sample(struct forecast *forecast, const int64_t *before,
                     const int64_t *now, size_t n, int64_t now_ms);

/* ms until the last of the partitions passes `limit`, or FORECAST_NEVER.
 * Partitions with value 0, which is not known, are left out. */
int64_t forecast_end_ms(const struct forecast *forecast, const int64_t *now,
                        size_t n, int64_t limit);

/* The same for so many values that are left. */
int64_t forecast_left_ms(const struct forecast *forecast, double left);

/*
 * How many numbers that have a text are not taken yet. `stock` numbers are at
 * hand, the newest of n partitions. A partition has `above` numbers with a text
 * yet to give; less than 0: it gave so many without one.
 */
double forecast_texts_left(const int64_t *above, size_t n, int64_t stock);

/* Whether `end_ms` is within a term that was not warned of yet: a year, 30
 * days, a day. True once for each term. */
bool forecast_warns(struct forecast *forecast, int64_t end_ms);
