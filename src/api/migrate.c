/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two topologies for a migration: which pools change, which sequences
 * go with them, and whether the change is possible. src/offline carries it out.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "config/config.h"
#include "lease/lease.h"
#include "offline/offline.h"
#include "period/period.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"

#define NO_POOL (-1)

/* What one topology says about a key. */
struct place {
    int32_t pool; /* NO_POOL: the topology does not list the key */
    int32_t memory_bits;
    int32_t window_bits;    /* of its windows: its own, or the pool's */
    int32_t value_bits;     /* its numbers are below 2^value_bits */
    int64_t useful;         /* greater ones are too wide; 0: no limit */
    const char *attributes; /* claimed after the bits; NULL: nothing */
};

/* A key from one of the topologies, or from the caller. */
struct entry {
    const char *key;
    struct place was;
    struct place is;
};

struct request {
    const struct config_topology *was;
    const struct config_topology *is;
    const struct seqb_migrate_options *options;
    const struct seqb_progress *progress; /* NULL: progress is not shown */
    struct entry *entries;                /* sorted, each key once */
    size_t entry_count;
    struct offline_pool *pools; /* the pools to migrate */
    struct offline_key *keys;   /* of all these pools, one after the other */
    size_t pool_count;
};

static const struct ha_pool_options *pool_at(const struct config_topology *in,
                                             int32_t i)
{
    return &in->ha.pools[i];
}

/* --- keys --- */

static struct place place_of(const struct config_topology *topology,
                             const char *key)
{
    const struct queue_options *queue = &topology->queue;
    const struct queue_sequence_options *found = NULL;

    for (size_t i = 0; i < queue->sequence_count && found == NULL; i++) {
        if (strcmp(queue->sequences[i].key, key) == 0)
            found = &queue->sequences[i];
    }
    if (found == NULL && queue->automatic != NULL &&
        fnmatch(queue->auto_pattern, key, 0) == 0)
        found = queue->automatic;
    if (found == NULL)
        return (struct place){NO_POOL, -1, 0, BITS_ALL, 0, NULL};
    return (struct place){
        found->pool,
        found->memory_bits,
        layout_window_bits(&topology->ha.pools[found->pool].layout,
                           found->window_bits),
        found->value_bits == 0 ? BITS_ALL : found->value_bits,
        queue_useful_numbers(found),
        found->attributes};
}

static int entry_compare(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->key,
                  ((const struct entry *)b)->key);
}

static void entries_add(struct request *request,
                        const struct queue_options *queue)
{
    for (size_t i = 0; i < queue->sequence_count; i++)
        request->entries[request->entry_count++].key = queue->sequences[i].key;
}

/* Removes duplicates, and looks up each key in both topologies. */
static void entries_finish(struct request *request)
{
    size_t left = 0;

    qsort(request->entries, request->entry_count, sizeof *request->entries,
          entry_compare);
    for (size_t i = 0; i < request->entry_count; i++) {
        struct entry *entry = &request->entries[i];

        if (left > 0 && entry_compare(entry, &request->entries[left - 1]) == 0)
            continue;
        entry->was = place_of(request->was, entry->key);
        entry->is = place_of(request->is, entry->key);
        request->entries[left++] = *entry;
    }
    request->entry_count = left;
}

static enum seqb_status entries_make(struct request *request,
                                     struct seqb_error *err)
{
    const struct seqb_migrate_options *options = request->options;
    const size_t most = request->was->queue.sequence_count +
                        request->is->queue.sequence_count + options->key_count;

    request->entries = calloc(most + 1, sizeof *request->entries);
    if (request->entries == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    entries_add(request, &request->was->queue);
    entries_add(request, &request->is->queue);
    for (size_t i = 0; i < options->key_count; i++) {
        if (!text_is_key(options->keys[i]))
            return error_set(err, SEQB_INVALID,
                             "'%.80s' is no key: 1 to 64 of A-Z a-z 0-9 . _ "
                             ": -",
                             options->keys[i]);
        request->entries[request->entry_count++].key = options->keys[i];
    }
    entries_finish(request);
    return SEQB_OK;
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
        const struct entry *entry = &request->entries[i];

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
        const struct entry *entry = &request->entries[i];
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
        const struct entry *entry = &request->entries[i];
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

/* --- what to migrate --- */

static bool belongs(const struct entry *entry, const struct offline_pool *pool)
{
    if (entry->was.pool != NO_POOL)
        return entry->was.pool == (int32_t)pool->was;
    return entry->is.pool == NO_POOL || entry->is.pool == (int32_t)pool->is;
}

static enum seqb_status keys_share(struct request *request,
                                   struct seqb_error *err)
{
    struct offline_key *at = calloc(
        request->pool_count * request->entry_count + 1, sizeof *request->keys);

    request->keys = at;
    if (at == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < request->pool_count; i++) {
        struct offline_pool *pool = &request->pools[i];

        pool->keys = at;
        for (size_t j = 0; j < request->entry_count; j++) {
            const struct entry *entry = &request->entries[j];

            if (belongs(entry, pool))
                *at++ = (struct offline_key){entry->key,
                                             entry->was.memory_bits,
                                             entry->is.memory_bits,
                                             entry->was.window_bits,
                                             entry->is.window_bits,
                                             entry->is.value_bits,
                                             entry->was.useful,
                                             entry->is.useful,
                                             entry->was.pool != NO_POOL
                                                 ? entry->was.attributes
                                                 : entry->is.attributes};
        }
        pool->key_count = (size_t)(at - pool->keys);
    }
    return SEQB_OK;
}

/* Only the stores know the sequences that were created automatically, and the
 * stores cannot list them. */
static enum seqb_status check_automatic(const struct request *request,
                                        struct seqb_error *err)
{
    const struct queue_sequence_options *automatic =
        request->was->queue.automatic;

    if (automatic == NULL || request->options->keys != NULL)
        return SEQB_OK;
    for (size_t i = 0; i < request->pool_count; i++) {
        if ((int32_t)request->pools[i].was == automatic->pool)
            return error_set(
                err, SEQB_INVALID,
                "pool %s has auto_sequences, and its stores cannot list their "
                "keys: name every key that was ever used (docs/operations.md "
                "says how), with --keys FILE; one left out would begin again",
                pool_at(request->was, automatic->pool)->layout.name);
    }
    return SEQB_OK;
}

static enum seqb_status request_run(struct request *request,
                                    struct seqb_error *err)
{
    enum seqb_status status = entries_make(request, err);

    if (status == SEQB_OK)
        status = pools_find(request, err);
    if (status == SEQB_OK)
        status = pools_check(request, err);
    if (status == SEQB_OK)
        status = check_sequences(request, err);
    if (status == SEQB_OK)
        status = check_attributes(request, err);
    if (status == SEQB_OK)
        status = check_automatic(request, err);
    if (status == SEQB_OK)
        status = keys_share(request, err);
    if (status == SEQB_OK && !request->options->dry_run)
        status = file_make_folder(request->is->state_dir, err);
    if (status != SEQB_OK)
        return status;
    return offline_migrate(
        &(struct offline_migration){.was = &request->was->stores,
                                    .is = &request->is->stores,
                                    .pools = request->pools,
                                    .pool_count = request->pool_count,
                                    .without = request->options->without,
                                    .dry_run = request->options->dry_run,
                                    .report = request->options->report,
                                    .context = request->options->context,
                                    .progress = request->progress},
        err);
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
        status = request_run(&request, err);
    }
    free(request.entries);
    free(request.pools);
    free(request.keys);
    config_close(was);
    config_close(is);
    return status;
}
