/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a migration: those that the topologies list, those that the
 * caller names, and those that the stores of the old pools know. One that is
 * left out would begin again.
 */
#include "api/migrate.h"

#include <fnmatch.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define LINE_SIZE 512

static enum seqb_status no_memory(struct seqb_error *err)
{
    return error_set(err, SEQB_NO_MEMORY, "out of memory");
}

/* --- entries --- */

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
    return strcmp(((const struct key_entry *)a)->key,
                  ((const struct key_entry *)b)->key);
}

static void entry_add(struct request *request, const char *key,
                      int32_t found_in)
{
    request->entries[request->entry_count++] =
        (struct key_entry){.key = key, .found_in = found_in};
}

static void entries_add(struct request *request,
                        const struct queue_options *queue)
{
    for (size_t i = 0; i < queue->sequence_count; i++)
        entry_add(request, queue->sequences[i].key, NO_POOL);
}

static enum seqb_status entries_name(struct request *request,
                                     struct seqb_error *err)
{
    for (size_t i = 0; i < request->options->key_count; i++) {
        const char *key = request->options->keys[i];

        if (!text_is_key(key))
            return error_set(err, SEQB_INVALID,
                             "'%.80s' is no key: 1 to 64 of A-Z a-z 0-9 . _ "
                             ": -",
                             key);
        entry_add(request, key, NO_POOL);
    }
    return SEQB_OK;
}

static void entries_find(struct request *request)
{
    for (size_t i = 0; i < request->found_count; i++) {
        const struct found_key *found = request->found[i];

        if (!found->is_left_out)
            entry_add(request, found->key, found->pool);
    }
}

/* Removes duplicates, and looks up each key in both topologies. A key that is
 * in several old pools, or that the caller names, belongs to all pools. */
static void entries_finish(struct request *request)
{
    size_t left = 0;

    qsort(request->entries, request->entry_count, sizeof *request->entries,
          entry_compare);
    for (size_t i = 0; i < request->entry_count; i++) {
        struct key_entry *entry = &request->entries[i];

        if (left > 0 &&
            entry_compare(entry, &request->entries[left - 1]) == 0) {
            request->entries[left - 1].found_in = NO_POOL;
            continue;
        }
        entry->was = place_of(request->was, entry->key);
        entry->is = place_of(request->is, entry->key);
        request->entries[left++] = *entry;
    }
    request->entry_count = left;
}

enum seqb_status request_make_entries(struct request *request,
                                      struct seqb_error *err)
{
    const size_t most = request->was->queue.sequence_count +
                        request->is->queue.sequence_count +
                        request->options->key_count + request->found_count;

    free(request->entries);
    request->entry_count = 0;
    request->entries = calloc(most + 1, sizeof *request->entries);
    if (request->entries == NULL)
        return no_memory(err);
    entries_add(request, &request->was->queue);
    entries_add(request, &request->is->queue);
    entries_find(request);
    if (entries_name(request, err) != SEQB_OK)
        return err->status;
    entries_finish(request);
    return SEQB_OK;
}

/* --- keys that the stores know --- */

static const char *pool_name(const struct request *request, size_t pool)
{
    return request->was->ha.pools[request->pools[pool].was].layout.name;
}

static int found_compare(const void *a, const void *b)
{
    const struct found_key *left = a;
    const struct found_key *right = b;

    return left->pool != right->pool ? (left->pool > right->pool ? 1 : -1)
                                     : strcmp(left->key, right->key);
}

/* `*is_new` if the key was not found before. */
static enum seqb_status found_add(struct request *request, int32_t pool,
                                  const char *key, bool *is_new,
                                  struct seqb_error *err)
{
    struct found_key *found = malloc(sizeof *found);
    struct found_key **all =
        realloc(request->found,
                (request->found_count + 1) * sizeof(struct found_key *));
    struct found_key *const *node = NULL;

    if (all != NULL)
        request->found = all;
    if (all != NULL && found != NULL) {
        *found = (struct found_key){.pool = pool};
        (void)text_copy(found->key, sizeof found->key, key);
        node = tsearch(found, &request->found_tree, found_compare);
    }
    *is_new = node != NULL && *node == found;
    if (*is_new)
        request->found[request->found_count++] = found;
    else
        free(found);
    return node == NULL ? no_memory(err) : SEQB_OK;
}

/* By its name, not by auto_sequences. */
static bool is_listed(const struct queue_options *queue, const char *key)
{
    for (size_t i = 0; i < queue->sequence_count; i++) {
        if (strcmp(queue->sequences[i].key, key) == 0)
            return true;
    }
    return false;
}

