/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a slot, and what the answers mean. */
#include "support/events.h"
#include "unit/slot_fixture.h"

static bool memory_is_short;
static int expected; /* times that the watchdog was told to run at once */
static int woken;    /* times that who waits for an answer was */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_watchdog_expect(struct watchdog *watchdog, int64_t at_ms);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);

void *__wrap_calloc(size_t n, size_t size)
{
    return memory_is_short ? NULL : __real_calloc(n, size);
}

void __wrap_watchdog_expect(struct watchdog *watchdog, int64_t at_ms)
{
    assert_null(watchdog);
    assert_int_equal(at_ms, 0);
    expected++;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    (void)condition;
    woken++;
    return 0;
}

/* --- the answer --- */

TEST_WITH(SLOTS, block_is_delivered_as_numbers_of_its_partition)
{
    const struct slot *slot = &f->counter->slots[2];

    ask(f, 2, 8);
    assert_true(slot->is_busy);
    grant(f, 2, 10, 8);
    assert_int_equal(f->deliveries, 1);
    assert_int_equal(f->grant.first, (10 << BITS | 2) << MEMORY_BITS);
    assert_int_equal(f->grant.count, 8);
    assert_false(f->grant.is_void);
    assert_int_equal(slot->last, 17);
    assert_int_equal(f->counter->level[SEQB_DIRECT], 17);
    assert_int_equal(f->counter->level[SEQB_WINDOWED], 0);
    assert_int_equal(f->pool.pool.member[2].granted, 8);
    assert_true(slot_is_open(slot, 0));
}

TEST_WITH(OF_CELLS, level_of_cells_is_counted_in_windows)
{
    ask(f, 1, 8);
    grant(f, 1, (5 << WINDOW_BITS) + 250, 6);
    assert_int_equal(f->counter->level[SEQB_WINDOWED], 5);
    assert_int_equal(f->counter->level[SEQB_DIRECT], 0);
    ask(f, 2, 8);
    grant(f, 2, 4 << WINDOW_BITS, 6);
    assert_int_equal(f->counter->level[SEQB_WINDOWED], 5);
}

/* A store may be asked less high than it granted before. */
TEST_WITH(SLOTS, last_value_is_the_highest_one)
{
    ask(f, 0, 8);
    grant(f, 0, 100, 8);
    ask(f, 0, 8);
    grant(f, 0, 50, 8);
    assert_int_equal(f->counter->slots[0].last, 107);
    assert_int_equal(f->counter->level[SEQB_DIRECT], 107);
}

TEST_WITH(SLOTS, nothing_is_delivered_that_another_copy_may_have_got)
{
    ask(f, 0, 8);
    f->pool.resumed++;
    grant(f, 0, 10, 8);
    assert_int_equal(f->deliveries, 1);
    assert_int_equal(f->grant.count, 0);
    assert_false(f->counter->slots[0].is_busy);
    ask(f, 0, 8);
    grant(f, 0, 18, 8);
    assert_int_equal(f->grant.count, 8);
}

TEST_WITH(SLOTS, nothing_is_delivered_of_a_sequence_that_was_closed)
{
    ask(f, 0, 8);
    f->counter->is_void = true;
    grant(f, 0, 10, 8);
    assert_int_equal(f->grant.count, 0);
    assert_true(f->grant.is_void);
}

struct failure {
    const char *name;
    enum seqb_status status;
    bool is_refused;
    int64_t rest_ms;   /* -1: for good */
    bool is_heard;     /* its store's claim of the sequence is known */
    const char *event; /* that tells of it, as a refusal; NULL: none */
};

static const struct failure failures[] = {
    {"its partition", SEQB_UNREACHABLE, false, 100, false, NULL},
    {"this counter alone", SEQB_REFUSED, true, 100, true,
     "event=counter_refused"},
    {"this counter for a moment", SEQB_UNREACHABLE, true, 100, true, NULL},
    {"it has to be asked again", SEQB_AGAIN, false, 1, true, NULL},
    {"used up", SEQB_EXHAUSTED, true, -1, true, "event=exhausted"},
    {"of another layout", SEQB_LAYOUT, true, -1, true, "event=layout"},
};

static void expect_rest(const struct slot *slot, int64_t begin_ms,
                        int64_t rest_ms)
{
    if (rest_ms < 0)
        assert_int_equal(slot->at_ms, INT64_MAX);
    else
        assert_in_range(slot->at_ms, begin_ms + rest_ms,
                        clock_now_ms() + rest_ms);
}

