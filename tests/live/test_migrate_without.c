/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool with neighbours of which one is gone for good is migrated without it,
 * and when that is refused.
 */
#include <stdio.h>

#include "file_pool.h"
#include "platform/text.h"
#include "support/test.h"

#define MANY 20000 /* more than are in some leases */

/* A generation of these stores. */
static const char *write_generation(const struct scene *scene, int generation,
                                    const char *stores, const char *authority)
{
    const struct file_pool pool = {.partitions = stores,
                                   .generation = generation,
                                   .settings =
                                       "window_bits = 8; failover_gap = 16;",
                                   .authority = authority,
                                   .order = "max_unused = 64;"};
    char name[32];

    (void)text_format(name, sizeof name, "%d.conf", generation);
    return file_pool_write(scene, name, &pool);
}

/* A pool in use, and what is to take its place without b. */
static struct topologies begin(struct scene *scene, const char *authority)
{
    const struct topologies pool = {
        write_generation(scene, 1, "ab", authority),
        write_generation(scene, 2, "ac", "neighbours")};

    scene_use(scene, pool.was, MANY);
    return pool;
}

static char told[SCENE_TEXT_SIZE];

static void expect(const char *was, const char *is, const char *without,
                   enum seqb_status expected, const char *words)
{
    const struct seqb_migrate_options options = {
        .report = scene_hear, .context = told, .without = without};
    struct seqb_error err = {.text = ""};
    enum seqb_status status;

    told[0] = '\0';
    status = seqb_migrate(was, is, &options, &err);
    if (status != expected)
        fail_msg("%s: %s", seqb_status_name(status), err.text);
    (void)text_append(told, sizeof told, "%s\n", err.text);
    scene_expect_words(told, words);
}

/* Half of the windows were leased by b. */
TEST_WITH(SCENE, numbers_go_on_above_what_the_missing_one_leased)
{
    size_t before;
    int64_t highest;
    const struct topologies pool = begin(scene, "neighbours");

    scene_move(scene, "b.db", "b.gone");
    expect(pool.was, pool.is, NULL, SEQB_UNREACHABLE, "and b fails");
    expect(pool.was, pool.is, "b", SEQB_OK, "warning: backend b is left out");
    highest = numbers_highest(&scene->numbers);
    before = numbers_count(&scene->numbers);
    scene_use(scene, pool.is, MANY);
    for (size_t i = before; i < numbers_count(&scene->numbers); i++)
        assert_true(scene->numbers.values[i] > highest);
    scene_expect_no_repeats(scene);
    expect(pool.was, pool.is, "b", SEQB_OK, "nothing is to be done");
    scene_expect_refused(scene, pool.was, SEQB_LAYOUT, "was retired");
}

/* As after a restart, or as a copy. */
static void replace(const struct scene *scene, const char *store)
{
    const char *path = scene_state_path(scene, store);

    scene_copy(path, path);
}

/* What it leased and noted since may be known to the missing one alone. */
TEST_WITH(SCENE, lessor_that_may_have_gone_back_is_not_enough)
{
    const struct seqb_trust_options options = {.dry_run = false};
    struct seqb_error err = {.text = ""};
    const struct topologies pool = begin(scene, "neighbours");

    scene_move(scene, "b.db", "b.gone");
    replace(scene, "a.db");
    expect(pool.was, pool.is, "b", SEQB_UNSAFE,
           "backend a was restarted since");
    expect(pool.was, pool.is, "b", SEQB_UNSAFE, "say so with seqctl trust");
    assert_done(seqb_trust(pool.was, "a", &options, &err), err);
    expect(pool.was, pool.is, "b", SEQB_OK, "done: start the brokers");
    scene_use(scene, pool.is, MANY);
    scene_expect_no_repeats(scene);
}

/* It never stopped, so that its own claim says that it is level; what its copy
 * leased may be known to the missing one alone. */
TEST_WITH(SCENE, lessor_that_was_replaced_is_not_enough)
{
    const struct seqb_trust_options options = {.dry_run = false};
    struct seqb_error err = {.text = ""};
    const char *own;
    const char *was = write_generation(scene, 1, "abcd", "neighbours");
    const char *is = write_generation(scene, 2, "aecd", "neighbours");

    scene_use(scene, was, MANY);
    scene_move(scene, "a.db", "a.own");
    own = scene_state_path(scene, "a.own");
    scene_copy(own, scene_state_path(scene, "a.db"));
    scene_use(scene, was, MANY);
    scene_move(scene, "a.db", "a.copy");
    scene_move(scene, "a.own", "a.db");
    scene_move(scene, "b.db", "b.gone");
    expect(was, is, "b", SEQB_UNSAFE, "backend a was replaced by a copy since");
    assert_int_equal(seqb_trust(was, "a", &options, &err), SEQB_UNSAFE);
    scene_expect_words(err.text, "backend a was not restarted since");
    scene_move(scene, "b.gone", "b.db");
    scene_use(scene, was, MANY);
    scene_move(scene, "b.db", "b.gone");
    expect(was, is, "b", SEQB_OK, "done: start the brokers");
    scene_use(scene, is, MANY);
    scene_expect_no_repeats(scene);
}

/* It was retired then, and leased and noted nothing since. */
TEST_WITH(SCENE, lessor_has_to_be_level_when_it_is_retired)
{
    const struct topologies pool = begin(scene, "neighbours");

    scene_move(scene, "b.db", "b.gone");
    expect(pool.was, pool.is, "b", SEQB_OK, "done: start the brokers");
    replace(scene, "a.db");
    expect(pool.was, pool.is, "b", SEQB_OK, "nothing is to be done");
    scene_use(scene, pool.is, MANY);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, store_that_answers_is_not_left_out)
{
    const struct topologies pool = begin(scene, "neighbours");

    expect(pool.was, pool.is, "b", SEQB_INVALID, "backend b answers");
    expect(pool.was, pool.is, "x", SEQB_INVALID, "has the backend 'x'");
    scene_use(scene, pool.was, MANY);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, store_that_nobody_witnessed_is_not_left_out)
{
    const struct topologies pool = begin(scene, "none");

    scene_move(scene, "b.db", "b.gone");
    expect(pool.was, pool.is, "b", SEQB_INVALID,
           "none of them can be left out");
}
