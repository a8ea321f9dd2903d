/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours that go back one after the other: each was level when the next one
 * went. No store of the pool has the claims of its own then that were made
 * after the copies.
 */
#include <time.h>
#include <unistd.h>

#include "platform/text.h"
#include "store/store.h"
#include "store_file.h"
#include "support/test.h"

#define MANY 8000

static const char topology[] =
    "backends = ("
    "  { name = \"%s\"; engine = \"sqlite\"; path = \"%s.db\"; },"
    "  { name = \"%s\"; engine = \"sqlite\"; path = \"%s.db\"; } );"
    "pools = ( { name = \"main\"; generation = %d; timeout = \"1m\";"
    "            partitions = [ \"%s\", \"%s\" ]; window_bits = 8;"
    "            authority = \"neighbours\"; } );"
    "sequences = ( { key = \"order\"; max_unused = 64; deadline = \"1m\"; } );"
    "auto_sequences = { pattern = \"new\"; pool = \"main\"; max_unused = 64;"
    "                   memory_bits = %d; deadline = \"1m\"; };";

static const char *const stores[] = {"a", "b"};

static const char *write_pool(const struct scene *scene, int generation,
                              const char *const of[2], int memory_bits)
{
    char text[SCENE_TEXT_SIZE];
    char name[32];

    assert_true(text_format(text, sizeof text, topology, of[0], of[0], of[1],
                            of[1], generation, of[0], of[1], memory_bits));
    (void)text_format(name, sizeof name, "%d-%d.conf", generation, memory_bits);
    return scene_write(scene, name, text);
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

/* A broker that nobody stopped at the migration. It never had the key, which
 * began in the new pool. */
TEST_WITH(SCENE, retired_pool_whose_stores_go_back_in_turn_begins_no_key)
{
    static const char *const others[] = {"c", "d"};
    static const char *const keys[] = {"order"};
    const struct seqb_migrate_options options = {.keys = keys, .key_count = 1};
    const char *was = write_pool(scene, 1, stores, 0);
    const char *is = write_pool(scene, 2, others, 0);
    struct seqb_broker *old;
    struct seqb_error err = {.text = ""};

    scene_use(scene, was, MANY);
    save(scene, "a");
    save(scene, "b");
    scene_open(scene, was);
    old = scene->broker;
    scene->broker = NULL;
    assert_done(seqb_migrate(was, is, &options, &err), err);
    scene_use_key(scene, is, "new", MANY);
    scene->broker = old;
    for (int i = 0; i < 2; i++) {
        put_back(scene, stores[i]);
        await_level(scene, stores[i]);
    }
    scene_expect_no_numbers(scene, "new", "was retired");
}

/* Its numbers would be others with other bits. */
TEST_WITH(SCENE, key_whose_stores_go_back_in_turn_keeps_its_bits)
{
    const char *path = write_pool(scene, 1, stores, 3);
    const char *other = write_pool(scene, 1, stores, 0);

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