static enum seqb_status find(void *context, size_t pool, const char *key,
                             bool *is_new, struct seqb_error *err)
{
    struct request *request = context;
    const enum seqb_status status =
        found_add(request, (int32_t)request->pools[pool].was, key, is_new, err);

    *is_new = *is_new && !is_listed(&request->was->queue, key) &&
              !is_listed(&request->is->queue, key);
    return status;
}

/* A topology that does not list the key must say the same of it as its claim,
 * or nothing. */
static bool is_left_out(const struct request *request, const char *key,
                        const char *attributes)
{
    const struct place was = place_of(request->was, key);
    const struct place is = place_of(request->is, key);
    const struct place *place = was.pool != NO_POOL ? &was : &is;

    if (attributes == NULL)
        return place->pool == NO_POOL;
    return strcmp(attributes,
                  place->attributes == NULL ? "" : place->attributes) != 0;
}

/* The key is the last one that was found. */
static void take_claim(void *context, size_t pool, const char *key,
                       const char *attributes)
{
    struct request *request = context;
    const struct seqb_migrate_options *options = request->options;
    char line[LINE_SIZE];

    if (!is_left_out(request, key, attributes))
        return;
    request->found[request->found_count - 1]->is_left_out = true;
    (void)text_format(
        line, sizeof line,
        "warning: sequence %s of pool %s is listed in neither topology, and "
        "%s%s: it is left out, and must not be used in this pool again; to "
        "bring it along, list it in both topologies as it was",
        key, pool_name(request, pool),
        attributes == NULL      ? "no store knows its memory_bits"
        : attributes[0] == '\0' ? "was used without what auto_sequences say"
                                : "was used with",
        attributes == NULL ? "" : attributes);
    if (options->report != NULL)
        options->report(options->context, line);
}

/* Names that the caller gives are all that is known of such a store. */
static enum seqb_status refuse_mute(void *context, size_t pool,
                                    const char *backend, struct seqb_error *err)
{
    const struct request *request = context;
    const struct queue_sequence_options *automatic =
        request->was->queue.automatic;

    if (automatic == NULL || request->options->keys != NULL ||
        (int32_t)request->pools[pool].was != automatic->pool)
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "pool %s has auto_sequences, and its backend %s cannot "
                     "list their keys: name every key that was ever used, with "
                     "--keys FILE; one left out would begin again",
                     pool_name(request, pool), backend);
}

/* Whether the key is migrated already. */
static bool is_known(const struct request *request, const char *key)
{
    const struct key_entry find = {.key = key};

    return bsearch(&find, request->entries, request->entry_count,
                   sizeof *request->entries, entry_compare) != NULL;
}

enum seqb_status request_find_keys(struct request *request,
                                   const struct offline_migration *migration,
                                   bool *has_more, struct seqb_error *err)
{
    const size_t before = request->found_count;
    const enum seqb_status status =
        offline_find_keys(migration,
                          &(struct offline_finder){.found = find,
                                                   .claimed = take_claim,
                                                   .mute = refuse_mute,
                                                   .context = request},
                          err);

    *has_more = false;
    for (size_t i = before; i < request->found_count; i++)
        *has_more |= !request->found[i]->is_left_out &&
                     !is_known(request, request->found[i]->key);
    return status;
}

/* --- the keys of each pool --- */

static bool belongs(const struct key_entry *entry,
                    const struct offline_pool *pool)
{
    if (entry->was.pool != NO_POOL)
        return entry->was.pool == (int32_t)pool->was;
    if (entry->is.pool != NO_POOL)
        return entry->is.pool == (int32_t)pool->is;
    return entry->found_in == NO_POOL || entry->found_in == (int32_t)pool->was;
}

enum seqb_status request_share_keys(struct request *request,
                                    struct seqb_error *err)
{
    struct offline_key *at = calloc(
        request->pool_count * request->entry_count + 1, sizeof *request->keys);

    free(request->keys);
    request->keys = at;
    if (at == NULL)
        return no_memory(err);
    for (size_t i = 0; i < request->pool_count; i++) {
        struct offline_pool *pool = &request->pools[i];

        pool->keys = at;
        for (size_t j = 0; j < request->entry_count; j++) {
            const struct key_entry *entry = &request->entries[j];

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

void request_free(struct request *request)
{
    for (size_t i = 0; i < request->found_count; i++) {
        (void)tdelete(request->found[i], &request->found_tree, found_compare);
        free(request->found[i]);
    }
    free(request->found);
    free(request->entries);
    free(request->pools);
    free(request->keys);
}
