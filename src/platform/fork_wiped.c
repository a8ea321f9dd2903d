/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces are cut from the front of a slab of pages. Pieces that were given back
 * are in a free list for each size. A larger object has pages of its own. */
#include "platform/fork_wiped.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/thread.h"

#define GRAIN     64  /* sizes are rounded up to a multiple of it */
#define PAIR      128 /* two cache lines that are fetched together */
#define SLAB_SIZE ((size_t)256 * 1024)
#define PIECE_MAX ((size_t)32 * 1024) /* a larger object has its own pages */
#define SIZES     (PIECE_MAX / GRAIN + 1)

/* At the begin of every mapping: a slab, or a large object's own pages. */
struct mapping {
    _Alignas(PAIR) struct mapping *next;
    struct mapping *previous;
    size_t size;
};

/* A piece that was given back. */
struct piece {
    struct piece *next;
};

struct fork_wiped {
    pthread_mutex_t lock; /* guards the fields below */
    struct mapping *mappings;
    struct piece *given[SIZES]; /* free lists, by size in grains */
    unsigned char *rest;        /* of the newest slab */
    size_t rest_size;
};

struct fork_wiped *fork_wiped_open(void)
{
    struct fork_wiped *fork_wiped = calloc(1, sizeof *fork_wiped);

    if (fork_wiped == NULL)
        return NULL;
    pthread_mutex_init(&fork_wiped->lock, NULL);
    return fork_wiped;
}

/* With the lock held, as in all functions below. Returns `size` bytes behind a
 * new header. */
static void *mapping_add(struct fork_wiped *fork_wiped, size_t size)
{
    struct mapping *mapping;

    if (size > SIZE_MAX - sizeof *mapping)
        return NULL;
    size += sizeof *mapping;
    mapping = fork_wiped_new(size);
    if (mapping == NULL)
        return NULL;
    mapping->size = size;
    mapping->next = fork_wiped->mappings;
    if (mapping->next != NULL)
        mapping->next->previous = mapping;
    fork_wiped->mappings = mapping;
    return mapping + 1;
}

static void mapping_remove(struct fork_wiped *fork_wiped,
                           struct mapping *mapping)
{
    if (mapping->next != NULL)
        mapping->next->previous = mapping->previous;
    if (mapping->previous != NULL)
        mapping->previous->next = mapping->next;
    else
        fork_wiped->mappings = mapping->next;
    fork_wiped_free(mapping, mapping->size);
}

/* Cuts a piece off the slab. If the slab's rest is too short, that stays
 * unused, and was never touched. */
static void *piece_cut(struct fork_wiped *fork_wiped, size_t size)
{
    const size_t gap =
        size % PAIR == 0 ? (uintptr_t)fork_wiped->rest % PAIR : 0;
    unsigned char *piece;

    if (fork_wiped->rest_size < gap + size) {
        fork_wiped->rest =
            mapping_add(fork_wiped, SLAB_SIZE - sizeof(struct mapping));
        fork_wiped->rest_size =
            fork_wiped->rest == NULL ? 0 : SLAB_SIZE - sizeof(struct mapping);
        return fork_wiped->rest == NULL ? NULL : piece_cut(fork_wiped, size);
    }
    piece = fork_wiped->rest + gap;
    fork_wiped->rest += gap + size;
    fork_wiped->rest_size -= gap + size;
    return piece;
}

static void *piece_take(struct fork_wiped *fork_wiped, size_t size)
{
    struct piece *piece = fork_wiped->given[size / GRAIN];

    if (piece == NULL)
        return piece_cut(fork_wiped, size);
    fork_wiped->given[size / GRAIN] = piece->next;
    memset(piece, 0, size);
    return piece;
}

static size_t round_up(size_t size)
{
    return size == 0 ? GRAIN : (size + GRAIN - 1) / GRAIN * GRAIN;
}

void *fork_wiped_take(struct fork_wiped *fork_wiped, size_t size)
{
    void *memory;

    pthread_mutex_lock(&fork_wiped->lock);
    memory = size > PIECE_MAX ? mapping_add(fork_wiped, size)
                              : piece_take(fork_wiped, round_up(size));
    pthread_mutex_unlock(&fork_wiped->lock);
    return memory;
}

void fork_wiped_give(struct fork_wiped *fork_wiped, void *memory, size_t size)
{
    struct piece *piece = memory;

    if (memory == NULL)
        return;
    pthread_mutex_lock(&fork_wiped->lock);
    if (size > PIECE_MAX) {
        mapping_remove(fork_wiped, (struct mapping *)memory - 1);
    } else {
        piece->next = fork_wiped->given[round_up(size) / GRAIN];
        fork_wiped->given[round_up(size) / GRAIN] = piece;
    }
    pthread_mutex_unlock(&fork_wiped->lock);
}

void fork_wiped_close(struct fork_wiped *fork_wiped)
{
    if (fork_wiped == NULL)
        return;
    while (fork_wiped->mappings != NULL)
        mapping_remove(fork_wiped, fork_wiped->mappings);
    pthread_mutex_destroy(&fork_wiped->lock);
    free(fork_wiped);
}
