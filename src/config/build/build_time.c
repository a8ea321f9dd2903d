/* SPDX-License-Identifier: Apache-2.0 */
/* Turns words and dates of the draft into rules of src/period and src/lease. */
#include "config/build/build.h"

#include <string.h>

#include "config/settings/settings.h"
#include "lease/lease.h"
#include "period/period.h"
#include "platform/text.h"

/* In the state directory; %s is the broker's name. */
#define CLOCK_FILE      "clock-%s"
#define ATTRIBUTES_SIZE 160

static const struct period_rules *
make_rules(struct arena *arena, const struct draft_sequence *sequence)
{
    struct period_rules *rules = arena_take(arena, 1, sizeof *rules);
    const char *unit = sequence->ids.line > 0
                           ? split_period(sequence->ids.unit.text)
                           : sequence->period.text;

    if (rules == NULL)
        return NULL;
    (void)period_unit_parse(unit, &rules->unit);
    rules->zone = sequence->zone;
    (void)day_parse_yearly(sequence->year_starts.text, &rules->year_month,
                           &rules->year_day);
    return rules;
}

static const struct bits_layout *make_ids(struct arena *arena,
                                          const struct draft_ids *ids)
{
    const struct split split = split_of_ids(ids);
    struct bits_layout *layout = arena_take(arena, 1, sizeof *layout);

    if (layout != NULL)
        (void)split_layout(&split, layout);
    return layout;
}

/*
 * The attributes that all brokers must agree on, because otherwise the numbers
 * of one stamp would have different meanings. A zone other than UTC is one of
 * them, because of purges: they find old counters by their digits, and a short
 * period that is over in one zone may be the current one in another.
 */
static const char *make_attributes(struct arena *arena,
                                   const struct draft_sequence *sequence,
                                   const struct period_rules *rules)
{
    const struct draft_ids *ids = &sequence->ids;
    char attributes[ATTRIBUTES_SIZE];

    (void)text_format(attributes, sizeof attributes, " period=%s",
                      period_unit_name(rules->unit));
    if (rules->zone != NULL)
        (void)text_append(attributes, sizeof attributes, " time_zone=%s",
                          sequence->time_zone.text);
    if (rules->year_month != 1 || rules->year_day != 1)
        (void)text_append(attributes, sizeof attributes, " year_starts=%s",
                          sequence->year_starts.text);
    if (ids->line > 0)
        (void)text_append(attributes, sizeof attributes, " ids=%s/%s/%d/%d/%d",
                          ids->epoch.text, ids->unit.text,
                          (int)ids->time.number, (int)ids->shard.number,
                          (int)ids->counter.number);
    return arena_format(arena, "%s", attributes);
}

void build_period(struct arena *arena, const struct draft_sequence *sequence,
                  struct queue_sequence_options *out)
{
    const struct period_rules *rules;

    if (sequence->ids.line == 0 && strcmp(sequence->period.text, "none") == 0)
        return;
    rules = make_rules(arena, sequence);
    if (rules == NULL)
        return;
    out->period = rules;
    if (sequence->ids.line > 0)
        out->ids = make_ids(arena, &sequence->ids);
    out->full_waits = strcmp(sequence->when_full.text, "wait") == 0;
    out->keep_periods = sequence->keep_periods.number;
    out->attributes = make_attributes(arena, sequence, rules);
}

static bool has_period(const struct queue_options *queue)
{
    if (queue->automatic != NULL && queue->automatic->period != NULL)
        return true;
    for (size_t i = 0; i < queue->sequence_count; i++) {
        if (queue->sequences[i].period != NULL)
            return true;
    }
    return false;
}

static enum guard_rollback rollback(const char *choice)
{
    if (strcmp(choice, "wait") == 0)
        return GUARD_WAIT;
    return strcmp(choice, "refuse") == 0 ? GUARD_REFUSE : GUARD_HOLD;
}

