/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations of pools in which keys make their sequences by themselves: only
 * the stores know them. */

#include <string.h>

#include <seqbroker/reload.h>

#include "migration_fixture.h"
#include "mute_sqlite.h"
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
    (void)migration_do(from, to);
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
    (void)migration_do(paths[0], paths[1]);
    scene_open(scene, paths[1]);
    (void)migration_do(paths[1], paths[2]);
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
    (void)migration_do(from, to);
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

/* To other files, which know nothing of it. */
static struct layout_text elsewhere(void)
{
    struct layout_text next = migration_next(&files);

    next.partitions[0] = "f2";
    next.partitions[1] = "f3";
    return next;
}

TEST_SKIPPABLE(MIGRATION, key_that_only_the_stores_know_goes_on)
{
    const struct layout_text next = elsewhere();
    const char *from = migration_write(scene, "old.conf", &files, "");
    const char *to = migration_write(scene, "new.conf", &next, "");

    scene_use_key(scene, from, "bill", MIGRATION_TAKE);
    scene_expect_words(migration_do(from, to)->told, "sequence bill: ");
    scene_use_key(scene, to, "bill", MIGRATION_TAKE);
    scene_expect_no_repeats(scene);
}

/* Nor does a topology list it that lists others. */
TEST_SKIPPABLE(MIGRATION, key_that_is_listed_no_more_goes_on)
{
    struct layout_text was = files;
    struct layout_text next = elsewhere();
    const char *paths[3];

    was.more = next.more = NULL;
    paths[0] = migration_write(scene, "old.conf", &was, "");
    paths[1] = migration_write(scene, "new.conf", &next, "");
    was.key = "bill";
    next.key = "bill";
    scene_use_key(scene, migration_write(scene, "bill.conf", &was, ""), "bill",
                  MIGRATION_TAKE);
    (void)migration_do(paths[0], paths[1]);
    paths[2] = migration_write(scene, "bill.conf", &next, "");
    scene_use_key(scene, paths[2], "bill", MIGRATION_TAKE);
    scene_expect_no_repeats(scene);
}

TEST_SKIPPABLE(MIGRATION, key_of_a_store_that_cannot_list_has_to_be_named)
{
    static const char *const keys[] = {"bill", "order"};
    const struct seqb_migrate_options named = {.keys = keys, .key_count = 2};
    const struct layout_text next = elsewhere();
    const char *from = migration_write(scene, "old.conf", &files, "");
    const char *to = migration_write(scene, "new.conf", &next, "");
    struct seqb_error err;

    scene_use_key(scene, from, "bill", MIGRATION_TAKE);
    assert_int_equal(migrate_mute(scene, from, to, NULL, &err), SEQB_INVALID);
    scene_expect_words(err.text, "f1 cannot list their keys");
    assert_done(migrate_mute(scene, from, to, &named, &err), err);
    scene_use_key(scene, to, "bill", MIGRATION_TAKE);
    scene_expect_no_repeats(scene);
}

/* Its claim has more than bits, which only a topology can say. */
static void leave_out_day(struct scene *scene, const char *automatic)
{
    struct layout_text was = files;
    struct layout_text next = elsewhere();
    const char *from;
    const char *to;

    migration_reset(scene);
    was.more = next.more = automatic;
    from = migration_write(scene, "old.conf", &was, "");
    to = migration_write(scene, "new.conf", &next, "");
    was.key = "day\"; period = \"day";
    scene_use_key(scene, migration_write(scene, "day.conf", &was, ""), "day",
                  1);
    scene_expect_words(migration_do(from, to)->told,
                       "warning: sequence day of pool main is listed in "
                       "neither topology, and was used with period=day");
}

TEST_SKIPPABLE(MIGRATION, key_whose_settings_nobody_knows_is_left_out)
{
    leave_out_day(scene, NULL);
    leave_out_day(scene, files.more); /* which are others */
}

struct meanwhile {
    struct scene *scene;
    bool is_over;
};

/* Between the reading of the keys and the first write. */
static void use_another(void *context, const char *line)
{
    struct meanwhile *meanwhile = context;

    if (strncmp(line, "warning: stop every broker", 26) != 0 ||
        meanwhile->is_over)
        return;
    meanwhile->is_over = true;
    scene_take(meanwhile->scene, "bill", MIGRATION_TAKE);
}

TEST_SKIPPABLE(MIGRATION, key_that_begins_during_the_migration_goes_on)
{
    struct meanwhile meanwhile = {.scene = scene};
    const struct seqb_migrate_options options = {.report = use_another,
                                                 .context = &meanwhile};
    const struct layout_text next = elsewhere();
    const char *from = migration_write(scene, "old.conf", &files, "");
    const char *to = migration_write(scene, "new.conf", &next, "");
    struct seqb_error err;

    scene_open(scene, from);
    assert_done(seqb_migrate(from, to, &options, &err), err);
    assert_true(meanwhile.is_over);
    scene_close(scene);
    scene_use_key(scene, to, "bill", MIGRATION_TAKE);
    scene_expect_no_repeats(scene);
}

TEST_SKIPPABLE(MIGRATION, forgotten_key_is_refused_until_it_is_migrated)
{
    struct seqb_error err;
    const char *from;
    const char *to;
    struct layout_text next = migration_next(&files);

    next.partitions[0] = "f2"; /* knows no sequence, and is asked first */
    next.partitions[1] = "f0";
    from = migration_write(scene, "old.conf", &files, "");
    to = migration_write(scene, "new.conf", &next, "");
    scene_use_key(scene, from, "bill", MIGRATION_TAKE);
    assert_done(migrate_forgetting(scene, from, to, &err), err);
    scene_open(scene, to);
    scene_expect_no_numbers(scene, "bill",
                            "was used in generation 1 of pool main");
    scene_close(scene);
    (void)migration_do(from, to);
    scene_open(scene, to);
    scene_take(scene, "bill", MIGRATION_TAKE);
    scene_expect_no_repeats(scene);
}

/* The stores are asked of both in one call. */
TEST_SKIPPABLE(MIGRATION, forgotten_key_is_refused_if_it_is_listed_with_others)
{
    struct layout_text next = migration_next(&files);
    struct layout_text later = next;
    const char *from = migration_write(scene, "old.conf", &files, "");
    const char *to = migration_write(scene, "new.conf", &next, "");
    struct seqb_error err;

    later.key = BILL_AND_ORDER;
    scene_use_key(scene, from, "bill", MIGRATION_TAKE);
    assert_done(migrate_forgetting(scene, from, to, &err), err);
    for (int i = 0; i < 2; i++) { /* the first start has claimed nothing */
        scene_open(scene, migration_write(scene, "later.conf", &later, ""));
        scene_expect_no_numbers(scene, "bill",
                                "was used in generation 1 of pool main");
        scene_take(scene, "order", MIGRATION_TAKE);
        scene_close(scene);
    }
    scene_expect_no_repeats(scene);
}

TEST_AFTER_ALL(migration_stop);