TEST_WITH(SLOTS, slot_that_failed_rests_as_its_failure_asks_for)
{
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        const struct failure *failure = &failures[i];
        const struct slot *slot = &f->counter->slots[1];
        const int64_t begin_ms = clock_now_ms();
        const bool is_told = failure->event != NULL;
        void *state;

        print_message("  %s\n", failure->name);
        events_start();
        expected = 0;
        ask(f, 1, 8);
        refuse(f, 1, failure->status, failure->is_refused);
        assert_int_equal(f->grant.count, 0);
        assert_false(slot->is_busy);
        expect_rest(slot, begin_ms, failure->rest_ms);
        assert_int_equal(f->counter->claims_read,
                         failure->is_heard ? 1 << 1 : 0);
        assert_int_equal(refusal_is_reported(slot->refusal), is_told);
        assert_int_equal(f->pool.pool.member[1].errors, is_told);
        assert_int_equal(f->pool.refusals[1].count, is_told);
        assert_int_equal(events_count("event=", ""), is_told);
        if (is_told)
            events_expect(failure->event, "it says no", 1);
        assert_int_equal(expected, is_told);
        ha_counter_free(f->counter);
        (void)setup_direct(&state);
    }
}

TEST_WITH(SLOTS, failure_without_memory_for_its_reason_is_not_told)
{
    const int64_t begin_ms = clock_now_ms();

    events_start();
    ask(f, 1, 8);
    memory_is_short = true;
    refuse(f, 1, SEQB_REFUSED, true);
    memory_is_short = false;
    assert_null(f->counter->slots[1].refusal);
    expect_rest(&f->counter->slots[1], begin_ms, 100);
    assert_int_equal(events_count("event=", ""), 0);
}

TEST_WITH(SLOTS, answer_wakes_who_waits_for_one)
{
    for (uint16_t waiting = 0; waiting < 2; waiting++) {
        f->counter->advancing = waiting;
        woken = 0;
        ask(f, 0, 8);
        grant(f, 0, 10, 8);
        assert_int_equal(woken, waiting);
    }
}

/* Twice as long each time, until it is granted. */
TEST_WITH(SLOTS, refusals_in_a_row_let_it_rest_longer)
{
    int64_t begin_ms = 0;

    for (int i = 0; i < 3; i++) {
        begin_ms = clock_now_ms();
        ask(f, 1, 8);
        refuse(f, 1, SEQB_REFUSED, true);
    }
    expect_rest(&f->counter->slots[1], begin_ms, 400);
    ask(f, 1, 8);
    grant(f, 1, 10, 8);
    assert_null(f->counter->slots[1].refusal);
    assert_int_equal(f->pool.refusals[1].count, 0);
}

TEST_WITH(SLOTS, what_is_not_listed_is_refused_in_silence)
{
    f->counter->is_unlisted = true;
    ask(f, 1, 8);
    refuse(f, 1, SEQB_REFUSED, true);
    assert_int_equal(f->pool.refusals[1].count, 0);
    assert_false(f->counter->slots[1].is_reporting);
}

/* --- the question --- */

TEST_WITH(SLOTS, slot_is_asked_above_what_it_granted_and_an_operator_ordered)
{
    struct slot *slot = &f->counter->slots[0];

    slot->was_raised = true; /* for the last answer */
    ask(f, 0, 8);
    assert_false(slot->was_raised);
    assert_int_equal(slot->floor, 0);
    grant(f, 0, 10, 8);
    ask(f, 0, 8);
    assert_int_equal(slot->floor, 17);
    f->counter->floor[SEQB_DIRECT] = 30;
    f->counter->floor[SEQB_WINDOWED] = 90; /* of the other class */
    ask(f, 0, 8);
    assert_int_equal(slot->floor, 30);
    f->counter->floor[SEQB_DIRECT] = 16;
    ask(f, 0, 8);
    assert_int_equal(slot->floor, 17);
}

/* Its own window may have more to grant. */
TEST_WITH(OF_CELLS, cell_is_asked_a_few_windows_below_the_level)
{
    const struct slot *slot = &f->counter->slots[0];

    ask(f, 0, 8);
    grant(f, 0, 5 << WINDOW_BITS, 8);
    ask(f, 0, 8);
    assert_int_equal(slot->floor, 5 - FENCE_LAG_WINDOWS);
    f->counter->floor[SEQB_DIRECT] = 90; /* of the other class */
    f->counter->floor[SEQB_WINDOWED] = 7;
    ask(f, 0, 8);
    assert_int_equal(slot->floor, 7);
}

/* The low bits of a window are its lessor. From the middle on there is no room
 * to be left. */
