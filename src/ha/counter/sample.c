/* SPDX-License-Identifier: Apache-2.0 */
/* A counter's values for its forecast: sampled at most once a minute, when the
 * counter is answered or its status is read; and the report that its end is
 * near. */
#include "ha/counter/sample.h"

#include <stdlib.h>

#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/text.h"

#define MINUTE_MS FORECAST_SAMPLE_MS

/* With the pool's lock held. Partitions are kept near one level, so the highest
 * value of a class stands for all its partitions: one that rests will be raised
 * to it. */
static void counter_tops(const struct ha_counter *counter, int64_t top[CLASSES])
{
    for (size_t i = 0; i < CLASSES; i++)
        top[i] = 0;
    for (int32_t i = 0; i < counter->partitions; i++) {
        const struct slot *slot = &counter->slots[i];

        if (slot->last > top[slot_class(slot)])
            top[slot_class(slot)] = slot->last;
    }
}

/* Turns values by class into values by partition. */
static void values_spread(const struct ha_counter *counter,
                          const int64_t by_class[CLASSES], int64_t *out)
{
    for (int32_t i = 0; i < counter->partitions; i++)
        out[i] = by_class[slot_class(&counter->slots[i])];
}

static struct sample *sample_new(int64_t now_ms)
{
    struct sample *sample = calloc(1, sizeof *sample);

    if (sample != NULL)
        forecast_init(&sample->forecast, now_ms);
    return sample;
}

static void counter_sample(struct ha_counter *counter, int64_t now_ms)
{
    struct sample *sample = counter->sample;
    int64_t before[HA_PARTITIONS_MAX];
    int64_t now[HA_PARTITIONS_MAX];

    values_spread(counter, sample->tops, before);
    counter_tops(counter, sample->tops);
    values_spread(counter, sample->tops, now);
    forecast_sample(&sample->forecast, before, now, (size_t)counter->partitions,
                    now_ms);
}

/* 32 bits each, because very many counters have this field. A minute is exact
 * enough for a result that is computed once a minute. */
static void runs_out_note(struct ha_counter *counter, int64_t end_ms,
                          int64_t now_ms)
{
    uint64_t note = SAMPLE_NEVER;

    if (end_ms != FORECAST_NEVER)
        note = (uint64_t)(end_ms / MINUTE_MS) << 32 |
               (uint32_t)(now_ms / MINUTE_MS);
    atomic_store_explicit(&counter->runs_out, note, memory_order_relaxed);
}

static int64_t counter_end_ms(struct ha_counter *counter, int64_t now_ms)
{
    int64_t end_ms;
    const int64_t limit =
        layout_counter_max(counter_spent_bits(counter), counter->memory_bits);
    int64_t top[CLASSES];
    int64_t now[HA_PARTITIONS_MAX];

    counter_tops(counter, top);
    values_spread(counter, top, now);
    for (int32_t i = 0; i < counter->partitions; i++) {
        if (slot_closed(&counter->slots[i]) == SEQB_EXHAUSTED)
            now[i] = limit;
    }
    end_ms = forecast_end_ms(&counter->sample->forecast, now,
                             (size_t)counter->partitions, limit);
    runs_out_note(counter, end_ms, now_ms);
    return end_ms;
}

void sample_jump(struct slot *slot)
{
    struct ha_counter *counter = slot->counter;
    const enum seqb_guarantee class = slot_class(slot);
    int64_t top[CLASSES];

    if (counter->sample == NULL || counter->sample->tops[class] == 0)
        return;
    counter_tops(counter, top);
    if (slot->block.first - 1 > top[class])
        counter->sample->tops[class] += slot->block.first - 1 - top[class];
}

int64_t sample_take(struct ha_counter *counter, int64_t now_ms)
{
    struct forecast *forecast;
    int64_t end_ms;

    if (counter->sample == NULL)
        counter->sample = sample_new(now_ms);
    if (counter->sample == NULL)
        return FORECAST_NEVER;
    forecast = &counter->sample->forecast;
    if (forecast_is_due(forecast, now_ms))
        counter_sample(counter, now_ms);
    if (!forecast->is_new)
        return FORECAST_NEVER;
    forecast->is_new = false;
    end_ms = counter_end_ms(counter, now_ms);
    return forecast_warns(forecast, end_ms) ? end_ms : FORECAST_NEVER;
}

void sample_report(const struct ha_counter *counter, int64_t end_ms)
{
    char reason[160];

    (void)text_format(reason, sizeof reason,
                      "runs out in %lld days at the usual rate: move to a "
                      "sequence with more bits in time",
                      (long long)(end_ms / FORECAST_DAY_MS));
    counter_report(counter, SEQB_EVENT_FORECAST, reason);
}

int64_t ha_counter_runs_out_ms(struct ha_counter *counter, int64_t now_ms)
{
    int64_t end_ms = FORECAST_NEVER;

    pthread_mutex_lock(counter->pool->lock);
    if (counter->sample != NULL) {
        if (forecast_is_due(&counter->sample->forecast, now_ms))
            counter_sample(counter, now_ms);
        end_ms = counter_end_ms(counter, now_ms);
    }
    pthread_mutex_unlock(counter->pool->lock);
    return end_ms;
}

int64_t ha_counter_last_runs_out_ms(struct ha_counter *counter, int64_t now_ms)
{
    const uint64_t note =
        atomic_load_explicit(&counter->runs_out, memory_order_relaxed);

    if (note == SAMPLE_NEVER)
        return FORECAST_NEVER;
    if ((uint32_t)note != (uint32_t)(now_ms / MINUTE_MS))
        return ha_counter_runs_out_ms(counter, now_ms);
    return (int64_t)(note >> 32) * MINUTE_MS;
}

void ha_counter_ask_ahead(const struct ha_counter *counter)
{
    __builtin_prefetch((const void *)&counter->runs_out);
}
