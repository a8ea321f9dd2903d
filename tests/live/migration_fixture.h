/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool that is migrated: topologies over files and a private Redis server,
 * and the numbers taken before and after.
 *
 * A failure of these functions fails the test. Call them from the main thread
 * only.
 */
#pragma once

#include "scene.h"
#include "support/server_redis.h"

#define MIGRATION_STORES 4
#define MIGRATION_TAKE   300 /* more than a ring holds */

/* A layout of the pool "main" with the sequence "order". Stores are files,
 * except that names beginning with 'r' are parts of the Redis server. */
struct layout_text {
    const char *partitions[MIGRATION_STORES + 1]; /* ended by NULL */
    const char *authority;                        /* NULL: none; or
                                                     "neighbours" */
    int generation;
    int memory_bits;
    int window_bits;
    const char *more; /* auto_sequences; NULL: none */
    const char *key;  /* NULL: "order" */
    int failover_gap; /* 0: the default */
};

/* A scene with an empty server and no files, for tests that may be skipped. The
 * server runs until migration_stop, which is for TEST_AFTER_ALL. */
struct scene *migration_start(void **state);
int migration_stop(void **state);

#define MIGRATION FIXTURE(struct scene *scene, migration_start, scene_teardown)

/* Starts the server or, if it runs, empties it, and removes the files. */
void migration_reset(struct scene *scene);

/* The same layout in the next generation. */
struct layout_text migration_next(const struct layout_text *text);

/* Redis loses its cells. */
void migration_forget_cells(void);

/* Puts the copy into f0, whose broker notes are lost. */
void migration_put_back(const struct scene *scene, const char *copy);
struct server *migration_server(void);

/* Writes the topology. `engine` is put before the engines' names. The path that
 * is returned is valid until the test ends. */
const char *migration_write(struct scene *scene, const char *name,
                            const struct layout_text *text, const char *engine);

/* What a migration reported, and its result. Valid until the next migration. */
struct moved {
    char told[16384];
    enum seqb_status status;
    struct seqb_error err;
};

const struct moved *migration_try(const char *from, const char *to,
                                  const struct seqb_migrate_options *options);

/* The migration must succeed. */
const struct moved *migration_do(const char *from, const char *to);

/* The migration must fail with `status`, and its error must contain `words`. */
void migration_refused(const char *from, const char *to,
                       enum seqb_status status, const char *words);

/* Opens a broker, takes numbers of "order" into scene->numbers, and closes
 * it. */
void migration_use(struct scene *scene, const char *topology);

/* The same with a new layout: each number must be above all earlier ones in
 * scene->numbers. */
void migration_use_above(struct scene *scene, const char *topology);
