/* SPDX-License-Identifier: Apache-2.0 */
/* Checks how ids' bits are split, and when the bits of time run out: operators
 * rarely notice this before it happens. */
#include "config/settings/settings.h"

#include <string.h>

#define YEAR_MS   (INT64_C(31556952) * 1000)
/* The time must last at least this long, and ENOUGH_MS to avoid a warning. */
#define LEAST_MS  YEAR_MS
#define ENOUGH_MS (10 * YEAR_MS)

static const struct {
    const char *name;
    const char *period;
    int64_t ms;
} units[] = {
    {"s", "second", 1000},
    {"minute", "minute", INT64_C(60) * 1000},
    {"hour", "hour", INT64_C(60) * 60 * 1000},
    {"day", "day", INT64_C(24) * 60 * 60 * 1000},
};

static size_t find_unit(const char *name)
{
    size_t i = 0;

    while (i + 1 < sizeof units / sizeof units[0] &&
           strcmp(units[i].name, name) != 0)
        i++;
    return i;
}

const char *split_period(const char *unit)
{
    return units[find_unit(unit)].period;
}

struct split split_of_ids(const struct draft_ids *ids)
{
    const char *unit = ids->unit.text;

    return (struct split){
        .line = ids->line,
        .epoch = &ids->epoch,
        .time = (int32_t)ids->time.number,
        .shard = (int32_t)ids->shard.number,
        .counter = (int32_t)ids->counter.number,
        .time_line = ids->time.line,
        .words = "'time' =",
        .cure = "raise 'time'",
        .unit_ms = unit == NULL ? 0 : units[find_unit(unit)].ms,
    };
}

struct split split_of_snowflake(const struct draft_snowflake *snowflake,
                                int32_t value_bits)
{
    const int32_t shard = (int32_t)(snowflake->datacenter_bits.number +
                                    snowflake->worker_bits.number);
    const int32_t counter = (int32_t)snowflake->counter_bits.number;

    return (struct split){
        .line = snowflake->line,
        .epoch = &snowflake->epoch,
        .time = value_bits - shard - counter,
        .shard = shard,
        .counter = counter,
        .time_line = snowflake->line,
        .words = "the time's",
        .cure = "lower 'worker_bits', 'counter_bits' or 'datacenter_bits'",
        .unit_ms = 1,
    };
}

bool split_layout(const struct split *split, struct bits_layout *out)
{
    *out = (struct bits_layout){
        .unit_ms = split->unit_ms,
        .time = split->time,
        .shard = split->shard,
        .counter = split->counter,
    };
    return split->unit_ms > 0 && split->epoch->text != NULL &&
           day_parse(split->epoch->text, &out->epoch_ms);
}

/* `line` if that setting was given, else the group's line. */
static int line_of(const struct split *split, int line)
{
    return line > 0 ? line : split->line;
}

static void check_sum(const struct split *split,
                      struct diagnostics *diagnostics)
{
    const int sum = split->time + split->shard + split->counter;

    if (sum > BITS_ALL)
        diagnostics_add(diagnostics, line_of(split, split->time_line),
                        "'time' = %d, 'shard' = %d and 'counter' = %d are %d "
                        "bits, but a number has %d: lower them by %d in all",
                        split->time, split->shard, split->counter, sum,
                        BITS_ALL, sum - BITS_ALL);
}

static void check_end(const struct split *split, int64_t end_ms, int64_t now_ms,
                      struct diagnostics *diagnostics)
{
    const int line = line_of(split, split->time_line);
    char end[DAY_SIZE];

    day_format(end_ms, end);
    if (end_ms - now_ms < LEAST_MS)
        diagnostics_add(diagnostics, line,
                        "%s %d bits since %s are over on %s, less than a year "
                        "from now or past: %s or take a later 'epoch'",
                        split->words, split->time, split->epoch->text, end,
                        split->cure);
    else if (end_ms - now_ms < ENOUGH_MS)
        diagnostics_warn(
            diagnostics, line,
            "%s %d bits since %s are over on %s, and no number can "
            "be given from then on",
            split->words, split->time, split->epoch->text, end);
}

void split_check(const struct split *split, int64_t now_ms,
                 struct diagnostics *diagnostics)
{
    struct bits_layout layout;

    check_sum(split, diagnostics);
    if (!split_layout(split, &layout))
        return;
    /* If the clock is not set, the epoch cannot be compared with it. */
    if (layout.epoch_ms > now_ms && now_ms >= GUARD_SANE_MS)
        diagnostics_add(
            diagnostics, line_of(split, split->epoch->line),
            "'epoch' is %s, which is yet to come: ids hold the time "
            "since then",
            split->epoch->text);
    else
        check_end(split, bits_end_ms(&layout), now_ms, diagnostics);
}
