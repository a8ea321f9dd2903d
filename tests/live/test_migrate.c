/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations between real brokers, over files and a private Redis server: what
 * goes on, who is refused, what is no migration. Cut off in the middle:
 * test_migrate_cut.c.
 */

#include "backends/backends.h"
#include "migration_fixture.h"
#include "platform/text.h"
#include "support/rig.h"
#include "support/test.h"

#define AUTOMATIC_BEGIN                                                        \
    "auto_sequences = { pattern = \"*\"; memory_bits = 3; deadline = \"1m\"; "
#define AUTOMATIC         AUTOMATIC_BEGIN "};"
#define AUTOMATIC_JS_SAFE AUTOMATIC_BEGIN "js_safe = true; };"

/* What the others are made from. */
static const struct layout_text files = {{"f0", "f1"}, NULL, 1,    3,
                                         20,           NULL, NULL, 0};
static const struct layout_text mixed = {{"f0", "r0"}, "a0", 1, 3, 8,
                                         NULL,         NULL, 0};

/* --- what goes on --- */

struct change {
    const char *name;
    struct layout_text from;
    struct layout_text to;
};

static const struct change changes[] = {
    {"more partitions",
     {{"f0", "f1"}, NULL, 1, 3, 20, NULL, NULL, 0},
     {{"f0", "f1", "f2", "f3"}, NULL, 2, 3, 20, NULL, NULL, 0}},
    {"fewer partitions",
     {{"f0", "f1", "f2", "f3"}, NULL, 1, 3, 20, NULL, NULL, 0},
     {{"f2", "f1"}, NULL, 2, 3, 20, NULL, NULL, 0}},
    {"another order",
     {{"f0", "f1"}, NULL, 1, 3, 20, NULL, NULL, 0},
     {{"f1", "f0"}, NULL, 2, 3, 20, NULL, NULL, 0}},
    {"more memory bits",
     {{"f0", "f1"}, NULL, 1, 0, 20, NULL, NULL, 0},
     {{"f0", "f1"}, NULL, 2, 7, 20, NULL, NULL, 0}},
    {"fewer memory bits",
     {{"f0", "f1"}, NULL, 1, 7, 20, NULL, NULL, 0},
     {{"f0", "f1"}, NULL, 2, 0, 20, NULL, NULL, 0}},
    {"larger windows",
     {{"r0", "r1"}, "a0", 1, 3, 8, NULL, NULL, 0},
     {{"r0", "r1"}, "a0", 2, 3, 12, NULL, NULL, 0}},
    {"smaller windows and another authority",
     {{"r0", "r1"}, "a0", 1, 3, 12, NULL, NULL, 0},
     {{"r1", "r0"}, "a1", 2, 3, 8, NULL, NULL, 0}},
    {"from direct to windowed",
     {{"f0", "f1"}, NULL, 1, 3, 8, NULL, NULL, 0},
     {{"r0", "r1"}, "f0", 2, 3, 8, NULL, NULL, 0}},
    {"from windowed to direct",
     {{"r0", "r1"}, "a0", 1, 3, 8, NULL, NULL, 0},
     {{"f0"}, NULL, 2, 3, 8, NULL, NULL, 0}},
    {"all at once",
     {{"f0", "r0"}, "a0", 1, 3, 8, NULL, NULL, 0},
     {{"r0", "f1", "f0", "r1"}, "f1", 2, 1, 10, NULL, NULL, 0}},
};

TEST_WITH(SCENE, numbers_go_on_above_all_old_ones)
{
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        const char *from;
        const char *to;

        migration_reset(scene);
        from = migration_write(scene, "old.conf", &changes[i].from, "");
        to = migration_write(scene, "new.conf", &changes[i].to, "");
        scene->numbers.count = 0;
        migration_use(scene, from);
        migration_do(from, to);
        migration_use_above(scene, to);
        scene_expect_refused(scene, from, SEQB_LAYOUT,
                             "was retired by seqctl migrate");
        migration_use(scene, to);
        scene_expect_no_repeats(scene);
    }
}

