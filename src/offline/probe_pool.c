/* SPDX-License-Identifier: Apache-2.0 */
/* The comparisons of a broker's start, but every difference is reported, for
 * the backend that it concerns. */
#include <string.h>

#include "offline/probe.h"
#include "platform/error.h"
#include "platform/text.h"

#define LINE_SIZE 1024

static struct seqb_probe *found_of(const struct probe_pool *pool, int32_t i)
{
    return &pool->found[pool->backends[i]];
}

/* Keeps the first reason. */
static void blame(void *context, int32_t i, const struct seqb_error *why)
{
    const struct probe_pool *pool = context;
    struct seqb_probe *found = found_of(pool, i);

    if (found->status == SEQB_LAYOUT)
        return;
    found->status = SEQB_LAYOUT;
    (void)text_copy(found->reason, sizeof found->reason, why->text);
}

void probe_check_layout(struct probe_pool *pool)
{
    const struct compare compare = {pool->options, &pool->stores, blame, pool};
    const struct layout_store *claim = layout_find_claim(&pool->stores);
    char expected[SEQB_CLAIM_SIZE];
    struct seqb_error err;

    compare_places(&compare);
    compare_twins(&compare);
    if (claim == NULL)
        return;
    compare_strangers(&compare, claim);
    (void)compare_claims(&compare, claim, expected, sizeof expected, &err);
}

void probe_check_generation(struct probe_pool *pool)
{
    struct seqb_error err;

    if (pool->options->generation <= 1 ||
        layout_find_claim(&pool->stores) != NULL)
        return;
    (void)layout_not_migrated(pool->options, &err);
    for (int32_t i = 0; i < pool->stores.count; i++) {
        if (pool->stores.stores[i].is_reached)
            blame(pool, i, &err);
    }
}

/* --- failure domains --- */

static void warn(const struct seqb_probe_listener *listener, const char *line)
{
    if (listener->warning != NULL)
        listener->warning(listener->context, line);
}

static bool shares_domain(const struct probe_pool *pool, int32_t i, int32_t j)
{
    const char *domain = found_of(pool, i)->domain;

    return domain[0] != '\0' && strcmp(domain, found_of(pool, j)->domain) == 0;
}

/* Warns of the partitions of one domain. `first` is the lowest of them. */
static void warn_of_domain(const struct probe_pool *pool, int32_t first,
                           const struct seqb_probe_listener *listener)
{
    char line[LINE_SIZE];
    int32_t count = 1;

    (void)text_format(line, sizeof line, "pool %s: %s", pool->options->name,
                      found_of(pool, first)->backend);
    for (int32_t i = 0; i < pool->stores.partitions; i++) {
        if (i < first && shares_domain(pool, first, i))
            return;
        if (i <= first || !shares_domain(pool, first, i))
            continue;
        (void)text_append(line, sizeof line, ", %s",
                          found_of(pool, i)->backend);
        count++;
    }
    (void)text_append(line, sizeof line,
                      " stand on one server or disk (%s): they fail together",
                      found_of(pool, first)->domain);
    if (count > 1)
        warn(listener, line);
}

static bool has_windows(const struct probe_pool *pool)
{
    for (int32_t i = 0; i < pool->stores.partitions; i++) {
        if (pool->stores.stores[i].is_windowed)
            return true;
    }
    return false;
}

/* Warns of what the pool cannot do without its authority. */
static void warn_of_leases(const struct probe_pool *pool,
                           const struct seqb_probe_listener *listener)
{
    const char *name = pool->options->name;
    const char *authority = found_of(pool, pool->stores.authority)->backend;
    char line[LINE_SIZE];

    (void)text_format(line, sizeof line,
                      "pool %s: all windows come from one authority, %s: "
                      "without it the windowed partitions last as long as "
                      "their spare windows",
                      name, authority);
    warn(listener, line);
}

/* The partition that fails together with the authority; -1 if there is none. */
static int32_t partition_beside(const struct probe_pool *pool,
                                int32_t authority)
{
    for (int32_t i = 0; i < pool->stores.partitions; i++) {
        if (i == authority || shares_domain(pool, authority, i))
            return i;
    }
    return -1;
}

static void warn_of_authority(const struct probe_pool *pool,
                              const struct seqb_probe_listener *listener)
{
    const int32_t authority = pool->stores.authority;
    const char *name = pool->options->name;
    char line[LINE_SIZE];
    int32_t beside;

    if (authority < 0 || !has_windows(pool))
        return;
    warn_of_leases(pool, listener);
    beside = partition_beside(pool, authority);
    if (beside < 0)
        return;
    (void)text_format(line, sizeof line,
                      "pool %s: the authority %s %s partition %d (%s): they "
                      "fail together",
                      name, found_of(pool, authority)->backend,
                      beside == authority ? "is also"
                                          : "stands on the server of",
                      (int)beside, found_of(pool, beside)->backend);
    warn(listener, line);
}

/* Warns of the neighbours of one domain, whose lowest is the i-th: none of them
 * is a witness for the others. */
static void warn_of_lessors(const struct probe_pool *pool, int32_t i,
                            const struct seqb_probe_listener *listener)
{
    const int32_t first = layout_lessor(pool->options, i, pool->stored);
    const int32_t all = layout_lessor_count(pool->options, pool->stored);
    char line[LINE_SIZE];
    int32_t count = 1;

    (void)text_format(line, sizeof line, "pool %s: the neighbours %s",
                      pool->options->name, found_of(pool, first)->backend);
    for (int32_t j = 0; j < all; j++) {
        const int32_t other = layout_lessor(pool->options, j, pool->stored);

        if (j == i || !shares_domain(pool, first, other))
            continue;
        if (j < i)
            return;
        (void)text_append(line, sizeof line, ", %s",
                          found_of(pool, other)->backend);
        count++;
    }
    (void)text_append(line, sizeof line,
                      " stand on one server or disk (%s): what puts it back "
                      "puts them back together, and then numbers repeat",
                      found_of(pool, first)->domain);
    if (count > 1)
        warn(listener, line);
}

void probe_warn_domains(const struct probe_pool *pool,
                        const struct seqb_probe_listener *listener)
{
    for (int32_t i = 0; i < pool->stores.partitions; i++)
        warn_of_domain(pool, i, listener);
    for (int32_t i = 0; i < layout_lessor_count(pool->options, pool->stored);
         i++)
        warn_of_lessors(pool, i, listener);
    warn_of_authority(pool, listener);
}
