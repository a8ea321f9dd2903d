/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a counter's values, for its forecast. Hold the pool's lock.
 */
#pragma once

#include "ha/counter/counter.h"
#include "ha/policy/policy.h"

/* Made with the counter's first answer, since most of a great many counters are
 * never asked. */
struct sample {
    struct forecast forecast;
    int64_t tops[CLASSES]; /* by class: the highest values at the last sample */
    int64_t text_max;      /* of its template at the last forecast */
};

/* Value of a counter's `runs_out`: no end was found. */
#define SAMPLE_NEVER UINT64_MAX

/* A slot's counter was raised before it was answered; call it before `last` is
 * updated. If the slot now is above all others, the raise is not counted as
 * use. */
void sample_jump(struct slot *slot);

/* Whether a sample is due. After most answers it is not. */
static inline bool sample_is_due(const struct ha_counter *counter,
                                 int64_t now_ms)
{
    const struct sample *sample = counter->sample;

    return sample == NULL || sample->forecast.is_new ||
           forecast_is_due(&sample->forecast, now_ms);
}

#define SAMPLE_REASON_SIZE 160

/* Takes a sample if one is due. True if a warning that the sequence runs out is
 * due, with its reason. Call it when all that was granted is delivered. */
bool sample_take(struct ha_counter *counter, int64_t now_ms,
                 char reason[SAMPLE_REASON_SIZE]);
