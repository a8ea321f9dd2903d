/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations that follow others: one that was cut off and continues with
 * another new layout, the next generation of a key that was left out, a key
 * that is used while the stores are read, a store that is put back to a copy
 * from between two runs, a gap that only the stores know.
 */
#include <string.h>
#include <unistd.h>

#include "kill_after.h"
#include "migration_fixture.h"
#include "mute_sqlite.h"
#include "store_file.h"
#include "support/rig.h"
#include "support/test.h"

#define CALLS_MAX 1000
#define MANY      8000 /* so many that half of it is above the gap */
#define GAP       16

#define AUTOMATIC                                                              \
    "auto_sequences = { pattern = \"*\"; memory_bits = 3; deadline = \"1m\"; " \
    "};"

static const struct layout_text old = {{"f0"}, NULL, 1, 3, 8, NULL, NULL, GAP};

/* --- another new layout --- */

/* Numbers are taken, and a migration of the topology `*from` is begun; true if
 * it was not cut off. */
static bool begin(struct scene *scene, int64_t calls,
                  const struct layout_text *begun, const char **from)
{
    migration_reset(scene);
    scene->numbers.count = 0;
    *from = migration_write(scene, "old.conf", &old, "");
    scene_use(scene, *from, MANY);
    return migrate_killed_after(
        calls, migration_write(scene, "old-killable.conf", &old, "killable-"),
        migration_write(scene, "new-killable.conf", begun, "killable-"), NULL);
}

/* One round; true if the first migration was not cut off. The layout that was
 * begun may be the only one that is left: then another one is refused. */
static bool change_after(struct scene *scene, int64_t calls,
                         const struct layout_text *begun,
                         const struct layout_text *other)
{
    const char *from;
    bool is_whole = begin(scene, calls, begun, &from);
    const char *to = migration_write(scene, "new.conf", other, "");
    const struct moved *moved = migration_try(from, to, NULL);

    if (moved->status == SEQB_LAYOUT)
        return is_whole;
    if (moved->status != SEQB_OK)
        fail_msg("after %lld calls: %s", (long long)calls, moved->err.text);
    migration_use_above(scene, to);
    return is_whole;
}

static void change_after_any(struct scene *scene,
                             const struct layout_text *begun,
                             const struct layout_text *other)
{
    int64_t calls = 1;

    while (!change_after(scene, calls, begun, other)) {
        if (++calls > CALLS_MAX)
            fail_msg("it does not end");
    }
    assert_true(calls > 10); /* it was cut off indeed */
}

TEST_WITH(SCENE, migration_that_was_cut_off_continues_with_fewer_partitions)
{
    const struct layout_text begun = {{"f1", "f2"}, NULL, 2,  3, 8,
                                      NULL,         NULL, GAP};
    const struct layout_text other = {{"f1"}, NULL, 2, 3, 8, NULL, NULL, GAP};

    change_after_any(scene, &begun, &other);
}

TEST_WITH(SCENE, migration_that_was_cut_off_continues_in_another_order)
{
    const struct layout_text begun = {{"f1", "f2"}, NULL, 2,  3, 8,
                                      NULL,         NULL, GAP};
    const struct layout_text other = {{"f2", "f1"}, NULL, 2,  3, 8,
                                      NULL,         NULL, GAP};

    change_after_any(scene, &begun, &other);
}

/* --- a new layout that one store has --- */

/* Numbers of the layout that was begun, if a broker gets any: the store that
 * has the layout serves. */
static void use_begun(struct scene *scene, const struct layout_text *begun)
{
    const char *path = migration_write(scene, "begun.conf", begun, "");
    struct seqb_broker *broker = NULL;
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err;
    int64_t number;

    if (seqb_open(path, &broker, &err) != SEQB_OK)
        return;
    assert_ok(seqb_get_sequence(broker, "order", &sequence, &err));
    for (int i = 0; i < MANY; i++) {
        assert_ok(seqb_next(sequence, &number, &err));
        numbers_add(&scene->numbers, &number, 1);
    }
    seqb_close(broker);
}

