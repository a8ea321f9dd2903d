/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for direct engines: the counter is dense and durable,
 * and is fenced when its store became another. */
#include "contract/contract_suite.h"

#include <string.h>

#define ORDER "main/0/order"
#define LATER "main/0/later"

CONTRACT_TEST(values_begin_at_one, NEEDS_DIRECT)
{
    (void)contract_take(contract, ORDER, 5, 0);
}

/* Of a counter that is not there, and of one that is. */
CONTRACT_TEST(who_may_do_all_is_told_so_and_nothing_is_changed, NEEDS_DIRECT)
{
    struct seqb_backend *backend = contract->backend;
    struct seqb_error err;

    if (backend->ops->permits == NULL)
        return;
    assert_ok(backend->ops->permits(backend, ORDER, &err));
    (void)contract_take(contract, ORDER, 5, 0);
    assert_ok(backend->ops->permits(backend, ORDER, &err));
    (void)contract_take(contract, ORDER, 5, 5);
}

CONTRACT_TEST(spent_values_stay_spent_after_opening_again, NEEDS_DIRECT)
{
    int64_t last = 0;

    for (int i = 0; i < 5; i++) {
        last = contract_take(contract, ORDER, 10, last);
        contract_reopen(contract);
    }
}

CONTRACT_TEST(largest_want_is_one_block, NEEDS_DIRECT)
{
    struct seqb_request request;

    assert_ok(contract_reserve(contract, contract->backend, ORDER,
                               SEQB_GRANT_MAX, &request));
    (void)contract_take(contract, ORDER, 1,
                        request.block.first + request.block.count - 1);
}

CONTRACT_TEST(exhausted_counter_goes_on_below_a_higher_limit, NEEDS_DIRECT)
{
    struct seqb_backend *backend = contract->backend;
    struct seqb_request request;
    struct seqb_error err;

    (void)contract_take(contract, ORDER, 10, 0);
    for (int64_t limit = 8; limit <= 10; limit++) {
        request = contract_request(contract, ORDER, 5);
        request.limit = limit;
        assert_ok(backend->ops->reserve(backend, &request, 1, &err));
        assert_status(request.status, SEQB_EXHAUSTED);
    }
    (void)contract_take(contract, ORDER, 5, 10);
}

CONTRACT_TEST(last_int64_is_granted_and_none_after_it, NEEDS_DIRECT)
{
    struct seqb_backend *backend = contract->backend;
    const struct seqb_raise raise = {ORDER, INT64_MAX - 3, 0, INT64_MAX, 0, 0,
                                     0,     NULL,          0, NULL};
    struct seqb_request request = contract_request(contract, ORDER, 0);
    struct seqb_error err;
    int64_t value;

    assert_ok(backend->ops->raise(backend, &raise, &value, &err));
    assert_int_equal(value, INT64_MAX - 3);
    request.limit = INT64_MAX;
    for (int64_t left = 3; left > 0; left -= request.block.count) {
        request.want = SEQB_GRANT_MAX;
        assert_ok(backend->ops->reserve(backend, &request, 1, &err));
        assert_ok(request.status);
        assert_int_equal(request.block.first, INT64_MAX - left + 1);
        assert_in_range(request.block.count, 1, left);
    }
    assert_ok(backend->ops->reserve(backend, &request, 1, &err));
    assert_status(request.status, SEQB_EXHAUSTED);
}

/* --- raise --- */

CONTRACT_TEST(raise_never_lowers, NEEDS_DIRECT)
{
    const struct {
        int64_t floor;
        int64_t value;
    } steps[] = {{0, 10}, {9, 10},      {10, 10},  {11, 11}, {11, 11},
                 {5, 11}, {5000, 5000}, {1, 5000}, {0, 5000}};

    (void)contract_take(contract, ORDER, 10, 0);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_int_equal(
            contract_raise(contract->backend, ORDER, steps[i].floor, 1000),
            steps[i].value);
    (void)contract_take(contract, ORDER, 1, 5000);
}

CONTRACT_TEST(raise_makes_a_counter_that_is_not_there, NEEDS_DIRECT)
{
    assert_int_equal(contract_raise(contract->backend, ORDER, 70, 1000), 70);
    assert_int_equal(contract_raise(contract->backend, LATER, 0, 1000), 0);
    contract_reopen(contract);
    (void)contract_take(contract, ORDER, 3, 70);
    (void)contract_take(contract, LATER, 3, 0);
}

