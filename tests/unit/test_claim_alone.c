/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One store that is not the one that the layout names, or one sequence that a
 * store knows by other settings: that one is refused at the start, and the rest
 * is served. What refuses the start is in test_claim.c.
 */
#include <stdlib.h>
#include <string.h>

#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"

/* A broker starts, and is refused partition 0 alone, in which it does nothing.
 */
static void expect_refused_alone(struct rig *rig, const char *words)
{
    struct rig_broker *broker = rig_open(rig);

    RIG_AWAIT(rig_partition(broker, 0).state == SEQB_PARTITION_REFUSED);
    rig_expect_words(rig_partition(broker, 0).reason, words);
    rig_take(broker, 1000);
    assert_int_equal(rig_partition(broker, 0).granted, 0);
    rig_close(broker);
}

/* A store that went back to before the pool's first start costs what it holds,
 * and no more. When it is there again it goes on. */
TEST_WITH(DIRECT, store_that_is_new_is_refused_alone)
{
    rig_use(rig, 500);
    rig->backends[0].options.path = "store-2";
    expect_refused_alone(rig, "b0 is new and empty");
    expect_refused_alone(rig, "b0 is new and empty");
    rig_shape(rig, rig->kind, 1);
    rig_use(rig, 500);
}

/* Of four, so that two others are left to lease and to witness. */
TEST_WITH(NEIGHBOURS, neighbour_that_is_new_is_refused_alone)
{
    rig_shape(rig, rig->kind, 2);
    rig_use(rig, 500);
    fake_store_free(rig->stores[0]);
    rig->stores[0] = fake_store_new("store-0");
    expect_refused_alone(rig, "b0 is new and empty");
}

TEST_WITH(DIRECT, store_of_another_id_is_refused_alone)
{
    rig_use(rig, 500);
    rig->backends[0].options.path = "store-2";
    rig_put_claim(rig, 0, "store", "", "another");
    expect_refused_alone(rig, "another store stands there");
}

/* It was given to another pool: the topology is wrong, and no store. */
TEST_WITH(DIRECT, store_that_stands_elsewhere_refuses_the_start)
{
    rig_use(rig, 500);
    rig->backends[0].options.path = "store-2";
    rig_put_claim(rig, 0, "store", "", "another");
    rig_put_claim(rig, 0, "place", "", "other/0");
    rig_expect_open_fails(rig, SEQB_LAYOUT, "another store stands there");
}

/* Who else was granted those numbers knows them by the other bits. */
TEST_WITH(DIRECT, sequence_of_other_bits_is_refused_alone)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;

    rig_use(rig, 500);
    rig->queue.sequence_count = 2;
    rig->sequences[0].memory_bits++;
    broker = rig_open(rig);
    assert_fails(queue_find(broker->queue, "order", &sequence, &failure),
                 SEQB_LAYOUT,
                 "was used with memory_bits=2 and is configured "
                 "with memory_bits=3");
    for (int i = 0; i < 1000; i++)
        assert_ok(
            queue_next(rig_sequence(broker, "bill"), &(int64_t){0}, &err));
    assert_int_equal(
        rig_partition(broker, 0).refused + rig_partition(broker, 1).refused, 1);
    rig_close(broker);
    rig->sequences[0].memory_bits = 2;
    rig_use(rig, 500);
}
TEST_ALSO(WINDOWED, sequence_of_other_bits_is_refused_alone);
