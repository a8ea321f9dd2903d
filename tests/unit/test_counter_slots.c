/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of all slots of a counter, and what they say together. */
#include "platform/text.h"
#include "unit/slot_fixture.h"

static int64_t ask_all(struct fixture *f, int64_t count)
{
    return ha_counter_ask(f->counter, count, HA_ASK_ALL, clock_now_ms());
}

static void expect_asked(struct fixture *f, const int64_t wanted[PARTITIONS])
{
    for (int i = 0; i < PARTITIONS; i++) {
        const struct slot *slot = &f->counter->slots[i];

        assert_int_equal(slot->is_busy, wanted[i] >= 0);
        if (wanted[i] >= 0)
            assert_int_equal(slot->want, wanted[i]);
        assert_int_equal(f->workers[i].first != NULL, wanted[i] >= 0);
    }
}

TEST_WITH(SLOTS, what_is_wanted_is_shared_by_those_who_may_be_asked)
{
    f->pool.pool.member[1].state = SEQB_PARTITION_QUARANTINED;
    assert_int_equal(ask_all(f, 6), 6);
    expect_asked(f, (int64_t[]){2, -1, 2, 2});
    assert_int_equal(ask_all(f, 6), 0); /* they are asked already */
}

TEST_WITH(SLOTS, one_that_fewer_are_wanted_of_is_not_asked)
{
    int asked = 0;

    assert_int_equal(ask_all(f, 2), 2);
    for (int i = 0; i < PARTITIONS; i++)
        asked += f->counter->slots[i].is_busy;
    assert_int_equal(asked, 2);
    assert_ptr_equal(f->pool.recent, f->counter);
}

TEST_WITH(SLOTS, worker_that_stops_is_asked_for_nothing)
{
    for (int i = 0; i < PARTITIONS; i++)
        f->workers[i].is_stopping = true;
    assert_int_equal(ask_all(f, 8), 0);
}

TEST_WITH(SLOTS, counter_that_was_closed_is_asked_for_nothing)
{
    f->counter->is_void = true;
    assert_int_equal(ask_all(f, 8), 0);
    assert_null(f->workers[0].first);
}

/* Two of them answer, one fails, and one may not be asked. */
TEST_WITH(SLOTS, all_claims_are_compared_before_any_number_is_asked_for)
{
    static const struct ha_counter_attributes attributes = {
        .claim = "", .value_bits = 63, .asks_first = true};

    ha_counter_set_attributes(f->counter, &attributes);
    f->pool.pool.member[3].state = SEQB_PARTITION_QUARANTINED;
    assert_int_equal(ask_all(f, 8), 0);
    expect_asked(f, (int64_t[]){0, 0, 0, -1});
    refuse(f, 0, SEQB_AGAIN, false);
    refuse(f, 1, SEQB_AGAIN, false);
    f->counter->slots[0].at_ms = 0;
    assert_int_equal(ask_all(f, 8), 0);
    assert_false(f->counter->slots[0].is_busy);
    refuse(f, 2, SEQB_UNREACHABLE, false);
    f->pool.pool.member[2].state = SEQB_PARTITION_QUARANTINED;
    f->counter->slots[1].at_ms = 0;
    assert_int_equal(ask_all(f, 8), 8);
    assert_int_equal(f->counter->slots[0].want, 4);
    assert_int_equal(f->counter->slots[1].want, 4);
    grant(f, 0, 10, 4);
    f->pool.pool.member[3].state = SEQB_PARTITION_UP;
    assert_int_equal(ask_all(f, 8), 0);
    assert_int_equal(f->counter->slots[3].want, 0);
}

TEST_WITH(SLOTS, highest_number_is_that_of_the_highest_partition)
{
    assert_int_equal(ha_counter_highest(f->counter), 0);
    f->counter->slots[1].last = 7;
    f->counter->slots[2].last = 6;
    assert_int_equal(ha_counter_highest(f->counter),
                     ((7 << BITS | 1) << MEMORY_BITS) + 7);
}

static void expect_trouble(struct fixture *f, enum seqb_status status,
                           const char *text)
{
    struct seqb_error err;

    assert_int_equal(ha_counter_availability(f->counter, &err), status);
    assert_string_equal(err.text, text);
}

TEST_WITH(SLOTS, each_partition_says_why_it_grants_nothing)
{
    static const enum seqb_partition_state states[] = {
        SEQB_PARTITION_QUARANTINED, SEQB_PARTITION_DRAINED};

    for (int i = 0; i < 2; i++)
        f->pool.pool.member[i].state = states[i];
    (void)text_copy(f->pool.pool.member[0].reason,
                    sizeof f->pool.pool.member[0].reason, "it was cut off");
    ask(f, 2, 8);
    refuse(f, 2, SEQB_REFUSED, true);
    assert_ok(ha_counter_availability(f->counter, NULL));
    ask(f, 3, 8);
    refuse(f, 3, SEQB_UNREACHABLE, false);
    expect_trouble(f, SEQB_UNAVAILABLE,
                   "sequence key: no partition is usable; partition 0 (b): it "
                   "was cut off; partition 1 (b): drained; partition 2 (b): it "
                   "says no; partition 3 (b): it says no");
    ask(f, 3, 8);
    assert_ok(ha_counter_availability(f->counter, NULL));
}

TEST_WITH(SLOTS, counter_is_used_up_once_all_partitions_are)
{
    for (int32_t i = 0; i < PARTITIONS; i++) {
        assert_ok(ha_counter_availability(f->counter, NULL));
        ask(f, i, 8);
        refuse(f, i, SEQB_EXHAUSTED, true);
    }
    assert_int_equal(ha_counter_availability(f->counter, NULL), SEQB_EXHAUSTED);
}

/* The reason is known a little later than that it is closed. */
TEST_WITH(SLOTS, counter_says_that_it_is_closed_once_it_says_why)
{
    ask(f, 1, 8);
    counter_void(f->counter, SEQB_LAYOUT);
    assert_ok(ha_counter_availability(f->counter, NULL));
    refuse(f, 1, SEQB_LAYOUT, true);
    assert_int_equal(ha_counter_availability(f->counter, NULL), SEQB_LAYOUT);
}
