/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of a pool whose partitions all count directly is put back to the
 * same copy again and again, as another file, so that it is noticed. Numbers
 * are taken between, by brokers that are started for it.
 */
#include <unistd.h>

#include "file_pool.h"
#include "support/test.h"

#define TIMES 6
#define MANY  2000 /* more than rings hold */

/* What brokers of another machine do not know. */
static void forget(const struct scene *scene)
{
    (void)unlink(scene_state_path(scene, "raised"));
    (void)unlink(scene_state_path(scene, "spool"));
}

static void put_back_again_and_again(struct scene *scene,
                                     const char *partitions)
{
    const char *path =
        file_pool_write(scene, "direct.conf",
                        &(struct file_pool){.partitions = partitions,
                                            .authority = "none",
                                            .order = "max_unused = 256;"});
    const char *store = scene_state_path(scene, "a.db");
    const char *copy = scene_state_path(scene, "a.copy");

    scene_use(scene, path, MANY);
    scene_copy(store, copy);
    for (int i = 0; i < TIMES; i++) {
        for (int j = 0; j <= i % 3; j++)
            scene_use(scene, path, MANY);
        scene_copy(copy, store);
        if (i % 2 == 0)
            forget(scene);
        scene_use(scene, path, MANY);
    }
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, two_files_repeat_nothing)
{
    put_back_again_and_again(scene, "ab");
}

TEST_WITH(SCENE, four_files_repeat_nothing)
{
    put_back_again_and_again(scene, "abcd");
}
