/* SPDX-License-Identifier: Apache-2.0 */
/* Checks backends by themselves, then pools with their backends, then sequences
 * with their pools. A name that was not found breaks no further rule. */
#include "config/check/check.h"

#include <string.h>

#include "config/settings/settings.h"
#include "config/source/source.h"
#include "ha/ha.h"

/* The partition that a backend is; by the backend's index. */
struct place {
    const struct draft_pool *pool; /* NULL: no partition */
    size_t partition;
    bool is_used;
};

struct checker {
    const struct draft *draft;
    struct diagnostics *diagnostics;
    struct place *places;
    bool is_name_lost; /* a name was not found: a backend may be unused only
                          because of that */
};

static void check_backend(struct checker *checker, size_t i)
{
    const struct draft_backend *backend = &checker->draft->backends[i];
    const char *name = backend->name.text;

    if (name != NULL && draft_find_backend(checker->draft, name) != (int32_t)i)
        diagnostics_add(checker->diagnostics, backend->name.line,
                        "there is another backend named '%s'", name);
    engine_check(checker->draft, backend, checker->diagnostics);
}

/* The index of the backend that a pool names; -1, with a mistake added, if
 * there is none. */
static int32_t find_named(struct checker *checker, const char *name, int line)
{
    const int32_t found = draft_find_backend(checker->draft, name);
    struct did_you_mean did_you_mean = {.word = name};
    char hint[DID_YOU_MEAN_SIZE];

    if (found >= 0)
        return found;
    checker->is_name_lost = true;
    if (name == NULL)
        return -1;
    for (size_t i = 0; i < checker->draft->backend_count; i++)
        did_you_mean_weigh(&did_you_mean,
                           checker->draft->backends[i].name.text);
    diagnostics_add(
        checker->diagnostics, line, "there is no backend '%s'%s", name,
        did_you_mean_hint(&did_you_mean,
                          ": add it to backends or remove it here", hint));
    return -1;
}

static void check_partition(struct checker *checker,
                            const struct draft_pool *pool, size_t partition)
{
    const int32_t i = find_named(checker, pool->partitions.names[partition],
                                 pool->partitions.line);
    struct place *place;

    if (i < 0)
        return;
    place = &checker->places[i];
    place->is_used = true;
    if (place->pool == NULL) {
        place->pool = pool;
        place->partition = partition;
        return;
    }
    diagnostics_add(
        checker->diagnostics, pool->partitions.line,
        "backend '%s' stands in partition %zu of pool '%s' already: "
        "a backend stands in one partition only",
        pool->partitions.names[partition], place->partition,
        place->pool->name.text == NULL ? "?" : place->pool->name.text);
}

static void check_partition_count(struct checker *checker,
                                  const struct draft_pool *pool)
{
    const size_t count = pool->partitions.count;
    size_t next = 1;

    if (count == 0 || draft_partition_bits(count) >= 0)
        return;
    while (next < count && next < HA_PARTITIONS_MAX)
        next *= 2;
    if (count > HA_PARTITIONS_MAX)
        diagnostics_add(checker->diagnostics, pool->partitions.line,
                        "%zu partitions are too many: at most %d", count,
                        HA_PARTITIONS_MAX);
    else
        diagnostics_add(checker->diagnostics, pool->partitions.line,
                        "the number of partitions must be a power of two: here "
                        "are %zu, make it %zu or %zu",
                        count, next / 2, next);
}

