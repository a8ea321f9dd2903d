/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a sequence runs out: what is left of its counters' values, over the
 * rate at which the stores' counters grow, whoever asks them. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORECAST_DAY_MS    INT64_C(86400000)
#define FORECAST_SAMPLE_MS INT64_C(60000)             /* at least in between */
#define FORECAST_SPAN_MS   FORECAST_DAY_MS            /* the average's memory */
#define FORECAST_FAR_MS    (365250 * FORECAST_DAY_MS) /* 1000 years */
#define FORECAST_NEVER     INT64_MAX                  /* farther than that */

struct forecast {
    int64_t at_ms;   /* of the last sample */
    int64_t span_ms; /* that the rate was seen over; 0: there is none yet */
    double rate;     /* values a ms, all partitions together */
    int32_t warned;  /* warnings that were given */
    bool is_new;     /* sampled since somebody looked whether to warn */
};

void forecast_init(struct forecast *forecast, int64_t now_ms);

bool forecast_is_due(const struct forecast *forecast, int64_t now_ms);

/*
 * Learns the rate from the highest value of each of n partitions at the last
 * sample and now; 0 where it was not known, then its growth is not either.
 * What an average of a day has seen for a minute only, such as a counter that
 * was raised, is forgotten with the days.
 */
void forecast_sample(struct forecast *forecast, const int64_t *before,
                     const int64_t *now, size_t n, int64_t now_ms);

/* ms until the last of them passes `limit`, or FORECAST_NEVER. Partitions
 * with value 0, not known, count for nothing. */
int64_t forecast_end_ms(const struct forecast *forecast, const int64_t *now,
                        size_t n, int64_t limit);

/* Whether that is nearer than a term that was not warned of yet: a year, 30
 * days, a day. True once for each. */
bool forecast_warns(struct forecast *forecast, int64_t end_ms);
