/* SPDX-License-Identifier: Apache-2.0 */
/* The same comparisons as at a start, but each told of the backend that it
 * concerns, and all of them. */
#include <string.h>

#include "offline/probe.h"
#include "platform/error.h"
#include "platform/text.h"

#define LINE_SIZE 1024

static struct seqb_probe *found_of(const struct probe_pool *pool, int32_t i)
{
    return &pool->found[pool->backends[i]];
}

/* The first reason stands. */
static void blame(const struct probe_pool *pool, int32_t i,
                  const struct seqb_error *why)
{
    struct seqb_probe *found = found_of(pool, i);

    if (found->status == SEQB_LAYOUT)
        return;
    found->status = SEQB_LAYOUT;
    (void)text_copy(found->reason, sizeof found->reason, why->text);
}

static void check_places(const struct probe_pool *pool)
{
    for (int32_t i = 0; i < pool->stores.partitions; i++) {
        const struct layout_store *store = &pool->stores.stores[i];
        struct seqb_error err;

        if (store->is_reached && store->place[0] != '\0' &&
            claim_compare_place(store->backend, store->place, pool->options, i,
                                &err) != SEQB_OK)
            blame(pool, i, &err);
    }
}

static void check_twins(const struct probe_pool *pool)
{
    const struct layout_store *a;
    const struct layout_store *b;
    struct seqb_error err;

    if (!layout_find_twins(&pool->stores, &a, &b))
        return;
    (void)error_set(&err, SEQB_LAYOUT,
                    "backends %s and %s lead to the same store; give each one "
                    "of its own",
                    a->backend, b->backend);
    blame(pool, (int32_t)(a - pool->stores.stores), &err);
    blame(pool, (int32_t)(b - pool->stores.stores), &err);
}

/* New stores in a pool that is in use. */
static void check_strangers(const struct probe_pool *pool,
                            const struct layout_store *claim)
{
    const struct layout_store *store = NULL;

    while ((store = layout_find_stranger(&pool->stores, store)) != NULL) {
        struct seqb_error err;

        (void)error_set(&err, SEQB_LAYOUT,
                        "backend %s is new and empty, but backend %s says "
                        "that pool %s is in use; put the old store back",
                        store->backend, claim->backend, pool->options->name);
        blame(pool, (int32_t)(store - pool->stores.stores), &err);
    }
}

void probe_check_layout(struct probe_pool *pool)
{
    const struct layout_store *claim = layout_find_claim(&pool->stores);
    char expected[SEQB_CLAIM_SIZE];
    struct seqb_error err;

    check_places(pool);
    check_twins(pool);
    if (claim == NULL)
        return;
    check_strangers(pool, claim);
    layout_adopt(claim->layout, &pool->stores);
    if (layout_compose(pool->options, &pool->stores, expected, sizeof expected,
                       &err) != SEQB_OK)
        return;
    for (int32_t i = 0; i < pool->stores.count; i++) {
        const struct layout_store *store = &pool->stores.stores[i];

        if (store->is_reached && store->layout[0] != '\0' &&
            layout_compare(store->backend, store->layout, expected, &err) !=
                SEQB_OK)
            blame(pool, i, &err);
    }
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

/* --- what fails together --- */

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

/* The partitions of the domain that partition `first` is the first one of. */
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

static bool has_worker_ids(const struct probe_pool *pool)
{
    for (int32_t i = 0; i < pool->stores.partitions; i++) {
        if (pool->stores.stores[i].is_local)
            return true;
    }
    return false;
}

/* What the pool lacks without its authority. */
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
    if (has_windows(pool))
        warn(listener, line);
    (void)text_format(line, sizeof line,
                      "pool %s: all worker ids come from one authority, %s: "
                      "without it the snowflakes last as long as a lease",
                      name, authority);
    if (has_worker_ids(pool))
        warn(listener, line);
}

/* The partition that fails together with the authority, -1 if none does. */
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

    if (authority < 0 || (!has_windows(pool) && !has_worker_ids(pool)))
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

void probe_warn_domains(const struct probe_pool *pool,
                        const struct seqb_probe_listener *listener)
{
    for (int32_t i = 0; i < pool->stores.partitions; i++)
        warn_of_domain(pool, i, listener);
    warn_of_authority(pool, listener);
}
