/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of all slots of a counter, and what they say together. */
#include "platform/text.h"
#include "store/layout.h"
#include "unit/slot_fixture.h"

static bool memory_is_short;
static const struct worker *woken; /* the last one */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __wrap_worker_wake(struct worker *worker);

void *__wrap_calloc(size_t n, size_t size)
{
    return memory_is_short ? NULL : __real_calloc(n, size);
}

void __wrap_worker_wake(struct worker *worker)
{
    woken = worker;
}

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
    for (int i = 0; i < PARTITIONS; i += 2)
        grant(f, i, 10, 2);
    f->workers[0].first = f->workers[2].first = NULL;
    assert_int_equal(ask_all(f, 9), 9);
    expect_asked(f, (int64_t[]){f->counter->slots[0].want, -1,
                                9 - f->counter->slots[0].want, 2});
    assert_in_range(f->counter->slots[0].want, 4, 5);
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

/* The calls of all others hang. */
TEST_WITH(SLOTS, one_that_does_not_hang_is_asked_alone)
{
    f->pool.current.timeout_ms = 1;
    for (int n = PARTITIONS - 1; n >= 0; n--) {
        for (int i = 0; i < PARTITIONS; i++)
            f->workers[i].connection.call_ms = i == n ? -1 : 0;
        assert_int_equal(
            ha_counter_ask(f->counter, 8, HA_ASK_ONE, clock_now_ms()), 8);
        assert_int_equal(f->counter->slots[n].want, 8);
        for (int i = 0; i < PARTITIONS; i++)
            assert_int_equal(f->counter->slots[i].is_busy, i == n);
        grant(f, n, 10, 8);
        f->workers[n].first = NULL;
    }
    assert_int_equal(ask_all(f, 8), 8); /* then the others, too */
    expect_asked(f, (int64_t[]){2, 2, 2, 2});
}

/* The others are drained. */
TEST_WITH(SLOTS, one_that_rests_is_probed_if_none_can_be_asked)
{
    static const struct ha_counter_attributes asks = {
        .claim = "", .value_bits = 63, .asks_first = true};
    struct pool_member *member = f->pool.pool.member;

    for (int i = 1; i < PARTITIONS; i++)
        member[i].state = SEQB_PARTITION_DRAINED;
    woken = NULL;
    assert_int_equal(ask_all(f, 8), 8);
    assert_null(woken);
    grant(f, 0, 10, 8);
    ha_counter_set_attributes(f->counter, &asks);
    f->counter->claims_read = 0;
    member[1].state = SEQB_PARTITION_QUARANTINED;
    member[1].next_probe_ms = INT64_MAX;
    assert_int_equal(ask_all(f, 8), 0); /* its claim is waited for */
    assert_null(woken);
    refuse(f, 0, SEQB_UNREACHABLE, false);
    member[0] = member[1];
    member[1].state = SEQB_PARTITION_DRAINED;
    assert_int_equal(ask_all(f, 8), 0);
    assert_ptr_equal(woken, &f->workers[0]);
    assert_true(member[0].is_forced);
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
    f->counter->slots[0].want = 8; /* the last time */
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
                    sizeof f->pool.pool.member[0].reason, "?");
    ask(f, 2, 8);
    refuse(f, 2, SEQB_REFUSED, true);
    assert_ok(ha_counter_availability(f->counter, NULL));
    ask(f, 3, 8);
    refuse(f, 3, SEQB_UNREACHABLE, false);
    expect_trouble(f, SEQB_UNAVAILABLE,
                   "sequence key: no partition is usable; partition 0 (b): ?; "
                   "partition 1 (b): drained; partition 2 (b): it says no; "
                   "partition 3 (b): it says no");
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

/* Why it was refused matters no more, unless that is for good. */
TEST_WITH(SLOTS, partition_that_rests_says_why_it_rests)
{
    static const enum seqb_status refused[] = {SEQB_REFUSED, SEQB_EXHAUSTED};

    for (int32_t i = 0; i < PARTITIONS; i++) {
        if (i < 2) {
            ask(f, i, 8);
            refuse(f, i, refused[i], true);
        }
        f->pool.pool.member[i].state = SEQB_PARTITION_DRAINED;
    }
    expect_trouble(f, SEQB_UNAVAILABLE,
                   "sequence key: no partition is usable; partition 0 (b): "
                   "drained; partition 1 (b): it says no; partition 2 (b): "
                   "drained; partition 3 (b): drained");
}

TEST_WITH(SLOTS, what_closed_a_sequence_is_said_of_all_its_stamps)
{
    struct ha_counter *other;

    assert_ok(
        ha_counter_new(&f->pool, "key", MEMORY_BITS, &f->sink, &other, NULL));
    ha_counter_join(other, f->counter);
    counter_void(f->counter, SEQB_LAYOUT);
    ask(f, 1, 8);
    refuse(f, 1, SEQB_LAYOUT, true);
    f->counter = other;
    expect_trouble(
        f, SEQB_LAYOUT,
        "sequence key: the store was used with another layout; partition 1 "
        "(b): it says no");
    f->counter = other->next;
    ha_counter_free(other);
}

