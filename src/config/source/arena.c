/* SPDX-License-Identifier: Apache-2.0 */
/* Elements are cut from blocks of growing size, because a topology of 100,000
 * sequences takes a million of them. A large element has a block of its own. */
#include "config/source/source.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN   ((size_t)1 << 10)
#define BLOCK_MAX   ((size_t)1 << 16)
#define FORMAT_SIZE 256

struct arena_block {
    struct arena_block *next;
    size_t size; /* bytes of `data` */
    size_t used;
    max_align_t data[];
};

static struct arena_block *block_new(size_t size)
{
    struct arena_block *block = calloc(1, sizeof *block + size);

    if (block != NULL)
        block->size = size;
    return block;
}

/* Returns a block that has room for `size` bytes: the first block, or a new
 * one. */
static struct arena_block *block_for(struct arena *arena, size_t size)
{
    struct arena_block *first = arena->blocks;
    struct arena_block *block;
    size_t wanted = first == NULL ? BLOCK_MIN : 2 * first->size;

    if (first != NULL && size <= first->size - first->used)
        return first;
    if (wanted > BLOCK_MAX)
        wanted = BLOCK_MAX;
    block = block_new(size > wanted / 4 ? size : wanted);
    if (block == NULL)
        return NULL;
    if (first != NULL && size > wanted / 4) { /* the first still has room */
        block->next = first->next;
        first->next = block;
    } else {
        block->next = first;
        arena->blocks = block;
    }
    return block;
}

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    const size_t most = SIZE_MAX - sizeof(struct arena_block) - align;
    struct arena_block *block = NULL;
    size_t wanted = 0;
    void *piece;

    if (size == 0 || count <= most / size) {
        wanted = (count * size + align - 1) / align * align;
        block = block_for(arena, wanted);
    }
    if (block == NULL) {
        arena->is_out_of_memory = true;
        return NULL;
    }
    piece = (char *)block->data + block->used;
    block->used += wanted;
    return piece;
}

char *arena_copy_part(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_take(arena, length + 1, 1);

    return copy == NULL ? NULL : memcpy(copy, text, length);
}

char *arena_copy(struct arena *arena, const char *text)
{
    return arena_copy_part(arena, text, strlen(text));
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    char start[FORMAT_SIZE];
    va_list args;
    int length;
    char *text;

    va_start(args, format);
    length = vsnprintf(start, sizeof start, format, args);
    va_end(args);
    if (length < 0)
        return NULL;
    if ((size_t)length < sizeof start)
        return arena_copy(arena, start);
    text = arena_take(arena, (size_t)length + 1, 1);
    if (text == NULL)
        return NULL;
    va_start(args, format);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void arena_free(struct arena *arena)
{
    while (arena->blocks != NULL) {
        struct arena_block *block = arena->blocks;

        arena->blocks = block->next;
        free(block);
    }
}
