/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for the end of counters of a period: noted, never made
 * again, and deleted in small steps. */
#include "contract/contract_suite.h"

#include <string.h>

#include "contract/contract_days.h"

#define ORDER  "main/0/order"
#define PERIOD (NEEDS_DIRECT | NEEDS_PERIODS)
#define ALL    1000

/* Notes that the days before `day` are over, and deletes up to `most`. */
static int32_t purge(const struct contract *contract, const char *counter,
                     int day, int32_t most)
{
    char keep[SEQB_COUNTER_SIZE];
    const struct seqb_purge purge = {.counter = counter,
                                     .keep = keep,
                                     .before_ms = DAY_BEGINS_MS(day),
                                     .most = most};
    struct seqb_error err;
    int32_t deleted = -1;

    day_name(keep, counter, day);
    assert_done(contract->backend->ops->purge(contract->backend, &purge,
                                              &deleted, &err),
                err);
    return deleted;
}

static void assert_over(const struct contract *contract, const char *counter,
                        int day)
{
    struct seqb_request request;

    for (int i = 0; i < 2; i++) {
        assert_status(day_reserve(contract, counter, day, &request),
                      SEQB_EXHAUSTED);
        assert_status(request.error.status, SEQB_EXHAUSTED);
        assert_true(strstr(request.error.text, counter) != NULL);
    }
}

/* --- what was noted --- */

CONTRACT_TEST(noted_period_is_never_made_again, PERIOD)
{
    assert_int_equal(purge(contract, ORDER, 5, 0), 0);
    assert_over(contract, ORDER, 4);
    assert_over(contract, ORDER, 1);
    (void)day_take(contract, ORDER, 5, 3, 0);
    (void)day_take(contract, ORDER, 6, 3, 0);
    (void)contract_take(contract, ORDER, 3, 0);
    contract_reopen(contract);
    assert_over(contract, ORDER, 4);
    (void)day_take(contract, ORDER, 5, 3, 3);
    (void)day_take(contract, ORDER, 7, 3, 0);
}

/* By when it begins, not by its name, and to the ms. */
CONTRACT_TEST(period_that_begins_when_others_were_over_is_made, PERIOD)
{
    const char *const counters[] = {"main/0/order@20261104",
                                    "main/0/order@20261106"};
    struct seqb_request request;

    assert_int_equal(purge(contract, ORDER, 5, ALL), 0);
    for (int i = 0; i < 2; i++) {
        assert_status(contract_reserve_of(contract, contract->backend,
                                          counters[i], DAY_BEGINS_MS(5) - 1,
                                          &request),
                      SEQB_EXHAUSTED);
        assert_ok(contract_reserve_of(contract, contract->backend, counters[i],
                                      DAY_BEGINS_MS(5), &request));
        assert_int_equal(request.block.first, 1);
    }
}

CONTRACT_TEST(notes_are_never_lowered, PERIOD)
{
    assert_int_equal(purge(contract, ORDER, 9, 0), 0);
    assert_int_equal(purge(contract, ORDER, 3, 0), 0);
    assert_int_equal(purge(contract, ORDER, 3, ALL), 0);
    assert_over(contract, ORDER, 8);
    contract_reopen(contract);
    assert_int_equal(purge(contract, ORDER, 1, ALL), 0);
    assert_over(contract, ORDER, 3);
    assert_over(contract, ORDER, 8);
    assert_int_equal(purge(contract, ORDER, 10, ALL), 0);
    assert_over(contract, ORDER, 9);
    (void)day_take(contract, ORDER, 10, 3, 0);
}

CONTRACT_TEST(over_period_fails_alone, PERIOD)
{
    const char *const names[] = {"main/0/order@20261101",
                                 "main/0/order@20261105",
                                 "main/0/other@20261101"};
    struct seqb_request requests[3];
    struct seqb_error err;

    assert_int_equal(purge(contract, ORDER, 5, 0), 0);
    for (int i = 0; i < 3; i++) {
        requests[i] = contract_request(contract, names[i], 4);
        requests[i].begins_ms = DAY_BEGINS_MS(i == 1 ? 5 : 1);
    }
    assert_ok(
        contract->backend->ops->reserve(contract->backend, requests, 3, &err));
    assert_status(requests[0].status, SEQB_EXHAUSTED);
    assert_ok(requests[1].status);
    assert_ok(requests[2].status);
}

CONTRACT_TEST(period_that_stands_counts_on_until_it_is_deleted, PERIOD)
{
    (void)day_take(contract, ORDER, 1, 10, 0);
    (void)day_take(contract, ORDER, 2, 10, 0);
    assert_int_equal(purge(contract, ORDER, 3, 0), 0);
    (void)day_take(contract, ORDER, 1, 10, 10);
    contract_reopen(contract);
    (void)day_take(contract, ORDER, 2, 10, 10);
    assert_int_equal(purge(contract, ORDER, 3, ALL), 2);
    assert_over(contract, ORDER, 1);
    assert_over(contract, ORDER, 2);
    (void)day_take(contract, ORDER, 3, 10, 0);
}