/* --- a sequence that is new in its pool --- */

static struct ha_pool elsewhere = {.current.layout.name = "old"};

static void expect_unasked(struct fixture *f, const char *why)
{
    char text[512];

    (void)text_format(
        text, sizeof text,
        "sequence key is new in pool main, and backend b of pool old cannot be "
        "asked whether that pool has issued its numbers: %s; bring that "
        "backend back; if it is gone for good, see \"A sequence waits for "
        "another pool\" in docs/operations.md",
        why);
    expect_trouble(f, SEQB_UNAVAILABLE, text);
}

TEST_WITH(SLOTS, sequence_says_which_store_it_waits_for)
{
    struct worker_membership memberships[] = {{&f->pool, 1}, {&elsewhere, 2}};
    struct pool_member *member = &elsewhere.pool.member[2];

    elsewhere.options = &elsewhere.current;
    f->workers[0].all = f->workers;
    f->workers[1].memberships = memberships;
    assert_false(ha_counter_is_unasked(f->counter));
    f->counter->awaited = 2;
    assert_true(ha_counter_is_unasked(f->counter));
    member->state = SEQB_PARTITION_UP;
    expect_unasked(f, "it did not answer");
    member->state = SEQB_PARTITION_QUARANTINED;
    expect_unasked(f, "quarantined");
    (void)text_copy(member->reason, sizeof member->reason, "?");
    expect_unasked(f, "?");
    counter_void(f->counter, SEQB_LAYOUT);
    assert_int_equal(ha_counter_availability(f->counter, NULL), SEQB_LAYOUT);
}

TEST_WITH(SLOTS, sequence_waits_for_a_note_in_its_own_pool)
{
    f->counter->awaited = AWAITS_OWN_POOL;
    expect_trouble(f, SEQB_UNAVAILABLE,
                   "sequence key is new in pool main, and no store of that "
                   "pool that keeps it has noted it");
    counter_void(f->counter, SEQB_LAYOUT);
    expect_trouble(f, SEQB_LAYOUT,
                   "sequence key: the store was used with another layout");
}

/* By partition, bit by bit. */
static const struct compared {
    unsigned usable;
    unsigned read;
    bool is_awaited;
} compared[] = {{0, 0, false}, {1, 0, true},    {1, 1, false},
                {4, 4, false}, {4, 3, true},    {4, 8, true},
                {12, 4, true}, {12, 12, false}, {6, 15, false}};

TEST_WITH(SLOTS, claims_are_awaited_of_all_who_may_be_asked)
{
    static const struct ha_counter_attributes asks = {
        .claim = "", .value_bits = 63, .asks_first = true};

    assert_false(counter_awaits_claims(f->counter));
    ha_counter_set_attributes(f->counter, &asks);
    for (size_t n = 0; n < COUNT_OF(compared); n++) {
        print_message("  row %zu\n", n);
        for (int i = 0; i < PARTITIONS; i++)
            f->pool.pool.member[i].state = (compared[n].usable >> i & 1) != 0
                                               ? SEQB_PARTITION_UP
                                               : SEQB_PARTITION_DRAINED;
        f->counter->claims_read = compared[n].read;
        assert_int_equal(counter_awaits_claims(f->counter),
                         compared[n].is_awaited);
    }
}

/* --- what is read of a counter and of its pool --- */

TEST_WITH(SLOTS, pool_answers_if_one_that_is_usable_is_not_silent)
{
    struct pool_member *member = f->pool.pool.member;

    for (int i = 0; i < PARTITIONS; i++)
        member[i].is_silent = i != 0;
    assert_true(ha_pool_answers(&f->pool));
    member[0].state = SEQB_PARTITION_DRAINED;
    assert_false(ha_pool_answers(&f->pool));
    member[3].is_silent = false;
    assert_true(ha_pool_answers(&f->pool));
}

TEST_WITH(SLOTS, delay_is_the_average_of_who_may_be_asked)
{
    struct ha_view view;

    f->pool.pool.member[0].latency_us = 999;
    for (int i = 1; i < PARTITIONS; i++)
        f->pool.pool.member[i].state = SEQB_PARTITION_DRAINED;
    ha_counter_view(f->counter, 0, &view);
    assert_int_equal(view.delay_ms, 0);
    f->pool.pool.member[1].state = SEQB_PARTITION_UP;
    f->pool.pool.member[1].latency_us = 5001;
    ha_counter_view(f->counter, 0, &view);
    assert_int_equal(view.delay_ms, 3);
    for (int i = 0; i < 2; i++)
        f->pool.pool.member[i].state = SEQB_PARTITION_DRAINED;
    ha_counter_view(f->counter, 0, &view);
    assert_int_equal(view.delay_ms, 0);
}

static void expect_view(struct fixture *f, int64_t now_ms, int64_t fresh,
                        int64_t late_ms)
{
    struct ha_view view;

    ha_counter_view(f->counter, now_ms, &view);
    assert_int_equal(view.all, 13);
    assert_int_equal(view.fresh, fresh);
    assert_int_equal(view.late_ms, late_ms);
}

