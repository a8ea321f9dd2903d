/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topology files over a state that is in use: what they may change, and that
 * the rest is refused, with what differs, and without having changed anything.
 */
#include <string.h>
#include <unistd.h>

#include "file_pool.h"
#include "platform/text.h"
#include "support/test.h"

static const char *write_topology(const struct scene *scene,
                                  const char *partitions, const char *pool_name,
                                  const char *order)
{
    const struct file_pool pool = {
        .partitions = partitions, .name = pool_name, .order = order};

    return file_pool_write(scene, "topology.conf", &pool);
}

static void use(struct scene *scene)
{
    scene_use(scene, write_topology(scene, "ab", "main", ""), 5000);
}

static const struct {
    const char *partitions;
    const char *pool_name;
    const char *order;
    const char *words;
} changes[] = {
    {"ba", "main", "", "partition 0 was store '"},
    {"abcd", "main", "", "bits was 1 and is 2"},
    {"ab", "main", "memory_bits = 4;",
     "memory_bits=3 and is configured with memory_bits=4"},
    {"ab", "main", "memory_bits = 0;",
     "memory_bits=3 and is configured with memory_bits=0"},
    {"ab", "other", "", "stands in main/0"},
};

TEST_WITH(SCENE, layouts_that_differ_are_refused)
{
    use(scene);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        scene_expect_refused(scene,
                             write_topology(scene, changes[i].partitions,
                                            changes[i].pool_name,
                                            changes[i].order),
                             SEQB_LAYOUT, changes[i].words);
        use(scene);
    }
    scene_expect_no_repeats(scene);
}

/* The refusal comes before any new store is made. */
TEST_WITH(SCENE, renamed_and_grown_pool_makes_no_store)
{
    use(scene);
    scene_expect_refused(scene, write_topology(scene, "abcd", "other", ""),
                         SEQB_LAYOUT, "stands in main/0");
    assert_int_not_equal(access(scene_state_path(scene, "c.db"), F_OK), 0);
    assert_int_not_equal(access(scene_state_path(scene, "d.db"), F_OK), 0);
    use(scene);
    scene_expect_no_repeats(scene);
}

/* A pool of one partition cannot name the other's backend. */
TEST_WITH(SCENE, fewer_partitions_are_refused)
{
    use(scene);
    scene_expect_refused(scene, write_topology(scene, "a", "main", ""),
                         SEQB_LAYOUT, "bits was 1 and is 0");
    use(scene);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, what_is_no_layout_may_change)
{
    use(scene);
    scene_open(scene, write_topology(scene, "ab", "main",
                                     "deadline = \"5s\"; runway = \"1s\";"
                                     "max_unused = 64; prefetch = false;"));
    scene_take(scene, "order", 5000);
    scene_expect_no_repeats(scene);
}

/* A sequence that is not listed at first keeps its bits all the same. */
TEST_WITH(SCENE, automatic_sequence_keeps_its_bits)
{
    static const char topology[] =
        "backends = ( { name = \"a\"; engine = \"sqlite\";"
        "               path = \"a.db\"; } );"
        "pools = ( { name = \"main\"; partitions = [ \"a\" ]; } );"
        "auto_sequences = { pattern = \"*\"; memory_bits = %d; };";
    struct seqb_sequence *order;
    struct seqb_error err;
    int64_t number;
    char text[SCENE_TEXT_SIZE];

    (void)text_format(text, sizeof text, topology, 2);
    scene_use(scene, scene_write(scene, "auto.conf", text), 100);
    (void)text_format(text, sizeof text, topology, 5);
    scene_open(scene, scene_write(scene, "auto.conf", text));
    order = scene_sequence(scene, "order");
    assert_int_equal(seqb_next(order, &number, &err), SEQB_LAYOUT);
    scene_expect_words(err.text, "memory_bits=2 and is configured with "
                                 "memory_bits=5");
    scene_take(scene, "bill", 100);
}