CONTRACT_TEST(raise_above_the_limit_changes_nothing, NEEDS_DIRECT)
{
    struct seqb_backend *backend = contract->backend;
    const struct seqb_raise raise = {ORDER, 101, 0,    100, 0,
                                     0,     0,   NULL, 0,   NULL};
    struct seqb_error err;
    int64_t value = -7;

    (void)contract_take(contract, ORDER, 10, 0);
    assert_status(backend->ops->raise(backend, &raise, &value, &err),
                  SEQB_EXHAUSTED);
    assert_int_equal(value, -7);
    assert_true(strstr(err.text, ORDER) != NULL);
    (void)contract_take(contract, ORDER, 1, 10);
}

/* --- a store that became another --- */

static void assert_fenced(const struct contract *contract, const char *counter)
{
    struct seqb_request request;

    for (int i = 0; i < 2; i++) {
        assert_status(
            contract_reserve(contract, contract->backend, counter, 1, &request),
            SEQB_FENCED);
        assert_true(strstr(request.error.text, counter) != NULL);
    }
}

/* 100 values in the copy, 50 more that it does not know, and a counter that it
 * does not know at all. */
static void store_restore(struct contract *contract)
{
    (void)contract_take(contract, ORDER, 100, 0);
    (void)contract_take(contract, "main/0/other", 100, 0);
    contract->subject->save(contract->store);
    (void)contract_take(contract, ORDER, 50, 100);
    (void)contract_take(contract, LATER, 50, 0);
    contract->subject->restore(contract->store);
}

CONTRACT_TEST(handle_on_a_replaced_store_grants_nothing,
              NEEDS_DIRECT | NEEDS_RESTORE)
{
    struct seqb_request request;
    char origin[SEQB_ORIGIN_SIZE];

    memcpy(origin, contract->backend->origin, sizeof origin);
    store_restore(contract);
    assert_true(contract_reserve(contract, contract->backend, ORDER, 1,
                                 &request) != SEQB_OK);
    contract_reopen(contract);
    assert_string_not_equal(contract->backend->origin, origin);
}

CONTRACT_TEST(restored_store_is_fenced_until_raised,
              NEEDS_DIRECT | NEEDS_RESTORE)
{
    store_restore(contract);
    contract_reopen(contract);
    assert_fenced(contract, ORDER);
    assert_fenced(contract, LATER);
    assert_int_equal(contract_raise(contract->backend, ORDER, 0, 1000), 1100);
    (void)contract_take(contract, ORDER, 5, 1100);
}

CONTRACT_TEST(gap_is_added_once_to_each_counter, NEEDS_DIRECT | NEEDS_RESTORE)
{
    struct seqb_backend *other;

    store_restore(contract);
    contract_reopen(contract);
    other = contract_open(contract);
    assert_int_equal(contract_raise(contract->backend, ORDER, 0, 1000), 1100);
    assert_int_equal(contract_raise(other, ORDER, 0, 1000), 1100);
    assert_fenced(contract, "main/0/other");
    assert_int_equal(contract_raise(other, "main/0/other", 0, 1000), 1100);
    other->ops->close(other);
    contract_reopen(contract);
    assert_int_equal(contract_raise(contract->backend, ORDER, 0, 1000), 1100);
}

/* A counter that begins above a base that was raised. */
static void begin_above(const struct contract *contract, const char *counter,
                        int64_t base)
{
    assert_fenced(contract, counter);
    assert_int_equal(contract_raise(contract->backend, counter, 0, 1000), base);
    (void)contract_take(contract, counter, 5, base);
}

static int64_t raise_by_chance(const struct contract *contract,
                               const char *counter, uint64_t chance)
{
    const struct seqb_raise raise = {.counter = counter,
                                     .gap = 1000,
                                     .limit = INT64_MAX,
                                     .base_gap = 1000,
                                     .chance = chance};
    int64_t value = -1;

    assert_ok(
        contract->backend->ops->raise(contract->backend, &raise, &value, NULL));
    return value;
}

/* Whoever raised it first, somebody else may have done so in another copy. */
CONTRACT_TEST(raise_of_a_copy_is_spread_by_chance, NEEDS_DIRECT)
{
    store_restore(contract);
    contract_reopen(contract);
    assert_int_equal(raise_by_chance(contract, ORDER, 54321), 1100 + 54321);
    assert_int_equal(raise_by_chance(contract, ORDER, 99), 1100 + 54321);
    assert_int_equal(raise_by_chance(contract, LATER, 777), 1000 + 777);
    (void)contract_take(contract, LATER, 5, 1777);
}

CONTRACT_TEST(counter_that_the_copy_lacks_begins_above_the_gap,
              NEEDS_DIRECT | NEEDS_RESTORE)
{
    store_restore(contract);
    contract_reopen(contract);
    (void)contract_raise(contract->backend, ORDER, 0, 1000);
    begin_above(contract, LATER, 1000);
    begin_above(contract, "main/0/newest", 1000);
}