TEST_WITH(SLOTS, what_is_asked_for_comes_soon_or_is_late)
{
    const int64_t patience_ms = pool_patience_ms(&f->pool.pool, 0);

    slot_ask(&f->counter->slots[0], 8, 1000);
    slot_ask(&f->counter->slots[2], 5, 2000);
    expect_view(f, 1000 + patience_ms, 13, 1001 + patience_ms);
    expect_view(f, 1001 + patience_ms, 5, 2001 + patience_ms);
    expect_view(f, 2001 + patience_ms, 0, INT64_MAX);
}

/* It was issued before, by another broker. */
TEST_WITH(SLOTS, number_that_is_held_raises_the_level)
{
    struct slot *slots = f->counter->slots;
    const int64_t value = 5 << WINDOW_BITS | 7;
    const int64_t lower = INT64_C(1) << (BITS + MEMORY_BITS);
    const int64_t number = (value << BITS | 1) << MEMORY_BITS;

    for (int i = 0; i < 2; i++) {
        ha_counter_hold(f->counter, number - i * lower);
        assert_int_equal(slots[1].last, value);
        assert_int_equal(f->counter->level[SEQB_DIRECT], value);
    }
    assert_int_equal(f->counter->level[SEQB_WINDOWED], 0);
    slots[1].is_windowed = true;
    ha_counter_hold(f->counter, number);
    assert_int_equal(f->counter->level[SEQB_WINDOWED], 5);
}

TEST_WITH(SLOTS, counter_has_windows_if_one_of_its_partitions_has)
{
    assert_int_equal(ha_counter_window_bits(f->counter), 0);
    f->counter->slots[0].is_windowed = true;
    assert_int_equal(ha_counter_window_bits(f->counter), WINDOW_BITS);
}

/* A grant has several windows of a lease if they are small. */
TEST_WITH(SLOTS, windows_of_a_lease_are_granted_together_up_to_a_size)
{
    int32_t *bits = &f->pool.current.layout.window_bits;

    f->pool.lessors.bits = 1;
    assert_int_equal(ha_counter_lessor_bits(f->counter), 0);
    f->pool.lessors.count = 2;
    assert_int_equal(ha_counter_lessor_bits(f->counter), 1);
    *bits = GRANT_WINDOW_BITS - MEMORY_BITS;
    assert_int_equal(ha_counter_lessor_bits(f->counter), 1);
    ++*bits;
    assert_int_equal(ha_counter_lessor_bits(f->counter), 0);
}

/* The windows between are those of the other lessors. */
TEST_WITH(OF_CELLS, block_of_a_lease_goes_on_in_its_next_window)
{
    struct slot *slot = &f->counter->slots[0];

    f->pool.lessors.bits = 2;
    slot->block = (struct seqb_block){(5 << WINDOW_BITS) + 250, 6};
    assert_int_equal(slot_block_last(slot), (5 << WINDOW_BITS) + 255);
    slot->block.count = 10;
    assert_int_equal(slot_block_last(slot), (9 << WINDOW_BITS) + 3);
    slot->is_windowed = false;
    assert_int_equal(slot_block_last(slot), (6 << WINDOW_BITS) + 3);
    assert_int_equal(slot_lease_max(slot), slot_window_max(slot) >> 2);
    assert_int_equal(slot_low_bits(slot), BITS + MEMORY_BITS);
    assert_false(slot_is_lessors(slot));
    slot->is_lease = true;
    assert_false(slot_is_lessors(slot)); /* but of the authority */
    f->pool.lessors.count = 4;
    assert_true(slot_is_lessors(slot));
    assert_int_equal(slot_window_max(slot),
                     layout_window_max(BITS, MEMORY_BITS, WINDOW_BITS));
    assert_int_equal(slot_low_bits(slot), BITS + MEMORY_BITS + WINDOW_BITS + 2);
}

TEST_WITH(SLOTS, ticket_is_of_no_sequence_and_no_stamp)
{
    const struct ticket_slot ticket = {.pool = &f->pool};

    assert_int_equal(slot_stamp(&ticket.slot).digits, 0);
    assert_int_equal(slot_window_max(&ticket.slot),
                     layout_window_max(BITS, 0, WINDOW_BITS));
}

TEST_WITH(SLOTS, first_generation_of_a_pool_has_no_past)
{
    assert_ptr_equal(ha_counter_pool(f->counter), &f->pool);
    assert_string_equal(ha_counter_pool_name(f->counter), "main");
    assert_int_equal(ha_counter_partitions(f->counter), PARTITIONS);
    for (int i = 1; i <= 2; i++) {
        f->pool.current.layout.generation = i;
        assert_int_equal(ha_counter_has_past(f->counter), i > 1);
    }
}

TEST_WITH(SLOTS, counter_needs_memory)
{
    struct ha_counter *counter;
    struct seqb_error err;

    memory_is_short = true;
    assert_int_equal(
        ha_counter_new(&f->pool, "new", MEMORY_BITS, NULL, &counter, &err),
        SEQB_NO_MEMORY);
    memory_is_short = false;
    assert_string_equal(err.text, "sequence new: out of memory");
}
