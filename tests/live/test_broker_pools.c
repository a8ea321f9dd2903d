/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several pools in one broker, through the public API: each sequence counts in
 * its own, and what is ill in one pool is no concern of the other's.
 */
#include <string.h>

#include "mute_sqlite.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "scene.h"
#include "support/test.h"

/* A direct pool of two partitions and one of four; the latter's authority is
 * a partition of the former. Nothing rests for less than an hour, and
 * a machine that is busy is not to be taken for slow stores. */
static const char topology[] =
    "backends = ("
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
    "  { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; },"
    "  { name = \"c\"; engine = \"sqlite\"; path = \"c.db\"; },"
    "  { name = \"d\"; engine = \"sqlite\"; path = \"d.db\"; },"
    "  { name = \"e\"; engine = \"sqlite\"; path = \"e.db\"; },"
    "  { name = \"f\"; engine = \"sqlite\"; path = \"f.db\"; } );"
    "pools = ( { name = \"small\"; partitions = [ \"a\", \"b\" ];"
    "            timeout = \"1m\"; rescue = \"fixed\"; rescue_after = \"1h\"; "
    "},"
    "          { name = \"large\"; partitions = [ \"c\", \"d\", \"e\", \"f\" ];"
    "            authority = \"b\";"
    "            timeout = \"1m\"; rescue = \"fixed\"; rescue_after = \"1h\"; "
    "} );"
    "sequences = ( { key = \"bill\"; pool = \"small\"; deadline = \"60s\"; },"
    "              { key = \"order\"; pool = \"large\"; deadline = \"60s\"; },"
    "              { key = \"quick\"; pool = \"small\"; deadline = \"1ms\"; } "
    ");"
    "auto_sequences = { pattern = \"log.*\"; pool = \"small\";"
    "                   deadline = \"60s\"; };";

static void open_pools(struct scene *scene)
{
    scene_open(scene, scene_write(scene, "pools.conf", topology));
}

/* Counter values granted by all partitions of a pool. */
static int64_t granted(const struct scene *scene, const char *pool)
{
    struct seqb_partition_status all[16];
    size_t count = 0;
    int64_t sum = 0;

    assert_ok(
        seqb_partitions(scene->broker, all, sizeof all[0], 16, &count, NULL));
    assert_int_equal(count, 7); /* two, and four with an authority */
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].pool, pool) == 0)
            sum += all[i].granted;
    }
    return sum;
}

static const char *pool_of(const struct scene *scene, const char *key)
{
    static struct seqb_sequence_status all[8];
    size_t count = 0;

    assert_ok(
        seqb_sequences(scene->broker, all, sizeof all[0], 8, &count, NULL));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].key, key) == 0)
            return all[i].pool;
    }
    fail_msg("no sequence %s", key);
    return NULL;
}

static enum seqb_health health(const struct scene *scene, char *reason,
                               size_t size)
{
    enum seqb_health out = SEQB_HEALTH_UNKNOWN;

    assert_ok(seqb_get_health(scene->broker, &out, reason, size, NULL));
    return out;
}

static void command(const struct scene *scene, const char *pool, int32_t i,
                    enum seqb_order order)
{
    struct seqb_error err;

    assert_done(seqb_command(scene->broker, pool, i, order, &err), err);
}

/* Bit i: some number was partition i's. */
static unsigned partitions_seen(const struct scene *scene,
                                const struct seqb_sequence *sequence)
{
    struct seqb_decoded decoded;
    unsigned seen = 0;

    for (size_t i = 0; i < scene->numbers.count; i++) {
        assert_ok(
            seqb_decode(sequence, scene->numbers.values[i], &decoded, NULL));
        seen |= 1u << decoded.partition;
    }
    return seen;
}