/* Else it would be raised, and so be made again: at a base that covers what a
 * store forgot, and not what was deleted. */
CONTRACT_TEST(over_period_in_another_history_is_over, PERIOD | NEEDS_RESTORE)
{
    (void)day_take(contract, ORDER, 1, 10, 0);
    (void)day_take(contract, ORDER, 7, 10, 0);
    assert_int_equal(purge(contract, ORDER, 5, ALL), 1);
    contract->subject->save(contract->store);
    contract->subject->restore(contract->store);
    contract_reopen(contract);
    assert_over(contract, ORDER, 1);
    assert_int_equal(contract_raise(contract->backend, "main/0/x", 0, 1000),
                     1000);
    assert_over(contract, ORDER, 1);
    assert_over(contract, ORDER, 4);
    assert_int_equal(purge(contract, ORDER, 2, ALL), 0);
    assert_over(contract, ORDER, 4);
}

/* The raise is not told when the period begins. */
CONTRACT_TEST(purged_period_is_not_raised_into_being,
              PERIOD | NEEDS_CHECKED_PURGES | NEEDS_RESTORE)
{
    const struct seqb_raise raise = {.counter = "main/0/order@20261101",
                                     .floor = 3,
                                     .gap = 1000,
                                     .limit = CONTRACT_LIMIT,
                                     .base_gap = 1000,
                                     .base_ms = DAY_BEGINS_MS(9)};
    struct seqb_error err;
    int64_t value = -7;

    (void)day_take(contract, ORDER, 1, 1, 0);
    (void)day_take(contract, ORDER, 4, 1, 0);
    assert_int_equal(purge(contract, ORDER, 1, 0), 0);
    assert_int_equal(purge(contract, ORDER, 3, ALL), 1);
    for (int i = 0; i < 2; i++) {
        assert_status(contract->backend->ops->raise(contract->backend, &raise,
                                                    &value, &err),
                      SEQB_EXHAUSTED);
        assert_non_null(strstr(err.text, "purged"));
        assert_int_equal(value, -7);
        contract->subject->save(contract->store);
        contract->subject->restore(contract->store);
        contract_reopen(contract);
    }
    assert_over(contract, ORDER, 1);
    assert_int_equal(
        contract_raise(contract->backend, "main/0/order@20261104", 3, 1000),
        1001);
    assert_int_equal(
        contract_raise(contract->backend, "main/0/order@20261103", 3, 1000),
        1000);
}

/* --- leases --- */

#define SYNCED "synced/main"
#define LEASE  "window/main/1/order"

/* Leases a value of a stamp that begins at `begins_ms`, with a guard that
 * holds. */
static enum seqb_status lease_stamp(const struct contract *contract,
                                    int64_t begins_ms, struct seqb_request *out)
{
    struct seqb_guard guard = {SYNCED, "", true};
    struct seqb_error err;
    enum seqb_status status;

    *out = contract_request(contract, LEASE "@2026110110", 1);
    out->begins_ms = begins_ms;
    out->guard = &guard;
    status = contract->backend->ops->reserve(contract->backend, out, 1, &err);
    out->guard = NULL;
    assert_ok(status);
    assert_false(guard.has_failed);
    return out->status;
}

/* A lessor that went back may have the row still. It learns only that the stamp
 * is closed: the others deleted their rows. */
CONTRACT_TEST(closed_period_that_stands_is_leased_no_more,
              NEEDS_INCARNATION | NEEDS_PERIODS)
{
    const int64_t begins_ms = DAY_BEGINS_MS(1);
    struct seqb_purge purge = {.counter = LEASE, .keep = LEASE "@0"};
    const struct seqb_backend_ops *ops = contract->subject->ops;
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_request request;
    int32_t deleted = -1;

    contract->store->options.needs_incarnation = true;
    contract_reopen(contract);
    assert_ok(ops->claim(contract->backend, SYNCED,
                         contract->backend->incarnation, standing,
                         sizeof standing, NULL));
    for (int64_t i = 0; i < 2; i++) {
        purge.before_ms = begins_ms + i;
        assert_ok(lease_stamp(contract, begins_ms, &request));
        assert_int_equal(request.block.first, 1 + i);
        assert_ok(ops->purge(contract->backend, &purge, &deleted, NULL));
        assert_int_equal(deleted, 0);
    }
    assert_status(lease_stamp(contract, begins_ms, &request), SEQB_EXHAUSTED);
    assert_true(strstr(request.error.text, LEASE) != NULL);
    assert_ok(lease_stamp(contract, begins_ms + 1, &request));
    assert_int_equal(request.block.first, 3);
}

