/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations without a store that are killed after one of their calls: the
 * pool goes on as before, or the same command run again brings it to its end.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "file_pool.h"
#include "kill_after.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"

#define CALLS_MAX 1000
#define MANY      300 /* more than a ring holds */
#define STORES    4

#define LEFT 3

static const char *const left[LEFT] = {"a", "c", "d"};

/* --- the pool --- */

/* Four stores; in the second generation the second one is another one. */
static const char *write_topology(const struct scene *scene, const char *name,
                                  int generation, const char *engine)
{
    const struct file_pool pool = {.partitions =
                                       generation == 1 ? "abcd" : "aecd",
                                   .engine = engine,
                                   .generation = generation,
                                   .settings = "window_bits = 8;",
                                   .authority = "neighbours",
                                   .order = "max_unused = 64;"};

    return file_pool_write(scene, name, &pool);
}

struct pool {
    const char *was;
    const char *is;
    const char *killable_was;
    const char *killable_is;
};

/* A pool in use. */
static void begin(struct scene *scene, struct pool *out)
{
    folder_remove(scene->state_dir);
    scene->numbers.count = 0;
    out->was = write_topology(scene, "1.conf", 1, "");
    out->is = write_topology(scene, "2.conf", 2, "");
    out->killable_was = write_topology(scene, "1m.conf", 1, "killable-");
    out->killable_is = write_topology(scene, "2m.conf", 2, "killable-");
    scene_use(scene, out->was, MANY);
}

/* Whether the last store that a migration makes ready is refused: then there
 * may be too few others to give a number. */
static bool is_half_ready(struct scene *scene)
{
    const int32_t last = STORES - 1;
    enum seqb_partition_state state = scene_partition(scene, last).state;

    while (state == SEQB_PARTITION_STARTING) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        state = scene_partition(scene, last).state;
    }
    return state == SEQB_PARTITION_REFUSED;
}

/* Opens a broker, which may be refused, as one of a pool that is migrated or
 * is not yet; else takes numbers. */
static bool try(struct scene *scene, const char *path)
{
    struct seqb_error err;

    if (seqb_open(path, &scene->broker, &err) != SEQB_OK) {
        if (err.status != SEQB_LAYOUT)
            fail_msg("%s", err.text);
        return false;
    }
    if (!is_half_ready(scene))
        scene_take(scene, "order", MANY);
    scene_close(scene);
    return true;
}

/* Every number is above all that came before. */
static bool try_above(struct scene *scene, const char *path)
{
    const int64_t highest = numbers_highest(&scene->numbers);
    const size_t before = numbers_count(&scene->numbers);
    const bool has_begun = try(scene, path);

    for (size_t i = before; i < numbers_count(&scene->numbers); i++)
        assert_true(scene->numbers.values[i] > highest);
    scene_expect_no_repeats(scene);
    return has_begun;
}

/* --- the command --- */

static char told[SCENE_TEXT_SIZE];

static enum seqb_status migrate(const struct pool *paths,
                                struct seqb_error *err)
{
    const struct seqb_migrate_options options = {
        .report = scene_hear, .context = told, .without = "b"};

    told[0] = '\0';
    return seqb_migrate(paths->was, paths->is, &options, err);
}

static void expect_done(const struct pool *paths, const char *words)
{
    struct seqb_error err;

    if (migrate(paths, &err) != SEQB_OK)
        fail_msg("again: %s", err.text);
    scene_expect_words(told, words);
}

/* The new topology serves, above all that was issued unless it was in use, and
 * only that one. */
static void expect_moved(struct scene *scene, const struct pool *paths,
                         bool was_used)
{
    expect_done(paths, "nothing is to be done");
    assert_true(was_used ? try(scene, paths->is) : try_above(scene, paths->is));
    scene_expect_no_repeats(scene);
    scene_expect_refused(scene, paths->was, SEQB_LAYOUT, "was retired");
}

/* Does the round for calls after which the migration is cut off: most are
 * alike, for one store after the other. Without `left_out` that one can be
 * asked, and is gone from then on. */
static void
cut_after_calls(struct scene *scene, int64_t step, const char *left_out,
                void (*round)(struct scene *scene, const struct pool *paths))
{
    struct pool paths;
    int64_t calls = 1;

    for (;; calls += step) {
        begin(scene, &paths);
        if (left_out != NULL)
            scene_move(scene, "b.db", "b.gone");
        if (migrate_killed_after(calls, paths.killable_was, paths.killable_is,
                                 left_out))
            break;
        if (left_out == NULL)
            scene_move(scene, "b.db", "b.gone");
        round(scene, &paths);
        if (calls > CALLS_MAX)
            fail_msg("it does not end");
    }
    assert_true(calls > 20); /* it was cut off indeed */
    if (left_out == NULL)
        scene_move(scene, "b.db", "b.gone");
    expect_moved(scene, &paths, false);
}

/* --- what becomes of it --- */

static void round_of_old_and_new(struct scene *scene, const struct pool *paths)
{
    const bool goes_on = try(scene, paths->was);
    const bool has_begun = try_above(scene, paths->is);

    assert_false(goes_on && has_begun);
    expect_done(paths, "");
    expect_moved(scene, paths, has_begun);
}

TEST_WITH(SCENE, old_or_new_topology_serves_and_it_comes_to_its_end)
{
    cut_after_calls(scene, 3, "b", round_of_old_and_new);
}

/* As if all machines had been started anew: whether a store went back with
 * that, nobody knows but the operator. */
static void restart_all(const struct scene *scene)
{
    for (size_t i = 0; i < LEFT; i++) {
        const char *path;
        char name[16];

        (void)text_format(name, sizeof name, "%s.db", left[i]);
        path = scene_state_path(scene, name);
        scene_copy(path, path);
    }
}

/* The operator's word for the store that the error names. */
static void trust(const struct pool *paths, const char *why)
{
    const struct seqb_trust_options options = {.dry_run = false};
    struct seqb_error err;

    for (size_t i = 0; i < LEFT; i++) {
        char words[64];

        (void)text_format(words, sizeof words, "backend %s was restarted",
                          left[i]);
        if (strstr(why, words) == NULL)
            continue;
        if (seqb_trust(paths->was, left[i], &options, &err) != SEQB_OK)
            fail_msg("%s, but: %s", why, err.text);
        return;
    }
    fail_msg("%s", why);
}

static void round_of_restarts(struct scene *scene, const struct pool *paths)
{
    struct seqb_error err;
    size_t words = 0;

    restart_all(scene);
    while (migrate(paths, &err) != SEQB_OK) {
        assert_int_equal(err.status, SEQB_UNSAFE);
        assert_true(words++ < LEFT);
        trust(paths, err.text);
    }
    expect_moved(scene, paths, false);
}

TEST_WITH(SCENE, restarted_stores_are_trusted_or_were_level)
{
    cut_after_calls(scene, 5, "b", round_of_restarts);
}

/* With each store left retired or not, there is a way on. */
TEST_WITH(SCENE, store_that_goes_after_a_cut_is_left_out_by_the_next_run)
{
    cut_after_calls(scene, 5, NULL, round_of_restarts);
}
