/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces cut off the front of a slab of pages; those given back wait in one
 * list a size. What is too large for that has pages of its own. */
#include "platform/wiped.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/thread.h"

#define GRAIN     64  /* sizes are rounded up to it */
#define PAIR      128 /* two lines that the processor fetches together */
#define SLAB_SIZE ((size_t)256 * 1024)
#define PIECE_MAX ((size_t)32 * 1024) /* what is larger has its own pages */
#define SIZES     (PIECE_MAX / GRAIN + 1)

/* Begins every mapping, a slab or a large object's own. */
struct mapping {
    _Alignas(PAIR) struct mapping *next;
    struct mapping *previous;
    size_t size;
};

/* A piece that was given back. */
struct piece {
    struct piece *next;
};

struct wiped {
    pthread_mutex_t lock; /* guards what follows */
    struct mapping *mappings;
    struct piece *given[SIZES]; /* by size in grains */
    unsigned char *rest;        /* of the newest slab */
    size_t rest_size;
};

struct wiped *wiped_open(void)
{
    struct wiped *wiped = calloc(1, sizeof *wiped);

    if (wiped == NULL)
        return NULL;
    pthread_mutex_init(&wiped->lock, NULL);
    return wiped;
}

/* With the lock held, as all that follows: `size` bytes behind a new header. */
static void *mapping_add(struct wiped *wiped, size_t size)
{
    struct mapping *mapping;

    if (size > SIZE_MAX - sizeof *mapping)
        return NULL;
    size += sizeof *mapping;
    mapping = fork_wiped_new(size);
    if (mapping == NULL)
        return NULL;
    mapping->size = size;
    mapping->next = wiped->mappings;
    if (mapping->next != NULL)
        mapping->next->previous = mapping;
    wiped->mappings = mapping;
    return mapping + 1;
}

static void mapping_remove(struct wiped *wiped, struct mapping *mapping)
{
    if (mapping->next != NULL)
        mapping->next->previous = mapping->previous;
    if (mapping->previous != NULL)
        mapping->previous->next = mapping->next;
    else
        wiped->mappings = mapping->next;
    fork_wiped_free(mapping, mapping->size);
}

/* Cuts a piece off the slab; the end of one that is too short stays unused,
 * and never was touched. */
static void *piece_cut(struct wiped *wiped, size_t size)
{
    const size_t gap = size % PAIR == 0 ? (uintptr_t)wiped->rest % PAIR : 0;
    unsigned char *piece;

    if (wiped->rest_size < gap + size) {
        wiped->rest = mapping_add(wiped, SLAB_SIZE - sizeof(struct mapping));
        wiped->rest_size =
            wiped->rest == NULL ? 0 : SLAB_SIZE - sizeof(struct mapping);
        return wiped->rest == NULL ? NULL : piece_cut(wiped, size);
    }
    piece = wiped->rest + gap;
    wiped->rest += gap + size;
    wiped->rest_size -= gap + size;
    return piece;
}

static void *piece_take(struct wiped *wiped, size_t size)
{
    struct piece *piece = wiped->given[size / GRAIN];

    if (piece == NULL)
        return piece_cut(wiped, size);
    wiped->given[size / GRAIN] = piece->next;
    memset(piece, 0, size);
    return piece;
}

static size_t round_up(size_t size)
{
    return size == 0 ? GRAIN : (size + GRAIN - 1) / GRAIN * GRAIN;
}

void *wiped_take(struct wiped *wiped, size_t size)
{
    void *memory;

    pthread_mutex_lock(&wiped->lock);
    memory = size > PIECE_MAX ? mapping_add(wiped, size)
                              : piece_take(wiped, round_up(size));
    pthread_mutex_unlock(&wiped->lock);
    return memory;
}

void wiped_give(struct wiped *wiped, void *memory, size_t size)
{
    struct piece *piece = memory;

    if (memory == NULL)
        return;
    pthread_mutex_lock(&wiped->lock);
    if (size > PIECE_MAX) {
        mapping_remove(wiped, (struct mapping *)memory - 1);
    } else {
        piece->next = wiped->given[round_up(size) / GRAIN];
        wiped->given[round_up(size) / GRAIN] = piece;
    }
    pthread_mutex_unlock(&wiped->lock);
}

void wiped_close(struct wiped *wiped)
{
    if (wiped == NULL)
        return;
    while (wiped->mappings != NULL)
        mapping_remove(wiped, wiped->mappings);
    pthread_mutex_destroy(&wiped->lock);
    free(wiped);
}
