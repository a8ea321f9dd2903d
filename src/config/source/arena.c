/* SPDX-License-Identifier: Apache-2.0 */
/* One heap block a piece, chained: a topology is small and read once. */
#include "config/source/source.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct arena_block {
    struct arena_block *next;
    max_align_t data[];
};

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    const size_t most = SIZE_MAX - sizeof(struct arena_block);
    struct arena_block *block = NULL;

    if (size == 0 || count <= most / size)
        block = calloc(1, sizeof *block + count * size);
    if (block == NULL) {
        arena->is_out_of_memory = true;
        return NULL;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    return block->data;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    int length;
    char *text;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return NULL;
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
