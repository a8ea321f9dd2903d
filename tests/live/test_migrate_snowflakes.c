/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools whose stores have leased worker ids to brokers of another topology:
 * neither topology of the migration lists the snowflakes.
 */
#include "file_pool.h"
#include "platform/text.h"
#include "store_file.h"
#include "support/test.h"

#define MANY 300 /* more than a ring holds */

#define SNOWFLAKES                                                             \
    "pool main has snowflakes, which neither topology lists, as the claim "    \
    "'snowflake/main' of backend a says; nothing was changed"

/* A pool of one store. */
static const char *write_topology(const struct scene *scene, int generation,
                                  const char *store, bool has_flakes)
{
    const struct file_pool pool = {
        .partitions = store,
        .generation = generation,
        .settings = "failover_gap = 16;",
        .order = has_flakes
                     ? "max_unused = 64; }, { key = \"id\"; snowflake = {};"
                     : "max_unused = 64;"};
    char name[32];

    (void)text_format(name, sizeof name, "%d%s.conf", generation,
                      has_flakes ? "-flakes" : "");
    return file_pool_write(scene, name, &pool);
}

/* A broker with a worker id, and the topologies of a migration, which do not
 * list its sequence. */
static struct topologies lease(struct scene *scene)
{
    const struct topologies pool = {write_topology(scene, 1, "a", false),
                                    write_topology(scene, 2, "b", false)};

    scene_open(scene, write_topology(scene, 1, "a", true));
    scene_take(scene, "id", 1);
    scene_take(scene, "order", 1);
    return pool;
}

static void expect(const struct topologies *pool, enum seqb_status expected,
                   const char *words)
{
    const struct seqb_migrate_options options = {.dry_run = false};
    struct seqb_error err = {.text = ""};
    const enum seqb_status status =
        seqb_migrate(pool->was, pool->is, &options, &err);

    if (status != expected)
        fail_msg("%s: %s", seqb_status_name(status), err.text);
    scene_expect_words(err.text, words);
}

#define REMOVE "DELETE FROM seqb_claims WHERE name = "

/* A broker that goes on leases its worker id from a, and one of the next
 * generation would lease the same one from b. */
TEST_WITH(SCENE, snowflakes_that_no_topology_lists_are_refused)
{
    const struct topologies pool = lease(scene);

    expect(&pool, SEQB_LAYOUT, SNOWFLAKES);
    scene_take(scene, "id", 1);
    scene_take(scene, "order", MANY); /* nothing was changed */
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

/* As the error says. */
TEST_WITH(SCENE, pool_whose_claim_of_snowflakes_was_removed_is_migrated)
{
    const struct topologies pool = lease(scene);

    scene_close(scene);
    assert_int_equal(store_file_edit(scene, "a.db", REMOVE "'snowflake/main'"),
                     1);
    expect(&pool, SEQB_OK, "");
    scene_use(scene, pool.is, MANY);
    scene_expect_no_repeats(scene);
}

/* Only an earlier version has migrated a pool with snowflakes. */
TEST_WITH(SCENE, snowflakes_of_an_earlier_generation_are_refused)
{
    const struct topologies first = {write_topology(scene, 1, "a", false),
                                     write_topology(scene, 2, "a", false)};
    const struct topologies second = {first.is,
                                      write_topology(scene, 3, "b", false)};

    scene_use(scene, first.was, 1);
    expect(&first, SEQB_OK, "");
    assert_int_equal(
        store_file_edit(scene, "a.db",
                        "INSERT INTO seqb_claims (name, text) "
                        "VALUES ('snowflake/main', 'snowflake epoch_ms=0')"),
        1);
    expect(&second, SEQB_LAYOUT, SNOWFLAKES);
    scene_use(scene, second.was, MANY);
    scene_expect_no_repeats(scene);
}
