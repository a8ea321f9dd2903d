/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a counter that stores refuse: while the topology lists its
 * sequence, while it does not, and for all stamps. */
#include "support/events.h"
#include "unit/slot_fixture.h"

/* How often it was told of partition 1. */
static void expect_told(const char *event, int times)
{
    events_expect(event, "partition=1 backend=b key=key reason=", times);
}

TEST_WITH(SLOTS, what_closed_a_sequence_is_told_again_once_it_is_listed)
{
    events_start();
    ask(f, 1, 8);
    refuse(f, 1, SEQB_LAYOUT, true);
    expect_told("event=layout", 1);
    for (int i = 0; i < 2; i++)
        ha_counter_set_listed(f->counter, false);
    expect_told("event=counter_recovered", 1);
    assert_int_equal(f->pool.refusals[1].count, 0);
    for (int i = 0; i < 2; i++)
        ha_counter_set_listed(f->counter, true);
    expect_told("event=layout", 2);
    assert_int_equal(events_count("event=layout", "it says no"), 2);
    assert_int_equal(f->pool.refusals[1].count, 1);
}

TEST_WITH(SLOTS, other_refusals_are_forgotten_once_it_is_listed)
{
    events_start();
    ask(f, 1, 8);
    refuse(f, 1, SEQB_REFUSED, true);
    ha_counter_set_listed(f->counter, false);
    ha_counter_set_listed(f->counter, true);
    expect_told("event=counter_refused", 1);
    expect_told("event=counter_recovered", 1);
    assert_null(f->counter->slots[1].refusal);
    assert_true(slot_is_open(&f->counter->slots[1], 0));
}

static struct ha_counter *join(struct fixture *f)
{
    struct ha_counter *counter;

    assert_ok(
        ha_counter_new(&f->pool, "key", MEMORY_BITS, &f->sink, &counter, NULL));
    ha_counter_join(counter, f->counter);
    return counter;
}

TEST_WITH(SLOTS, counter_of_another_stamp_is_as_listed_and_closed_as_the_others)
{
    struct ha_counter *others[2];

    ha_counter_set_listed(f->counter, false);
    others[0] = join(f);
    assert_true(others[0]->is_unlisted);
    assert_false(others[0]->is_void);
    for (int i = 0; i < 2; i++) {
        counter_void(f->counter, SEQB_LAYOUT);
        assert_int_equal(f->deliveries, 1); /* it is told, once */
    }
    assert_true(f->grant.is_void);
    assert_true(others[0]->is_void);
    others[1] = join(f);
    assert_true(others[1]->is_void);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        ha_counter_free(others[i]);
}

/* Or once no answer can say it any more. */
TEST_WITH(SLOTS, closing_is_noted_once_a_partition_of_any_stamp_says_why)
{
    struct ha_counter *other = join(f);

    assert_false(counter_is_closed(other));
    assert_false(counter_closing_is_noted(other));
    ask(f, 0, 8);
    counter_void(other, SEQB_LAYOUT);
    assert_true(counter_is_closed(f->counter));
    assert_false(counter_closing_is_noted(other));
    refuse(f, 0, SEQB_UNREACHABLE, false);
    assert_true(counter_closing_is_noted(other));
    ask(f, 1, 8);
    assert_false(counter_closing_is_noted(other));
    ask(f, 0, 8);
    refuse(f, 0, SEQB_LAYOUT, true);
    assert_true(counter_closing_is_noted(other));
    assert_ptr_equal(slot_that_closed(other, 0), &f->counter->slots[0]);
    assert_null(slot_that_closed(other, 1));
    ha_counter_free(other);
}

TEST_WITH(SLOTS, sequence_is_unserved_if_all_who_may_be_asked_refuse_it)
{
    f->pool.pool.member[3].state = SEQB_PARTITION_QUARANTINED;
    assert_null(slot_refusals_unserved(&f->pool, 0));
    for (int32_t i = 0; i < 3; i++) {
        assert_null(slot_refusals_unserved(&f->pool, 0));
        ask(f, i, 8);
        refuse(f, i, SEQB_REFUSED, true);
    }
    assert_string_equal(slot_refusals_unserved(&f->pool, 0), "key");
    f->pool.pool.member[3].state = SEQB_PARTITION_UP;
    assert_null(slot_refusals_unserved(&f->pool, 0));
}

/* --- a refusal when its stamp is over --- */

static const struct outlived {
    enum seqb_status status;
    bool is_void;
    bool is_kept; /* it shows on until the next answer */
    bool is_open;
    int recovered; /* times that its end is told, when numbers come again */
} outlived[] = {
    {SEQB_UNREACHABLE, false, false, true, 0}, /* it may pass */
    {SEQB_REFUSED, false, true, true, 1},
    {SEQB_EXHAUSTED, false, false, true, 1},
    {SEQB_LAYOUT, false, false, true, 1},
    {SEQB_LAYOUT, true, true, false, 0}, /* of all stamps */
};

TEST_WITH(SLOTS, refusal_ends_with_its_stamp_unless_it_may_last)
{
    static const struct ha_stamp next = {2, 2000, 3000};

    for (size_t i = 0; i < COUNT_OF(outlived); i++) {
        const struct outlived *row = &outlived[i];
        const struct slot *slot = &f->counter->slots[1];
        void *state;

        print_message("  row %zu\n", i);
        events_start();
        ask(f, 1, 8);
        refuse(f, 1, row->status, true);
        f->counter->is_void = row->is_void;
        assert_true(ha_counter_restamp(f->counter, &next));
        assert_int_equal(slot->refusal != NULL, row->is_kept);
        assert_int_equal(f->pool.refusals[1].count, row->is_void);
        assert_int_equal(slot_is_open(slot, 0), row->is_open);
        expect_told("event=counter_recovered", 0);
        for (int64_t n = 1; n <= 2; n++) {
            ask(f, 1, 8);
            grant(f, 1, 10 * n, 8);
        }
        if (!row->is_void)
            expect_told("event=counter_recovered", row->recovered);
        ha_counter_free(f->counter);
        (void)setup_direct(&state);
    }
}

/* --- what is shown of a partition --- */

static void expect_shown(struct fixture *f, const char *text)
{
    char out[128] = "";

    slot_refusals_report(&f->pool, 1, out, sizeof out);
    assert_string_equal(out, text);
}

TEST_WITH(SLOTS, partition_shows_how_many_counters_it_refuses)
{
    struct ha_counter *other = join(f);

    ask(f, 1, 8);
    refuse(f, 1, SEQB_REFUSED, true);
    expect_shown(f, "refuses counter key: it says no");
    other->slots[1].refusal = refusal_new(&other->slots[1]);
    (void)refusal_note(&f->pool.refusals[1], other->slots[1].refusal,
                       &(struct seqb_error){SEQB_REFUSED, "no"}, true, 0);
    expect_shown(f, "refuses 2 counters, first key: it says no");
    ha_counter_free(other);
}