/* --- what is deleted --- */

CONTRACT_TEST(purge_deletes_in_small_steps, PERIOD)
{
    const int32_t steps[] = {0, 3, 3, 1, 0, 0};

    for (int day = 1; day <= 9; day++)
        (void)day_take(contract, ORDER, day, day, 0);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_int_equal(purge(contract, ORDER, 8, i == 0 ? 0 : 3), steps[i]);
    for (int day = 1; day <= 7; day++)
        assert_over(contract, ORDER, day);
    (void)day_take(contract, ORDER, 8, 1, 8);
    (void)day_take(contract, ORDER, 9, 1, 9);
    assert_int_equal(purge(contract, ORDER, 10, 1), 1);
    assert_int_equal(purge(contract, ORDER, 10, 1), 1);
    assert_int_equal(purge(contract, ORDER, 10, 1), 0);
}

/* Keys that a pattern, or another order of letters, would take for others. */
static const char *const neighbours[] = {
    "main/0/a",        "main/0/A",   "main/0/ab",  "main/0/a-b",
    "main/0/a_",       "main/0/a%",  "main/0/aa",  "main/0/aaa",
    "main/0/_",        "main/0/%",   "main/0/a.b", "main/0/b",
    "main/1/a",        "main/00/a",  "other/2/a",  "main/0/a0",
    "window/main/0/a", "main/0/%%%", "main/0/a__", "ticket/main/0/a",
};

#define NEIGHBOURS (sizeof neighbours / sizeof neighbours[0])

CONTRACT_TEST(purge_touches_no_other_counter, PERIOD)
{
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        (void)contract_take(contract, neighbours[i], 5, 0);
        (void)day_take(contract, neighbours[i], 1, 5, 0);
        (void)day_take(contract, neighbours[i], 2, 5, 0);
    }
    /* Each one finds its own, so the others left that. */
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        assert_int_equal(purge(contract, neighbours[i], 2, ALL), 1);
        assert_over(contract, neighbours[i], 1);
    }
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        (void)contract_take(contract, neighbours[i], 1, 5);
        (void)day_take(contract, neighbours[i], 2, 1, 5);
    }
}

CONTRACT_TEST(note_is_for_its_counter_alone, PERIOD)
{
    assert_int_equal(purge(contract, "main/0/a", 5, ALL), 0);
    assert_over(contract, "main/0/a", 1);
    for (size_t i = 1; i < NEIGHBOURS; i++)
        (void)day_take(contract, neighbours[i], 1, 1, 0);
}

CONTRACT_TEST(longest_counter_is_purged, PERIOD)
{
    char longest[SEQB_COUNTER_SIZE - sizeof "@20261101" + 1];

    memset(longest, 'k', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    (void)day_take(contract, longest, 1, 5, 0);
    (void)day_take(contract, longest, 2, 5, 0);
    assert_int_equal(purge(contract, longest, 2, ALL), 1);
    contract_reopen(contract);
    assert_over(contract, longest, 1);
    (void)day_take(contract, longest, 2, 5, 5);
}

/* Whatever lies between the two names would be deleted. */
CONTRACT_TEST(purge_up_to_another_counter_is_refused,
              PERIOD | NEEDS_CHECKED_PURGES)
{
    const char *const keeps[] = {"main/0/other@20261103", ORDER, "z",
                                 "main/0/order2@20261103", ""};
    int32_t deleted;

    (void)day_take(contract, ORDER, 1, 1, 0);
    for (size_t i = 0; i < COUNT_OF(keeps); i++) {
        const struct seqb_purge purge = {ORDER, keeps[i], DAY_BEGINS_MS(3), 10};

        assert_status(contract->backend->ops->purge(contract->backend, &purge,
                                                    &deleted, NULL),
                      SEQB_INVALID);
    }
    (void)day_take(contract, ORDER, 1, 1, 1);
    (void)day_take(contract, ORDER, 2, 1, 0);
}

CONTRACT_TEST(purge_leaves_claims, PERIOD)
{
    struct seqb_backend *backend = contract->backend;
    const char *const names[] = {"main/0/order", "main/0/order@20261101",
                                 "@main/0/order"};
    char standing[SEQB_CLAIM_SIZE];

    for (size_t i = 0; i < 3; i++)
        assert_ok(backend->ops->claim(backend, names[i], "a", standing,
                                      sizeof standing, NULL));
    (void)day_take(contract, ORDER, 1, 5, 0);
    assert_int_equal(purge(contract, ORDER, 5, ALL), 1);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(backend->ops->claim(backend, names[i], NULL, standing,
                                      sizeof standing, NULL));
        assert_string_equal(standing, "a");
    }
}
