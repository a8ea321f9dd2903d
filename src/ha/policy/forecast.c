/* SPDX-License-Identifier: Apache-2.0 */
/* A moving average, and a division. The numbers are doubles because the values
 * of all partitions together may pass 63 bits, and a date needs no more digits.
 */
#include "ha/policy/forecast.h"

#include "platform/minmax.h"

void forecast_init(struct forecast *forecast, int64_t now_ms)
{
    *forecast = (struct forecast){.at_ms = now_ms};
}

bool forecast_is_due(const struct forecast *forecast, int64_t now_ms)
{
    return now_ms - forecast->at_ms >= FORECAST_SAMPLE_MS;
}

void forecast_sample(struct forecast *forecast, const int64_t *before,
                     const int64_t *now, size_t n, int64_t now_ms)
{
    const int64_t past_ms = now_ms - forecast->at_ms;
    bool is_known = false;
    double growth = 0;
    int64_t span_ms;

    forecast->at_ms = now_ms;
    for (size_t i = 0; i < n; i++) {
        if (before[i] <= 0 || now[i] <= 0)
            continue;
        is_known = true;
        growth += (double)max_of(now[i] - before[i], 0);
    }
    if (!is_known || past_ms < 1)
        return;
    span_ms = min_of(forecast->span_ms + past_ms, FORECAST_SPAN_MS);
    if (past_ms >= span_ms)
        forecast->rate = growth / (double)past_ms;
    else
        forecast->rate += (growth / (double)past_ms - forecast->rate) *
                          (double)past_ms / (double)span_ms;
    forecast->span_ms = span_ms;
    forecast->is_new = true;
}

int64_t forecast_end_ms(const struct forecast *forecast, const int64_t *now,
                        size_t n, int64_t limit)
{
    bool is_known = false;
    double left = 0;

    for (size_t i = 0; i < n; i++) {
        if (now[i] <= 0)
            continue;
        is_known = true;
        left += (double)max_of(limit - now[i], 0);
    }
    return is_known ? forecast_left_ms(forecast, left) : FORECAST_NEVER;
}

double forecast_texts_left(const int64_t *above, size_t n, int64_t stock)
{
    double left = 0;
    double beyond = 0;

    for (size_t i = 0; i < n; i++) {
        if (above[i] > 0)
            left += (double)above[i];
        else
            beyond -= (double)above[i];
    }
    return left + ((double)stock > beyond ? (double)stock - beyond : 0);
}

int64_t forecast_left_ms(const struct forecast *forecast, double left)
{
    if (left <= 0)
        return 0;
    /* Compared before dividing, because the rate may be 0 or close to it. */
    if (left >= forecast->rate * (double)FORECAST_FAR_MS)
        return FORECAST_NEVER;
    return (int64_t)(left / forecast->rate);
}

bool forecast_warns(struct forecast *forecast, int64_t end_ms)
{
    static const int64_t terms_ms[] = {365 * FORECAST_DAY_MS,
                                       30 * FORECAST_DAY_MS, FORECAST_DAY_MS};
    int32_t near = 0;

    while (near < 3 && end_ms < terms_ms[near])
        near++;
    if (near <= forecast->warned)
        return false;
    forecast->warned = near;
    return true;
}
