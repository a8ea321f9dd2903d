/* SPDX-License-Identifier: Apache-2.0 */
/* Explains in sentences how a pool counts. They follow from the topology alone.
 * Only a probe knows which stores are on one server. */
#include "offline/offline.h"

#include "platform/text.h"

#define LINE_SIZE 1024
#define NAMES_MAX 8 /* names in a list; a pool may have 64 lessors */

struct explained {
    const struct layout *layout;
    const struct store_options *backends;
    void (*report)(void *context, const char *line);
    void *context;
};

static const struct store_options *member_at(const struct explained *pool,
                                             int32_t member)
{
    return &pool->backends[layout_member(pool->layout, member)];
}

static bool is_windowed(const struct explained *pool, int32_t partition)
{
    return layout_is_windowed(pool->layout, partition,
                              member_at(pool, partition)->ops);
}

static bool has_windowed(const struct explained *pool)
{
    for (int32_t i = 0; i < 1 << pool->layout->bits; i++) {
        if (is_windowed(pool, i))
            return true;
    }
    return false;
}

/* Appends the i-th name of a list. */
static void append_name(char *line, int32_t i, const char *name)
{
    if (i < NAMES_MAX)
        (void)text_append(line, LINE_SIZE, "%s%s", i == 0 ? "" : ", ", name);
}

static void append_more(char *line, int32_t count)
{
    if (count > NAMES_MAX)
        (void)text_append(line, LINE_SIZE, " and %d more",
                          (int)(count - NAMES_MAX));
}

static void append_lessors(const struct explained *pool, char *line)
{
    const struct layout *layout = pool->layout;
    const int32_t count = layout_lessor_count(layout, pool->backends);

    for (int32_t i = 0; i < count; i++)
        append_name(line, i,
                    member_at(pool, layout_lessor(layout, i, pool->backends))
                        ->options.name);
    append_more(line, count);
}

/* Appends the stores of direct partitions, without the authority. */
static void append_direct(const struct explained *pool, const char *before,
                          char *line)
{
    const int32_t authority =
        has_windowed(pool) ? layout_authority(pool->layout) : -1;
    int32_t count = 0;

    for (int32_t i = 0; i < 1 << pool->layout->bits; i++) {
        if (is_windowed(pool, i) || i == authority)
            continue;
        if (count == 0)
            (void)text_append(line, LINE_SIZE, "%s", before);
        append_name(line, count++, member_at(pool, i)->options.name);
    }
    append_more(line, count);
}

/* --- partitions --- */

static void append_reason(const struct explained *pool, int32_t partition,
                          char *line)
{
    const struct seqb_backend_ops *ops = member_at(pool, partition)->ops;

    if (ops->guarantee == SEQB_WINDOWED)
        (void)text_append(line, LINE_SIZE, "engine %s may forget", ops->engine);
    else
        (void)text_append(line, LINE_SIZE, "the pool has %s",
                          pool->layout->neighbours ? "neighbours"
                                                   : "windows = \"all\"");
}

static void append_class(const struct explained *pool, int32_t partition,
                         char *line)
{
    if (!is_windowed(pool, partition)) {
        (void)text_append(line, LINE_SIZE,
                          "direct: its counters are in its own store, and no "
                          "other one knows of them");
        return;
    }
    (void)text_append(line, LINE_SIZE, "windowed, since ");
    append_reason(pool, partition, line);
    if (pool->layout->neighbours) {
        (void)text_append(line, LINE_SIZE,
                          "; its windows are leased by any of "
                          "the neighbours ");
        append_lessors(pool, line);
        return;
    }
    (void)text_append(line, LINE_SIZE,
                      "; its windows are leased by the "
                      "authority %s",
                      pool->backends[pool->layout->authority].options.name);
}

static void explain_partition(const struct explained *pool, int32_t partition)
{
    char line[LINE_SIZE];

    (void)text_format(line, sizeof line, "pool %s: partition %d (%s) is ",
                      pool->layout->name, (int)partition,
                      member_at(pool, partition)->options.name);
    append_class(pool, partition, line);
    pool->report(pool->context, line);
}

/* --- pools --- */

static void append_neighbours(const struct explained *pool, char *line)
{
    (void)text_append(line, LINE_SIZE, "two of the stores ");
    append_lessors(pool, line);
    (void)text_append(line, LINE_SIZE,
                      " go back together, or the second one before the first "
                      "is level again; any one may go back alone, at any time "
                      "and as often as it likes");
}

static void append_alone(const struct explained *pool, char *line)
{
    const char *before =
        pool->layout->bits == 0 ? "the store " : "one of the stores ";

    if (has_windowed(pool)) {
        before = " or one of the direct stores ";
        (void)text_append(line, LINE_SIZE, "the authority %s",
                          pool->backends[pool->layout->authority].options.name);
    }
    append_direct(pool, before, line);
    (void)text_append(line, LINE_SIZE,
                      " goes back alone and says nothing of it, as when a "
                      "snapshot of its disk is put back, or loses more than "
                      "failover_gap");
}

/* Explains which stores would have to go back for a number to be issued
 * twice. */
static void explain_pool(const struct explained *pool)
{
    char line[LINE_SIZE];

    (void)text_format(line, sizeof line, "pool %s: a number repeats if ",
                      pool->layout->name);
    if (pool->layout->neighbours)
        append_neighbours(pool, line);
    else
        append_alone(pool, line);
    (void)text_append(line, sizeof line, " (docs/guarantees.md)");
    pool->report(pool->context, line);
}

/* Whether the pool has direct counters, and its stores could note each other's
 * leases. */
static bool could_have_neighbours(const struct explained *pool)
{
    int32_t direct = 0;
    int32_t lessors = 0;

    for (int32_t i = 0; i < 1 << pool->layout->bits; i++) {
        const struct seqb_backend_ops *ops = member_at(pool, i)->ops;

        if (ops->install == NULL)
            return false;
        direct += !is_windowed(pool, i);
        lessors += layout_may_lease(ops);
    }
    return direct > 0 && lessors > 1;
}

static void explain_way_out(const struct explained *pool)
{
    char line[LINE_SIZE];

    if (!could_have_neighbours(pool))
        return;
    (void)text_format(line, sizeof line,
                      "pool %s: authority = \"neighbours\" ends that: any one "
                      "of these stores may go back then (docs/choosing.md)",
                      pool->layout->name);
    pool->report(pool->context, line);
}

void offline_explain(const struct store_topology *topology,
                     void (*report)(void *context, const char *line),
                     void *context)
{
    for (size_t i = 0; i < topology->pool_count; i++) {
        const struct explained pool = {topology->layouts[i], topology->backends,
                                       report, context};

        for (int32_t j = 0; j < 1 << pool.layout->bits; j++)
            explain_partition(&pool, j);
        explain_pool(&pool);
        explain_way_out(&pool);
    }
}
