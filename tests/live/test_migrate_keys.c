/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations of pools in which keys make their sequences by themselves: no
 * store can list them. */

#include <sqlite3.h>

#include <seqbroker/reload.h>

#include "migration_fixture.h"
#include "platform/text.h"
#include "support/rig.h"
#include "support/test.h"

static const struct layout_text files = {
    {"f0", "f1"},
    NULL,
    1,
    3,
    20,
    "auto_sequences = { pattern = \"*\"; memory_bits = 3; deadline = \"1m\"; "
    "};",
    NULL,
    0};

/* The operator names these keys, beside those that are listed. */
static void migrate_with_keys(const char *from, const char *to,
                              const char *const *keys, size_t count)
{
    static const char *const none[] = {NULL};
    const struct seqb_migrate_options options = {
        .keys = count > 0 ? keys : none, .key_count = count};

    assert_ok(migration_try(from, to, &options)->status);
}

/* It was connected when the pool was retired, and nobody could name the key. */
TEST_SKIPPABLE(MIGRATION, key_that_is_new_to_an_old_broker_is_refused_there)
{
    struct seqb_sequence *sequence;
    struct seqb_error err;
    int64_t number;
    struct layout_text next = migration_next(&files);
    const char *from = migration_write(scene, "old.conf", &files, "");
    const char *to = migration_write(scene, "new.conf", &next, "");

    scene_open(scene, from);
    migrate_with_keys(from, to, NULL, 0);
    sequence = scene_sequence(scene, "late");
    assert_int_not_equal(seqb_next(sequence, &number, &err), SEQB_OK);
    scene_expect_words(err.text, "was retired by seqctl migrate");
}

/* A key of a later generation is claimed in all stores before it is asked
 * for. */
TEST_SKIPPABLE(MIGRATION,
               key_that_is_new_to_an_old_broker_of_generation_2_is_refused)
{
    const char *paths[3];
    struct layout_text second = migration_next(&files);
    struct layout_text third = migration_next(&second);

    third.partitions[0] = "f1";
    third.partitions[1] = "f0";
    paths[0] = migration_write(scene, "1.conf", &files, "");
    paths[1] = migration_write(scene, "2.conf", &second, "");
    paths[2] = migration_write(scene, "3.conf", &third, "");
    migration_use(scene, paths[0]);
    migrate_with_keys(paths[0], paths[1], NULL, 0);
    scene_open(scene, paths[1]);
    migrate_with_keys(paths[1], paths[2], NULL, 0);
    scene_expect_no_numbers(scene, "late", "was retired by seqctl migrate");
}

/* Two keys where the topology has one. */
#define BILL_AND_ORDER                                                         \
    "bill\"; memory_bits = 3; deadline = \"1m\"; }, { key = \"order"
#define FOUR_KEYS                                                              \
    "late\"; }, { key = \"later\"; }, { key = \"bill\"; }, { key = \"order"

/* The keys that a reload adds: one alone, and several in one call. */
TEST_SKIPPABLE(MIGRATION, key_that_a_reload_adds_to_an_old_broker_is_refused)
{
    static const char *const keys[] = {BILL_AND_ORDER, FOUR_KEYS};
    struct seqb_error err;
    struct layout_text next = migration_next(&files);
    const char *from = migration_write(scene, "old.conf", &files, "");
    const char *to = migration_write(scene, "new.conf", &next, "");

    scene_open(scene, from);
    migrate_with_keys(from, to, NULL, 0);
    for (size_t i = 0; i < 2; i++) {
        const struct seqb_reload_options options = {.size = sizeof options};
        struct layout_text more = files;

        more.key = keys[i];
        assert_int_equal(
            seqb_reload(scene->broker,
                        migration_write(scene, "more.conf", &more, ""),
                        &options, &err),
            SEQB_LAYOUT);
        scene_expect_words(err.text, "was retired by seqctl migrate");
    }
}

