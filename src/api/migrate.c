/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two topologies for a migration: which pools change, and whether the
 * change is possible. migrate_keys.c finds the sequences that go with them.
 * src/offline carries it out.
 */
#include "api/migrate.h"

#include <stdlib.h>
#include <string.h>

#include "lease/lease.h"
#include "period/period.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"

static const struct ha_pool_options *pool_at(const struct config_topology *in,
                                             int32_t i)
{
    return &in->ha.pools[i];
}

/* --- pools --- */

static int32_t pool_find(const struct config_topology *topology,
                         const char *name)
{
    for (size_t i = 0; i < topology->ha.pool_count; i++) {
        if (strcmp(topology->ha.pools[i].layout.name, name) == 0)
            return (int32_t)i;
    }
    return NO_POOL;
}

static bool is_same_backend(const struct request *request, int32_t was,
                            int32_t is)
{
    if (was < 0 || is < 0)
        return was == is;
    return strcmp(request->was->ha.backends[was].options.name,
                  request->is->ha.backends[is].options.name) == 0;
}

static bool is_same_layout(const struct request *request,
                           const struct ha_pool_options *was,
                           const struct ha_pool_options *is)
{
    bool is_same =
        was->layout.bits == is->layout.bits &&
        was->layout.window_bits == is->layout.window_bits &&
        was->layout.all_windowed == is->layout.all_windowed &&
        was->layout.neighbours == is->layout.neighbours &&
        is_same_backend(request, was->layout.authority, is->layout.authority);

    for (int32_t i = 0; is_same && i < 1 << was->layout.bits; i++)
        is_same = is_same_backend(request, was->layout.partitions[i],
                                  is->layout.partitions[i]);
    return is_same;
}

/* A pool whose generation does not change must keep its layout. */
static enum seqb_status check_kept(const struct request *request, int32_t was,
                                   int32_t is, struct seqb_error *err)
{
    const struct ha_pool_options *pool = pool_at(request->is, is);
    const char *what = NULL;

    if (!is_same_layout(request, pool_at(request->was, was), pool))
        what = "its layout";
    for (size_t i = 0; i < request->entry_count && what == NULL; i++) {
        const struct key_entry *entry = &request->entries[i];

        if (entry->was.pool != was || entry->is.pool != is)
            continue;
        if (entry->was.memory_bits != entry->is.memory_bits)
            what = "the memory_bits of a sequence";
        else if (entry->was.window_bits != entry->is.window_bits)
            what = "the window_bits of a sequence";
    }
    if (what == NULL)
        return SEQB_OK;
    return error_set(err, SEQB_CONFIG,
                     "pool %s: %s changes: write generation = %d in the new "
                     "topology",
                     pool->layout.name, what, (int)pool->layout.generation + 1);
}

/* The new topology may keep a pool's generation, or increase it by one. */
static enum seqb_status check_pair(const struct request *request, int32_t was,
                                   int32_t is, bool *migrates,
                                   struct seqb_error *err)
{
    const int next = (int)pool_at(request->was, was)->layout.generation + 1;
    const int generation = (int)pool_at(request->is, is)->layout.generation;

    *migrates = generation == next;
    if (generation == next - 1)
        return check_kept(request, was, is, err);
    if (*migrates)
        return SEQB_OK;
    return error_set(err, SEQB_CONFIG,
                     "pool %s: generation is %d in the old topology and %d in "
                     "the new one: write generation = %d there",
                     pool_at(request->is, is)->layout.name, next - 1,
                     generation, next);
}

static enum seqb_status pools_find(struct request *request,
                                   struct seqb_error *err)
{
    const struct ha_options *now = &request->is->ha;

    request->pools = calloc(now->pool_count, sizeof *request->pools);
    if (request->pools == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < now->pool_count; i++) {
        const int32_t was = pool_find(request->was, now->pools[i].layout.name);
        bool migrates = false;

        if (was == NO_POOL && now->pools[i].layout.generation > 1)
            return error_set(err, SEQB_CONFIG,
                             "pool %s is not in the old topology: a new pool "
                             "has generation = 1",
                             now->pools[i].layout.name);
        if (was != NO_POOL &&
            check_pair(request, was, (int32_t)i, &migrates, err) != SEQB_OK)
            return SEQB_CONFIG;
        if (migrates)
            request->pools[request->pool_count++] =
                (struct offline_pool){.was = (size_t)was, .is = i};
    }
    if (request->pool_count > 0)
        return SEQB_OK;
    return error_set(err, SEQB_CONFIG,
                     "no pool changes its generation: in the new topology, "
                     "write one more for each pool that is to be migrated");
}