/* One round; true if the first migration was not cut off. */
static bool go_on_without(struct scene *scene, int64_t calls,
                          const struct layout_text *begun,
                          const struct layout_text *other, int *refused)
{
    const struct moved *moved;
    const char *from;
    const char *to;
    bool is_whole = begin(scene, calls, begun, &from);

    use_begun(scene, begun);
    (void)unlink(scene_state_path(scene, "granted-0")); /* on another machine */
    to = migration_write(scene, "new.conf", other, "");
    moved = migration_try(from, to, NULL);
    *refused += moved->status == SEQB_LAYOUT;
    if (moved->status == SEQB_OK)
        migration_use_above(scene, to);
    return is_whole;
}

/* The first new store gets the layout before the others. A topology without it
 * does not see that. */
TEST_WITH(SCENE, migration_that_was_cut_off_does_not_go_on_without_what_it_made)
{
    const struct layout_text begun = {{"f1", "f2"}, NULL, 2,  3, 8,
                                      NULL,         NULL, GAP};
    const struct layout_text other = {{"f2"}, NULL, 2, 3, 8, NULL, NULL, GAP};
    int refused = 0;
    int64_t calls = 1;

    while (!go_on_without(scene, calls, &begun, &other, &refused)) {
        if (++calls > CALLS_MAX)
            fail_msg("it does not end");
    }
    assert_true(refused > 1);
}

/* --- a key that was left out --- */

static const struct moved *migrate_keys(const char *from, const char *to,
                                        size_t count)
{
    static const char *const keys[] = {"bill", NULL};

    return migration_try(
        from, to,
        &(struct seqb_migrate_options){.keys = keys, .key_count = count});
}

static const struct moved *migrate_keys_well(const char *from, const char *to,
                                             size_t count)
{
    const struct moved *moved = migrate_keys(from, to, count);

    if (moved->status != SEQB_OK)
        fail_msg("%s", moved->err.text);
    return moved;
}

static void take_bill(struct scene *scene, const char *topology)
{
    scene_use_key(scene, topology, "bill", MANY);
}

#define CLAIM(name)                                                            \
    "INSERT INTO seqb_claims (name, text) "                                    \
    "VALUES ('" name "', 'memory_bits=3')"

/* The claim of a broker of generation 2 that f1 answered before f0 refused the
 * key. */
#define CLAIM_OF_REFUSED CLAIM("sequence/main~2/bill")

/* The key was used in generation 1, and left out of the migration to
 * generation 2. `claim`: what is left in f1, which is new in generation 2. */
static void leave_out_and_name(struct scene *scene,
                               const struct layout_text *third,
                               const char *claim)
{
    struct layout_text first = old;
    struct layout_text second;
    const struct moved *moved;
    struct seqb_error err;
    const char *paths[3];

    migration_reset(scene);
    first.more = AUTOMATIC;
    second = first;
    second.generation = 2;
    if (claim != NULL)
        second.partitions[1] = "f1";
    paths[0] = migration_write(scene, "1.conf", &first, "");
    paths[1] = migration_write(scene, "2.conf", &second, "");
    paths[2] = migration_write(scene, "3.conf", third, "");
    take_bill(scene, paths[0]);
    assert_done(migrate_forgetting(scene, paths[0], paths[1], &err), err);
    if (claim != NULL)
        assert_int_equal(store_file_edit(scene, "f1.db", claim), 1);
    moved = migrate_keys(paths[1], paths[2], 1);
    if (moved->status == SEQB_OK) {
        take_bill(scene, paths[2]);
        scene_expect_no_repeats(scene);
    }
    assert_int_equal(moved->status, SEQB_LAYOUT);
    scene_expect_words(moved->err.text, "was used in generation 1");
    migrate_keys_well(paths[0], paths[1], 1);
    migrate_keys_well(paths[1], paths[2], 1);
    take_bill(scene, paths[2]);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, key_of_the_generation_before_is_refused_if_it_is_named)
{
    struct layout_text third = old;

    third.generation = 3;
    third.more = AUTOMATIC;
    leave_out_and_name(scene, &third, NULL);
}

TEST_WITH(SCENE, key_of_the_generation_before_is_refused_if_a_broker_tried_it)
{
    struct layout_text third = old;

    third.partitions[1] = "f1";
    third.generation = 3;
    third.more = AUTOMATIC;
    leave_out_and_name(scene, &third, CLAIM_OF_REFUSED);
}

TEST_WITH(SCENE, key_of_the_generation_before_is_refused_if_it_is_listed)
{
    struct layout_text third = old;

    third.generation = 3;
    third.key = "bill";
    leave_out_and_name(scene, &third, NULL);
}