TEST_SKIPPABLE(MIGRATION, automatic_key_goes_on_if_it_is_named)
{
    static const char *const keys[] = {"bill", "order"};
    const char *from;
    const char *to;
    struct layout_text next = migration_next(&files);

    next.partitions[0] = "f1";
    next.partitions[1] = "f0";
    from = migration_write(scene, "old.conf", &files, "");
    to = migration_write(scene, "new.conf", &next, "");
    scene_use_key(scene, from, "bill", MIGRATION_TAKE);
    migration_refused(from, to, SEQB_INVALID, "--keys FILE");
    migrate_with_keys(from, to, keys, 2);
    scene_open(scene, to);
    scene_take(scene, "bill", MIGRATION_TAKE);
    scene_take(scene, "fresh", 1);
    scene_close(scene);
    /* one of them is "fresh", which is a sequence of its own */
    assert_true(numbers_repeats(&scene->numbers) <= 1);
}

TEST_SKIPPABLE(MIGRATION, forgotten_key_is_refused_until_it_is_named)
{
    static const char *const keys[] = {"bill"};
    const char *from;
    const char *to;
    struct layout_text next = migration_next(&files);

    next.partitions[0] = "f2"; /* knows no sequence, and is asked first */
    next.partitions[1] = "f0";
    from = migration_write(scene, "old.conf", &files, "");
    to = migration_write(scene, "new.conf", &next, "");
    scene_use_key(scene, from, "bill", MIGRATION_TAKE);
    migrate_with_keys(from, to, NULL, 0);
    scene_open(scene, to);
    scene_expect_no_numbers(scene, "bill",
                            "was used in generation 1 of pool main");
    scene_close(scene);
    migrate_with_keys(from, to, keys, 1);
    scene_open(scene, to);
    scene_take(scene, "bill", MIGRATION_TAKE);
    scene_expect_no_repeats(scene);
}

/* The stores are asked of both in one call. */
TEST_SKIPPABLE(MIGRATION, forgotten_key_is_refused_if_it_is_listed_with_others)
{
    const char *from;
    const char *to;
    struct layout_text next = migration_next(&files);
    struct layout_text later = next;

    later.key = BILL_AND_ORDER;
    from = migration_write(scene, "old.conf", &files, "");
    to = migration_write(scene, "new.conf", &next, "");
    scene_use_key(scene, from, "bill", MIGRATION_TAKE);
    migrate_with_keys(from, to, NULL, 0);
    for (int i = 0; i < 2; i++) { /* the first start has claimed nothing */
        scene_open(scene, migration_write(scene, "later.conf", &later, ""));
        scene_expect_no_numbers(scene, "bill",
                                "was used in generation 1 of pool main");
        scene_take(scene, "order", MIGRATION_TAKE);
        scene_close(scene);
    }
    scene_expect_no_repeats(scene);
}

/* --- the documented query --- */

struct found {
    char key[SEQB_COUNTER_SIZE];
    const char *keys[1];
    size_t count;
};

static int add_key(void *context, int columns, char **values, char **names)
{
    struct found *found = context;

    (void)columns;
    (void)names;
    assert_true(found->count == 0);
    assert_true(text_copy(found->key, sizeof found->key, values[0]));
    found->keys[found->count++] = found->key;
    return 0;
}

/* As in operations.md, of generation 2. */
static void find_keys(const struct scene *scene, struct found *found)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(scene_state_path(scene, "f0.db"), &db),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "SELECT substr(name, 17) FROM seqb_claims "
                                  "WHERE name LIKE 'sequence/main~2/%' "
                                  "AND name NOT LIKE '%/order'",
                                  add_key, found, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* It was first used in generation 2, so that it has no claim of generation
 * 1. */
TEST_SKIPPABLE(MIGRATION, key_of_a_later_generation_is_found_by_its_claim)
{
    struct found found = {.count = 0};
    const char *paths[3];
    struct layout_text second = migration_next(&files);
    struct layout_text third = migration_next(&second);

    paths[0] = migration_write(scene, "1.conf", &files, "");
    paths[1] = migration_write(scene, "2.conf", &second, "");
    paths[2] = migration_write(scene, "3.conf", &third, "");
    migration_use(scene, paths[0]);
    migrate_with_keys(paths[0], paths[1], NULL, 0);
    scene->numbers.count = 0; /* of another key */
    scene_use_key(scene, paths[1], "bill", MIGRATION_TAKE);
    find_keys(scene, &found);
    assert_int_equal(found.count, 1);
    migrate_with_keys(paths[1], paths[2], found.keys, found.count);
    scene_use_key(scene, paths[2], "bill", MIGRATION_TAKE);
    scene_expect_no_repeats(scene);
}

TEST_AFTER_ALL(migration_stop);