CONTRACT_TEST(raising_a_counter_that_the_copy_lacks_adds_the_gap,
              NEEDS_DIRECT | NEEDS_RESTORE)
{
    store_restore(contract);
    contract_reopen(contract);
    assert_int_equal(contract_raise(contract->backend, LATER, 0, 1000), 1000);
    assert_fenced(contract, ORDER);
    assert_int_equal(contract_raise(contract->backend, ORDER, 0, 1000), 1100);
}

CONTRACT_TEST(base_has_a_gap_of_its_own, NEEDS_DIRECT | NEEDS_RESTORE)
{
    /* It is there: no floor of its own. */
    const struct seqb_raise raise = {
        ORDER, 0, 10, CONTRACT_LIMIT, 1000, 9999, 0, NULL, 0, NULL};
    int64_t value;

    store_restore(contract);
    contract_reopen(contract);
    assert_ok(
        contract->backend->ops->raise(contract->backend, &raise, &value, NULL));
    assert_int_equal(value, 110);
    begin_above(contract, LATER, 1000);
}

CONTRACT_TEST(floor_above_the_gap_wins, NEEDS_DIRECT | NEEDS_RESTORE)
{
    store_restore(contract);
    contract_reopen(contract);
    assert_int_equal(contract_raise(contract->backend, ORDER, 9999, 1000),
                     9999);
    assert_int_equal(contract_raise(contract->backend, LATER, 8888, 1000),
                     8888);
}

CONTRACT_TEST(gap_that_overflows_leaves_the_counter_fenced,
              NEEDS_DIRECT | NEEDS_RESTORE)
{
    const struct seqb_raise raises[] = {
        {ORDER, 0, INT64_MAX, INT64_MAX, 0, 0, 0, NULL, 0,
         NULL}, /* 100 + gap is no number */
        {ORDER, 0, 1000, 1099, 1000, 0, 0, NULL, 0, NULL},
        {LATER, 0, 1000, 999, 1000, 0, 0, NULL, 0, NULL},
    };
    struct seqb_error err;
    int64_t value = -7;

    store_restore(contract);
    contract_reopen(contract);
    for (size_t i = 0; i < sizeof raises / sizeof raises[0]; i++) {
        assert_status(contract->backend->ops->raise(contract->backend,
                                                    &raises[i], &value, &err),
                      SEQB_EXHAUSTED);
        assert_int_equal(value, -7);
        assert_fenced(contract, ORDER);
        assert_fenced(contract, LATER);
    }
    assert_int_equal(contract_raise(contract->backend, ORDER, 0, 1000), 1100);
}

CONTRACT_TEST(second_restore_fences_again, NEEDS_DIRECT | NEEDS_RESTORE)
{
    store_restore(contract);
    contract_reopen(contract);
    assert_int_equal(contract_raise(contract->backend, ORDER, 0, 1000), 1100);
    contract->subject->save(contract->store);
    (void)contract_take(contract, ORDER, 50, 1100);
    contract->subject->restore(contract->store);
    contract_reopen(contract);
    assert_fenced(contract, ORDER);
    assert_fenced(contract, LATER);
    assert_int_equal(contract_raise(contract->backend, ORDER, 0, 1000), 2100);
    begin_above(contract, LATER, 2000);
}

CONTRACT_TEST(forgotten_counters_are_fenced_until_raised,
              NEEDS_DIRECT | NEEDS_FORGET)
{
    (void)contract_take(contract, ORDER, 100, 0);
    contract->subject->forget(contract->store);
    assert_fenced(contract, ORDER);
    assert_fenced(contract, LATER);
    assert_int_equal(contract_raise(contract->backend, ORDER, 0, 1000), 1000);
    (void)contract_take(contract, ORDER, 5, 1000);
    begin_above(contract, LATER, 1000);
}

CONTRACT_TEST(base_that_is_gone_begins_at_its_floor,
              NEEDS_DIRECT | NEEDS_FORGET)
{
    const struct seqb_raise raise = {
        ORDER, 20, 10, CONTRACT_LIMIT, 1000, 7000, 0, NULL, 0, NULL};
    int64_t value;

    (void)contract_take(contract, ORDER, 100, 0);
    contract->subject->forget(contract->store);
    assert_fenced(contract, ORDER);
    assert_ok(
        contract->backend->ops->raise(contract->backend, &raise, &value, NULL));
    assert_int_equal(value, 7000);
    begin_above(contract, LATER, 7000);
    contract_reopen(contract);
    begin_above(contract, "main/0/newest", 7000);
}
