/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's tests for direct counters of a period: where they begin;
 * when they end is contract_purge.c's. */
#include "contract/contract_suite.h"

#include <string.h>

#include "contract/contract_days.h"
#include "platform/text.h"
#include "support/race.h"

#define ORDER  "main/0/order"
#define PERIOD (NEEDS_DIRECT | NEEDS_PERIODS)

/* --- where they begin --- */

CONTRACT_TEST(each_period_begins_at_one, PERIOD)
{
    (void)contract_take(contract, ORDER, 7, 0);
    for (int day = 1; day <= 5; day++)
        (void)day_take(contract, ORDER, day, 10, 0);
    for (int day = 5; day >= 1; day--)
        (void)day_take(contract, ORDER, day, 10, 10);
    (void)contract_take(contract, ORDER, 1, 7);
}

CONTRACT_TEST(periods_of_one_call_begin_each_at_one, PERIOD)
{
    struct seqb_request requests[4];
    char names[4][SEQB_COUNTER_SIZE];
    struct seqb_error err;

    (void)day_take(contract, ORDER, 2, 10, 0);
    for (int i = 0; i < 4; i++) {
        day_name(names[i], ORDER, 1 + i);
        requests[i] = contract_request(contract, names[i], 5);
        requests[i].begins_ms = DAY_BEGINS_MS(1 + i);
    }
    assert_ok(
        contract->backend->ops->reserve(contract->backend, requests, 4, &err));
    for (int i = 0; i < 4; i++) {
        assert_ok(requests[i].status);
        assert_int_equal(requests[i].block.first, i == 1 ? 11 : 1);
    }
}

CONTRACT_TEST(spent_values_of_a_period_stay_spent, PERIOD)
{
    int64_t last = 0;

    for (int i = 0; i < 3; i++) {
        last = day_take(contract, ORDER, 1, 10, last);
        contract_reopen(contract);
    }
}

CONTRACT_TEST(raised_period_goes_on_above_its_floor, PERIOD)
{
    char name[SEQB_COUNTER_SIZE];

    day_name(name, ORDER, 1);
    assert_int_equal(contract_raise(contract->backend, name, 70, 1000), 70);
    (void)day_take(contract, ORDER, 1, 3, 70);
    (void)day_take(contract, ORDER, 2, 3, 0);
}

/* --- beside the base --- */

/* Binds the base of another history at 1000, and what is beside it. */
static void base_raise(struct contract *contract, int64_t base_ms)
{
    const struct seqb_raise raise = {.counter = ORDER,
                                     .limit = CONTRACT_LIMIT,
                                     .base_gap = 1000,
                                     .base_floor = 1000,
                                     .base_ms = base_ms};
    struct seqb_error err;
    int64_t value;

    contract_reopen(contract);
    assert_done(
        contract->backend->ops->raise(contract->backend, &raise, &value, &err),
        err);
}

/* Of a counter that is not there yet. */
static void assert_begins_after(const struct contract *contract,
                                const char *counter, int64_t begins_ms,
                                int64_t before)
{
    struct seqb_request request;

    if (before >= 1000) { /* a base that was raised */
        assert_status(contract_reserve_of(contract, contract->backend, counter,
                                          begins_ms, &request),
                      SEQB_FENCED);
        assert_int_equal(contract_raise(contract->backend, counter, 0, 1000),
                         before);
    }
    assert_ok(contract_reserve_of(contract, contract->backend, counter,
                                  begins_ms, &request));
    assert_int_equal(request.block.first, before + 1);
}

CONTRACT_TEST(periods_begin_afresh_only_after_the_base_ms,
              PERIOD | NEEDS_RESTORE)
{
    const int64_t base_ms = DAY_BEGINS_MS(10) + 1234;

    (void)contract_take(contract, ORDER, 5, 0);
    contract->subject->save(contract->store);
    contract->subject->restore(contract->store);
    base_raise(contract, base_ms);
    assert_begins_after(contract, "main/0/a@20260101", 1, 1000);
    assert_begins_after(contract, "main/0/b@20261121", base_ms - 1, 1000);
    assert_begins_after(contract, "main/0/c@20261121", base_ms, 1000);
    assert_begins_after(contract, "main/0/d@20261121", base_ms + 1, 0);
    assert_begins_after(contract, "main/0/e@20261121", INT64_MAX, 0);
    assert_begins_after(contract, "main/0/f", 0, 1000);
    contract_reopen(contract);
    assert_begins_after(contract, "main/0/g@20261121", base_ms, 1000);
    assert_begins_after(contract, "main/0/h@20261121", base_ms + 1, 0);
    assert_begins_after(contract, "main/0/d@20261121", base_ms + 1, 1);
}

