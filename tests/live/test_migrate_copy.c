/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of one store from before a migration is put back after it, and whoever
 * runs the pool does what the error of a start says.
 */
#include <string.h>
#include <unistd.h>

#include "file_pool.h"
#include "mute_sqlite.h"
#include "platform/text.h"
#include "support/test.h"

#define MANY      8000  /* more than are in one lease */
#define MANY_MORE 32000 /* beyond the gap */
#define POOL      "window_bits = 8; failover_gap = 1000;"

static const char *write_generation(const struct scene *scene, int generation,
                                    const char *authority)
{
    const struct file_pool pool = {
        .partitions = "ab",
        .generation = generation,
        .settings = authority[0] == 'a' ? "windows = \"all\"; " POOL : POOL,
        .authority = authority,
        .order = "max_unused = 64;",
        .more = "auto_sequences = { pattern = \"new\"; max_unused = 64; };"};
    char name[32];

    (void)text_format(name, sizeof name, "%d.conf", generation);
    return file_pool_write(scene, name, &pool);
}

static const char *saved_path(const struct scene *scene, const char *store)
{
    char name[32];

    (void)text_format(name, sizeof name, "%s.saved", store);
    return scene_state_path(scene, name);
}

static void save(const struct scene *scene, const char *store)
{
    test_copy_file(scene_state_path(scene, store), saved_path(scene, store));
}

/* And brokers go on that have no notes of what was granted. */
static void put_back(const struct scene *scene, const char *store)
{
    test_copy_file(saved_path(scene, store), scene_state_path(scene, store));
    (void)unlink(scene_state_path(scene, "granted-0"));
}

/* --- what the errors say --- */

static char told[SCENE_TEXT_SIZE];

static enum seqb_status migrate_keys(const char *from, const char *to,
                                     size_t key_count, struct seqb_error *err)
{
    static const char *const keys[] = {"order", "new"};
    const struct seqb_migrate_options options = {.keys = keys,
                                                 .key_count = key_count,
                                                 .report = scene_hear,
                                                 .context = told};

    told[0] = '\0';
    return seqb_migrate(from, to, &options, err);
}

static enum seqb_status migrate(const char *from, const char *to,
                                struct seqb_error *err)
{
    return migrate_keys(from, to, 1, err);
}

static void migrate_well(const char *from, const char *to)
{
    struct seqb_error err = {.text = ""};

    assert_done(migrate(from, to, &err), err);
}

/* What the other stores granted since is passed, as the migration tells. An
 * authority alone knows what it leased. */
static void expect_above_all(struct scene *scene)
{
    static const char words[] = "numbers go on above ";
    const char *at = strstr(told, words);
    int64_t above = 0;

    assert_non_null(at);
    at += sizeof words - 1;
    assert_true(text_to_int64(at, strspn(at, "0123456789"), &above));
    assert_true(above >= numbers_highest(&scene->numbers));
}

/* A pool that came from one authority to another; the store has a copy. */
static struct topologies come_over(struct scene *scene, const char *from,
                                   const char *to)
{
    const struct topologies pool = {write_generation(scene, 1, from),
                                    write_generation(scene, 2, to)};

    scene_use(scene, pool.was, MANY);
    save(scene, "a.db");
    scene_use(scene, pool.was, MANY);
    migrate_well(pool.was, pool.is);
    scene_use(scene, pool.is, MANY);
    return pool;
}

/* A store that knows nothing of the generation is refused: alone, or with the
 * start if it is the authority. Of two neighbours the other one is left without
 * a witness. */
static void expect_refused(struct scene *scene, const char *path,
                           const char *authority)
{
    static const char words[] = "it was put back to a copy from before that";
    struct seqb_partition_status status;

    if (authority[0] == 'a') {
        scene_expect_refused(scene, path, SEQB_LAYOUT, words);
        return;
    }
    scene_open(scene, path);
    status = scene_partition(scene, 0);
    assert_int_equal(status.state, SEQB_PARTITION_REFUSED);
    scene_expect_words(status.reason, words);
    if (strcmp(authority, "none") == 0)
        scene_take(scene, "order", MANY);
    scene_close(scene);
}

