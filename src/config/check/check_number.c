/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that partition, memory and window bits, and those of ids, leave enough
 * bits for the counter. Also finds settings that have no use alone. Faults of a
 * template are found by templates.c, which compiles it. */
#include "config/check/check.h"

#include "config/settings/settings.h"
#include "period/period.h"

#define WINDOW_BITS_LEAST  8 /* for the window's number */
#define COUNTER_BITS_LEAST 20

static int bits_line(const struct draft_sequence *sequence)
{
    return sequence->memory_bits.line > 0 ? sequence->memory_bits.line
                                          : sequence->line;
}

static void check_pool_bits(const struct draft *draft,
                            const struct draft_sequence *sequence,
                            const struct draft_pool *pool,
                            struct diagnostics *diagnostics)
{
    const int all = draft_value_bits(sequence);
    const int bits = draft_partition_bits(pool->partitions.count);
    const int memory_bits = (int)sequence->memory_bits.number;
    const int lessor = draft_lessor_bits(draft, pool);
    const int window_bits =
        draft_sequence_window_bits(draft, sequence, pool) + lessor;
    const int line = bits_line(sequence);
    const int direct = all - bits - memory_bits;
    const int windowed = direct - window_bits;

    if (bits < 0)
        return;
    if (windowed < WINDOW_BITS_LEAST &&
        draft_pool_has(draft, pool, SEQB_WINDOWED))
        diagnostics_add(diagnostics, line,
                        "%d partition bits + %d memory bits + %d window%s bits "
                        "leave %d of %d bits for the window's number, at least "
                        "%d are needed: lower memory_bits or window_bits",
                        bits, memory_bits, window_bits,
                        lessor > 0 ? " and lessor" : "", windowed, all,
                        WINDOW_BITS_LEAST);
    if (direct < COUNTER_BITS_LEAST && draft_pool_has(draft, pool, SEQB_DIRECT))
        diagnostics_add(
            diagnostics, line,
            "%d partition bits + %d memory bits leave %d of %d bits "
            "for the counter, at least %d are needed: lower "
            "memory_bits",
            bits, memory_bits, direct, all, COUNTER_BITS_LEAST);
}

/* Checks that window_bits is given only where a partition counts in windows. */
static void check_own_windows(const struct draft *draft,
                              const struct draft_sequence *sequence,
                              const struct draft_pool *pool,
                              struct diagnostics *diagnostics)
{
    if (sequence->window_bits.line > 0 &&
        draft_pool_has(draft, pool, SEQB_DIRECT) &&
        !draft_pool_has(draft, pool, SEQB_WINDOWED))
        diagnostics_add(diagnostics, sequence->window_bits.line,
                        "'window_bits' is of no use: no partition of the pool "
                        "counts in windows: remove it");
}

/* Bits that exceed even 63 are reported by split.c. */
static void check_safe_ids(const struct draft_sequence *sequence,
                           struct diagnostics *diagnostics)
{
    const struct draft_ids *ids = &sequence->ids;
    const int time = (int)ids->time.number;
    const int shard = (int)ids->shard.number;
    const int counter = (int)ids->counter.number;
    const int sum = time + shard + counter;
    const int all = draft_value_bits(sequence);

    if (sum <= BITS_ALL && sum > all)
        diagnostics_add(diagnostics, sequence->js_safe.line,
                        "'js_safe' keeps ids below 2^%d, but 'time' = %d, "
                        "'shard' = %d and 'counter' = %d are %d bits: lower "
                        "'shard' or 'counter' by %d in all",
                        all, time, shard, counter, sum, sum - all);
}

void check_number(const struct draft *draft,
                  const struct draft_sequence *sequence,
                  const struct draft_pool *pool,
                  struct diagnostics *diagnostics)
{
    if (pool != NULL)
        check_own_windows(draft, sequence, pool, diagnostics);
    if (sequence->ids.line > 0)
        check_safe_ids(sequence, diagnostics);
    else if (pool != NULL &&
             sequence->snowflake.line == 0) /* of ids: see check_time.c */
        check_pool_bits(draft, sequence, pool, diagnostics);
    if (sequence->shuffle_key_file.line > 0 && sequence->template.line == 0)
        diagnostics_add(diagnostics, sequence->shuffle_key_file.line,
                        "'shuffle_key_file' is of no use without a 'template' "
                        "that shuffles: remove it");
}
