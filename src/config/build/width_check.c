/* SPDX-License-Identifier: Apache-2.0 */
/* Reports how many numbers a sequence can give. number_capacity computes it;
 * this file says what it means for the operator. */
#include "config/build/build.h"

#include "number/number.h"
#include "platform/text.h"
#include "store/store.h"

#define WHO_SIZE        (SEQB_KEY_MAX + 16)
#define COUNT_SIZE      32
#define FAR_BITS        (BITS_ALL - 1)
#define WORTH_A_WARNING 100 /* a loss of one in a hundred */
#define DENSE                                                                  \
    "use a dense pool: one partition of a direct engine, memory_bits = 0"

/* A sequence and its pool. */
struct weighed {
    const struct ha_pool_options *pool;
    const struct queue_sequence_options *options;
    struct number_pool shape;
    bool is_snowflake;
    bool has_direct;
    int64_t limit;       /* greatest number that template and bits allow */
    int32_t window_bits; /* of the sequence */
    int32_t lessor_bits; /* bits of a window's number that name the lessor */
    struct diagnostics *diagnostics;
    int line; /* of the template, if any */
    char who[WHO_SIZE];
};

static uint64_t mask_of(const struct config_topology *topology,
                        const struct ha_pool_options *pool,
                        enum seqb_guarantee guarantee)
{
    uint64_t mask = 0;