/* As a copy of a disk does, so that the store itself notices nothing. */
static void put_back_and_follow(struct scene *scene, const char *from,
                                const char *to)
{
    const struct topologies pool = come_over(scene, from, to);

    for (int i = 0; i < 2; i++) {
        put_back(scene, "a.db");
        expect_refused(scene, pool.is, to);
        scene_expect_refused(scene, pool.was, SEQB_LAYOUT,
                             "use the topology that was migrated to");
        migrate_well(pool.was, pool.is);
        scene_expect_words(told, "warning: backend a was put back to a state "
                                 "from before this migration");
        if (to[0] != 'a')
            expect_above_all(scene);
        scene_use(scene, pool.is, MANY);
    }
    scene_expect_no_repeats(scene);
    migrate_well(pool.was, pool.is);
    scene_expect_words(told, "nothing is to be done");
}

TEST_WITH(SCENE, direct_store_repeats_nothing)
{
    put_back_and_follow(scene, "none", "none");
}

TEST_WITH(SCENE, store_that_became_a_lessor_repeats_nothing)
{
    put_back_and_follow(scene, "none", "neighbours");
}

TEST_WITH(SCENE, store_that_was_a_lessor_repeats_nothing)
{
    put_back_and_follow(scene, "neighbours", "none");
}

TEST_WITH(SCENE, lessor_repeats_nothing)
{
    put_back_and_follow(scene, "neighbours", "neighbours");
}

TEST_WITH(SCENE, authority_repeats_nothing)
{
    put_back_and_follow(scene, "none", "a");
}

/* The store knows of no earlier use of that key, by which it could refuse it.
 */
TEST_WITH(SCENE, key_that_is_younger_than_the_copy_repeats_nothing)
{
    const struct topologies pool = come_over(scene, "none", "none");

    scene->numbers.count = 0;
    for (int i = 0; i < 2; i++) {
        scene_use_key(scene, pool.is, "new", MANY);
        put_back(scene, "a.db");
    }
    scene_expect_no_repeats(scene);
}

/* The next generation would begin above what the store knows. */
TEST_WITH(SCENE, next_migration_waits_for_the_last_one)
{
    struct seqb_error err = {.text = ""};
    const char *next;
    const struct topologies pool = come_over(scene, "none", "a");

    next = write_generation(scene, 3, "none");
    put_back(scene, "a.db");
    assert_int_equal(migrate(pool.is, next, &err), SEQB_LAYOUT);
    scene_expect_words(err.text, "run that migration again first");
    migrate_well(pool.was, pool.is);
    migrate_well(pool.is, next);
    scene_use(scene, next, MANY);
    scene_expect_no_repeats(scene);
}

/* The migration that it went back over first cannot be run again: its counters
 * in the other stores are at their ends. */
TEST_WITH(SCENE, copy_from_before_two_migrations_repeats_nothing)
{
    const struct topologies pool = come_over(scene, "none", "none");
    const char *next = write_generation(scene, 3, "none");

    migrate_well(pool.is, next);
    scene_use(scene, next, MANY);
    put_back(scene, "a.db");
    migrate_well(pool.is, next);
    scene_use(scene, next, MANY);
    scene_expect_no_repeats(scene);
}

/* The next migration left it out, so nobody knows what the store that went back
 * granted of it. */
TEST_WITH(SCENE,
          copy_from_before_two_migrations_refuses_a_key_that_was_left_out)
{
    static const char *const keys[] = {"order"};
    const struct seqb_migrate_options order = {.keys = keys, .key_count = 1};
    struct seqb_error err = {.text = ""};
    const struct topologies pool = come_over(scene, "none", "none");
    const char *next = write_generation(scene, 3, "none");

    scene_open(scene, pool.is);
    assert_ok(seqb_command(scene->broker, "main", 1, SEQB_ORDER_DRAIN, NULL));
    scene_take(scene, "new", MANY_MORE);
    scene_close(scene);
    assert_done(migrate_mute(scene, pool.is, next, &order, &err), err);
    put_back(scene, "a.db");
    assert_status(migrate_keys(pool.is, next, 2, &err), SEQB_LAYOUT);
    scene_expect_words(err.text, "run that migration again first");
    assert_done(migrate_mute(scene, pool.is, next, &order, &err), err);
}

/* The authority alone knew what it leased in all generations: it is brought
 * along from the first one, though the second one is over. */
