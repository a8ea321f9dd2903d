/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addressing. At most three in four places are taken. A
 * place holds an index and a hash, so that the table is small, and growing
 * reads no key. */
#include "queue/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "platform/hash.h"
#include "queue/sequence.h"

#define CAPACITY_LEAST 32
#define COUNT_MAX      (UINT32_MAX / 2)

#define AHEAD 16 /* sequences ahead to prefetch */

/* How many sequences a table may hold. */
static size_t room_of(size_t capacity)
{
    return capacity / 4 * 3;
}

static uint32_t hash_of(const char *key)
{
    const uint64_t hash = hash_text(key);

    return (uint32_t)(hash ^ hash >> 32);
}

/* The place of the key's sequence, or the free place where it belongs. There is
 * always a free one. */
static size_t place_find(const struct catalog *catalog, const char *key)
{
    const size_t mask = catalog->capacity - 1;
    const struct catalog_place *places = catalog->places;
    const uint32_t hash = hash_of(key);
    size_t place = hash & mask;

    while (places[place].index != 0 &&
           (places[place].hash != hash ||
            strcmp(catalog->sequences[places[place].index - 1]->key, key) != 0))
        place = (place + 1) & mask;
    return place;
}

static bool places_grow(struct catalog *catalog, size_t capacity)
{
    struct catalog_place *places = calloc(capacity, sizeof *places);

    if (places == NULL)
        return false;
    for (size_t i = 0; i < catalog->capacity; i++) {
        size_t place = catalog->places[i].hash & (capacity - 1);

        if (catalog->places[i].index == 0)
            continue;
        while (places[place].index != 0)
            place = (place + 1) & (capacity - 1);
        places[place] = catalog->places[i];
    }
    free(catalog->places);
    catalog->places = places;
    catalog->capacity = capacity;
    return true;
}

bool catalog_reserve(struct catalog *catalog, size_t more)
{
    size_t capacity = catalog->capacity;
    struct seqb_sequence **sequences;

    if (more > COUNT_MAX - catalog->count)
        return false;
    if (catalog->count + more <= room_of(capacity))
        return true;
    if (capacity < CAPACITY_LEAST)
        capacity = CAPACITY_LEAST;
    while (room_of(capacity) < catalog->count + more)
        capacity *= 2;
    sequences = realloc(catalog->sequences,
                        room_of(capacity) * sizeof(struct seqb_sequence *));
    if (sequences == NULL)
        return false;
    catalog->sequences = sequences;
    return places_grow(catalog, capacity);
}

size_t catalog_find(const struct catalog *catalog, const char *key)
{
    size_t place;

    if (catalog->count == 0)
        return CATALOG_NONE;
    place = place_find(catalog, key);
    return catalog->places[place].index == 0 ? CATALOG_NONE
                                             : catalog->places[place].index - 1;
}

size_t catalog_find_at(const struct catalog *catalog, const char *key,
                       size_t likely)
{
    return likely < catalog->count &&
                   strcmp(catalog->sequences[likely]->key, key) == 0
               ? likely
               : catalog_find(catalog, key);
}

struct seqb_sequence *catalog_get(const struct catalog *catalog,
                                  const char *key)
{
    const size_t i = catalog_find(catalog, key);

    return i == CATALOG_NONE ? NULL : catalog->sequences[i];
}

void catalog_prefetch(const struct catalog *catalog, size_t at)
{
    struct seqb_sequence *const *sequences = catalog->sequences;

    if (at + AHEAD >= catalog->count)
        return;
    __builtin_prefetch(sequences[at + AHEAD]);
    __builtin_prefetch(&sequences[at + AHEAD]->own_settings);
    __builtin_prefetch(sequences[at + AHEAD / 2]->key);
}

bool catalog_add(struct catalog *catalog, struct seqb_sequence *sequence)
{
    if (!catalog_reserve(catalog, 1))
        return false;
    catalog->sequences[catalog->count++] = sequence;
    catalog->places[place_find(catalog, sequence->key)] =
        (struct catalog_place){(uint32_t)catalog->count,
                               hash_of(sequence->key)};
    return true;
}

/* No sequence was added after it, so no probe for another key passes its
 * place. */
void catalog_remove_last(struct catalog *catalog)
{
    const char *key = catalog->sequences[catalog->count - 1]->key;

    catalog->places[place_find(catalog, key)] = (struct catalog_place){0};
    catalog->count--;
}

void catalog_fini(struct catalog *catalog)
{
    free(catalog->places);
    free(catalog->sequences);
}