TEST_WITH(SCENE, each_sequence_counts_in_its_own_pool)
{
    struct seqb_sequence *order = NULL;

    open_pools(scene);
    order = scene_sequence(scene, "order");
    for (int i = 0; i < 1000 && partitions_seen(scene, order) != 0xf; i++)
        scene_take(scene, "order", 1000);
    assert_int_equal(partitions_seen(scene, order), 0xf);
    assert_int_equal(granted(scene, "small"), 0);
    assert_true(granted(scene, "large") > 0);
    scene_expect_no_repeats(scene);
    scene->numbers.count = 0;
    scene_take(scene, "bill", 5000);
    scene_take(scene, "log.access", 0);
    assert_true(granted(scene, "small") > 0);
    assert_string_equal(pool_of(scene, "bill"), "small");
    assert_string_equal(pool_of(scene, "order"), "large");
    assert_string_equal(pool_of(scene, "log.access"), "small");
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, numbers_go_on_in_every_pool_after_a_restart)
{
    for (int i = 0; i < 3; i++) {
        open_pools(scene);
        scene_take(scene, "bill", 3000);
        scene_close(scene);
    }
    scene_expect_no_repeats(scene);
    scene->numbers.count = 0;
    for (int i = 0; i < 3; i++) {
        open_pools(scene);
        scene_take(scene, "order", 3000);
        scene_close(scene);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, pool_that_is_out_leaves_the_other_alone)
{
    struct seqb_sequence *quick = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    int64_t number;
    char reason[256];

    open_pools(scene);
    assert_int_equal(health(scene, reason, sizeof reason), SEQB_HEALTH_SERVING);
    quick = scene_sequence(scene, "quick");
    command(scene, "small", 0, SEQB_ORDER_DRAIN);
    assert_int_equal(health(scene, NULL, 0), SEQB_HEALTH_DEGRADED);
    command(scene, "small", 1, SEQB_ORDER_QUARANTINE);
    assert_int_equal(health(scene, reason, sizeof reason),
                     SEQB_HEALTH_NOT_SERVING);
    scene_expect_words(reason, "pool small cannot serve: partition 0 (a) is "
                               "drained");
    assert_null(strstr(reason, "large"));
    while (seqb_next(quick, &number, &err) == SEQB_OK)
        continue;
    assert_int_equal(err.status, SEQB_UNAVAILABLE);
    scene_take(scene, "order", 20000);
    command(scene, "small", 1, SEQB_ORDER_RESCUE);
    scene_take(scene, "bill", 5000);
    assert_int_equal(health(scene, NULL, 0), SEQB_HEALTH_DEGRADED);
}

TEST_WITH(SCENE, one_sequence_is_advanced_and_no_other)
{
    struct seqb_error err;

    open_pools(scene);
    scene_take(scene, "bill", 10);
    scene_take(scene, "log.a", 10);
    assert_done(seqb_advance(scene->broker, "bill", 1 << 30, &err), err);
    scene->numbers.count = 0;
    scene_take(scene, "log.a", 1000);
    scene_take(scene, "order", 1000);
    assert_true(numbers_highest(&scene->numbers) < 1 << 30);
    scene->numbers.count = 0;
    scene_take(scene, "bill", 1000);
    for (size_t i = 0; i < scene->numbers.count; i++)
        assert_true(scene->numbers.values[i] > 1 << 30);
}

static void probe_keep(void *context, const struct seqb_probe *probe)
{
    size_t *well = context;

    if (probe->status == SEQB_OK)
        *well += strncmp(probe->place, probe->pool, strlen(probe->pool)) == 0;
}

TEST_WITH(SCENE, probe_knows_the_place_in_each_pool)
{
    size_t well = 0;
    const struct seqb_probe_listener listener = {.backend = probe_keep,
                                                 .context = &well};
    struct seqb_error err;

    open_pools(scene);
    assert_done(seqb_probe_topology(scene_path(scene, "pools.conf"), NULL,
                                    &listener, &err),
                err);
    assert_int_equal(well, 6);
}

/* Its counters in the other pool's stores are new: they would begin at 1. */
TEST_WITH(SCENE, sequence_may_not_change_its_pool)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err;
    int64_t number;
    char changed[SCENE_TEXT_SIZE];

    open_pools(scene);
    scene_take(scene, "bill", 100);
    scene_close(scene);
    (void)text_copy(changed, sizeof changed, topology);
    scene_replace(changed, "key = \"bill\"; pool = \"small\"",
                  "key = \"bill\"; pool = \"large\"");
    scene_open(scene, scene_write(scene, "changed.conf", changed));
    assert_int_equal(seqb_get_sequence(scene->broker, "bill", &sequence, &err),
                     SEQB_LAYOUT);
    scene_expect_words(err.text, "sequence bill was used in pool small");
    sequence = scene_sequence(scene, "order");
    assert_ok(seqb_next(sequence, &number, &err));
    scene_close(scene);
    open_pools(scene);
    scene_take(scene, "bill", 100);
    scene_expect_no_repeats(scene);
}

/* The pools have no store in common, and one that is away is back soon. */
static void write_apart(char text[static SCENE_TEXT_SIZE])
{
    (void)text_copy(text, SCENE_TEXT_SIZE, topology);
    scene_replace(text, "rescue_after = \"1h\"", "rescue_after = \"100ms\"");
    scene_replace(text, "authority = \"b\";", "");
}

/* The same with "late" in that pool. */
static void write_late(char text[static SCENE_TEXT_SIZE], const char *pool)
{
    write_apart(text);
    scene_replace(text, "key = \"order\";",
                  "key = \"late\"; pool = \"POOL\"; deadline = \"200ms\"; }, "
                  "{ key = \"order\";");
    scene_replace(text, "POOL", pool);
}

/* Takes what the sequence is granted, up to 100 numbers. */
static void try_sequence(struct scene *scene, struct seqb_sequence *sequence,
                         struct seqb_error *err)
{
    int64_t number;

