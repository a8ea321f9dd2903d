/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as one topology and is freed in one step. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

/* Zeroed is empty. */
struct arena {
    struct arena_block *blocks;
    bool is_out_of_memory; /* stays true; whoever fills the arena asks once,
                              at the end */
};

/* `count` zeroed elements; NULL when out of memory. */
void *arena_take(struct arena *arena, size_t count, size_t size);

/* A formatted text; NULL when out of memory. */
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void arena_free(struct arena *arena);