TEST_WITH(SCENE, copy_of_an_authority_from_before_two_migrations_is_refused)
{
    struct seqb_error err = {.text = ""};
    const struct topologies pool = come_over(scene, "a", "a");
    const char *next = write_generation(scene, 3, "a");

    migrate_well(pool.is, next);
    scene_use(scene, next, MANY);
    put_back(scene, "a.db");
    assert_status(migrate(pool.is, next, &err), SEQB_LAYOUT);
    scene_expect_words(err.text, "run that migration again first");
    assert_status(migrate(pool.was, pool.is, &err), SEQB_LAYOUT);
    scene_expect_words(err.text, "use the topology that was migrated to");
    migrate_well(pool.is, next);
    scene_use(scene, next, MANY);
    scene_expect_no_repeats(scene);
}

/* Whoever does what the errors say comes to the last generation, which serves.
 * What all stores granted since their copies, nobody knows. */
static void all_go_back(struct scene *scene, const char *authority)
{
    struct seqb_error err = {.text = ""};
    const struct topologies pool = {write_generation(scene, 1, authority),
                                    write_generation(scene, 2, authority)};
    const char *next = write_generation(scene, 3, authority);

    scene_use(scene, pool.was, MANY);
    save(scene, "a.db");
    save(scene, "b.db");
    migrate_well(pool.was, pool.is);
    migrate_well(pool.is, next);
    put_back(scene, "a.db");
    put_back(scene, "b.db");
    assert_status(migrate(pool.is, next, &err), SEQB_LAYOUT);
    scene_expect_words(err.text,
                       "is the old topology the one that its brokers");
    migrate_well(pool.was, pool.is);
    migrate_well(pool.is, next);
    scene_use(scene, next, MANY);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, direct_stores_that_all_went_back_are_migrated_again)
{
    all_go_back(scene, "none");
}

TEST_WITH(SCENE, stores_with_an_authority_that_all_went_back_are_migrated_again)
{
    all_go_back(scene, "a");
}

TEST_WITH(SCENE, neighbours_that_all_went_back_are_migrated_again)
{
    all_go_back(scene, "neighbours");
}

/* --- a key that was used since --- */

/* A key of auto_sequences that was used in the new generation alone, until the
 * store went back. */
static struct topologies use_new_and_put_back(struct scene *scene,
                                              const char *to)
{
    const struct topologies pool = come_over(scene, "none", to);

    scene->numbers.count = 0;
    scene_use_key(scene, pool.is, "new", MANY);
    put_back(scene, "a.db");
    return pool;
}

static void take_new(struct scene *scene, const char *path)
{
    scene_use_key(scene, path, "new", MANY);
}

static void name_new_again(struct scene *scene, const char *to)
{
    struct seqb_error err = {.text = ""};
    const struct topologies pool = use_new_and_put_back(scene, to);

    for (int i = 0; i < 2; i++) {
        if (migrate_keys(pool.was, pool.is, 2, &err) != SEQB_OK)
            fail_msg("%s", err.text);
        take_new(scene, pool.is);
        put_back(scene, "a.db");
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, key_used_since_goes_on_if_it_is_named_again)
{
    name_new_again(scene, "none");
}

TEST_WITH(SCENE, key_used_since_goes_on_among_neighbours_if_it_is_named_again)
{
    name_new_again(scene, "neighbours");
}

TEST_WITH(SCENE, key_used_since_goes_on_in_windows_if_it_is_named_again)
{
    name_new_again(scene, "a");
}

/* The other store lists it. */
static void leave_new_out(struct scene *scene, const char *to)
{
    struct seqb_error err = {.text = ""};
    const struct topologies pool = use_new_and_put_back(scene, to);

    assert_int_equal(migrate(pool.was, pool.is, &err), SEQB_LAYOUT);
    assert_non_null(strstr(err.text, "sequence new was used in generation 2"));
    assert_non_null(strstr(err.text, "backend b says"));
    assert_done(migrate_keys(pool.was, pool.is, 2, &err), err);
    take_new(scene, pool.is);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, key_left_out_is_refused_of_direct_counters)
{
    leave_new_out(scene, "none");
}

TEST_WITH(SCENE, key_left_out_is_refused_of_an_authority)
{
    leave_new_out(scene, "a");
}

TEST_WITH(SCENE, key_left_out_repeats_nothing_of_neighbours)
{
    const struct topologies pool = use_new_and_put_back(scene, "neighbours");

    migrate_well(pool.was, pool.is);
    take_new(scene, pool.is);
    scene_expect_no_repeats(scene);
}