static void check_authority(struct checker *checker,
                            const struct draft_pool *pool)
{
    const struct seqb_backend_ops *ops;
    int32_t i;

    check_windows(checker->draft, pool, checker->diagnostics);
    if (draft_pool_has_neighbours(pool))
        return;
    if (draft_pool_has_no_lessor(pool) && draft_pool_is_all_windowed(pool)) {
        diagnostics_add(checker->diagnostics, pool->windows.line,
                        "'windows' = \"all\" needs an 'authority' that leases "
                        "them, such as an sqlite backend");
        return;
    }
    if (draft_pool_has_no_lessor(pool)) {
        if (draft_pool_has(checker->draft, pool, SEQB_WINDOWED))
            diagnostics_add(checker->diagnostics, pool->line,
                            "the pool has no 'authority': its windowed "
                            "partitions need one, such as an sqlite backend");
        return;
    }
    i = find_named(checker, pool->authority.text, pool->authority.line);
    if (i < 0)
        return;
    checker->places[i].is_used = true;
    ops = checker->draft->backends[i].ops;
    if (ops != NULL && ops->guarantee != SEQB_DIRECT)
        diagnostics_add(checker->diagnostics, pool->authority.line,
                        "backend '%s' cannot be an authority: engine %s may "
                        "forget; name one that is direct, such as sqlite",
                        pool->authority.text, ops->engine);
}

/* A store that went back is raised by failover_gap, so the gap must not be
 * 0. */
static void check_gap(struct checker *checker, const struct draft_pool *pool)
{
    if (pool->failover_gap.line == 0 || pool->failover_gap.number != 0 ||
        !draft_pool_has(checker->draft, pool, SEQB_DIRECT))
        return;
    diagnostics_add(
        checker->diagnostics, pool->failover_gap.line,
        "failover_gap = 0 is for pools whose partitions all count in "
        "windows: a direct counter whose store lost values would give "
        "them again; leave it out, or set it above what a store may "
        "lose");
}

static void check_pool(struct checker *checker, size_t i)
{
    const struct draft_pool *pool = &checker->draft->pools[i];

    for (size_t j = 0; j < i; j++) {
        const char *other = checker->draft->pools[j].name.text;

        if (other == NULL || pool->name.text == NULL ||
            strcmp(other, pool->name.text) != 0)
            continue;
        diagnostics_add(checker->diagnostics, pool->name.line,
                        "there is another pool named '%s'", other);
        break;
    }
    check_partition_count(checker, pool);
    for (size_t j = 0; j < pool->partitions.count; j++)
        check_partition(checker, pool, j);
    if (pool->partitions.count == 0)
        checker->is_name_lost = true;
    check_authority(checker, pool);
    check_gap(checker, pool);
}

static void check_unused(struct checker *checker)
{
    for (size_t i = 0; i < checker->draft->backend_count; i++) {
        const struct draft_backend *backend = &checker->draft->backends[i];

        if (checker->places[i].is_used || backend->name.text == NULL ||
            draft_find_backend(checker->draft, backend->name.text) !=
                (int32_t)i)
            continue;
        diagnostics_add(checker->diagnostics, backend->line,
                        "no pool uses the backend '%s': add it to a pool's "
                        "partitions, make it an authority, or remove it",
                        backend->name.text);
    }
}

static void add_no_pool(struct checker *checker,
                        const struct draft_sequence *sequence)
{
    struct did_you_mean did_you_mean = {.word = sequence->pool.text};
    char hint[DID_YOU_MEAN_SIZE];

    if (checker->draft->pool_count == 0)
        return;
    if (sequence->pool.line == 0) {
        diagnostics_add(checker->diagnostics, sequence->line,
                        "there are %zu pools: say which with 'pool'",
                        checker->draft->pool_count);
        return;
    }
    if (sequence->pool.text == NULL)
        return;
    for (size_t i = 0; i < checker->draft->pool_count; i++)
        did_you_mean_weigh(&did_you_mean, checker->draft->pools[i].name.text);
    diagnostics_add(
        checker->diagnostics, sequence->pool.line, "there is no pool '%s'%s",
        sequence->pool.text,
        did_you_mean_hint(&did_you_mean, ": add it to pools", hint));
}

