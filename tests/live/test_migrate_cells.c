/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations after an authority was put back to a copy: it knows fewer windows
 * than the cells of its partitions. The store does not notice the copy, and no
 * broker has notes of what was granted.
 */
#include <unistd.h>

#include "kill_after.h"
#include "migration_fixture.h"
#include "platform/text.h"
#include "support/test.h"

#define CALLS_MAX 1000
#define MANY      16000 /* eight windows */

static const char topology[] =
    "backends = ( { name = \"a\"; engine = \"%ssqlite\"; path = \"a.db\"; },"
    "             { name = \"p\"; %s } );"
    "pools = ( { name = \"main\"; generation = %d; window_bits = 8; "
    "            failover_gap = 0; timeout = \"1m\"; authority = \"a\"; "
    "            windows = \"all\"; partitions = [ \"p\" ]; } );"
    "sequences = ( { key = \"order\"; max_unused = 64; memory_bits = 3; "
    "                deadline = \"1m\"; } );";

/* The partition is a file, or the Redis server. */
static const char *write_generation(const struct scene *scene, const char *name,
                                    int generation, const char *engine,
                                    bool is_file)
{
    char store[128];
    char text[SCENE_TEXT_SIZE];

    if (is_file)
        (void)text_format(store, sizeof store,
                          "engine = \"%ssqlite\"; path = \"p.db\";", engine);
    else
        (void)text_format(store, sizeof store,
                          "engine = \"%sredis\"; port = %d; "
                          "connect_timeout = \"1m\";",
                          engine, (int)server_port(migration_server()));
    assert_true(
        text_format(text, sizeof text, topology, engine, store, generation));
    return scene_write(scene, name, text);
}

static void use_and_put_back(struct scene *scene, const char *from)
{
    const char *authority = scene_state_path(scene, "a.db");
    const char *copy = scene_path(scene, "a.copy");

    scene->numbers.count = 0;
    migration_use(scene, from);
    test_copy_file(authority, copy);
    scene_use(scene, from, MANY);
    test_copy_file(copy, authority);
    (void)unlink(scene_state_path(scene, "granted-0"));
}

/* True if the first run was not cut off. */
static bool migrate_after(struct scene *scene, int64_t calls, bool is_file)
{
    const char *from;
    const char *to;
    bool is_whole;

    migration_reset(scene);
    from = write_generation(scene, "old.conf", 1, "", is_file);
    to = write_generation(scene, "new.conf", 2, "", is_file);
    use_and_put_back(scene, from);
    is_whole = migrate_killed_after(
        calls,
        write_generation(scene, "old-killable.conf", 1, "killable-", is_file),
        write_generation(scene, "new-killable.conf", 2, "killable-", is_file),
        NULL);
    (void)migration_do(from, to);
    migration_use_above(scene, to);
    return is_whole;
}

static void migrate_after_any(struct scene *scene, bool is_file)
{
    int64_t calls = 1;

    while (!migrate_after(scene, calls, is_file)) {
        if (++calls > CALLS_MAX)
            fail_msg("it does not end");
    }
    assert_true(calls > 10); /* it was cut off indeed */
}

TEST_WITH(SCENE, cell_above_an_authority_that_went_back_is_passed)
{
    migrate_after_any(scene, false);
}

TEST_WITH(SCENE, cell_in_a_file_above_an_authority_that_went_back_is_passed)
{
    migrate_after_any(scene, true);
}

TEST_AFTER_ALL(migration_stop);
