/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the settings of periods, whether the pool's engines can have periods,
 * and how many bits of the ids' counter are left for the stores. */
#include "config/check/check.h"

#include <string.h>

#include "config/settings/settings.h"

/* Shorter than usual, because a counter's name includes the stamp. */
#define KEY_MAX    48
#define LEAST_BITS 8 /* of a counter or of a window's number */

/* The sequence's period, which `period` or `ids` gives; NULL if a wrong one was
 * reported. */
static const char *period_of(const struct draft_sequence *sequence)
{
    if (sequence->ids.line == 0)
        return sequence->period.text;
    return sequence->ids.unit.text == NULL
               ? NULL
               : split_period(sequence->ids.unit.text);
}

/* Finds settings that have no use without a period. */
static void check_idle(const struct draft_sequence *sequence,
                       struct diagnostics *diagnostics)
{
    const struct {
        const char *name;
        int line;
    } settings[] = {
        /* A template may contain the date when the number was taken. */
        {"time_zone",
         sequence->template.line > 0 ? 0 : sequence->time_zone.line},
        {"year_starts", sequence->year_starts.line},
        {"keep_periods", sequence->keep_periods.line},
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (settings[i].line > 0)
            diagnostics_add(diagnostics, settings[i].line,
                            "'%s' is of no use without a period: add period = "
                            "\"day\" or another, or remove it",
                            settings[i].name);
    }
}

static void check_year(const struct draft_sequence *sequence,
                       const char *period, struct diagnostics *diagnostics)
{
    if (sequence->year_starts.line > 0 && strcmp(period, "year") != 0 &&
        strcmp(period, "quarter") != 0)
        diagnostics_add(diagnostics, sequence->year_starts.line,
                        "'year_starts' is for a period of a year or a quarter, "
                        "not of a %s: remove it",
                        period);
}

static void check_key(const struct draft_sequence *sequence,
                      struct diagnostics *diagnostics)
{
    const size_t length =
        sequence->key.text == NULL ? 0 : strlen(sequence->key.text);

    if (length > KEY_MAX)
        diagnostics_add(diagnostics, sequence->key.line,
                        "the key has %zu characters, but with a period it may "
                        "have %d: counters have the stamp in their names",
                        length, KEY_MAX);
}

/* The line of the setting that gives the sequence its period. */
static int period_line(const struct draft_sequence *sequence)
{
    return sequence->ids.line > 0 ? sequence->ids.line : sequence->period.line;
}

/* Whether the engine can count periods. A direct engine needs a purge function
 * for that. */
static bool counts_periods(const struct seqb_backend_ops *ops)
{
    return ops->guarantee != SEQB_DIRECT || ops->purge != NULL;
}

static void check_engines(const struct draft *draft,
                          const struct draft_sequence *sequence,
                          const struct draft_pool *pool,
                          struct diagnostics *diagnostics)
{
    for (size_t j = 0; j < pool->partitions.count; j++) {
        const int32_t i = draft_find_backend(draft, pool->partitions.names[j]);
        const struct seqb_backend_ops *ops =
            i < 0 ? NULL : draft->backends[i].ops;

        if (ops != NULL && !counts_periods(ops))
            diagnostics_add(
                diagnostics, period_line(sequence),
                "the sequence has a period, but backend '%s' of its "
                "pool cannot have one: engine %s has counters that "
                "cannot begin afresh: use another engine there, or a "
                "pool without it",
                pool->partitions.names[j], ops->engine);
    }
}

/* Windows of a stamp are leased from counters of that stamp, so the authority
 * must be able to count periods, too. */
static void check_lessor(const struct draft *draft,
                         const struct draft_sequence *sequence,
                         const struct draft_pool *pool,
                         struct diagnostics *diagnostics)
{
    const int32_t i = draft_find_backend(draft, draft_pool_authority(pool));
    const struct seqb_backend_ops *ops = i < 0 ? NULL : draft->backends[i].ops;

