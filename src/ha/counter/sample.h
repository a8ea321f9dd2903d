/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter's values for its forecast. All but the telling with the pool's
 * lock held.
 */
#pragma once

#include "ha/counter/counter.h"
#include "ha/policy/policy.h"

/* Made with the counter's first answer: most of very many never are. */
struct sample {
    struct forecast forecast;
    int64_t tops[CLASSES]; /* the highest values, by class, when it was taken */
};

/* Of a counter's `runs_out`: no forecast has seen an end. */
#define SAMPLE_NEVER UINT64_MAX

/* A slot was raised to be answered, and `last` is still what it was before: if
 * it is above all others now, that is not to look like consumption. */
void sample_jump(struct slot *slot);

/* Whether it is time to; most answers are not. */
static inline bool sample_is_due(const struct ha_counter *counter,
                                 int64_t now_ms)
{
    const struct sample *sample = counter->sample;

    return sample == NULL || sample->forecast.is_new ||
           forecast_is_due(&sample->forecast, now_ms);
}

/* Samples if it is due. Returns when the sequence runs out if that is to be
 * told now, else FORECAST_NEVER. */
int64_t sample_take(struct ha_counter *counter, int64_t now_ms);

/* With no lock held. */
void sample_report(const struct ha_counter *counter, int64_t end_ms);
