/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations that are killed after each of their calls, and run again: the
 * result is that of one which was not. And those that must change nothing.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kill_after.h"
#include "migration_fixture.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/rig.h"
#include "support/test.h"

#define CALLS_MAX 1000
#define GAP       2000 /* more than a pipe holds, see read_meanwhile */
#define READ_MAX  40000
#define STALL_MS  2000 /* longer than a machine takes that is busy */
#define HELD_MS   20
#define FILES     5
#define FILE_MAX  (16 << 20)

/* Both classes, an order that changes, an authority that changes. */
static const struct layout_text old = {{"f0", "r0"}, "a0", 1,  3, 8,
                                       NULL,         NULL, GAP};
static const struct layout_text new = {
    {"r0", "f1", "f0", "r1"}, "f1", 2, 1, 10, NULL, NULL, GAP};

/* One counter, whose numbers no other partition's hide; and no store in common,
 * so that no claim of the old pool stands in the way of the new one. */
static const struct layout_text alone = {{"f0"}, NULL, 1,    3,
                                         8,      NULL, NULL, GAP};
static const struct layout_text elsewhere = {{"f1", "f2"}, NULL, 2,  3, 8,
                                             NULL,         NULL, GAP};

static const struct seqb_migrate_options killable = {.engines =
                                                         killable_engines};

/* --- cut off --- */

/* What the taker goes on to write, up to far more than the gap. While nobody
 * reads, which is while a migration runs, it is held up by its pipe: it gets
 * less than the gap then. From some call of the migration on it gets nothing
 * any more; the first time is waited for longest, which shortens *patience_ms.
 */
static void read_meanwhile(struct taker *taker, struct scene *scene,
                           int *patience_ms)
{
    struct pollfd ready = {.fd = taker->fd, .events = POLLIN};
    int64_t many[37 * 64]; /* of whole writes */
    size_t count = 0;

    while (count < READ_MAX && poll(&ready, 1, *patience_ms) > 0) {
        const ssize_t n = read(taker->fd, many, sizeof many);

        assert_true(n > 0);
        numbers_add(&scene->numbers, many, (size_t)n / sizeof many[0]);
        count += (size_t)n / sizeof many[0];
    }
    if (count < READ_MAX)
        *patience_ms = HELD_MS;
}

/* A broker of the new topology may start, or not; if it does, it is above all
 * old ones. */
static bool try_new(struct scene *scene, const struct layout_text *layout)
{
    const char *topology = migration_write(scene, "new.conf", layout, "");
    struct seqb_error err;

    if (seqb_open(topology, &scene->broker, &err) != SEQB_OK) {
        assert_int_equal(err.status, SEQB_LAYOUT);
        return false;
    }
    scene_close(scene);
    migration_use_above(scene, topology);
    return true;
}

static void expect_done(const char *from, const char *to)
{
    const struct moved *moved = migration_try(from, to, &killable);

    if (moved->status != SEQB_OK)
        fail_msg("again: %s", moved->err.text);
    moved = migration_try(from, to, &killable);
    assert_ok(moved->status);
    scene_expect_words(moved->told, "all is migrated already");
}

/* One round, with a broker that goes on meanwhile; true if the migration was
 * not cut off. */
static bool cut_after(struct scene *scene, int64_t calls, int *patience_ms)
{
    struct taker taker;
    const char *from;
    const char *to;
    bool is_whole;
    bool has_begun;

    migration_reset(scene);
    scene->numbers.count = 0;
    from = migration_write(scene, "old.conf", &old, "");
    taker = taker_start(from, "order");
    taker_read(&taker, scene, MIGRATION_TAKE);
    from = migration_write(scene, "old-killable.conf", &old, "killable-");
    to = migration_write(scene, "new-killable.conf", &new, "killable-");
    is_whole = migrate_killed_after(calls, from, to, NULL);
    read_meanwhile(&taker, scene, patience_ms);
    has_begun = try_new(scene, &new);
    expect_done(from, to);
    taker_kill(&taker, scene);
    if (!has_begun)
        assert_true(try_new(scene, &new));
    scene_expect_no_repeats(scene);
    scene_expect_refused(scene, migration_write(scene, "old.conf", &old, ""),
                         SEQB_LAYOUT, "was retired");
    return is_whole;
}

TEST_WITH(SCENE, migration_killed_after_any_call_is_brought_to_its_end)
{
    int patience_ms = STALL_MS;
    int64_t calls = 1;

    while (!cut_after(scene, calls, &patience_ms)) {
        if (++calls > CALLS_MAX)
            fail_msg("it does not end");
    }
    assert_true(calls > 20); /* it was cut off indeed */
}

