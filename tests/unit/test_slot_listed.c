/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a counter that stores refuse: while the topology lists its
 * sequence, while it does not, and for all stamps. */
#include "ha/startup.h"
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

static struct {
    struct fixture *f; /* NULL: nothing happens meanwhile */
    bool is_listed;    /* again */
    size_t recovered;
} meanwhile;

void __wrap_watchdog_expect(struct watchdog *watchdog, int64_t at_ms);

/* Once the worker has told of an answer. */
void __wrap_watchdog_expect(struct watchdog *watchdog, int64_t at_ms)
{
    struct fixture *f = meanwhile.f;

    (void)watchdog;
    (void)at_ms;
    meanwhile.f = NULL;
    if (f == NULL)
        return;
    ha_counter_set_listed(f->counter, false);
    meanwhile.recovered = events_count("event=counter_recovered", "");
    if (meanwhile.is_listed)
        ha_counter_set_listed(f->counter, true);
}

/* The worker has to tell the end of what it told the begin of. */
TEST_WITH(SLOTS, end_is_told_once_though_it_comes_while_the_begin_is_told)
{
    static const struct {
        enum seqb_status status; /* SEQB_OK: granted after a refusal */
        bool is_listed;
        size_t at_once;
        int recovered;
    } rows[] = {{SEQB_REFUSED, false, 0, 1},
                {SEQB_LAYOUT, true, 0, 0}, /* it is still so */
                {SEQB_OK, false, 1, 1}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        void *state;

        print_message("  row %zu\n", i);
        events_start();
        ask(f, 1, 8);
        if (rows[i].status == SEQB_OK) {
            refuse(f, 1, SEQB_REFUSED, true);
            ask(f, 1, 8);
        }
        meanwhile.f = f;
        meanwhile.is_listed = rows[i].is_listed;
        if (rows[i].status == SEQB_OK)
            grant(f, 1, 10, 8);
        else
            refuse(f, 1, rows[i].status, true);
        assert_int_equal(meanwhile.recovered, rows[i].at_once);
        expect_told("event=counter_recovered", rows[i].recovered);
        expect_told("event=layout", rows[i].is_listed);
        ha_counter_free(f->counter);
        (void)setup_direct(&state);
    }
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

/* The store of that partition refuses it. */
static void refuse_of(struct ha_counter *counter, int32_t i)
{
    struct slot *slot = &counter->slots[i];
    struct seqb_error why = {SEQB_REFUSED, "no"};

    slot_ask(slot, 8, clock_now_ms());
    slot_answer(slot, true, &why);
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

/* Only the oldest refusals are read. */
TEST_WITH(SLOTS, only_16_refusals_are_read_for_one_that_is_unserved)
{
    struct ha_counter *served[16];

    for (int i = 2; i < PARTITIONS; i++)
        f->pool.pool.member[i].state = SEQB_PARTITION_QUARANTINED;
    for (size_t i = 0; i < COUNT_OF(served); i++) {
        served[i] = join(f);
        refuse_of(served[i], 1);
    }
    ask(f, 1, 8);
    refuse(f, 1, SEQB_REFUSED, true);
    ask(f, 0, 8);
    refuse(f, 0, SEQB_REFUSED, true);
    assert_null(slot_refusals_unserved(&f->pool, 1));
    refusal_unlist(&f->pool.refusals[1], served[0]->slots[1].refusal);
    assert_string_equal(slot_refusals_unserved(&f->pool, 1), "key");
    f->counter->slots[0].refusal->kind = REFUSAL_PASSING;
    assert_null(slot_refusals_unserved(&f->pool, 1));
    for (size_t i = 0; i < COUNT_OF(served); i++)
        ha_counter_free(served[i]);
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

/* It was told when it was taken off the list. */
TEST_WITH(SLOTS, end_of_a_refusal_of_the_last_stamp_is_told_once)
{
    static const struct ha_stamp next = {2, 2000, 3000};

    events_start();
    ask(f, 1, 8);
    refuse(f, 1, SEQB_EXHAUSTED, true);
    assert_true(ha_counter_restamp(f->counter, &next));
    ha_counter_set_listed(f->counter, false);
    ha_counter_set_listed(f->counter, true);
    ask(f, 1, 8);
    grant(f, 1, 10, 8);
    expect_told("event=counter_recovered", 1);
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
    refuse_of(other, 1);
    expect_shown(f, "refuses 2 counters, first key: it says no");
    ha_counter_free(other);
}

/* One that is not asked refuses nothing. */
TEST_WITH(SLOTS, health_says_what_is_refused_by_who_may_be_asked)
{
    const struct ha_options options = {.pool_count = 1};
    struct ha ha = {.options = &options, .pools = &f->pool};
    char words[256];

    f->pool.members = PARTITIONS;
    for (int32_t i = 1; i <= 2; i++)
        refuse_of(f->counter, i);
    f->pool.pool.member[2].state = SEQB_PARTITION_DRAINED;
    assert_int_equal(ha_health(&ha, words, sizeof words), SEQB_HEALTH_DEGRADED);
    assert_string_equal(words, "pool main: partition 2 (b) is drained; "
                               "partition 1 (b) refuses counter key: no");
}

TEST(health_of_another_version_is_unknown)
{
    assert_string_equal(seqb_health_name(SEQB_HEALTH_SERVING), "serving");
    assert_string_equal(
        seqb_health_name((enum seqb_health)(SEQB_HEALTH_UNKNOWN + 1)),
        "unknown");
}
