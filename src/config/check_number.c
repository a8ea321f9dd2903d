/* SPDX-License-Identifier: Apache-2.0 */
/* That partition, memory and window bits, those of ids and of snowflakes
 * leave room for what counts; and settings that are of no use alone. What is
 * wrong with a template is found when it is compiled, by templates.c. */
#include "config/check_number.h"

#include "config/draft.h"
#include "config/engine.h"
#include "period/period.h"

#define WINDOW_BITS_LEAST  8 /* for the window's number */
#define COUNTER_BITS_LEAST 20

static int bits_line(const struct draft_sequence *sequence)
{
    return sequence->memory_bits.line > 0 ? sequence->memory_bits.line
                                          : sequence->line;
}

/* That partition, memory and window bits leave room for what counts. */
static void check_pool_bits(const struct draft *draft,
                            const struct draft_sequence *sequence,
                            const struct draft_pool *pool,
                            struct mistakes *mistakes)
{
    const int all = draft_value_bits(sequence);
    const int bits = draft_partition_bits(pool->partitions.count);
    const int memory_bits = (int)sequence->memory_bits.number;
    const int window_bits = (int)pool->window_bits.number;
    const int line = bits_line(sequence);
    const int direct = all - bits - memory_bits;
    const int windowed = direct - window_bits;

    if (bits < 0)
        return;
    if (windowed < WINDOW_BITS_LEAST &&
        draft_pool_has(draft, pool, SEQB_WINDOWED))
        mistakes_add(mistakes, line,
                     "%d partition bits + %d memory bits + %d window bits "
                     "leave %d of %d bits for the window's number, at least "
                     "%d are needed: lower memory_bits or window_bits",
                     bits, memory_bits, window_bits, windowed, all,
                     WINDOW_BITS_LEAST);
    if (direct < COUNTER_BITS_LEAST && draft_pool_has(draft, pool, SEQB_DIRECT))
        mistakes_add(mistakes, line,
                     "%d partition bits + %d memory bits leave %d of %d bits "
                     "for the counter, at least %d are needed: lower "
                     "memory_bits",
                     bits, memory_bits, direct, all, COUNTER_BITS_LEAST);
}

/* That a snowflake's bits leave room for those of partition and memory. */
static void check_snowflakes(const struct draft *draft,
                             const struct draft_sequence *sequence,
                             const struct draft_pool *pool,
                             struct mistakes *mistakes)
{
    const int all = draft_value_bits(sequence);
    const int bits = draft_partition_bits(pool->partitions.count);
    const int memory_bits = (int)sequence->memory_bits.number;

    for (size_t j = 0; bits >= 0 && j < pool->partitions.count; j++) {
        const int32_t i = draft_find_backend(draft, pool->partitions.names[j]);
        const struct draft_backend *backend =
            i < 0 ? NULL : &draft->backends[i];
        int own;

        if (backend == NULL || !engine_is_snowflake(backend))
            continue;
        own = engine_snowflake_bits(backend);
        if (own <= BITS_ALL && own + bits + memory_bits > all)
            mistakes_add(mistakes, bits_line(sequence),
                         "%d bits of the snowflake '%s' + %d partition bits "
                         "+ %d memory bits are %d, more than %d: set "
                         "memory_bits = 0, have fewer partitions, or lower "
                         "its time_bits, worker_bits or counter_bits",
                         own, backend->name.text, bits, memory_bits,
                         own + bits + memory_bits, all);
    }
}

/* Those that are too many for any number are told by split.c. */
static void check_safe_ids(const struct draft_sequence *sequence,
                           struct mistakes *mistakes)
{
    const struct draft_ids *ids = &sequence->ids;
    const int time = (int)ids->time.number;
    const int shard = (int)ids->shard.number;
    const int counter = (int)ids->counter.number;
    const int sum = time + shard + counter;
    const int all = draft_value_bits(sequence);

    if (sum <= BITS_ALL && sum > all)
        mistakes_add(mistakes, sequence->js_safe.line,
                     "'js_safe' keeps ids below 2^%d, but 'time' = %d, "
                     "'shard' = %d and 'counter' = %d are %d bits: lower "
                     "'shard' or 'counter' by %d in all",
                     all, time, shard, counter, sum, sum - all);
}

void check_number(const struct draft *draft,
                  const struct draft_sequence *sequence,
                  const struct draft_pool *pool, struct mistakes *mistakes)
{
    if (sequence->ids.line > 0)
        check_safe_ids(sequence, mistakes);
    else if (pool != NULL) /* the counter of ids has less room still */
        check_pool_bits(draft, sequence, pool, mistakes);
    if (pool != NULL)
        check_snowflakes(draft, sequence, pool, mistakes);
    if (sequence->shuffle_key_file.line > 0 && sequence->template.line == 0)
        mistakes_add(mistakes, sequence->shuffle_key_file.line,
                     "'shuffle_key_file' is of no use without a 'template' "
                     "that shuffles: remove it");
}