CONTRACT_TEST(base_ms_is_never_lowered, PERIOD | NEEDS_RESTORE)
{
    const int64_t base_ms = DAY_BEGINS_MS(10);

    (void)contract_take(contract, ORDER, 5, 0);
    contract->subject->save(contract->store);
    contract->subject->restore(contract->store);
    base_raise(contract, base_ms);
    contract->subject->save(contract->store);
    contract->subject->restore(contract->store);
    base_raise(contract, base_ms - 1000);
    assert_begins_after(contract, "main/0/a@20261121", base_ms, 2000);
    assert_begins_after(contract, "main/0/b@20261121", base_ms + 1, 0);
    contract->subject->save(contract->store);
    contract->subject->restore(contract->store);
    base_raise(contract, base_ms + 1000);
    assert_begins_after(contract, "main/0/c@20261121", base_ms + 1000, 3000);
    assert_begins_after(contract, "main/0/d@20261121", base_ms + 1001, 0);
}

CONTRACT_TEST(base_ms_of_a_raise_that_failed_is_not_kept,
              PERIOD | NEEDS_RESTORE)
{
    const int64_t base_ms = DAY_BEGINS_MS(10);
    const struct seqb_raise raise = {.counter = ORDER,
                                     .limit = 100,
                                     .base_gap = 1000,
                                     .floor = 101,
                                     .base_ms = base_ms + 1000};
    int64_t value;

    (void)contract_take(contract, ORDER, 5, 0);
    contract->subject->save(contract->store);
    contract->subject->restore(contract->store);
    contract_reopen(contract);
    assert_status(
        contract->backend->ops->raise(contract->backend, &raise, &value, NULL),
        SEQB_EXHAUSTED);
    base_raise(contract, base_ms);
    assert_begins_after(contract, "main/0/a@20261121", base_ms + 1, 0);
}

CONTRACT_TEST(emptied_store_keeps_the_base_ms_of_its_raise,
              PERIOD | NEEDS_FORGET)
{
    const int64_t base_ms = DAY_BEGINS_MS(10);

    (void)contract_take(contract, ORDER, 5, 0);
    contract->subject->forget(contract->store);
    base_raise(contract, base_ms);
    assert_begins_after(contract, "main/0/a@20261121", base_ms, 1000);
    assert_begins_after(contract, "main/0/b@20261121", base_ms + 1, 0);
}

/* However late it begins: nobody raised the base, so nobody said since when
 * counters cannot have been forgotten. */
CONTRACT_TEST(new_period_in_another_history_is_fenced, PERIOD | NEEDS_RESTORE)
{
    struct seqb_request request;

    (void)contract_take(contract, ORDER, 5, 0);
    (void)day_take(contract, ORDER, 1, 5, 0);
    contract->subject->save(contract->store);
    contract->subject->restore(contract->store);
    contract_reopen(contract);
    for (int day = 1; day <= 2; day++) {
        assert_status(day_reserve(contract, ORDER, day, &request), SEQB_FENCED);
        assert_true(strstr(request.error.text, ORDER) != NULL);
    }
}

/* --- many at once --- */

#define TAKERS 4
#define DAYS   20
#define TRIES  50 /* of one that had to open again */

struct taker {
    const struct contract *contract;
    struct seqb_request request[DAYS];
    enum seqb_status status[DAYS];
};

static enum seqb_status taker_take(struct taker *taker, int day,
                                   struct seqb_backend **backend)
{
    const struct contract *contract = taker->contract;
    const struct seqb_backend_ops *ops = contract->subject->ops;
    char name[SEQB_COUNTER_SIZE];
    enum seqb_status status = SEQB_OK;

    day_name(name, ORDER, day + 1);
    if (*backend == NULL)
        status = ops->open(&contract->store->options, backend, NULL);
    if (status == SEQB_OK)
        status =
            contract_reserve_of(contract, *backend, name,
                                DAY_BEGINS_MS(day + 1), &taker->request[day]);
    if (status == SEQB_OK)
        return SEQB_OK;
    ops->close(*backend);
    *backend = NULL;
    return status;
}

static void taker_run(void *racer)
{
    struct taker *taker = racer;
    struct seqb_backend *backend = NULL;

    for (int day = 0; day < DAYS; day++) {
        int tries = 0;

        race_meet();
        do
            taker->status[day] = taker_take(taker, day, &backend);
        while (taker->status[day] != SEQB_OK && ++tries < TRIES);
    }
    taker->contract->subject->ops->close(backend);
}

/* A deadlock's loser may have spent values, but none is spent twice. */
CONTRACT_TEST(first_takers_of_a_period_never_share_a_value, PERIOD)
{
    static struct taker takers[TAKERS];

    for (int i = 0; i < TAKERS; i++)
        takers[i].contract = contract;
    RACE(takers, taker_run);
    for (int day = 0; day < DAYS; day++) {
        uint64_t seen = 0;

        for (int i = 0; i < TAKERS; i++) {
            const int64_t first = takers[i].request[day].block.first;

            assert_ok(takers[i].status[day]);
            assert_in_range(first, 1, 63);
            assert_int_equal(seen >> first & 1, 0);
            seen |= UINT64_C(1) << first;
        }
    }
}