static const char *text_of(const char *attributes)
{
    return attributes == NULL ? "" : attributes;
}

/* A sequence keeps its shuffle attributes: otherwise old codes would repeat. */
static enum seqb_status check_attributes(const struct request *request,
                                         struct seqb_error *err)
{
    for (size_t i = 0; i < request->entry_count; i++) {
        const struct key_entry *entry = &request->entries[i];
        const char *was = text_of(entry->was.attributes);
        const char *is = text_of(entry->is.attributes);

        if (entry->was.pool != NO_POOL && entry->is.pool != NO_POOL &&
            strcmp(was, is) != 0)
            return error_set(err, SEQB_CONFIG,
                             "sequence %s has '%s' in the old topology and "
                             "'%s' in the new one: a migration changes no "
                             "template's shuffle, nor its key",
                             entry->key, was, is);
    }
    return SEQB_OK;
}

/* A sequence cannot move to another pool. That pool would issue the sequence's
 * old numbers again, and its counters cannot be raised above them, since other
 * sequences use its layout. */
static enum seqb_status check_sequences(const struct request *request,
                                        struct seqb_error *err)
{
    const struct queue_sequence_options *before = request->was->queue.automatic;
    const struct queue_sequence_options *now = request->is->queue.automatic;

    if (before != NULL && now != NULL &&
        strcmp(pool_at(request->was, before->pool)->layout.name,
               pool_at(request->is, now->pool)->layout.name) != 0)
        return error_set(err, SEQB_CONFIG,
                         "auto_sequences are in pool %s in the old topology "
                         "and in pool %s in the new one: a migration moves no "
                         "sequence to another pool",
                         pool_at(request->was, before->pool)->layout.name,
                         pool_at(request->is, now->pool)->layout.name);
    for (size_t i = 0; i < request->entry_count; i++) {
        const struct key_entry *entry = &request->entries[i];
        const char *was;
        const char *is;

        if (entry->was.pool == NO_POOL || entry->is.pool == NO_POOL)
            continue;
        was = pool_at(request->was, entry->was.pool)->layout.name;
        is = pool_at(request->is, entry->is.pool)->layout.name;
        if (strcmp(was, is) != 0)
            return error_set(err, SEQB_CONFIG,
                             "sequence %s is in pool %s in the old topology "
                             "and in pool %s in the new one: a migration "
                             "moves no sequence to another pool",
                             entry->key, was, is);
    }
    return SEQB_OK;
}

/* --- what cannot be migrated --- */

static enum seqb_status refuse_period(const struct ha_pool_options *pool,
                                      const char *who, const char *has,
                                      struct seqb_error *err)
{
    return error_set(err, SEQB_CONFIG,
                     "pool %s: %s %s a period, whose numbers are unique only "
                     "together with their stamps: a pool with such a sequence "
                     "cannot be migrated; give it a new pool between two "
                     "periods instead, see docs/time.md",
                     pool->layout.name, who, has);
}

/* Counters of periods come and go, so no number is above all of them.
 * Snowflakes are made of the time, and their worker ids may still be held. */
static enum seqb_status check_movable(const struct config_topology *topology,
                                      int32_t i, struct seqb_error *err)
{
    const struct queue_options *queue = &topology->queue;
    const struct ha_pool_options *pool = pool_at(topology, i);

    if (queue->automatic != NULL && queue->automatic->pool == i &&
        queue->automatic->period != NULL)
        return refuse_period(pool, "auto_sequences", "have", err);
    for (size_t j = 0; j < queue->sequence_count; j++) {
        const struct queue_sequence_options *sequence = &queue->sequences[j];

        if (sequence->pool == i && sequence->period != NULL)
            return refuse_period(pool, sequence->key, "has", err);
    }
    for (size_t j = 0; j < queue->snowflake_count; j++) {
        if (queue->snowflakes[j].pool == i)
            return error_set(err, SEQB_CONFIG,
                             "pool %s: it has snowflakes, which are made of "
                             "the time and cannot be raised above others: give "
                             "them a pool of their own",
                             pool->layout.name);
    }
    return SEQB_OK;
}

static enum seqb_status pools_check(const struct request *request,
                                    struct seqb_error *err)
{
    for (size_t i = 0; i < request->pool_count; i++) {
        const struct offline_pool *pool = &request->pools[i];

        if (check_movable(request->was, (int32_t)pool->was, err) != SEQB_OK ||
            check_movable(request->is, (int32_t)pool->is, err) != SEQB_OK)
            return SEQB_CONFIG;
    }
    return SEQB_OK;
}