const struct queue_clock_options *build_clock(const struct build *build)
{
    const struct draft_broker *broker = build->draft->broker;
    struct queue_clock_options *clock;
    const char *file;

    if (!has_period(&build->topology->queue) &&
        build->topology->queue.snowflake_count == 0)
        return NULL;
    clock = arena_take(build->arena, 1, sizeof *clock);
    file = arena_format(build->arena, CLOCK_FILE, broker->name.text);
    if (clock == NULL || file == NULL)
        return NULL;
    clock->rules.on_rollback = rollback(broker->on_rollback.text);
    clock->rules.max_rollback_ms = broker->max_rollback.number;
    clock->rules.max_ahead_ms = broker->max_ahead.number;
    clock->broker = broker->name.text;
    clock->path = path_join(build->arena, build->topology->state_dir, file);
    clock->store = draft_find_backend(build->draft, broker->clock_store.text);
    return clock;
}

static struct lease_options *find_snowflake(const struct queue_options *queue,
                                            struct lease_options *snowflakes,
                                            int32_t pool)
{
    for (size_t i = 0; i < queue->snowflake_count; i++) {
        if (snowflakes[i].pool == pool)
            return &snowflakes[i];
    }
    return NULL;
}

/* All snowflakes of a pool have the same settings, except for the bits of their
 * values. The fewest bits of time count. */
static void add_snowflake(const struct build *build,
                          const struct draft_sequence *sequence,
                          struct lease_options *snowflakes)
{
    const struct draft_snowflake *snowflake = &sequence->snowflake;
    struct queue_options *queue = &build->topology->queue;
    const int32_t pool = draft_find_pool(build->draft, sequence);
    const struct split split =
        split_of_snowflake(snowflake, draft_value_bits(sequence));
    struct lease_options *out;

    if (snowflake->line == 0)
        return;
    out = find_snowflake(queue, snowflakes, pool);
    if (out != NULL && out->layout.time <= split.time)
        return;
    if (out == NULL)
        out = &snowflakes[queue->snowflake_count++];
    *out = (struct lease_options){
        .pool = pool,
        .datacenter_bits = (int32_t)snowflake->datacenter_bits.number,
        .lease_ms = (int32_t)snowflake->lease.number,
        .broker = build->draft->broker->name.text,
    };
    if (out->datacenter_bits > 0)
        out->datacenter = build->draft->broker->datacenter.number;
    (void)split_layout(&split, &out->layout);
}

void build_snowflakes(const struct build *build)
{
    const struct draft *draft = build->draft;
    struct lease_options *snowflakes =
        arena_take(build->arena, draft->pool_count, sizeof *snowflakes);

    if (snowflakes == NULL)
        return;
    build->topology->queue.snowflakes = snowflakes;
    for (size_t i = 0; i < draft->sequence_count; i++)
        add_snowflake(build, &draft->sequences[i], snowflakes);
    if (draft->automatic != NULL)
        add_snowflake(build, draft->automatic, snowflakes);
}

/* The key's claim includes the snowflake's settings. An automatic sequence is
 * claimed at once, because a snowflake asks no store later. */
void build_snowflake(const struct build *build,
                     const struct draft_sequence *sequence,
                     struct queue_sequence_options *out)
{
    const struct draft_snowflake *snowflake = &sequence->snowflake;
    const struct queue_options *queue = &build->topology->queue;

    if (snowflake->line == 0 || queue->snowflakes == NULL)
        return;
    out->memory_bits = 0;
    out->claims_first = true;
    out->snowflake = queue->snowflakes;
    while (out->snowflake->pool != out->pool)
        out->snowflake++;
    out->attributes = arena_format(build->arena, " snowflake=%s/%d/%d/%d",
                                   snowflake->epoch.text,
                                   (int)snowflake->datacenter_bits.number,
                                   (int)snowflake->worker_bits.number,
                                   (int)snowflake->counter_bits.number);
}