TEST_SKIPPABLE(MIGRATION, generation_follows_generation)
{
    struct layout_text text = mixed;
    const char *from = migration_write(scene, "1.conf", &text, "");

    migration_use(scene, from);
    for (int i = 0; i < 3; i++) {
        char name[16];
        const char *to;

        text.generation++;
        text.partitions[0] = i % 2 == 0 ? "r0" : "f0";
        text.partitions[1] = i % 2 == 0 ? "f0" : "r0";
        text.window_bits += 1;
        (void)text_format(name, sizeof name, "%d.conf", text.generation);
        to = migration_write(scene, name, &text, "");
        migration_do(from, to);
        migration_use_above(scene, to);
        from = to;
    }
}

/* A store that takes longer than the time-out of a pool. */
static enum seqb_status open_slow(const struct seqb_backend_options *options,
                                  struct seqb_backend **out,
                                  struct seqb_error *err)
{
    const enum seqb_status status = backend_sqlite.open(options, out, err);

    if (status == SEQB_OK && options->timeout_ms < 5000) {
        backend_sqlite.close(*out);
        *out = NULL;
        *err = (struct seqb_error){SEQB_UNREACHABLE, "too slow"};
        return SEQB_UNREACHABLE;
    }
    return status;
}

TEST_SKIPPABLE(MIGRATION, slow_store_is_waited_for)
{
    static const char format[] =
        "backends = ( { name = \"f0\"; engine = \"%ssqlite\"; path = "
        "\"f0.db\"; "
        "} ); pools = ( { name = \"main\"; timeout = \"200ms\"; "
        "partitions = [ \"f0\" ]; generation = %d; } );"
        "sequences = ( { key = \"order\"; deadline = \"1m\"; } );";
    struct seqb_backend_ops slow = backend_sqlite;
    const struct seqb_backend_ops *const engines[] = {&slow, NULL};
    const struct seqb_migrate_options options = {.engines = engines};
    char text[SCENE_TEXT_SIZE];
    const char *from;
    const struct moved *moved;

    slow.engine = "slow-sqlite";
    slow.open = open_slow;
    (void)text_format(text, sizeof text, format, "", 1);
    migration_use(scene, scene_write(scene, "quick.conf", text));
    (void)text_format(text, sizeof text, format, "slow-", 1);
    from = scene_write(scene, "old.conf", text);
    (void)text_format(text, sizeof text, format, "slow-", 2);
    moved = migration_try(from, scene_write(scene, "new.conf", text), &options);
    if (moved->status != SEQB_OK)
        fail_msg("%s", moved->err.text);
}

/* --- who is refused --- */

TEST_SKIPPABLE(MIGRATION, generation_that_was_not_migrated_is_refused)
{
    struct layout_text next = migration_next(&mixed);
    const char *to;
    const char *from = migration_write(scene, "old.conf", &mixed, "");

    next.partitions[0] = "f5"; /* none of the old stores */
    to = migration_write(scene, "new.conf", &next, "");
    scene_expect_refused(scene, to, SEQB_LAYOUT, "run seqctl migrate first");
    migration_use(scene, from);
    scene_expect_refused(scene, to, SEQB_LAYOUT, "run seqctl migrate first");
}

/* Takes until nothing comes any more. */
static struct seqb_error take_all(struct scene *scene, size_t most)
{
    struct seqb_sequence *sequence = scene_sequence(scene, "order");
    struct seqb_error err = {SEQB_OK, ""};
    size_t count = 0;
    int64_t number;

    while (seqb_next(sequence, &number, &err) == SEQB_OK) {
        numbers_add(&scene->numbers, &number, 1);
        if (++count > most)
            fail_msg("%zu numbers after the migration", count);
    }
    return err;
}

/* What it holds and what is on its way it may still issue. */
TEST_WITH(SCENE, broker_that_still_runs_gets_no_more)
{
    /* its spare window would be noticed */
    static const struct layout_text large = {{"f0", "r0"}, "a0", 1,    3,
                                             14,           NULL, NULL, 0};
    static const struct layout_text *const layouts[] = {&files, &large};

    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        const struct layout_text next = migration_next(layouts[i]);
        struct seqb_error err;
        const char *from;
        const char *to;

        migration_reset(scene);
        from = migration_write(scene, "old.conf", layouts[i], "");
        to = migration_write(scene, "new.conf", &next, "");
        scene->numbers.count = 0;
        scene_open(scene, from);
        scene_take(scene, "order", MIGRATION_TAKE);
        migration_do(from, to);
        err = take_all(scene, 4096);
        if (err.status != SEQB_EXHAUSTED && err.status != SEQB_LAYOUT)
            fail_msg("%s", err.text);
        scene_close(scene);
        migration_use_above(scene, to);
    }
}

