/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter's values for its forecast. All but the telling with the pool's
 * lock held.
 */
#pragma once

#include "ha/counter.h"
#include "ha/forecast.h"

/* Made when the counter is asked first: most of very many never are. */
struct sample {
    struct forecast forecast;
    int64_t tops[CLASSES]; /* the highest values, by class, when it was taken */
};

/* A slot was answered, and `last` is still what it was before: if its counter
 * was raised above all others, that is not to look like consumption. */
void sample_jump(struct slot *slot);

/* Samples if it is time to. Returns when the sequence runs out if that is to
 * be told now, else FORECAST_NEVER. */
int64_t sample_take(struct ha_counter *counter, int64_t now_ms);

/* With no lock held. */
void sample_tell(const struct ha_counter *counter, int64_t end_ms);
