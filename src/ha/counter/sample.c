/* SPDX-License-Identifier: Apache-2.0 */
/* A counter's values for its forecast: sampled at most once a minute, when the
 * counter is answered or its status is read; and the report that its end is
 * near. */
#include "ha/counter/sample.h"

#include <stdlib.h>

#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/minmax.h"
#include "platform/text.h"

#define MINUTE_MS FORECAST_SAMPLE_MS
#define HOUR_MS   (60 * MINUTE_MS)

/* When a counter has no more values to give, and whether texts are the
 * reason. */
struct sample_end {
    int64_t ms; /* or FORECAST_NEVER */
    bool is_of_texts;
};

/* With the pool's lock held. Partitions are kept near one level, so the highest
 * value of a class stands for all its partitions: one that rests will be raised
 * to it. A partition that is used up raises no other. */
static void counter_tops(const struct ha_counter *counter, int64_t top[CLASSES])
{
    for (size_t i = 0; i < CLASSES; i++)
        top[i] = 0;
    for (int32_t i = 0; i < counter->partitions; i++) {
        const struct slot *slot = &counter->slots[i];

        if (slot->last > top[slot_class(slot)] &&
            slot_closed(slot) != SEQB_EXHAUSTED)
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

static struct ha_texts read_texts(const struct ha_counter *counter)
{
    const struct ha_counter_attributes *attributes = counter->attributes;
    struct ha_texts texts = {.max = 0};

    if (attributes != NULL && attributes->texts != NULL)
        attributes->texts(counter->sink, &texts);
    return texts;
}

/* How many numbers above the value of partition i have a text; less than 0: so
 * many up to the value have none. */
static int64_t texts_above(const struct ha_counter *counter, int32_t i,
                           int64_t value, int64_t text_max)
{
    const int32_t low_bits =
        counter->pool->options->layout.bits + counter->memory_bits;
    const int64_t run = (int64_t)1 << counter->memory_bits;
    const int64_t low = text_max & (((int64_t)1 << low_bits) - 1);
    const int64_t rest = min_of(max_of(low - i * run + 1, 0), run);

    return ((text_max >> low_bits) - 1 - value) * run + rest;
}

/* When the numbers that have a text are taken. After a reload of another
 * template that end is warned of again. */
static int64_t texts_end_ms(const struct ha_counter *counter,
                            const int64_t *now)
{
    const struct ha_texts texts = read_texts(counter);
    int64_t above[HA_PARTITIONS_MAX] = {0};
    bool is_known = false;

    if (texts.max != counter->sample->text_max)
        counter->sample->forecast.warned = 0;
    counter->sample->text_max = texts.max;
    for (int32_t i = 0; i < counter->partitions && texts.max > 0; i++) {
        if (now[i] <= 0)
            continue;
        is_known = true;
        above[i] = texts_above(counter, i, now[i], texts.max);
    }
    if (!is_known)
        return FORECAST_NEVER;
    return forecast_left_ms(
        &counter->sample->forecast,
        forecast_texts_left(above, (size_t)counter->partitions, texts.stock) /
            (double)((int64_t)1 << counter->memory_bits));
}

/* The next stamp begins with all values. */
static bool stamp_ends_first(const struct ha_counter *counter, int64_t end_ms)
{
    return counter->stamp.digits != 0 &&
           end_ms >= counter->stamp.ends_ms - clock_wall_ms();
}

static struct sample_end counter_end(struct ha_counter *counter, int64_t now_ms)
{
    struct sample_end end;
    const int64_t limit =
        layout_counter_max(counter_spent_bits(counter), counter->memory_bits);
    int64_t top[CLASSES];
    int64_t now[HA_PARTITIONS_MAX];
    int64_t texts_ms;

    counter_tops(counter, top);
    values_spread(counter, top, now);
    texts_ms = texts_end_ms(counter, now);
    for (int32_t i = 0; i < counter->partitions; i++) {
        if (slot_closed(&counter->slots[i]) == SEQB_EXHAUSTED)
            now[i] = limit;
    }
    end.ms = forecast_end_ms(&counter->sample->forecast, now,
                             (size_t)counter->partitions, limit);
    end.is_of_texts = texts_ms < end.ms;
    end.ms = min_of(end.ms, texts_ms);
    if (stamp_ends_first(counter, end.ms))
        end.ms = FORECAST_NEVER;
    runs_out_note(counter, end.ms, now_ms);
    return end;
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

static void warn(const struct ha_counter *counter, struct sample_end end,
                 char reason[SAMPLE_REASON_SIZE])
{
    const bool is_near = end.ms < 2 * FORECAST_DAY_MS;

    reason[0] = '\0';
    if (counter->stamp.digits != 0)
        (void)text_append(reason, SAMPLE_REASON_SIZE, "stamp %lld ",
                          (long long)counter->stamp.digits);
    (void)text_append(
        reason, SAMPLE_REASON_SIZE,
        "runs out in %lld %s at the usual rate: %s in time",
        (long long)(end.ms / (is_near ? HOUR_MS : FORECAST_DAY_MS)),
        is_near ? "hours" : "days",
        end.is_of_texts ? "reload a wider template"
                        : "move to a sequence with more bits");
}

bool sample_take(struct ha_counter *counter, int64_t now_ms,
                 char reason[SAMPLE_REASON_SIZE])
{
    struct forecast *forecast;
    struct sample_end end;

    if (counter->sample == NULL)
        counter->sample = sample_new(now_ms);
    if (counter->sample == NULL)
        return false;
    forecast = &counter->sample->forecast;
    if (forecast_is_due(forecast, now_ms))
        counter_sample(counter, now_ms);
    if (!forecast->is_new)
        return false;
    forecast->is_new = false;
    end = counter_end(counter, now_ms);
    /* The rate at the begin of a stamp is not the usual one. */
    if ((counter->stamp.digits != 0 && forecast->span_ms < HOUR_MS) ||
        !forecast_warns(forecast, end.ms))
        return false;
    warn(counter, end, reason);
    return true;
}

int64_t ha_counter_runs_out_ms(struct ha_counter *counter, int64_t now_ms)
{
    int64_t end_ms = FORECAST_NEVER;

    pthread_mutex_lock(counter->pool->lock);
    if (counter->sample != NULL) {
        if (forecast_is_due(&counter->sample->forecast, now_ms))
            counter_sample(counter, now_ms);
        end_ms = counter_end(counter, now_ms).ms;
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

void ha_counter_prefetch(const struct ha_counter *counter)
{
    __builtin_prefetch((const void *)&counter->runs_out);
}
