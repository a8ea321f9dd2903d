/* SPDX-License-Identifier: Apache-2.0 */
/* The topology of a pool "main" whose stores are files of the state directory,
 * with the sequence "order". */
#pragma once

#include "scene.h"

struct file_pool {
    const char *partitions; /* a letter each: "ab" has the backends a and b */
    const char *beside;     /* backends that are no partitions; NULL: none */
    const char *engine;     /* before "sqlite"; NULL: nothing */
    const char *name;       /* NULL: "main" */
    int generation;         /* 0: not said */
    const char *settings;   /* of the pool; NULL: none but the next one */
    const char *authority;  /* NULL: not said */
    const char *order;      /* settings of the sequence; NULL: none */
    const char *more;       /* of the file; NULL: none */
};

/* Writes the topology like scene_write. The file of backend a is a.db. */
const char *file_pool_write(const struct scene *scene, const char *name,
                            const struct file_pool *pool);
