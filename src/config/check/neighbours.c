/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which pools have neighbours by default, and finds neighbours that
 * would go back together. build.c finds two backends with the same file.
 */
#include "config/check/check.h"

#include <string.h>

#include "store/store.h"

static bool is_same(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return strcmp(a, b) == 0;
}

static bool is_file(const struct draft_backend *backend)
{
    return backend->path.text != NULL;
}

/* Goes by the topology only: a server may have several names. */
static bool is_one_server(const struct draft_backend *a,
                          const struct draft_backend *b)
{
    if (is_file(a) || is_file(b))
        return false;
    if (a->conninfo.text != NULL || b->conninfo.text != NULL)
        return is_same(a->conninfo.text, b->conninfo.text);
    if (a->hosts.count > 0 || b->hosts.count > 0)
        return a->hosts.count > 0 && b->hosts.count > 0 &&
               strcmp(a->hosts.names[0], b->hosts.names[0]) == 0;
    if (a->socket.text != NULL || b->socket.text != NULL)
        return is_same(a->socket.text, b->socket.text);
    return draft_backend_port(a) == draft_backend_port(b) &&
           is_same(a->host.text, b->host.text);
}

static bool is_one_store(const struct draft_backend *a,
                         const struct draft_backend *b)
{
    /* The default name of a database is the user's name. */
    return is_same(a->database.text, b->database.text) &&
           (a->database.text != NULL || is_same(a->user.text, b->user.text)) &&
           is_same(a->parameters.text, b->parameters.text);
}

/* The backend of the pool's j-th partition; NULL: check.c reports the
 * mistake. */
static const struct draft_backend *
partition_at(const struct draft *draft, const struct draft_pool *pool, size_t j)
{
    const int32_t i = draft_find_backend(draft, pool->partitions.names[j]);

    return i < 0 || draft->backends[i].ops == NULL ? NULL : &draft->backends[i];
}

/* NULL: the pool's j-th partition leases no windows. */
static const struct draft_backend *
lessor_at(const struct draft *draft, const struct draft_pool *pool, size_t j)
{
    const struct draft_backend *backend = partition_at(draft, pool, j);

    return backend != NULL && layout_may_lease(backend->ops) ? backend : NULL;
}

/* --- the default --- */

static bool has_snowflake(const struct draft *draft, size_t pool)
{
    for (size_t i = 0; i < draft->sequence_count; i++) {
        const struct draft_sequence *sequence = &draft->sequences[i];

        if (sequence->snowflake.line > 0 &&
            draft_find_pool(draft, sequence) == (int32_t)pool)
            return true;
    }
    return false;
}

/* Whether restoring one of them leaves the other unchanged. */
static bool is_apart(const struct draft_backend *a,
                     const struct draft_backend *b)
{
    return !is_one_server(a, b) && !(is_file(a) && is_file(b));
}

/* Whether the pool's j-th partition may count in windows that neighbours
 * lease. */
static bool may_be_neighbour(const struct draft *draft,
                             const struct draft_pool *pool, size_t j)
{
    const struct draft_backend *backend = partition_at(draft, pool, j);

    /* It is unknown where an engine of the service keeps its numbers. */
    if (backend == NULL || backend->is_custom)
        return false;
    if (!layout_may_lease(backend->ops))
        return backend->ops->guarantee == SEQB_WINDOWED;
    for (size_t k = 0; k < j; k++) {
        const struct draft_backend *other = lessor_at(draft, pool, k);

        if (other != NULL && !is_apart(backend, other))
            return false;
    }
    return true;
}

static bool should_have_neighbours(const struct draft *draft, size_t i)
{
    const struct draft_pool *pool = &draft->pools[i];

    if (pool->authority.line > 0 || pool->windows.line > 0 ||
        has_snowflake(draft, i))
        return false;
    for (size_t j = 0; j < pool->partitions.count; j++) {
        if (!may_be_neighbour(draft, pool, j))
            return false;
    }
    return draft_lessor_count(draft, pool) >= LESSORS_DEFAULT;
}

void neighbours_resolve(struct draft *draft)
{
    for (size_t i = 0; i < draft->pool_count; i++) {
        if (should_have_neighbours(draft, i))
            draft_set_neighbours(&draft->pools[i]);
    }
}

/* --- stores that fail together --- */

static void compare(const struct draft_pool *pool,
                    const struct draft_backend *a,
                    const struct draft_backend *b,
                    struct diagnostics *diagnostics)
{
    if (!is_one_server(a, b))
        return;
    if (is_one_store(a, b))
        diagnostics_add(
            diagnostics, pool->authority.line,
            "backends '%s' and '%s' are one store, which cannot be "
            "its own neighbour: give one of them another server, or "
            "name one backend as the authority",
            a->name.text, b->name.text);
    else
        diagnostics_warn(
            diagnostics, pool->authority.line,
            "backends '%s' and '%s' stand on one server: what puts "
            "back the server puts back both, and then the numbers "
            "of windows that only these two know of repeat: use "
            "neighbours on servers of their own",
            a->name.text, b->name.text);
}

void neighbours_compare(const struct draft *draft,
                        const struct draft_pool *pool,
                        struct diagnostics *diagnostics)
{
    for (size_t j = 1; j < pool->partitions.count; j++) {
        const struct draft_backend *lessor = lessor_at(draft, pool, j);

        for (size_t k = 0; lessor != NULL && k < j; k++) {
            const struct draft_backend *other = lessor_at(draft, pool, k);

            if (other != NULL && other != lessor)
                compare(pool, other, lessor, diagnostics);
        }
    }
}