/* It was in no old store, and is none of its counters. */
TEST_SKIPPABLE(MIGRATION, sequence_that_is_new_begins_at_the_beginning)
{
    struct layout_text next = migration_next(&files);
    const char *from;
    const char *to;

    next.more = AUTOMATIC;
    from = migration_write(scene, "old.conf", &files, "");
    migration_use(scene, from);
    next.key = "invoice";
    to = migration_write(scene, "new.conf", &next, "");
    scene_expect_words(migration_do(from, to)->told,
                       "invoice: memory_bits 3 -> 3; "
                       "is new");
    scene->numbers.count = 0;
    scene_open(scene, to);
    scene_take(scene, "invoice", 10);
    assert_true(numbers_highest(&scene->numbers) < 10000);
    scene->numbers.count = 0;
    scene_take(scene, "order", 10); /* which the new one does not list */
    assert_true(numbers_highest(&scene->numbers) > 1000000);
}

/* --- what is no migration --- */

TEST_SKIPPABLE(MIGRATION, what_is_no_next_generation_is_refused)
{
    static const struct {
        struct layout_text to;
        const char *words;
    } rows[] = {
        {{{"f0", "f1"}, NULL, 1, 3, 20, NULL, NULL, 0},
         "no pool changes its generation"},
        {{{"f1", "f0"}, NULL, 1, 3, 20, NULL, NULL, 0},
         "pool main: its layout changes: write generation = 2"},
        {{{"f0", "f1"}, NULL, 1, 4, 20, NULL, NULL, 0},
         "the memory_bits of a sequence changes: write generation = 2"},
        {{{"f0", "f1"}, NULL, 3, 3, 20, NULL, NULL, 0},
         "write generation = 2 there"},
    };
    const char *from = migration_write(scene, "old.conf", &files, "");

    migration_use(scene, from);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        migration_refused(from,
                          migration_write(scene, "new.conf", &rows[i].to, ""),
                          SEQB_CONFIG, rows[i].words);
    migration_use(scene, from);
    scene_expect_no_repeats(scene);
}

TEST_SKIPPABLE(MIGRATION, old_topology_must_be_the_one_in_use)
{
    static const struct {
        struct layout_text from;
        const char *words;
    } rows[] = {
        {{{"f1", "f0"}, NULL, 1, 3, 20, NULL, NULL, 0},
         "its store stands in main/"},
        {{{"f0", "f1"}, NULL, 1, 4, 20, NULL, NULL, 0},
         "was used with memory_bits = 3, and the old topology says 4; nothing "
         "was changed; write 3 there; if only auto_sequences match it, list it "
         "in sequences: { key = \"order\"; pool = \"main\"; memory_bits = 3; "
         "}"},
        {{{"f0", "f1"}, NULL, 2, 3, 20, NULL, NULL, 0},
         "no store knows its old layout"},
    };
    const char *from;

    from = migration_write(scene, "real.conf", &files, "");
    migration_use(scene, from);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct layout_text next = migration_next(&rows[i].from);
        const char *wrong =
            migration_write(scene, "old.conf", &rows[i].from, "");

        migration_refused(wrong, migration_write(scene, "new.conf", &next, ""),
                          SEQB_LAYOUT, rows[i].words);
    }
    migration_use(scene, from);
    scene_expect_no_repeats(scene);
}