    for (int32_t i = 0; i < 1 << pool->layout.bits; i++) {
        const struct seqb_backend_ops *ops =
            topology->ha.backends[pool->layout.partitions[i]].ops;
        const bool is_windowed = layout_is_windowed(&pool->layout, i, ops);

        if ((is_windowed ? SEQB_WINDOWED : ops->guarantee) == guarantee)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* Snowflakes are treated as windowed numbers whose first window is beyond any
 * width. */
static void set_shape(const struct config_topology *topology,
                      struct weighed *weighed)
{
    const struct ha_pool_options *pool = weighed->pool;
    const bool is_snowflake = weighed->options->snowflake != NULL;

    weighed->is_snowflake = is_snowflake;
    weighed->has_direct =
        !is_snowflake && mask_of(topology, pool, SEQB_DIRECT) != 0;
    weighed->lessor_bits = layout_lessor_bits(
        layout_lessor_count(&pool->layout, topology->ha.backends));
    weighed->window_bits =
        layout_window_bits(&pool->layout, weighed->options->window_bits);
    weighed->shape = (struct number_pool){
        .bits = pool->layout.bits,
        .memory_bits = weighed->options->memory_bits,
        .windowed =
            is_snowflake ? UINT64_MAX : mask_of(topology, pool, SEQB_WINDOWED),
        .window_bits = is_snowflake ? FAR_BITS : weighed->window_bits,
    };
}

/* How many numbers up to `limit` the pool can give. With neighbours, one lessor
 * leases only one of 2^lessor_bits consecutive windows. */
static int64_t capacity_of(const struct weighed *weighed, int64_t limit)
{
    const int32_t lessor_bits =
        weighed->is_snowflake ? 0 : weighed->lessor_bits;
    struct number_pool shape = weighed->shape;

    if (limit == INT64_MAX)
        return INT64_MAX;
    shape.window_bits += lessor_bits;
    return number_capacity(&shape, limit) >> lessor_bits;
}

/* The greatest number that the sequence's bits allow. */
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

/* "a day"; "in all" if the sequence has no period. */
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

static void note_capacity(const struct weighed *weighed)
{
    const struct queue_sequence_options *options = weighed->options;
    char width[COUNT_SIZE];
    char room[COUNT_SIZE];

    diagnostics_note(weighed->diagnostics, weighed->line,
                     "%s: %s numbers %s fit its width, of which pool '%s' can "
                     "give %s",
                     weighed->who, count_text(options->width_numbers, width),
                     span_text(options), weighed->pool->layout.name,
                     count_text(options->pool_numbers, room));
}

/* Only if they differ from the pool's window bits. */
static void note_windows(const struct weighed *weighed)
{
    const struct layout *layout = &weighed->pool->layout;

    if (weighed->window_bits != layout->window_bits)
        diagnostics_note(
            weighed->diagnostics, weighed->line,
            "%s: its windows are of 2^%d values, those of pool '%s' "
            "of 2^%d",
            weighed->who, (int)weighed->window_bits, layout->name,
            (int)layout->window_bits);
}

/* True if the windowed partitions can give no number at all. */
static bool warn_of_windows(const struct weighed *weighed)
{
    struct number_pool none = weighed->shape;

    none.window_bits = FAR_BITS;
    if (none.windowed == 0 ||
        number_capacity(&none, weighed->options->width_numbers) <
            weighed->options->pool_numbers)
        return false;
    if (weighed->is_snowflake)
        diagnostics_warn(weighed->diagnostics, weighed->line,
                         "%s: its snowflakes are far beyond its width: " DENSE,
                         weighed->who);
    else
        diagnostics_warn(
            weighed->diagnostics, weighed->line,
            "%s: the windowed partitions of pool '%s' can give none: "
            "their windows of 2^%d begin beyond it: lower "
            "window_bits, or " DENSE,
            weighed->who, weighed->pool->layout.name,
            (int)weighed->window_bits);
    return true;
}

/* For a smaller loss the note is enough. */
static void warn_of_less(const struct weighed *weighed)
{
    const struct queue_sequence_options *options = weighed->options;
    char width[COUNT_SIZE];
    char room[COUNT_SIZE];

    if (options->pool_numbers <
        options->width_numbers - options->width_numbers / WORTH_A_WARNING)
        diagnostics_warn(
            weighed->diagnostics, weighed->line,
            "%s: pool '%s' can give %s of the %s numbers %s that fit "
            "its width: to have all of them, " DENSE,
            weighed->who, weighed->pool->layout.name,
            count_text(options->pool_numbers, room),
            count_text(options->width_numbers, width), span_text(options));
}

/* At most a tenth of the values: a power of ten. */
static int64_t gap_for(int64_t values)
{
    int64_t gap = 1;

    while (gap <= values / 100)
        gap *= 10;
    return gap;
}

/* Warns if a single failover of a direct store uses up all numbers, because its
 * counter is raised by failover_gap. */
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
    diagnostics_warn(
        weighed->diagnostics, weighed->line,
        "%s: 'failover_gap' of pool '%s' is %s, so that one failover "
        "of a store uses up all numbers%s: set it to %s, or as many "
        "values as a failover may lose",
        weighed->who, pool->layout.name,
        count_text(pool->layout.failover_gap, is),
        options->period == NULL ? "" : " of the period",
        count_text(gap_for(values), ought));
}

/* Warns if an authority skips a large part of the windows when its history
 * changes. Neighbours skip none: they are made level instead. If no window fits
 * at all, warn_of_windows has said so. */
static void warn_of_leases(const struct weighed *weighed)
{
    const struct layout *layout = &weighed->pool->layout;
    const int32_t low_bits = layout->bits + weighed->options->memory_bits +
                             weighed->window_bits + weighed->lessor_bits;
    const int64_t leases = low_bits < BITS_ALL ? weighed->limit >> low_bits : 0;
    char room[COUNT_SIZE];
    char gap[COUNT_SIZE];

    if (weighed->is_snowflake || weighed->shape.windowed == 0 ||
        layout->neighbours || leases == 0 ||
        layout_window_gap(leases) == WINDOW_GAP)
        return;
    diagnostics_warn(weighed->diagnostics, weighed->line,
                     "%s: it has room for %s leases of windows of 2^%d in pool "
                     "'%s', and an authority whose store changed skips %s each "
                     "time: lower window_bits or memory_bits",
                     weighed->who, count_text(leases, room),
                     (int)weighed->window_bits, layout->name,
                     count_text(layout_window_gap(leases), gap));
}

/* For a template with a limited width. */
static void report_width(const struct weighed *weighed)
{
    note_capacity(weighed);
    if (!warn_of_windows(weighed))
        warn_of_less(weighed);
    warn_of_gap(weighed);
}

static void name(struct weighed *weighed)
{
    const char *key = weighed->options->key;

    if (key == NULL)
        (void)text_copy(weighed->who, sizeof weighed->who, "auto_sequences");
    else
        (void)text_format(weighed->who, sizeof weighed->who, "sequence '%s'",
                          key);
}

void width_check(const struct build *build,
                 const struct draft_sequence *sequence,
                 struct queue_sequence_options *out)
{
    struct weighed weighed = {.pool = &build->topology->ha.pools[out->pool],
                              .options = out,
                              .diagnostics = build->diagnostics,
                              .limit = greatest(out),
                              .line = sequence->template.line > 0
                                          ? sequence->template.line
                                          : sequence->line};

    out->width_numbers = INT64_MAX;
    out->pool_numbers = INT64_MAX;
    if (out->template != NULL && template_max(out->template) < weighed.limit)
        out->text_max = template_max(out->template);
    name(&weighed);
    set_shape(build->topology, &weighed);
    note_windows(&weighed);
    if (out->template != NULL &&
        template_limit(out->template) <= weighed.limit) {
        weighed.limit = template_limit(out->template);
        out->width_numbers = weighed.limit;
        out->pool_numbers = capacity_of(&weighed, weighed.limit);
    }
    if (out->width_numbers < INT64_MAX)
        report_width(&weighed);
    warn_of_leases(&weighed);
}
