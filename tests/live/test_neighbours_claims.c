/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours that go back one after the other: each was level when the next one
 * went. No store of the pool has the claims of its own then that were made
 * after the copies.
 */
#include <time.h>
#include <unistd.h>

#include "file_pool.h"
#include "platform/text.h"
#include "store/store.h"
#include "store_file.h"
#include "support/test.h"

#define MANY 8000

static const char *const stores[] = {"a", "b"};

/* A pool of these files, each of which is named by one letter. */
static const char *write_pool(const struct scene *scene, int generation,
                              const char *files, int memory_bits)
{
    char keys[128];
    char name[32];
    const struct file_pool pool = {.partitions = files,
                                   .generation = generation,
                                   .settings = "window_bits = 8;",
                                   .authority = "neighbours",
                                   .order = "max_unused = 64;",
                                   .more = keys};

    (void)text_format(keys, sizeof keys,
                      "auto_sequences = { pattern = \"new\"; max_unused = 64; "
                      "memory_bits = %d; };",
                      memory_bits);
    (void)text_format(name, sizeof name, "%d-%d.conf", generation, memory_bits);
    return file_pool_write(scene, name, &pool);
}

static const char *file_of(const struct scene *scene, const char *store,
                           const char *suffix)
{
    char name[32];

    (void)text_format(name, sizeof name, "%s.db%s", store, suffix);
    return scene_state_path(scene, name);
}

static void save(const struct scene *scene, const char *store)
{
    char name[32];

    test_copy_file(file_of(scene, store, ""), file_of(scene, store, ".saved"));
    (void)text_format(name, sizeof name, "%s.db.saved", store);
    assert_int_equal(store_file_edit(scene, name,
                                     "UPDATE seqb_claims SET text = 'saved' "
                                     "WHERE name = 'synced/main'"),
                     1);
}

static void put_back(const struct scene *scene, const char *store)
{
    (void)unlink(file_of(scene, store, "-wal"));
    (void)unlink(file_of(scene, store, "-shm"));
    scene_copy(file_of(scene, store, ".saved"), file_of(scene, store, ""));
}

/* Waits until a broker has made the store level that was put back. */
static void await_level(const struct scene *scene, const char *store)
{
    char name[32];

    (void)text_format(name, sizeof name, "%s.db", store);
    while (store_file_edit(scene, name,
                           "UPDATE seqb_claims SET text = text "
                           "WHERE name = 'synced/main' AND text != 'saved' "
                           "AND text NOT LIKE '" TERM_BEGUN "%'") == 0)
        nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static enum seqb_status migrate(const char *was, const char *is,
                                struct seqb_error *err)
{
    static const char *const keys[] = {"order"};

    return seqb_migrate(
        was, is, &(struct seqb_migrate_options){.keys = keys, .key_count = 1},
        err);
}

/* A broker that nobody stopped at the migration makes them level. It is
 * scene->broker then. */
static void go_back_after(struct scene *scene, const char *was, const char *is)
{
    struct seqb_error err = {.text = ""};

    scene_use(scene, was, MANY);
    save(scene, "a");
    save(scene, "b");
    scene_use(scene, was, MANY);
    scene_open(scene, was);
    assert_done(migrate(was, is, &err), err);
    for (int i = 0; i < 2; i++) {
        put_back(scene, stores[i]);
        await_level(scene, stores[i]);
    }
}

/* It never had the key, which is of the new pool. */
TEST_WITH(SCENE, retired_pool_whose_stores_go_back_in_turn_begins_no_key)
{
    go_back_after(scene, write_pool(scene, 1, "ab", 0),
                  write_pool(scene, 2, "cd", 0));
    scene_expect_no_numbers(scene, "new", "was retired");
}

/* Their counters are at their ends, and no store says any more how far they
 * were. The run that came to its end does. */
TEST_WITH(SCENE, migration_over_stores_that_go_back_in_turn_is_done_again)
{
    const char *was = write_pool(scene, 1, "ab", 0);
    const char *is = write_pool(scene, 2, "abcd", 0);
    struct seqb_error err = {.text = ""};
    int64_t highest;

    go_back_after(scene, was, is);
    scene_close(scene);
    highest = numbers_highest(&scene->numbers);
    assert_done(migrate(was, is, &err), err);
    scene_use(scene, is, MANY);
    scene_expect_no_repeats(scene);
    assert_true(numbers_highest(&scene->numbers) > highest);
}

/* Its numbers would be others with other bits. */
TEST_WITH(SCENE, key_whose_stores_go_back_in_turn_keeps_its_bits)
{
    const char *path = write_pool(scene, 1, "ab", 3);
    const char *other = write_pool(scene, 1, "ab", 0);

    scene_use(scene, path, MANY);
    save(scene, "a");
    save(scene, "b");
    scene_use_key(scene, path, "new", MANY);
    for (int i = 0; i < 2; i++) {
        put_back(scene, stores[i]);
        scene_open(scene, path);
        await_level(scene, stores[i]);
        scene_close(scene);
    }
    scene_open(scene, other);
    scene_expect_no_numbers(scene, "new", "was used with memory_bits=3");
}