TEST_WITH(OF_CELLS, windows_of_all_lessors_are_on_one_level)
{
    const struct slot *slot = &f->counter->slots[0];
    int64_t *level = &f->counter->level[SEQB_WINDOWED];

    f->pool.lessors.bits = 2;
    *level = 20 << 2 | 3;
    ask(f, 0, 8);
    assert_int_equal(slot->floor, (20 - FENCE_LAG_WINDOWS) << 2);
    *level = slot_window_max(slot) / 2 + 4;
    ask(f, 0, 8);
    assert_int_equal(slot->floor, 0);
}

TEST_WITH(SLOTS, slot_is_open_once_it_was_answered_and_has_rested)
{
    struct slot *slot = &f->counter->slots[0];

    assert_true(slot_is_open(slot, 0));
    slot->at_ms = 500;
    assert_false(slot_is_open(slot, 499));
    assert_true(slot_is_open(slot, 500));
    slot_ask(slot, 1, 500);
    assert_false(slot_is_open(slot, 501));
}

/* --- waiting for the others --- */

static void set_refused(struct fixture *f, int32_t i, enum refusal_kind kind)
{
    struct slot *slot = &f->counter->slots[i];

    slot->refusal = refusal_new(slot);
    assert_non_null(slot->refusal);
    slot->refusal->kind = kind;
}

/* One after the other is known, or cannot say it. */
TEST_WITH(SLOTS, slot_waits_for_all_that_may_say_their_level)
{
    struct slot *slots = f->counter->slots;

    assert_true(slot_waits(&slots[0]));
    slots[1].last = 1;
    slots[2].is_waiting = true;
    assert_true(slot_waits(&slots[0]));
    f->pool.pool.member[3].state = SEQB_PARTITION_QUARANTINED;
    assert_false(slot_waits(&slots[0]));
    f->pool.pool.member[3].state = SEQB_PARTITION_STARTING;
    assert_true(slot_waits(&slots[0]));
    slots[3].is_windowed = true;
    assert_false(slot_waits(&slots[0]));
    slots[3].is_windowed = false;
    set_refused(f, 3, REFUSAL_SHARED);
    assert_true(slot_waits(&slots[0]));
    slots[3].refusal->kind = REFUSAL_PASSING;
    assert_false(slot_waits(&slots[0]));
    slots[0].is_waiting = false;
    assert_true(slot_waits(&slots[3]));
}

/* An answer that it has to be asked again is no end of it. */
TEST_WITH(SLOTS, slot_waits_until_it_is_granted_or_fails)
{
    struct slot *slot = &f->counter->slots[0];

    for (int i = 0; i < 2; i++) {
        (void)slot_waits(slot);
        ask(f, 0, 8);
        refuse(f, 0, SEQB_AGAIN, false);
        assert_true(slot->is_waiting);
        ask(f, 0, 8);
        if (i == 0)
            grant(f, 0, 10, 8);
        else
            refuse(f, 0, SEQB_UNREACHABLE, false);
        assert_false(slot->is_waiting);
    }
}

/* --- another stamp --- */

TEST_WITH(SLOTS, slot_of_another_stamp_begins_as_if_it_were_new)
{
    static const struct ha_stamp next = {2, 2000, 3000};
    struct slot *slot = &f->counter->slots[0];

    for (int i = 0; i < CLASSES; i++)
        f->counter->level[i] = f->counter->floor[i] = 9;
    slot->mark = (struct fence_mark){3, 9};
    slot->is_recalled = true; /* the notes of the stamp before */
    slot->is_waiting = true;
    slot->last = 7;
    slot->at_ms = INT64_MAX;
    assert_true(ha_counter_restamp(f->counter, &next));
    assert_int_equal(slot->mark.window, FENCE_NOTHING.window);
    assert_int_equal(slot->mark.value, FENCE_NOTHING.value);
    assert_false(slot->is_recalled);
    assert_false(slot->is_waiting);
    assert_int_equal(slot->last, 0);
    assert_true(slot_is_open(slot, 0));
    assert_int_equal(f->counter->stamp.digits, 2);
    for (int i = 0; i < CLASSES; i++)
        assert_int_equal(f->counter->level[i] + f->counter->floor[i], 0);
}

/* An answer that is still to come is of the stamp that it was asked for. */
TEST_WITH(SLOTS, counter_that_is_asked_keeps_its_stamp)
{
    static const struct ha_stamp next = {2, 2000, 3000};

    ask(f, 0, 8);
    assert_false(ha_counter_restamp(f->counter, &next));
    grant(f, 0, 10, 8);
    f->counter->advancing++;
    assert_false(ha_counter_restamp(f->counter, &next));
    assert_int_equal(f->counter->stamp.digits, 0);
    assert_int_equal(f->counter->slots[0].last, 17);
    f->counter->advancing--;
    assert_true(ha_counter_restamp(f->counter, &next));
}