static void check_sequence(struct checker *checker,
                           const struct draft_sequence *sequence)
{
    const int32_t pool = draft_find_pool(checker->draft, sequence);
    const int64_t run = (int64_t)1 << sequence->memory_bits.number;
    const int64_t most = sequence->max_unused.number;
    const struct draft_pool *in =
        pool < 0 ? NULL : &checker->draft->pools[pool];

    if (in == NULL)
        add_no_pool(checker, sequence);
    check_number(checker->draft, sequence, in, checker->diagnostics);
    check_time(checker->draft, sequence, in, checker->diagnostics);
    check_snowflake(checker->draft, sequence, checker->diagnostics);
    if (most < run)
        diagnostics_add(
            checker->diagnostics,
            sequence->max_unused.line > 0 ? sequence->max_unused.line
                                          : sequence->line,
            "'max_unused' is %lld, but one counter value yields "
            "2^%lld = %lld numbers: raise it or lower memory_bits",
            (long long)most, (long long)sequence->memory_bits.number,
            (long long)run);
    if (sequence->warm.number != 0 && sequence->prefetch.number == 0)
        diagnostics_add(
            checker->diagnostics, sequence->warm.line,
            "'warm' fetches numbers ahead, which 'prefetch' = false "
            "forbids: remove one of them");
}

/* Checks the store of the broker's clock. */
static void check_clock_store(struct checker *checker)
{
    const struct draft_text *name = &checker->draft->broker->clock_store;
    const struct seqb_backend_ops *ops;
    int32_t i;

    if (name->text == NULL)
        return;
    i = find_named(checker, name->text, name->line);
    ops = i < 0 ? NULL : checker->draft->backends[i].ops;
    if (ops != NULL && ops->guarantee != SEQB_DIRECT)
        diagnostics_add(checker->diagnostics, name->line,
                        "backend '%s' cannot keep the clock: engine %s may "
                        "forget; name one that is direct, such as sqlite",
                        name->text, ops->engine);
}

static size_t found_by(const struct diagnostics *diagnostics)
{
    return diagnostics->found.count + diagnostics->warnings.count +
           diagnostics->notes.count;
}

/* Checks listed sequences. If a sequence has no finding, other sequences of its
 * group have none either, as long as their keys are not longer: all other rules
 * for keys were checked when they were read. */
static void check_listed(struct checker *checker)
{
    const struct draft *draft = checker->draft;
    /* For each group, 1 + the length of the longest key without findings. */
    size_t *sound = arena_take(checker->diagnostics->arena,
                               draft->sequence_count, sizeof *sound);

    for (size_t i = 0; sound != NULL && i < draft->listed_count; i++) {
        const struct draft_listed *listed = &draft->listed[i];
        const size_t found = found_by(checker->diagnostics);
        const size_t length = listed->key == NULL ? 1 : strlen(listed->key) + 1;
        struct draft_sequence sequence;

        if (length <= sound[listed->of])
            continue;
        sequence = draft_sequence_at(draft, i);
        check_sequence(checker, &sequence);
        if (found == found_by(checker->diagnostics))
            sound[listed->of] = length;
    }
}

void check_draft(const struct draft *draft, struct diagnostics *diagnostics)
{
    struct checker checker = {.draft = draft, .diagnostics = diagnostics};

    checker.places = arena_take(diagnostics->arena, draft->backend_count,
                                sizeof *checker.places);
    if (checker.places == NULL)
        return;
    for (size_t i = 0; i < draft->backend_count; i++)
        check_backend(&checker, i);
    for (size_t i = 0; i < draft->pool_count; i++)
        check_pool(&checker, i);
    check_clock_store(&checker);
    check_daemon(draft, diagnostics);
    if (!checker.is_name_lost && draft->pool_count > 0)
        check_unused(&checker);
    check_keys(draft, diagnostics);
    check_listed(&checker);
    if (draft->automatic != NULL)
        check_sequence(&checker, draft->automatic);
    check_users(draft, diagnostics);
}
