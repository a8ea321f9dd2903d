/* SPDX-License-Identifier: Apache-2.0 */
/* Checks partitions that the topology makes count in windows, whether the
 * pool's neighbours can lease these windows, and files that count directly.
 * check.c checks a named authority. */
#include "config/check/check.h"

#include <string.h>

#include "store/store.h"

struct pool_check {
    const struct draft *draft;
    const struct draft_pool *pool;
    struct diagnostics *diagnostics;
};

/* The engine of the pool's j-th partition; NULL: a mistake was reported. */
static const struct seqb_backend_ops *
partition_ops(const struct pool_check *check, size_t j)
{
    const int32_t i =
        draft_find_backend(check->draft, check->pool->partitions.names[j]);

    return i < 0 ? NULL : check->draft->backends[i].ops;
}

/* Whether it is a direct engine that cannot count in windows. */
static bool lacks_cells(const struct seqb_backend_ops *ops)
{
    return ops != NULL && ops->guarantee == SEQB_DIRECT && ops->install == NULL;
}

/* --- windows = "all" --- */

static void check_all_windowed(const struct pool_check *check)
{
    const char *authority = draft_pool_authority(check->pool);

    for (size_t j = 0; j < check->pool->partitions.count; j++) {
        const char *name = check->pool->partitions.names[j];
        const struct seqb_backend_ops *ops = partition_ops(check, j);

        if (!lacks_cells(ops) ||
            (authority != NULL && strcmp(name, authority) == 0))
            continue;
        diagnostics_add(
            check->diagnostics, check->pool->windows.line,
            "backend '%s' cannot count in windows: engine %s has no "
            "cells; use another engine there, such as sqlite, or make "
            "it the authority",
            name, ops->engine);
    }
}

/* --- authority = "neighbours" --- */

static void check_cells(const struct pool_check *check)
{
    for (size_t j = 0; j < check->pool->partitions.count; j++) {
        const struct seqb_backend_ops *ops = partition_ops(check, j);

        if (!lacks_cells(ops))
            continue;
        diagnostics_add(
            check->diagnostics, check->pool->authority.line,
            "with 'authority' = \"neighbours\" every partition "
            "counts in windows, but engine %s of backend '%s' has no "
            "cells: use another engine there, such as sqlite, or "
            "name one backend as the authority",
            ops->engine, check->pool->partitions.names[j]);
    }
}

static void check_lessors(const struct pool_check *check)
{
    const int count = draft_lessor_count(check->draft, check->pool);

    for (size_t j = 0; j < check->pool->partitions.count; j++) {
        if (partition_ops(check, j) == NULL)
            return;
    }
    if (count >= LESSORS_LEAST)
        return;
    diagnostics_add(
        check->diagnostics, check->pool->authority.line,
        "'authority' = \"neighbours\" needs %d partitions or more "
        "that lease windows to each other, of the engines sqlite, "
        "mysql-row, mysql-autoinc, postgres or etcd, and the pool has %d: "
        "add one, or write the name of one backend, or \"none\" for "
        "direct counters alone",
        LESSORS_LEAST, count);
}

static void check_neighbours(const struct pool_check *check)
{
    if (check->pool->windows.line > 0)
        diagnostics_add(check->diagnostics, check->pool->windows.line,
                        "with 'authority' = \"neighbours\" every partition "
                        "counts in windows: remove 'windows'");
    check_cells(check);
    check_lessors(check);
    neighbours_compare(check->draft, check->pool, check->diagnostics);
}

/* --- files beside servers --- */

/* The backend of the pool's j-th partition; NULL: a mistake was reported, or
 * only the service knows where it keeps its numbers. */
static const struct draft_backend *known_at(const struct pool_check *check,
                                            size_t j)
{
    const int32_t i =
        draft_find_backend(check->draft, check->pool->partitions.names[j]);

    return i < 0 || check->draft->backends[i].ops == NULL ||
                   check->draft->backends[i].is_custom
               ? NULL
               : &check->draft->backends[i];
}

static bool is_file(const struct draft_backend *backend)
{
    return backend != NULL && backend->path.text != NULL;
}

static bool has_server(const struct pool_check *check)
{
    for (size_t j = 0; j < check->pool->partitions.count; j++) {
        const struct draft_backend *backend = known_at(check, j);

        if (backend != NULL && !is_file(backend))
            return true;
    }
    return false;
}

static bool is_direct(const struct pool_check *check, size_t j)
{
    const char *authority = draft_pool_authority(check->pool);

    return !draft_pool_is_all_windowed(check->pool) ||
           (authority != NULL &&
            strcmp(check->pool->partitions.names[j], authority) == 0);
}

/* Only a server that both reach tells two brokers apart that have a file
 * each. */
static void check_files(const struct pool_check *check)
{
    if (!has_server(check))
        return;
    for (size_t j = 0; j < check->pool->partitions.count; j++) {
        if (!is_file(known_at(check, j)) || !is_direct(check, j))
            continue;
        diagnostics_warn(
            check->diagnostics, check->pool->partitions.line,
            "partition '%s' is a file beside servers: brokers of other "
            "machines would have files of their own, and give the same numbers "
            "while they reach no server: use this topology on one machine, or "
            "a server instead of the file",
            check->pool->partitions.names[j]);
        return;
    }
}

/* --- words --- */

/* The word could also be meant as the name of a backend. */
static void check_word(const struct pool_check *check)
{
    const char *word = check->pool->authority.text;

    if (check->pool->authority.line == 0 ||
        draft_pool_authority(check->pool) != NULL ||
        draft_find_backend(check->draft, word) < 0)
        return;
    diagnostics_add(check->diagnostics, check->pool->authority.line,
                    "'authority' = \"%s\" does not mean the backend of that "
                    "name: give the backend another name",
                    word);
}

void check_windows(const struct draft *draft, const struct draft_pool *pool,
                   struct diagnostics *diagnostics)
{
    const struct pool_check check = {draft, pool, diagnostics};

    check_word(&check);
    if (draft_pool_has_neighbours(pool)) {
        check_neighbours(&check);
        return;
    }
    check_files(&check);
    if (draft_pool_is_all_windowed(pool))
        check_all_windowed(&check);
}
