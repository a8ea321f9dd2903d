/* SPDX-License-Identifier: Apache-2.0 */
/* A store that is put back to a copy from the middle of a migration. */
#include <string.h>

#include "kill_after.h"
#include "migration_fixture.h"
#include "support/rig.h"
#include "support/test.h"

#define CALLS_MAX 1000
#define MANY      8000 /* so many that half of it is above the gap */
#define WIDE      2000 /* more than a store grants of MANY */

static bool is_to_do(const struct moved *moved)
{
    return strstr(moved->told, "nothing is to be done") == NULL;
}

/* A run that writes nothing. When it closes the stores, SQLite empties their
 * logs into their files. */
static const struct moved *migrate_dry(const char *from, const char *to)
{
    const struct seqb_migrate_options options = {.dry_run = true};

    return migration_try(from, to, &options);
}

/* A migration is cut off, f0 is copied, and the migration comes to its end.
 * When the new pool was used, the copy is put back. False if it was not cut
 * off, or the copy has all that it writes. */
static bool copy_after(struct scene *scene, int64_t calls,
                       const struct layout_text *was,
                       const struct layout_text *is)
{
    const char *copy = scene_path(scene, "f0.copy");
    const char *from = migration_write(scene, "old.conf", was, "");
    const char *to = migration_write(scene, "new.conf", is, "");

    migration_reset(scene);
    scene->numbers.count = 0;
    scene_use(scene, from, MANY);
    if (migrate_killed_after(
            calls,
            migration_write(scene, "old-killable.conf", was, "killable-"),
            migration_write(scene, "new-killable.conf", is, "killable-"), NULL))
        return false;
    (void)migrate_dry(from, to);
    test_copy_file(scene_state_path(scene, "f0.db"), copy);
    (void)migration_do(from, to);
    scene_use(scene, to, MANY);
    migration_put_back(scene, copy);
    return is_to_do(migrate_dry(from, to));
}

/* What the error of a start says: the migration is run again. */
static void run_again(struct scene *scene, int64_t calls)
{
    const char *from = scene_path(scene, "old.conf");
    const char *to = scene_path(scene, "new.conf");

    (void)migration_do(from, to);
    scene_use(scene, to, MANY);
    if (numbers_repeats(&scene->numbers) > 0)
        fail_msg("after %lld calls: numbers repeat", (long long)calls);
    assert_false(is_to_do(migration_try(from, to, NULL)));
}

/* The next generation would begin above what the store knows. */
static void run_next(struct scene *scene, int64_t calls)
{
    (void)calls;
    migration_refused(scene_path(scene, "new.conf"),
                      scene_path(scene, "next.conf"), SEQB_LAYOUT,
                      "run that migration again first");
}

static void copy_after_any(struct scene *scene, const struct layout_text *was,
                           int64_t step,
                           void (*follow)(struct scene *scene, int64_t calls))
{
    struct layout_text is = *was;
    struct layout_text next = *was;
    int64_t calls = 1;

    is.generation = 2;
    next.generation = 3;
    migration_reset(scene);
    (void)migration_write(scene, "next.conf", &next, "");
    for (; copy_after(scene, calls, was, &is); calls += step) {
        follow(scene, calls);
        if (calls > CALLS_MAX)
            fail_msg("it does not end");
    }
    assert_true(calls > 10); /* it was cut off indeed */
}

static const struct layout_text direct = {{"f0", "f1"}, NULL, 1,   3, 8,
                                          NULL,         NULL, WIDE};
static const struct layout_text leased = {
    {"f0", "f1", "r0", "r1"}, "f0", 1, 3, 8, NULL, NULL, WIDE};
static const struct layout_text noted = {{"f0", "f1"}, "neighbours", 1,   3, 8,
                                         NULL,         NULL,         WIDE};

TEST_WITH(SCENE, copy_from_the_middle_of_a_migration_repeats_nothing)
{
    copy_after_any(scene, &direct, 1, run_again);
}

TEST_WITH(SCENE, authority_from_the_middle_of_a_migration_repeats_nothing)
{
    copy_after_any(scene, &leased, 3, run_again);
}

TEST_WITH(SCENE, lessor_from_the_middle_of_a_migration_repeats_nothing)
{
    copy_after_any(scene, &noted, 3, run_again);
}

TEST_WITH(SCENE, next_migration_of_a_copy_from_the_middle_is_refused)
{
    copy_after_any(scene, &direct, 3, run_next);
}

TEST_AFTER_ALL(migration_stop);