/* A store that is left out was a partition of a pool that is migrated. */
static enum seqb_status check_without(const struct request *request,
                                      struct seqb_error *err)
{
    const char *without = request->options->without;
    bool is_there = without == NULL;

    for (size_t i = 0; i < request->pool_count && !is_there; i++) {
        const struct layout *layout =
            &pool_at(request->was, (int32_t)request->pools[i].was)->layout;

        for (int32_t j = 0; j < 1 << layout->bits; j++)
            is_there |= strcmp(request->was->ha.backends[layout->partitions[j]]
                                   .options.name,
                               without) == 0;
    }
    return is_there
               ? SEQB_OK
               : error_set(err, SEQB_INVALID,
                           "no partition of a pool that is migrated has the "
                           "backend '%.80s' in the old topology",
                           without);
}

static enum seqb_status request_check(struct request *request,
                                      struct seqb_error *err)
{
    enum seqb_status status = request_make_entries(request, err);

    if (status == SEQB_OK)
        status = pools_find(request, err);
    if (status == SEQB_OK)
        status = pools_check(request, err);
    if (status == SEQB_OK)
        status = check_without(request, err);
    if (status == SEQB_OK)
        status = check_sequences(request, err);
    return status == SEQB_OK ? check_attributes(request, err) : status;
}

/* Migrates all keys that are known by now. */
static enum seqb_status request_run(struct request *request,
                                    struct offline_migration *migration,
                                    struct seqb_error *err)
{
    enum seqb_status status = request_make_entries(request, err);

    if (status == SEQB_OK)
        status = check_sequences(request, err);
    if (status == SEQB_OK)
        status = check_attributes(request, err);
    if (status == SEQB_OK)
        status = request_share_keys(request, err);
    return status == SEQB_OK ? offline_migrate(migration, err) : status;
}

/* A broker that still runs may begin a sequence after the keys were found. Once
 * its pool is retired it issues no number of one that is new, so all that were
 * used are found the second time. */
static enum seqb_status request_run_again(struct request *request,
                                          struct offline_migration *migration,
                                          struct seqb_error *err)
{
    bool has_more;
    struct seqb_error why;
    const enum seqb_status status =
        request_find_keys(request, migration, &has_more, &why);

    if (status != SEQB_OK)
        return error_set(err, status,
                         "the migration is done, but whether a broker began "
                         "further sequences meanwhile is not known: migrate "
                         "again: %s",
                         why.text);
    return has_more ? request_run(request, migration, err) : SEQB_OK;
}

static enum seqb_status request_migrate(struct request *request,
                                        struct seqb_error *err)
{
    struct offline_migration migration = {.was = &request->was->stores,
                                          .is = &request->is->stores,
                                          .without = request->options->without,
                                          .dry_run = request->options->dry_run,
                                          .report = request->options->report,
                                          .context = request->options->context,
                                          .progress = request->progress};
    bool has_more;
    enum seqb_status status = request_check(request, err);

    migration.pools = request->pools;
    migration.pool_count = request->pool_count;
    if (status == SEQB_OK)
        status = request_find_keys(request, &migration, &has_more, err);
    if (status == SEQB_OK && !migration.dry_run)
        status = file_make_folder(request->is->state_dir, err);
    if (status == SEQB_OK)
        status = request_run(request, &migration, err);
    return status == SEQB_OK && !migration.dry_run
               ? request_run_again(request, &migration, err)
               : status;
}

enum seqb_status
seqb_migrate_watched(const char *old_topology, const char *new_topology,
                     const struct seqb_migrate_options *options,
                     const struct seqb_progress *progress,
                     struct seqb_error *err)
{
    const struct config_request old = {.path = old_topology,
                                       .engines = options->engines};
    const struct config_request new = {.path = new_topology,
                                       .engines = options->engines};
    struct config *was = NULL;
    struct config *is = NULL;
    struct request request = {.options = options, .progress = progress};
    enum seqb_status status = config_open(&old, &was, err);

    if (status == SEQB_OK)
        status = config_open(&new, &is, err);
    if (status == SEQB_OK) {
        request.was = config_topology(was);
        request.is = config_topology(is);
        status = request_migrate(&request, err);
    }
    request_free(&request);
    config_close(was);
    config_close(is);
    return status;
}