/* --- a key that only the run that was cut off named --- */

#define BILL_AND_ORDER                                                         \
    "bill\"; memory_bits = 3; deadline = \"1m\"; }, { key = \"order"

/* A broker refuses the key, or goes on with it. */
static void use_bill_again(struct scene *scene, const char *topology)
{
    struct seqb_sequence *bill;
    struct seqb_error err;
    enum seqb_status status;

    scene_open(scene, topology);
    status = seqb_get_sequence(scene->broker, "bill", &bill, &err);
    if (status == SEQB_OK)
        scene_take(scene, "bill", MANY);
    else
        assert_int_equal(status, SEQB_LAYOUT);
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

/* The second run has another layout and does not list "bill", which f0 knows of
 * generation 1. It is refused in any case once the first run was about to give
 * a store its layout. Counts the runs that were refused because of it. True if
 * the first run was not cut off. */
static bool leave_out_after(struct scene *scene, int64_t calls,
                            const struct layout_text *begun, int window_bits,
                            int *refused)
{
    struct layout_text was = old;
    struct layout_text listed = *begun;
    struct layout_text other = *begun;
    struct seqb_error err;
    enum seqb_status status;
    const char *paths[3];
    bool is_whole;

    migration_reset(scene);
    scene->numbers.count = 0;
    was.key = listed.key = BILL_AND_ORDER;
    other.partitions[0] = begun->partitions[1];
    other.partitions[1] = begun->partitions[0];
    other.window_bits = window_bits;
    paths[0] = migration_write(scene, "old.conf", &old, "");
    paths[1] = migration_write(scene, "other.conf", &other, "");
    other.key = BILL_AND_ORDER;
    paths[2] = migration_write(scene, "other-listed.conf", &other, "");
    for (int i = 0; i < 5; i++) /* more than are in a larger window */
        take_bill(scene, migration_write(scene, "old-listed.conf", &was, ""));
    is_whole = migrate_killed_after(
        calls, migration_write(scene, "old-killable.conf", &was, "killable-"),
        migration_write(scene, "new-killable.conf", &listed, "killable-"),
        NULL);
    status = migrate_forgetting(scene, paths[0], paths[1], &err);
    if (status == SEQB_OK) {
        use_bill_again(scene, paths[2]);
    } else if (strstr(err.text, "sequence bill was begun") != NULL) {
        (*refused)++;
        status = migrate_keys(paths[0], paths[1], 1)->status;
        if (status == SEQB_OK)
            take_bill(scene, paths[2]);
        scene_expect_no_repeats(scene);
    }
    assert_true(status == SEQB_OK || status == SEQB_LAYOUT);
    return is_whole;
}

static void leave_out_after_any(struct scene *scene,
                                const struct layout_text *begun,
                                int window_bits)
{
    int64_t calls = 1;
    int refused = 0;

    while (!leave_out_after(scene, calls, begun, window_bits, &refused)) {
        if (++calls > CALLS_MAX)
            fail_msg("it does not end");
    }
    assert_true(refused > 0);
}

TEST_WITH(SCENE, key_that_only_the_run_that_was_cut_off_named_is_refused)
{
    const struct layout_text begun = {{"f0", "f1"}, NULL, 2,  3, 8,
                                      NULL,         NULL, GAP};

    leave_out_after_any(scene, &begun, 8);
}

TEST_WITH(SCENE, key_that_only_a_run_to_larger_windows_named_is_refused)
{
    const struct layout_text begun = {{"f0", "f1"}, "neighbours", 2,    3,
                                      12,           NULL,         NULL, GAP};

    leave_out_after_any(scene, &begun, 8);
}

/* --- a key that is used while the stores are read --- */

/* When the first key was read. */
static void take_meanwhile(void *context, int64_t done, int64_t total)
{
    (void)total;
    if (done == 1)
        scene_take(context, "bill", MIGRATION_TAKE);
}

TEST_SKIPPABLE(MIGRATION, key_that_is_used_while_the_stores_are_read_goes_on)
{
    const struct seqb_progress progress = {.show = take_meanwhile,
                                           .context = scene};
    struct layout_text used = old;
    struct layout_text next = old;
    struct seqb_error err = {.text = ""};
    const char *from;
    const char *to;

    used.more = AUTOMATIC;
    next.generation = 2;
    next.key = "bill";
    from = migration_write(scene, "old.conf", &old, "");
    to = migration_write(scene, "new.conf", &next, "");
    scene_open(scene, migration_write(scene, "used.conf", &used, ""));
    if (seqb_migrate_watched(from, to, &(struct seqb_migrate_options){0},
                             &progress, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    scene_close(scene);
    assert_true(numbers_count(&scene->numbers) > 0);
    take_bill(scene, to);
    scene_expect_no_repeats(scene);
}

/* A broker was starting, and read only after its claim that the pool was
 * retired. */
TEST_SKIPPABLE(MIGRATION,
               key_that_was_claimed_after_its_migration_is_migrated_again)
{
    struct layout_text other = old;
    const char *from = migration_write(scene, "old.conf", &old, "");
    const char *to;

    other.key = "bill";
    scene_open(scene, migration_write(scene, "first.conf", &other, ""));
    scene_close(scene);
    other.key = NULL;
    other.generation = 2;
    to = migration_write(scene, "new.conf", &other, "");
    (void)migration_do(from, to);
    assert_int_equal(
        store_file_edit(scene, "f0.db", CLAIM("sequence/main/order")), 1);
    (void)migration_do(from, to);
    migration_use(scene, to);
    scene_expect_no_repeats(scene);
}

/* --- a copy from between two runs --- */

#define WIDE 2000 /* more than a store grants of MANY */

/* The second run names another key. */
TEST_WITH(SCENE, copy_from_between_two_runs_repeats_nothing)
{
    struct layout_text was = {{"f0", "f1"}, NULL, 1,   3, 8,
                              AUTOMATIC,    NULL, WIDE};
    struct layout_text is = was;
    const char *copy = scene_path(scene, "f0.copy");
    const char *from;
    const char *to;

    is.generation = 2;
    migration_reset(scene);
    from = migration_write(scene, "old.conf", &was, "");
    to = migration_write(scene, "new.conf", &is, "");
    scene_use(scene, from, MANY);
    migrate_keys_well(from, to, 0);
    test_copy_file(scene_state_path(scene, "f0.db"), copy);
    migrate_keys_well(from, to, 1);
    scene_use(scene, to, MANY);
    migration_put_back(scene, copy);
    scene_expect_words(migrate_keys_well(from, to, 1)->told,
                       "backend f0 was put back");
    scene_use(scene, to, MANY);
    scene_expect_no_repeats(scene);
}

/* --- a gap that only the stores know --- */

#define FAR 200000 /* more than the gap of 1 and its random part */

/* Operators move it there, so that the test need not take so many. */
static void use_at(struct scene *scene, const char *topology, int64_t at)
{
    struct seqb_error err;

    scene_open(scene, topology);
    scene_take(scene, "order", 1);
    /* Numbers that were migrated are beyond it already. */
    if (seqb_advance(scene->broker, "order", at, &err) != SEQB_OK)
        assert_int_equal(err.status, SEQB_INVALID);
    scene_take(scene, "order", MIGRATION_TAKE);
    scene_close(scene);
}

/* The brokers had a larger gap than the topology that the operator keeps. */
TEST_SKIPPABLE(MIGRATION, largest_gap_of_all_brokers_counts)
{
    struct layout_text wide = {{"f0"}, NULL, 1, 0, 8, NULL, NULL, 2 * FAR};
    struct layout_text kept = wide;
    struct layout_text next = wide;
    const char *paths[3];
    const char *file;
    const char *copy;

    kept.failover_gap = 1;
    next.partitions[0] = "f1";
    next.generation = 2;
    paths[0] = migration_write(scene, "wide.conf", &wide, "");
    paths[1] = migration_write(scene, "kept.conf", &kept, "");
    paths[2] = migration_write(scene, "new.conf", &next, "");
    migration_use(scene, paths[0]);
    file = scene_state_path(scene, "f0.db");
    copy = scene_path(scene, "f0.copy");
    scene_copy(file, copy);
    use_at(scene, paths[0], FAR);
    scene_copy(copy, file);
    (void)unlink(scene_state_path(scene, "granted-0")); /* another machine's */
    (void)migration_do(paths[1], paths[2]);
    use_at(scene, paths[2], FAR);
    scene_expect_no_repeats(scene);
}

TEST_AFTER_ALL(migration_stop);
