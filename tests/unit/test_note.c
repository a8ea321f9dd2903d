/* SPDX-License-Identifier: Apache-2.0 */
/* What is noted in a store; over scripted stores. */
#include <stdlib.h>
#include <string.h>

#include "ha/ha.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"

TEST_WITH(DIRECT, a_note_is_never_lowered_and_outlives_the_broker)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;
    struct rig_broker *broker = rig_open(rig);
    struct seqb_error err;
    int64_t standing = -1;

    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){0, "clock/x", 0},
                             until_ms, &standing, &err),
                     SEQB_OK);
    assert_int_equal(standing, 0);
    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){0, "clock/x", 500},
                             until_ms, &standing, &err),
                     SEQB_OK);
    assert_int_equal(standing, 500);
    rig_close(broker);
    broker = rig_open(rig);
    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){0, "clock/x", 300},
                             until_ms, &standing, &err),
                     SEQB_OK);
    assert_int_equal(standing, 500);
}

/* A store that changed is bound, with all that goes with it, by who counts. */
TEST_WITH(DIRECT, a_note_leaves_the_base_as_it_is)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t standing;

    for (int i = 0; i < RIG_PARTITIONS; i++)
        fake_save(rig->stores[i]);
    rig_use(rig, 20);
    for (int i = 0; i < RIG_PARTITIONS; i++)
        fake_restore(rig->stores[i]);
    broker = rig_open(rig);
    for (int32_t i = 0; i < 2; i++)
        assert_int_equal(ha_note(broker->ha,
                                 &(struct ha_entry){i, "clock/x", 1}, until_ms,
                                 &standing, &err),
                         SEQB_OK);
    rig_take(broker, 20);
}

TEST_WITH(DIRECT, a_note_that_is_not_answered_says_so)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t standing = 0;

    fake_hang(rig->stores[0]);
    assert_fails(ha_note(broker->ha, &(struct ha_entry){0, "clock/x", 1},
                         clock_now_ms() + 50, &standing, &failure),
                 SEQB_UNAVAILABLE, "b0");
    fake_release(rig->stores[0]);
}

/* Its partition rests and has no connection; none is tried for long. */
TEST_WITH(DIRECT, note_connects_to_a_store_that_is_back)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t standing = 0;

    rig->pool.rescue = HA_RESCUE_FIXED;
    rig->pool.rescue_after_ms = RIG_FOREVER_MS;
    broker = rig_open(rig);
    fake_set_down(rig->stores[1], true);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){1, "clock/x", 7},
                             until_ms, &standing, &err),
                     SEQB_UNAVAILABLE);
    fake_set_down(rig->stores[1], false);
    while (ha_note(broker->ha, &(struct ha_entry){1, "clock/x", 7}, until_ms,
                   &standing, &err) != SEQB_OK)
        assert_true(clock_now_ms() < until_ms);
    assert_int_equal(standing, 7);
}

/* A note that is refused without a try. */
static bool is_not_tried(void *context)
{
    struct rig_broker *broker = context;
    struct fake_store *store = broker->rig->stores[1];
    const int64_t opens = fake_calls(store, FAKE_OPEN);
    int64_t standing;
    struct seqb_error err;

    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){1, "clock/x", 7},
                             clock_now_ms() + RIG_PATIENCE_MS, &standing, &err),
                     SEQB_UNAVAILABLE);
    return fake_calls(store, FAKE_OPEN) == opens &&
           strstr(err.text, "its server is down, and was tried") != NULL;
}

TEST_WITH(DIRECT, server_that_was_just_tried_is_not_tried_for_a_note)
{
    struct rig_broker *broker = rig_open(rig);

    fake_set_down(rig->stores[1], true);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    rig_await(is_not_tried, broker);
}
