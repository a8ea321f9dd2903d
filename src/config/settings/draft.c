/* SPDX-License-Identifier: Apache-2.0 */
/* Answers questions about a draft across its sections: finds names, and
 * computes a pool's guarantees and bits. check.c checks whether they are
 * right. */
#include "config/settings/settings.h"

#include <string.h>

#include "ha/ha.h"
#include "period/period.h"
#include "store/store.h"

/* Words of `authority` that are not names of backends. */
#define NEIGHBOURS "neighbours"
#define ALONE      "none"

/* Window bits in a pool of two neighbours, and of more than two. */
#define WINDOW_BITS_OF_TWO  10
#define WINDOW_BITS_OF_MORE 8

/* A memcached guards a window only if it has at least as many values as the
 * server allows connections: 1,024 by default. */
#define WINDOW_BITS_OF_MEMCACHED 10

#define JS_BITS 53 /* precision of JavaScript's numbers (doubles) */

int32_t draft_partition_bits(size_t count)
{
    for (int32_t bits = 0; bits <= HA_BITS_MAX; bits++) {
        if (count == (size_t)1 << bits)
            return bits;
    }
    return -1;
}

int32_t draft_find_backend(const struct draft *draft, const char *name)
{
    for (size_t i = 0; name != NULL && i < draft->backend_count; i++) {
        const char *other = draft->backends[i].name.text;

        if (other != NULL && strcmp(other, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

/* The default port of each kind of server. */
static int32_t usual_port(const char *engine)
{
    if (strcmp(engine, "redis") == 0)
        return 6379;
    if (strcmp(engine, "memcached") == 0)
        return 11211;
    if (strcmp(engine, "etcd") == 0)
        return 2379;
    if (strcmp(engine, "postgres") == 0)
        return 5432;
    return strncmp(engine, "mysql", 5) == 0 ? 3306 : 0;
}

int32_t draft_backend_port(const struct draft_backend *backend)
{
    return backend->port.line > 0 ? (int32_t)backend->port.number
                                  : usual_port(backend->engine.text);
}

static bool authority_is(const struct draft_pool *pool, const char *word)
{
    return pool->authority.text != NULL &&
           strcmp(pool->authority.text, word) == 0;
}

bool draft_pool_has_neighbours(const struct draft_pool *pool)
{
    return authority_is(pool, NEIGHBOURS);
}

bool draft_pool_has_no_lessor(const struct draft_pool *pool)
{
    return (pool->authority.line == 0 && pool->authority.text == NULL) ||
           authority_is(pool, ALONE);
}

void draft_set_neighbours(struct draft_pool *pool)
{
    pool->authority.text = NEIGHBOURS;
}

const char *draft_pool_authority(const struct draft_pool *pool)
{
    return draft_pool_has_neighbours(pool) || draft_pool_has_no_lessor(pool)
               ? NULL
               : pool->authority.text;
}

int32_t draft_lessor_count(const struct draft *draft,
                           const struct draft_pool *pool)
{
    int32_t count = 0;

    for (size_t j = 0; j < pool->partitions.count; j++) {
        const int32_t i = draft_find_backend(draft, pool->partitions.names[j]);

        count += i >= 0 && draft->backends[i].ops != NULL &&
                 layout_may_lease(draft->backends[i].ops);
    }
    return count;
}

int32_t draft_lessor_bits(const struct draft *draft,
                          const struct draft_pool *pool)
{
    return draft_pool_has_neighbours(pool)
               ? layout_lessor_bits(draft_lessor_count(draft, pool))
               : 0;
}

static bool pool_has_engine(const struct draft *draft,
                            const struct draft_pool *pool, const char *engine)
{
    for (size_t j = 0; j < pool->partitions.count; j++) {
        const int32_t i = draft_find_backend(draft, pool->partitions.names[j]);
        const struct draft_backend *backend =
            i < 0 ? NULL : &draft->backends[i];

        if (backend != NULL && backend->engine.text != NULL &&
            strcmp(backend->engine.text, engine) == 0)
            return true;
    }
    return false;
}

/* With 4 partitions and 3 memory bits, the first windows are then below
 * 100,000, whichever of 2 to 4 lessors leases them. With a memcached this holds
 * for 2 lessors only. */
int32_t draft_window_bits(const struct draft *draft,
                          const struct draft_pool *pool)
{
    if (pool->window_bits.line > 0 || !draft_pool_has_neighbours(pool))
        return (int32_t)pool->window_bits.number;
    if (pool_has_engine(draft, pool, "memcached"))
        return WINDOW_BITS_OF_MEMCACHED;
    return draft_lessor_bits(draft, pool) < 2 ? WINDOW_BITS_OF_TWO
                                              : WINDOW_BITS_OF_MORE;
}

int32_t draft_sequence_window_bits(const struct draft *draft,
                                   const struct draft_sequence *sequence,
                                   const struct draft_pool *pool)
{
    return sequence->window_bits.line > 0
               ? (int32_t)sequence->window_bits.number
               : draft_window_bits(draft, pool);
}

bool draft_pool_is_all_windowed(const struct draft_pool *pool)
{
    return pool->windows.text != NULL && strcmp(pool->windows.text, "all") == 0;
}

/* How the pool's j-th partition counts, if its engine is `ops`. */
static enum seqb_guarantee
partition_guarantee(const struct draft_pool *pool, size_t j,
                    const struct seqb_backend_ops *ops)
{
    const char *authority = draft_pool_authority(pool);

    if (draft_pool_has_neighbours(pool))
        return SEQB_WINDOWED;
    if (ops->guarantee != SEQB_DIRECT || !draft_pool_is_all_windowed(pool) ||
        (authority != NULL &&
         strcmp(pool->partitions.names[j], authority) == 0))
        return ops->guarantee;
    return SEQB_WINDOWED;
}

bool draft_pool_has(const struct draft *draft, const struct draft_pool *pool,
                    enum seqb_guarantee guarantee)
{
    for (size_t j = 0; j < pool->partitions.count; j++) {
        const int32_t i = draft_find_backend(draft, pool->partitions.names[j]);
        const struct seqb_backend_ops *ops =
            i < 0 ? NULL : draft->backends[i].ops;

        if (ops != NULL && partition_guarantee(pool, j, ops) == guarantee)
            return true;
    }
    return false;
}

int32_t draft_find_pool(const struct draft *draft,
                        const struct draft_sequence *sequence)
{
    const char *name = sequence->pool.text;

    if (sequence->pool.line == 0)
        return draft->pool_count == 1 ? 0 : -1;
    for (size_t i = 0; name != NULL && i < draft->pool_count; i++) {
        const char *other = draft->pools[i].name.text;

        if (other != NULL && strcmp(other, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

int draft_value_bits(const struct draft_sequence *sequence)
{
    return sequence->js_safe.number != 0 ? JS_BITS : BITS_ALL;
}

/* --- sequences that are alike --- */

static int *line_of(const struct schema_row *row, void *item)
{
    char *member = (char *)item + row->offset;

    if (row->type == SCHEMA_GROUP)
        return (int *)(void *)member;
    if (schema_is_list(row))
        return &((struct draft_names *)(void *)member)->line;
    return row->type >= SCHEMA_INTEGER
               ? &((struct draft_number *)(void *)member)->line
               : &((struct draft_text *)(void *)member)->line;
}

/* Moves the line of each setting that the group gives. */
static void lines_move(enum schema_section section, void *item, int lines)
{
    size_t count;
    const struct schema_row *rows = schema_rows_of(section, &count);

    *(int *)item += lines;
    for (size_t i = 0; i < count; i++) {
        int *line = line_of(&rows[i], item);

        if (*line == 0)
            continue;
        if (rows[i].type == SCHEMA_GROUP)
            lines_move(schema_nested(&rows[i]), line, lines);
        else
            *line += lines;
    }
}

struct draft_sequence draft_sequence_at(const struct draft *draft, size_t i)
{
    const struct draft_listed *listed = &draft->listed[i];
    struct draft_sequence sequence = draft->sequences[listed->of];

    sequence.key.text = listed->key;
    if (listed->lines != 0)
        lines_move(SCHEMA_SEQUENCES, &sequence, listed->lines);
    return sequence;
}