    for (int i = 0; i < 100; i++) {
        if (seqb_next(sequence, &number, err) != SEQB_OK)
            return;
        numbers_add(&scene->numbers, &number, 1);
    }
}

static void try_late(struct scene *scene, struct seqb_error *err)
{
    try_sequence(scene, scene_sequence(scene, "late"), err);
}

static void expect_unasked(struct scene *scene, const char *text)
{
    struct seqb_error err = {.status = SEQB_OK};

    scene_open(scene, scene_write(scene, "unasked.conf", text));
    try_late(scene, &err);
    scene_expect_no_repeats(scene);
    assert_int_equal(err.status, SEQB_UNAVAILABLE);
    scene_expect_words(err.text,
                       "sequence late is new in pool large, and backend a of "
                       "pool small cannot be asked");
    scene_take(scene, "order", 10);
    scene->numbers.count = 100; /* of "late" */
    scene_close(scene);
}

/* "late" was used in pool small while only its store a was there. */
static void use_late(struct scene *scene)
{
    char text[SCENE_TEXT_SIZE];
    struct seqb_error err;

    write_apart(text);
    scene_open(scene, scene_write(scene, "apart.conf", text));
    scene_close(scene);
    scene_move(scene, "b.db", "b.away");
    write_late(text, "small");
    scene_open(scene, scene_write(scene, "late.conf", text));
    try_late(scene, &err);
    if (scene->numbers.count < 100)
        fail_msg("%zu numbers: %s", scene->numbers.count, err.text);
    scene_close(scene);
    scene_move(scene, "b.away", "b.db");
}

TEST_WITH(SCENE, moved_sequence_waits_for_the_store_that_knows_it)
{
    static const char *const none[] = {NULL};
    const int64_t until_ms = clock_now_ms() + SCENE_PATIENCE_MS;
    struct seqb_sequence *sequence;
    struct seqb_error err;
    char text[SCENE_TEXT_SIZE];

    use_late(scene);
    scene_move(scene, "a.db", "a.away");
    write_late(text, "large");
    expect_unasked(scene, text);
    expect_unasked(scene, text);
    /* Nor does a migration begin it. */
    scene_replace(text, "name = \"large\";",
                  "name = \"large\"; generation = 2;");
    assert_done(seqb_migrate(scene_path(scene, "unasked.conf"),
                             scene_write(scene, "next.conf", text),
                             &(struct seqb_migrate_options){.keys = none},
                             &err),
                err);
    expect_unasked(scene, text);
    scene_open(scene, scene_path(scene, "unasked.conf"));
    scene_move(scene, "a.away", "a.db");
    while (seqb_get_sequence(scene->broker, "late", &sequence, &err) ==
               SEQB_OK &&
           clock_now_ms() < until_ms)
        try_sequence(scene, sequence, &err);
    assert_int_equal(err.status, SEQB_LAYOUT);
    scene_expect_words(err.text, "sequence late was used in pool small");
    scene_expect_no_repeats(scene);
}

/* Generation 1 of its pool had it, and the migration left it out. */
TEST_WITH(SCENE, sequence_of_an_earlier_generation_may_not_change_its_pool)
{
    static const char *const none[] = {NULL};
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err = {.text = ""};
    char text[SCENE_TEXT_SIZE];

    open_pools(scene);
    scene_take(scene, "log.access", 100);
    scene_close(scene);
    (void)text_copy(text, sizeof text, topology);
    scene_replace(text, "name = \"small\";",
                  "name = \"small\"; generation = 2;");
    assert_ok(migrate_mute(scene, scene_path(scene, "pools.conf"),
                           scene_write(scene, "next.conf", text),
                           &(struct seqb_migrate_options){.keys = none}, &err));
    scene_replace(text, "key = \"order\";",
                  "key = \"log.access\"; pool = \"large\"; deadline = "
                  "\"60s\"; }, { key = \"order\";");
    scene_open(scene, scene_write(scene, "moved.conf", text));
    if (seqb_get_sequence(scene->broker, "log.access", &sequence, &err) ==
        SEQB_OK) {
        scene_take(scene, "log.access", 100);
        scene_expect_no_repeats(scene);
    }
    assert_int_equal(err.status, SEQB_LAYOUT);
    scene_expect_words(err.text, "sequence log.access was used in pool small");
    scene_take(scene, "order", 100);
}

/* What stands in one pool may not be given to another. */
TEST_WITH(SCENE, partitions_may_not_change_pools)
{
    char text[SCENE_TEXT_SIZE];

    open_pools(scene);
    scene_close(scene);
    (void)text_copy(text, sizeof text, topology);
    scene_replace(text, "\"a\", \"b\"", "\"c\", \"b\"");
    scene_replace(text, "[ \"c\", \"d\"", "[ \"a\", \"d\"");
    scene_expect_refused(scene, scene_write(scene, "swapped.conf", text),
                         SEQB_LAYOUT, "");
    open_pools(scene);
    scene_take(scene, "bill", 100);
}
