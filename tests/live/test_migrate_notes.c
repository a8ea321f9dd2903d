/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that does not show that it went back, and is migrated before a broker
 * asked it: the notes in the state directory of the topology are counted.
 */
#include "migration_fixture.h"
#include "store_file.h"
#include "support/test.h"

#define MANY 8000
#define GAP  16

/* A broker noted what it was granted after the copy. */
static void migrate_after_a_copy(struct scene *scene,
                                 const struct layout_text *was,
                                 const struct layout_text *is)
{
    const char *from;
    const char *to;

    migration_reset(scene);
    from = migration_write(scene, "old.conf", was, "");
    to = migration_write(scene, "new.conf", is, "");
    scene_use(scene, from, MANY);
    test_copy_file(scene_state_path(scene, "f0.db"),
                   scene_state_path(scene, "saved"));
    scene_use(scene, from, (size_t)10 * MANY);
    test_copy_file(scene_state_path(scene, "saved"),
                   scene_state_path(scene, "f0.db"));
    migration_forget_cells(); /* which would show their windows */
    (void)migration_do(from, to);
    migration_use_above(scene, to);
}

TEST_WITH(SCENE, new_counters_begin_above_what_a_broker_noted)
{
    const struct layout_text was = {{"f0"}, NULL, 1, 3, 8, NULL, NULL, GAP};
    const struct layout_text is = {{"f1"}, NULL, 2, 3, 8, NULL, NULL, GAP};

    migrate_after_a_copy(scene, &was, &is);
}

TEST_WITH(SCENE, new_windows_begin_above_those_that_a_broker_noted)
{
    const struct layout_text was = {{"r0", "r1"}, "f0", 1,  3, 8,
                                    NULL,         NULL, GAP};
    const struct layout_text is = {{"r0", "r1"}, "f1", 2,  3, 8,
                                   NULL,         NULL, GAP};

    migrate_after_a_copy(scene, &was, &is);
}

/* No run makes such a note. */
TEST_WITH(SCENE, damaged_note_of_a_counter_is_refused)
{
    const struct layout_text was = {{"f0"}, NULL, 1, 3, 8, NULL, NULL, 0};
    struct layout_text is = was;
    const char *from = migration_write(scene, "old.conf", &was, "");
    const char *to;

    is.generation = 2;
    to = migration_write(scene, "new.conf", &is, "");
    migration_reset(scene);
    migration_use(scene, from);
    (void)migration_do(from, to);
    assert_int_equal(store_file_edit(scene, "f0.db",
                                     "UPDATE seqb_claims SET text = '-5' "
                                     "WHERE name LIKE 'retired/%/order'"),
                     1);
    assert_int_equal(store_file_edit(scene, "f0.db",
                                     "DELETE FROM seqb_claims "
                                     "WHERE name LIKE 'migrated/%'"),
                     1);
    migration_refused(from, to, SEQB_CORRUPT, "says '-5'");
}

TEST_AFTER_ALL(migration_stop);
