/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic is number_room's; what it means is told here. */
#include "config/widths.h"

#include "number/number.h"
#include "platform/text.h"

#define WHO_SIZE        (SEQB_KEY_MAX + 16)
#define COUNT_SIZE      32
#define FAR_BITS        (BITS_ALL - 1)
#define WORTH_A_WARNING 100 /* a hundredth that is lost */
#define DENSE                                                                  \
    "use a dense pool: one partition of a direct engine, memory_bits = 0"

/* Whose numbers, of which pool. */
struct weighed {
    const struct ha_pool_options *pool;
    const struct queue_sequence_options *options;
    struct number_pool shape;
    bool has_local;
    bool has_direct;
    struct mistakes *mistakes;
    int line; /* of the template */
    char who[WHO_SIZE];
};

static uint64_t mask_of(const struct config_topology *topology,
                        const struct ha_pool_options *pool,
                        enum seqb_guarantee guarantee)
{
    uint64_t mask = 0;

    for (int32_t i = 0; i < 1 << pool->layout.bits; i++) {
        if (topology->ha.backends[pool->layout.partitions[i]].ops->guarantee ==
            guarantee)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* A partition that makes its numbers of the time is like a windowed one whose
 * first window is far beyond any width. Beside it no windows are reckoned with:
 * that tells too few of their numbers rather than too many. */
static void set_shape(const struct config_topology *topology,
                      struct weighed *weighed)
{
    const struct ha_pool_options *pool = weighed->pool;
    const uint64_t local = mask_of(topology, pool, SEQB_LOCAL);

    weighed->has_local = local != 0;
    weighed->has_direct = mask_of(topology, pool, SEQB_DIRECT) != 0;
    weighed->shape = (struct number_pool){
        .bits = pool->layout.bits,
        .memory_bits = weighed->options->memory_bits,
        .windowed = mask_of(topology, pool, SEQB_WINDOWED) | local,
        .window_bits = local == 0 ? pool->layout.window_bits : FAR_BITS,
    };
}

/* The greatest number that the sequence's bits are for. */
static int64_t greatest(const struct queue_sequence_options *options)
{
    if (options->ids != NULL)
        return bits_counter_max(options->ids);
    return options->value_bits == 0
               ? INT64_MAX
               : INT64_MAX >> (BITS_ALL - options->value_bits);
}

static const char *count_text(int64_t count, char out[COUNT_SIZE])
{
    *out = '\0';
    (void)text_append_count(out, COUNT_SIZE, count);
    return out;
}

/* "a day"; "in all" where nothing begins afresh. */
static const char *span_text(const struct queue_sequence_options *options)
{
    static const char *const spans[] = {
        [PERIOD_NONE] = "in all",     [PERIOD_SECOND] = "a second",
        [PERIOD_MINUTE] = "a minute", [PERIOD_HOUR] = "an hour",
        [PERIOD_DAY] = "a day",       [PERIOD_WEEK] = "a week",
        [PERIOD_MONTH] = "a month",   [PERIOD_QUARTER] = "a quarter",
        [PERIOD_YEAR] = "a year",
    };

    return spans[options->period == NULL ? PERIOD_NONE : options->period->unit];
}

static void note_room(const struct weighed *weighed)
{
    const struct queue_sequence_options *options = weighed->options;
    char width[COUNT_SIZE];
    char room[COUNT_SIZE];

    mistakes_note(weighed->mistakes, weighed->line,
                  "%s: %s numbers %s fit its width, of which pool '%s' can "
                  "give %s",
                  weighed->who, count_text(options->width_numbers, width),
                  span_text(options), weighed->pool->layout.name,
                  count_text(options->pool_numbers, room));
}

/* True if the windowed partitions give nothing at all. */
static bool warn_of_windows(const struct weighed *weighed)
{
    struct number_pool none = weighed->shape;

    none.window_bits = FAR_BITS;
    if (none.windowed == 0 ||
        number_room(&none, weighed->options->width_numbers) <
            weighed->options->pool_numbers)
        return false;
    if (weighed->has_local)
        mistakes_warn(weighed->mistakes, weighed->line,
                      "%s: pool '%s' has partitions that make their numbers of "
                      "the time, which are far beyond its width: " DENSE,
                      weighed->who, weighed->pool->layout.name);
    else
        mistakes_warn(weighed->mistakes, weighed->line,
                      "%s: the windowed partitions of pool '%s' can give none: "
                      "their windows of 2^%d begin beyond it: lower "
                      "window_bits, or " DENSE,
                      weighed->who, weighed->pool->layout.name,
                      (int)weighed->pool->layout.window_bits);
    return true;
}

/* Of little the note tells enough. */
static void warn_of_less(const struct weighed *weighed)
{
    const struct queue_sequence_options *options = weighed->options;
    char width[COUNT_SIZE];
    char room[COUNT_SIZE];

    if (options->pool_numbers <
        options->width_numbers - options->width_numbers / WORTH_A_WARNING)
        mistakes_warn(weighed->mistakes, weighed->line,
                      "%s: pool '%s' can give %s of the %s numbers %s that fit "
                      "its width: to have all of them, " DENSE,
                      weighed->who, weighed->pool->layout.name,
                      count_text(options->pool_numbers, room),
                      count_text(options->width_numbers, width),
                      span_text(options));
}

/* A tenth of what the width has, at most, with one digit that is not 0. */
static int64_t gap_for(int64_t values)
{
    int64_t gap = 1;

    while (gap <= values / 100)
        gap *= 10;
    return gap;
}

/* A direct counter whose store changed goes on that much farther. */
static void warn_of_gap(const struct weighed *weighed)
{
    const struct ha_pool_options *pool = weighed->pool;
    const struct queue_sequence_options *options = weighed->options;
    const int64_t values =
        options->width_numbers >> (pool->layout.bits + options->memory_bits);
    char is[COUNT_SIZE];
    char ought[COUNT_SIZE];

    if (!weighed->has_direct || pool->layout.failover_gap < values)
        return;
    mistakes_warn(weighed->mistakes, weighed->line,
                  "%s: 'failover_gap' of pool '%s' is %s, so that one failover "
                  "of a store uses up all numbers%s: set it to %s, or as many "
                  "values as a failover may lose",
                  weighed->who, pool->layout.name,
                  count_text(pool->layout.failover_gap, is),
                  options->period == NULL ? "" : " of the period",
                  count_text(gap_for(values), ought));
}

static void tell(const struct weighed *weighed)
{
    note_room(weighed);
    if (!warn_of_windows(weighed))
        warn_of_less(weighed);
    warn_of_gap(weighed);
}

void widths_weigh(const struct config_topology *topology,
                  const struct draft_sequence *sequence,
                  struct mistakes *mistakes, struct queue_sequence_options *out)
{
    struct weighed weighed = {.pool = &topology->ha.pools[out->pool],
                              .options = out,
                              .mistakes = mistakes,
                              .line = sequence->template.line};

    out->width_numbers = INT64_MAX;
    out->pool_numbers = INT64_MAX;
    if (out->template == NULL || template_limit(out->template) > greatest(out))
        return;
    out->width_numbers = template_limit(out->template);
    set_shape(topology, &weighed);
    out->pool_numbers = number_room(&weighed.shape, out->width_numbers);
    if (out->width_numbers == INT64_MAX)
        return;
    if (out->key == NULL)
        (void)text_copy(weighed.who, sizeof weighed.who, "auto_sequences");
    else
        (void)text_format(weighed.who, sizeof weighed.who, "sequence '%s'",
                          out->key);
    tell(&weighed);
}
