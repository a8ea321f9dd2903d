/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequences of a queue, by key and in the order in which they were added.
 * Looking one up takes constant time, however many there are. Not thread-safe:
 * the queue's lock guards it. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seqb_sequence;

/* A place of the hash table. Keys are compared only if their hashes are equal:
 * a key that is read costs two misses of the cache if there are very many. */
struct catalog_place {
    uint32_t index; /* 1 + index of a sequence; 0: free */
    uint32_t hash;  /* of its key */
};

/* Zeroed is empty. */
struct catalog {
    struct seqb_sequence **sequences; /* `count` of them, in order */
    size_t count;
    struct catalog_place *places; /* by the key's hash */
    size_t capacity; /* of places: a power of two, 4/3 of the count at least */
};

/* Makes room for `more` sequences; false when out of memory. */
bool catalog_reserve(struct catalog *catalog, size_t more);

/* NULL if no sequence has the key. */
struct seqb_sequence *catalog_get(const struct catalog *catalog,
                                  const char *key);

#define CATALOG_NONE SIZE_MAX

/* The index of the key's sequence; CATALOG_NONE: there is none. */
size_t catalog_find(const struct catalog *catalog, const char *key);

/* The same. It checks the sequence at index `likely` first, which saves the
 * look-up if the key is there. */
size_t catalog_find_at(const struct catalog *catalog, const char *key,
                       size_t likely);

/* For a thread that visits the sequences in order, and is at this index:
 * prefetches the keys and settings of the next ones. */
void catalog_prefetch(const struct catalog *catalog, size_t at);

/* Adds a sequence whose key is not in the catalog; false when out of memory. */
bool catalog_add(struct catalog *catalog, struct seqb_sequence *sequence);

/* Removes the sequence that was added last. */
void catalog_remove_last(struct catalog *catalog);

/* Frees the memory of the catalog, but not the sequences. */
void catalog_fini(struct catalog *catalog);