/* Each time one more call, and far more numbers than the gap in between. */
TEST_SKIPPABLE(MIGRATION, migration_killed_again_and_again_comes_to_its_end)
{
    struct taker taker;
    const char *from;
    const char *to;
    int patience_ms = STALL_MS;
    bool has_begun = false;
    int64_t calls = 1;

    taker =
        taker_start(migration_write(scene, "old.conf", &alone, ""), "order");
    taker_read(&taker, scene, MIGRATION_TAKE);
    (void)unlink(scene_state_path(scene, "granted-0")); /* another machine's */
    from = migration_write(scene, "old-killable.conf", &alone, "killable-");
    to = migration_write(scene, "new-killable.conf", &elsewhere, "killable-");
    while (!migrate_killed_after(calls, from, to, NULL)) {
        read_meanwhile(&taker, scene, &patience_ms);
        has_begun = has_begun || try_new(scene, &elsewhere);
        if (++calls > CALLS_MAX)
            fail_msg("it does not end");
    }
    expect_done(from, to);
    taker_kill(&taker, scene);
    assert_true(has_begun || try_new(scene, &elsewhere));
    scene_expect_no_repeats(scene);
}

/* --- what changes nothing --- */

struct stores {
    char *files[FILES];
    size_t sizes[FILES];
    int64_t changes; /* that Redis counts */
};

static const char *const names[FILES] = {"f0.db", "f1.db", "a0.db", "f2.db",
                                         "old.conf"};

static int64_t redis_changes(void)
{
    static const char word[] = "rdb_changes_since_last_save:";
    redisReply *reply = server_ask(migration_server(), "INFO persistence");
    const char *at = strstr(reply->str, word);
    int64_t changes;

    assert_non_null(at);
    at += sizeof word - 1;
    assert_true(text_to_int64(at, strcspn(at, "\r\n"), &changes));
    freeReplyObject(reply);
    return changes;
}

static void stores_keep(struct scene *scene, struct stores *out)
{
    for (size_t i = 0; i < FILES; i++) {
        const char *path = scene_state_path(scene, names[i]);
        FILE *file = fopen(path, "re");

        out->files[i] = NULL;
        out->sizes[i] = 0;
        if (file == NULL)
            continue;
        out->files[i] = calloc(1, FILE_MAX);
        assert_non_null(out->files[i]);
        out->sizes[i] = fread(out->files[i], 1, FILE_MAX, file);
        (void)fclose(file);
    }
    out->changes = redis_changes();
}

static void stores_free(struct stores *stores)
{
    for (size_t i = 0; i < FILES; i++)
        free(stores->files[i]);
}

/* Compares, and frees what was kept. */
static void expect_unchanged(struct scene *scene, struct stores *before)
{
    struct stores now;

    stores_keep(scene, &now);
    for (size_t i = 0; i < FILES; i++) {
        if ((now.files[i] == NULL) != (before->files[i] == NULL) ||
            now.sizes[i] != before->sizes[i])
            fail_msg("%s has another size", names[i]);
        if (now.files[i] != NULL)
            assert_memory_equal(now.files[i], before->files[i], now.sizes[i]);
    }
    assert_int_equal(now.changes, before->changes);
    stores_free(&now);
    stores_free(before);
}

TEST_SKIPPABLE(MIGRATION, dry_run_changes_nothing)
{
    struct stores before;
    const struct moved *moved;
    const char *from = migration_write(scene, "old.conf", &old, "");
    const char *to = migration_write(scene, "new.conf", &new, "");

    migration_use(scene, from);
    stores_keep(scene, &before);
    assert_non_null(before.files[0]);
    assert_null(before.files[1]);
    moved = migration_try(from, to,
                          &(struct seqb_migrate_options){.dry_run = true});
    assert_ok(moved->status);
    scene_expect_words(moved->told, "pool main: generation 1 -> 2, partitions "
                                    "2 -> 4, window_bits 8 -> 10\n");
    scene_expect_words(moved->told, "f1 (yet to be made)");
    scene_expect_words(moved->told, "sequence order: memory_bits 3 -> 1; fits");
    scene_expect_words(moved->told, "warning: stop every broker");
    scene_expect_words(moved->told, "dry run: nothing was written\n");
    expect_unchanged(scene, &before);
    migration_use(scene, from);
    scene_expect_no_repeats(scene);
}

TEST_SKIPPABLE(MIGRATION, second_run_changes_nothing)
{
    struct stores before;
    const char *from = migration_write(scene, "old.conf", &old, "");
    const char *to = migration_write(scene, "new.conf", &new, "");

    migration_use(scene, from);
    scene_expect_words(migration_do(from, to)->told, "done: start the brokers");
    stores_keep(scene, &before);
    assert_non_null(before.files[1]);
    scene_expect_words(migration_do(from, to)->told, "all is migrated already");
    expect_unchanged(scene, &before);
    migration_use_above(scene, to);
}

TEST_AFTER_ALL(migration_stop);
