/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of a pool whose partitions all count directly is put back to the
 * same copy again and again, as another file, so that it is noticed. Numbers
 * are taken between, by brokers that are started for it.
 */
#include <unistd.h>

#include "platform/text.h"
#include "scene.h"
#include "support/test.h"

#define TIMES 6
#define MANY  2000 /* more than rings hold */

static const char *const stores[] = {"a", "b", "c", "d"};

static const char *write_topology(const struct scene *scene, int partitions)
{
    char text[SCENE_TEXT_SIZE] = "backends = ( ";

    for (int i = 0; i < partitions; i++)
        (void)text_append(text, sizeof text,
                          "%s{ name = \"%s\"; engine = \"sqlite\"; path = "
                          "\"%s.db\"; }",
                          i == 0 ? "" : ", ", stores[i], stores[i]);
    (void)text_append(text, sizeof text,
                      " ); pools = ( { name = \"main\"; authority = \"none\"; "
                      "timeout = \"1m\"; partitions = [ ");
    for (int i = 0; i < partitions; i++)
        (void)text_append(text, sizeof text, "%s\"%s\"", i == 0 ? "" : ", ",
                          stores[i]);
    assert_true(text_append(text, sizeof text,
                            " ]; } ); sequences = ( { key = \"order\"; "
                            "max_unused = 256; deadline = \"1m\"; } );"));
    return scene_write(scene, "direct.conf", text);
}

/* What brokers of another machine do not know. */
static void forget(const struct scene *scene)
{
    (void)unlink(scene_state_path(scene, "raised"));
    (void)unlink(scene_state_path(scene, "spool"));
}

static void put_back_again_and_again(struct scene *scene, int partitions)
{
    const char *path = write_topology(scene, partitions);
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
    put_back_again_and_again(scene, 2);
}

TEST_WITH(SCENE, four_files_repeat_nothing)
{
    put_back_again_and_again(scene, 4);
}
