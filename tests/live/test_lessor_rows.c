/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody deletes rows of a lessor by hand, while its store goes on: no
 * incarnation tells it, and no sync reads its neighbours.
 */
#include "file_pool.h"
#include "store_file.h"
#include "support/test.h"

#define TIMES 6

static const char *const names[] = {"a.db", "b.db", "c.db", "d.db"};

/* Under the broker that leased, and between two brokers. `count` of them are
 * edited, one after the other. */
static void expect_no_repeats(struct scene *scene, int count, const char *sql)
{
    /* Few numbers are held, so that windows are used up in each round. */
    const char *path = file_pool_write(
        scene, "rows.conf",
        &(struct file_pool){.partitions = "abcd",
                            .settings = "window_bits = 8;",
                            .authority = "neighbours",
                            .order = "memory_bits = 0; max_unused = 2000;"});

    for (int i = 0; i < TIMES; i++) {
        scene_open(scene, path);
        scene_take(scene, "order", 20000);
        (void)store_file_edit(scene, names[i % count], sql);
        scene_take(scene, "order", 20000);
        scene_close(scene);
        (void)store_file_edit(scene, names[(i + 1) % count], sql);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, deleted_counters_of_leases_repeat_nothing)
{
    expect_no_repeats(scene, 4,
                      "DELETE FROM seqb_counters WHERE name LIKE 'window/%'");
}

TEST_WITH(SCENE, deleted_counters_and_notes_of_leases_repeat_nothing)
{
    expect_no_repeats(scene, 4,
                      "DELETE FROM seqb_counters WHERE name LIKE '%window/%'");
}

TEST_WITH(SCENE, deleted_cells_repeat_nothing)
{
    expect_no_repeats(scene, 4,
                      "DELETE FROM seqb_counters WHERE name LIKE 'cell:%'");
}

/* One alone: the second of two may be emptied before the first one was asked
 * for anything, and they may be the only ones who know of a lease. */
TEST_WITH(SCENE, emptied_lessor_repeats_nothing)
{
    expect_no_repeats(scene, 1, "DELETE FROM seqb_counters");
}
