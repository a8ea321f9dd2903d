/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A direct store and its copy that serve at once, each to another broker, as a
 * primary that goes on beside the promoted one: docs/guarantees.md, row 4. The
 * copy is raised by the gap. What else the brokers share decides whether that
 * keeps them apart.
 */
#include "platform/text.h"
#include "scene.h"
#include "support/test.h"

#define MANY   ((size_t)2000)
#define ROUNDS 10

/* What the brokers have beside the store in question. */
struct shared {
    const char *backend;
    const char *partition;
    const char *authority;
};

#define STORE                                                                  \
    "{ name = \"shared\"; engine = \"sqlite\"; path = \"shared.db\"; },",      \
        "\"shared\", "

static const struct shared nothing = {"", "", "none"};
static const struct shared store = {STORE, "none"};
static const struct shared neighbour = {STORE, "neighbours"};

/* The topology of a broker for which the store is that file. */
static const char *topology_write(const struct scene *scene, const char *file,
                                  const struct shared *shared)
{
    char text[SCENE_TEXT_SIZE];

    (void)text_format(text, sizeof text,
                      "backends = (%s { name = \"moved\"; engine = \"sqlite\";"
                      "  path = \"%s\"; });"
                      "pools = ({ name = \"main\"; partitions = [%s \"moved\"];"
                      "  authority = \"%s\"; });"
                      "sequences = ({ key = \"order\"; memory_bits = 0;"
                      "  max_unused = 500; });",
                      shared->backend, file, shared->partition,
                      shared->authority);
    return scene_write(scene, file, text);
}

/* Takes by turns of a broker on the file and of one on its copy. */
static void take_from_both(struct scene *scene, const struct shared *shared)
{
    struct seqb_broker *brokers[2];

    scene_use(scene, topology_write(scene, "moved.db", shared), MANY);
    scene_copy(scene_state_path(scene, "moved.db"),
               scene_state_path(scene, "copy.db"));
    scene_open(scene, topology_write(scene, "moved.db", shared));
    brokers[0] = scene->broker;
    scene->broker = NULL;
    scene_open(scene, topology_write(scene, "copy.db", shared));
    brokers[1] = scene->broker;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        scene->broker = brokers[i % 2];
        scene_take(scene, "order", MANY);
    }
    scene->broker = brokers[0];
    scene_close(scene);
    scene->broker = brokers[1];
    print_message("two copies: %zu of %zu repeated\n",
                  numbers_repeats(&scene->numbers),
                  numbers_count(&scene->numbers));
}

TEST_WITH(SCENE, two_copies_are_held_apart_by_the_gap)
{
    take_from_both(scene, &nothing);
    scene_expect_no_repeats(scene);
}

/* Each broker raises its copy to the level of the store that they share, and so
 * to the values of the other one. */
TEST_WITH(SCENE, two_copies_repeat_beside_a_store_that_both_reach)
{
    take_from_both(scene, &store);
    assert_true(numbers_repeats(&scene->numbers) > 0);
}

TEST_WITH(SCENE, two_copies_of_a_neighbour_repeat_nothing)
{
    take_from_both(scene, &neighbour);
    scene_expect_no_repeats(scene);
}