TEST_SKIPPABLE(MIGRATION,
               store_that_is_missing_stops_it_before_anything_is_written)
{
    struct layout_text next = migration_next(&mixed);
    const char *to;
    const char *from = migration_write(scene, "old.conf", &mixed, "");

    next.partitions[1] = "f7";
    to = migration_write(scene, "new.conf", &next, "");
    migration_use(scene, from);
    server_kill(migration_server());
    migration_refused(from, to, SEQB_UNREACHABLE,
                      "a migration needs every backend, and r0 fails");
    server_start(migration_server());
    migration_use(scene, from);
    scene_expect_no_repeats(scene);
}

/* Of partition 0 of generation 1 of "order", in f0. */
static void raise_old_counter(struct scene *scene, int64_t floor)
{
    const struct seqb_backend_options options = {
        .name = "f0",
        .path = scene_state_path(scene, "f0.db"),
        .timeout_ms = 60000,
        .connect_timeout_ms = 60000};
    const struct seqb_raise raise = {
        .counter = "main/0/order", .floor = floor, .limit = INT64_MAX};
    struct seqb_backend *backend;
    struct seqb_error err;
    int64_t value;

    if (backend_sqlite.open(&options, &backend, &err) != SEQB_OK ||
        backend_sqlite.raise(backend, &raise, &value, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    backend_sqlite.close(backend);
}

TEST_SKIPPABLE(MIGRATION,
               what_does_not_fit_is_refused_before_the_old_pool_is_retired)
{
    const struct layout_text next = migration_next(&files);
    const char *from = migration_write(scene, "old.conf", &files, "");
    const char *to = migration_write(scene, "new.conf", &next, "");

    migration_use(scene, from);
    raise_old_counter(scene, (INT64_MAX >> 4) - 1000000);
    migration_refused(from, to, SEQB_EXHAUSTED,
                      "sequence order: numbers up to");
    raise_old_counter(scene, (INT64_MAX >> 4) + 1);
    migration_refused(from, to, SEQB_EXHAUSTED,
                      "sequence order: an old counter is at its end, and no "
                      "store knows how far it came");
    migration_use(scene, from);
    scene_expect_no_repeats(scene);
}

/* What matters is what the new topology lets its numbers grow to. */
TEST_SKIPPABLE(MIGRATION, what_passes_2_53_does_not_become_js_safe)
{
    static const char *const keys[] = {"order"};
    const struct seqb_migrate_options options = {.keys = keys, .key_count = 1};
    struct layout_text text = files;
    struct layout_text next;
    const struct moved *moved;
    const char *from;

    text.key = "bill"; /* "order" makes itself */
    text.more = AUTOMATIC;
    next = migration_next(&text);
    next.more = AUTOMATIC_JS_SAFE;
    from = migration_write(scene, "old.conf", &text, "");
    migration_use(scene, from);
    raise_old_counter(scene, ((int64_t)1 << (53 - 4)) - 1000000);
    moved = migration_try(from, migration_write(scene, "new.conf", &next, ""),
                          &options);
    assert_int_equal(moved->status, SEQB_EXHAUSTED);
    scene_expect_words(moved->err.text, "sequence order: numbers up to");
    next.more = AUTOMATIC;
    moved = migration_try(from, migration_write(scene, "new.conf", &next, ""),
                          &options);
    assert_ok(moved->status);
}

TEST_SKIPPABLE(MIGRATION, sequence_that_changes_its_pool_is_refused)
{
    static const char old[] =
        "backends = ( { name = \"f0\"; engine = \"sqlite\"; path = \"f0.db\"; "
        "}, { name = \"f1\"; engine = \"sqlite\"; path = \"f1.db\"; } );"
        "pools = ( { name = \"a\"; partitions = [ \"f0\" ]; },"
        "          { name = \"b\"; partitions = [ \"f1\" ]; } );"
        "sequences = ( { key = \"order\"; pool = \"a\"; } );";
    char text[SCENE_TEXT_SIZE];
    const char *from = scene_write(scene, "old.conf", old);

    (void)text_copy(text, sizeof text, old);
    scene_replace(text, "pool = \"a\"", "pool = \"b\"");
    scene_replace(text, "[ \"f1\" ]", "[ \"f1\" ]; generation = 2");
    migration_refused(from, scene_write(scene, "new.conf", text), SEQB_CONFIG,
                      "sequence order is in pool a in the old topology");
}

TEST_AFTER_ALL(migration_stop);