    if (ops == NULL || counts_periods(ops) ||
        !draft_pool_has(draft, pool, SEQB_WINDOWED))
        return;
    diagnostics_add(diagnostics, period_line(sequence),
                    "the sequence has a period, but the authority '%s' of its "
                    "pool cannot lease windows of one: engine %s has counters "
                    "that cannot begin afresh: use another engine there",
                    pool->authority.text, ops->engine);
}

/* Checks that the ids' counter has room for partition, memory and window bits
 * and for the stores' counters. */
static void check_capacity(const struct draft *draft,
                           const struct draft_sequence *sequence,
                           const struct draft_pool *pool,
                           struct diagnostics *diagnostics)
{
    const struct draft_number *counter = &sequence->ids.counter;
    const int line = counter->line > 0 ? counter->line : sequence->ids.line;
    const int bits = draft_partition_bits(pool->partitions.count);
    const int memory_bits = (int)sequence->memory_bits.number;
    const int lessor = draft_lessor_bits(draft, pool);
    const int window_bits =
        draft_sequence_window_bits(draft, sequence, pool) + lessor;
    const int direct = (int)counter->number - bits - memory_bits;

    if (bits < 0)
        return;
    if (draft_pool_has(draft, pool, SEQB_WINDOWED) &&
        direct - window_bits < LEAST_BITS)
        diagnostics_add(
            diagnostics, line,
            "ids: %d partition bits + %d memory bits + %d window%s "
            "bits leave %d of the counter's %d bits for the window's "
            "number, at least %d are needed: lower memory_bits or "
            "window_bits, or raise 'counter'",
            bits, memory_bits, window_bits, lessor > 0 ? " and lessor" : "",
            direct - window_bits, (int)counter->number, LEAST_BITS);
    else if (direct < LEAST_BITS)
        diagnostics_add(
            diagnostics, line,
            "ids: %d partition bits + %d memory bits leave %d of the "
            "counter's %d bits for what counts in the stores, at "
            "least %d are needed: lower memory_bits or raise "
            "'counter'",
            bits, memory_bits, direct, (int)counter->number, LEAST_BITS);
}

/* Finds settings that `ids` already decides. */
static void check_beside_ids(const struct draft_sequence *sequence,
                             struct diagnostics *diagnostics)
{
    const struct draft_text *period = &sequence->period;
    const struct draft_text *zone = &sequence->time_zone;
    const char *own = period_of(sequence);

    if (period->line > 0 && period->text != NULL && own != NULL &&
        strcmp(period->text, own) != 0)
        diagnostics_add(diagnostics, period->line,
                        "'period' is \"%s\", but 'ids' of unit \"%s\" have the "
                        "period \"%s\": remove 'period'",
                        period->text, sequence->ids.unit.text, own);
    if (zone->text != NULL && strcmp(zone->text, "UTC") != 0)
        diagnostics_add(diagnostics, zone->line,
                        "'time_zone' and 'ids' exclude each other: the time in "
                        "ids is UTC");
}

static void check_ids(const struct draft *draft,
                      const struct draft_sequence *sequence,
                      const struct draft_pool *pool,
                      struct diagnostics *diagnostics)
{
    const struct split split = split_of_ids(&sequence->ids);

    check_beside_ids(sequence, diagnostics);
    split_check(&split, draft->now_ms, diagnostics);
    if (pool != NULL)
        check_capacity(draft, sequence, pool, diagnostics);
}

void check_time(const struct draft *draft,
                const struct draft_sequence *sequence,
                const struct draft_pool *pool, struct diagnostics *diagnostics)
{
    const char *period = period_of(sequence);

    if (sequence->ids.line > 0)
        check_ids(draft, sequence, pool, diagnostics);
    else if (sequence->when_full.line > 0)
        diagnostics_add(
            diagnostics, sequence->when_full.line,
            "'when_full' needs 'ids' beside it: other numbers never "
            "fill up a period");
    if (period == NULL)
        return;
    if (strcmp(period, "none") == 0) {
        check_idle(sequence, diagnostics);
        return;
    }
    check_year(sequence, period, diagnostics);
    check_key(sequence, diagnostics);
    if (pool == NULL)
        return;
    check_engines(draft, sequence, pool, diagnostics);
    check_lessor(draft, sequence, pool, diagnostics);
}
