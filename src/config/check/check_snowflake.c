/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a snowflake's settings, settings that it excludes, and what all
 * snowflakes of a pool must have in common. */
#include "config/check/check.h"

#include <string.h>

#include "config/settings/settings.h"

/* Finds settings without a use, because a snowflake fetches and counts no
 * numbers. */
static void check_beside(const struct draft_sequence *sequence,
                         struct diagnostics *diagnostics)
{
    const struct {
        const char *name;
        int line;
    } settings[] = {
        {"ids", sequence->ids.line},
        {"period", sequence->period.line},
        {"memory_bits", sequence->memory_bits.line},
        {"window_bits", sequence->window_bits.line},
        {"runway", sequence->runway.line},
        {"max_unused", sequence->max_unused.line},
        {"prefetch", sequence->prefetch.line},
        {"idle_after", sequence->idle_after.line},
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (settings[i].line > 0)
            diagnostics_add(
                diagnostics, settings[i].line,
                "'%s' is of no use beside 'snowflake', whose numbers "
                "are made of the time when they are taken: remove "
                "one of them",
                settings[i].name);
    }
}

/* Checks the number of this site. */
static void check_datacenter(const struct draft *draft,
                             const struct draft_sequence *sequence,
                             struct diagnostics *diagnostics)
{
    const struct draft_number *datacenter = &draft->broker->datacenter;
    const struct draft_number *bits = &sequence->snowflake.datacenter_bits;

    if (bits->number == 0)
        return;
    if (datacenter->line == 0)
        diagnostics_add(diagnostics, bits->line,
                        "'datacenter_bits' needs the number of this site: add "
                        "'datacenter' to the broker");
    else if (datacenter->number >> bits->number != 0)
        diagnostics_add(diagnostics, datacenter->line,
                        "'datacenter' is %lld, but %d 'datacenter_bits' hold 0 "
                        "... %lld: raise them or lower it",
                        (long long)datacenter->number, (int)bits->number,
                        (1LL << bits->number) - 1);
}

/* Checks the bits that are left for the time. */
static void check_bits(const struct draft *draft,
                       const struct draft_sequence *sequence,
                       struct diagnostics *diagnostics)
{
    const int all = draft_value_bits(sequence);
    const struct split split = split_of_snowflake(&sequence->snowflake, all);

    if (split.time < 1)
        diagnostics_add(
            diagnostics, sequence->snowflake.line,
            "'datacenter_bits' + 'worker_bits' + 'counter_bits' are "
            "%d of %d bits, and leave none for the time: %s",
            split.shard + split.counter, all, split.cure);
    else
        split_check(&split, draft->now_ms, diagnostics);
}

static bool is_alike(const struct draft_snowflake *a,
                     const struct draft_snowflake *b)
{
    return a->epoch.text != NULL && b->epoch.text != NULL &&
           strcmp(a->epoch.text, b->epoch.text) == 0 &&
           a->datacenter_bits.number == b->datacenter_bits.number &&
           a->worker_bits.number == b->worker_bits.number &&
           a->counter_bits.number == b->counter_bits.number &&
           a->lease.number == b->lease.number;
}

/* The first snowflake of the same pool. */
static const struct draft_sequence *find_first(const struct draft *draft,
                                               int32_t pool)
{
    for (size_t i = 0; i < draft->sequence_count; i++) {
        const struct draft_sequence *sequence = &draft->sequences[i];

        if (sequence->snowflake.line > 0 &&
            draft_find_pool(draft, sequence) == pool)
            return sequence;
    }
    return NULL;
}

static void check_alike(const struct draft *draft,
                        const struct draft_sequence *sequence,
                        struct diagnostics *diagnostics)
{
    const struct draft_sequence *first =
        find_first(draft, draft_find_pool(draft, sequence));

    if (first == NULL || is_alike(&first->snowflake, &sequence->snowflake))
        return;
    diagnostics_add(
        diagnostics, sequence->snowflake.line,
        "the snowflakes of a pool share one worker id and one count, "
        "so that 'epoch', 'lease' and bits must be those of sequence "
        "'%s': put them right, or use another pool",
        first->key.text == NULL ? "?" : first->key.text);
}

void check_snowflake(const struct draft *draft,
                     const struct draft_sequence *sequence,
                     struct diagnostics *diagnostics)
{
    const int32_t pool = draft_find_pool(draft, sequence);

    if (sequence->snowflake.line == 0)
        return;
    check_beside(sequence, diagnostics);
    check_datacenter(draft, sequence, diagnostics);
    check_bits(draft, sequence, diagnostics);
    if (pool < 0)
        return;
    check_alike(draft, sequence, diagnostics);
}
