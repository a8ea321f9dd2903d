/* SPDX-License-Identifier: Apache-2.0 */
/* When the counters that a partition refuses are tried again though no caller
 * asks: each of them, however many there are. The time is passed, and no store
 * is asked. */
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "support/fake.h"
#include "support/script_clock.h"
#include "support/test.h"

#define COUNTERS 40
#define FINAL    20 /* the first ones: used up, so that none is tried again */
#define SPAN_MS  600000

struct fixture {
    struct store_options store;
    struct worker worker;
    struct ha_pool pool;
    struct ha_counter *counters[COUNTERS];
    int64_t tried_ms[COUNTERS];
    int64_t now_ms;
    size_t tries;
};

static struct refusals *refusals_of(struct fixture *fixture)
{
    return &fixture->pool.refusals[0];
}

/* The store answered. */
static void refuse(struct fixture *fixture, struct slot *slot,
                   enum seqb_status status)
{
    struct seqb_error why;

    (void)error_set(&why, status, "refused");
    if (slot->refusal == NULL)
        slot->refusal = refusal_new(slot);
    assert_non_null(slot->refusal);
    (void)refusal_note(refusals_of(fixture), slot->refusal, &why, true,
                       fixture->now_ms);
    slot->is_busy = false;
}

static int setup(void **state)
{
    static struct fixture fixture;
    struct ha_pool *pool = &fixture.pool;

    fixture = (struct fixture){.now_ms = clock_now_ms()};
    fixture.store.ops = &backend_fake;
    fixture.worker.connection.options = &fixture.store;
    pool->options = &pool->current;
    pool->workers[0] = &fixture.worker;
    pool_init(&pool->pool, pool->options, 1, 1, fixture.now_ms);
    pool->pool.member[0].state = SEQB_PARTITION_UP;
    for (int i = 0; i < COUNTERS; i++)
        assert_ok(
            ha_counter_new(pool, "key", 0, NULL, &fixture.counters[i], NULL));
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < COUNTERS; i++)
        ha_counter_free(fixture->counters[i]);
    return 0;
}

#define REFUSING FIXTURE(struct fixture *fixture, setup, teardown)

static void refuse_all(struct fixture *fixture)
{
    for (int i = 0; i < COUNTERS; i++) {
        refuse(fixture, &fixture->counters[i]->slots[0],
               i < FINAL ? SEQB_EXHAUSTED : SEQB_REFUSED);
        fixture->tried_ms[i] = fixture->now_ms;
    }
}

static int index_of(const struct fixture *fixture, const struct slot *slot)
{
    int i = 0;

    while (fixture->counters[i] != slot->counter)
        i++;
    return i;
}

/* Until `end_ms`; returns the longest time that a counter was not tried. */
static int64_t retry_until(struct fixture *fixture, int64_t end_ms)
{
    int64_t longest_ms = 0;
    int64_t next_ms = fixture->now_ms;

    for (; fixture->now_ms < end_ms; fixture->now_ms = next_ms) {
        struct slot *slot =
            slot_retry(&fixture->pool, 0, fixture->now_ms, &next_ms);
        int i;

        if (slot == NULL)
            continue;
        assert_int_equal(slot->want, 1); /* nobody has asked */
        i = index_of(fixture, slot);
        longest_ms = max_of(longest_ms, fixture->now_ms - fixture->tried_ms[i]);
        fixture->tried_ms[i] = fixture->now_ms;
        fixture->tries++;
        refuse(fixture, slot, SEQB_REFUSED);
    }
    for (int i = FINAL; i < COUNTERS; i++)
        longest_ms = max_of(longest_ms, fixture->now_ms - fixture->tried_ms[i]);
    return longest_ms;
}

/* And never more often than one after the other, so that a store that refuses
 * all of its counters is not asked all the time. */
TEST_WITH(REFUSING, each_counter_is_tried_at_least_every_30_s)
{
    const int64_t begin_ms = fixture->now_ms;

    refuse_all(fixture);
    assert_in_range(retry_until(fixture, begin_ms + SPAN_MS), 20000, 30000);
    for (int i = 0; i < FINAL; i++)
        assert_int_equal(fixture->tried_ms[i], begin_ms);
    assert_in_range(fixture->tries, (COUNTERS - FINAL) * SPAN_MS / 30000,
                    (COUNTERS - FINAL) * (SPAN_MS / 30000 + 6));
}

/* Nobody has to wait for a rest that began before. */
TEST_WITH(REFUSING, partition_that_is_back_is_tried_at_once)
{
    struct pool_member *member = &fixture->pool.pool.member[0];
    int64_t next_ms;

    refuse_all(fixture);
    (void)retry_until(fixture, fixture->now_ms + SPAN_MS);
    member->state = SEQB_PARTITION_QUARANTINED;
    fixture->now_ms += SPAN_MS;
    assert_null(slot_retry(&fixture->pool, 0, fixture->now_ms, &next_ms));
    assert_int_equal(next_ms, INT64_MAX);
    member->state = SEQB_PARTITION_UP;
    fixture->tries = 0;
    (void)retry_until(fixture, fixture->now_ms + 30000);
    assert_in_range(fixture->tries, COUNTERS - FINAL, COUNTERS - FINAL + 1);
}

/* The first ones are used up. So not all wait while many are looked through. */
TEST_WITH(REFUSING, one_retry_looks_at_16_of_them)
{
    const struct refusals *refusals = refusals_of(fixture);
    int64_t next_ms;

    refuse_all(fixture);
    for (int i = 0; i < 2; i++) {
        assert_null(slot_retry(&fixture->pool, 0, fixture->now_ms, &next_ms));
        assert_int_equal(next_ms, fixture->now_ms + REFUSAL_RETRY_MS);
    }
    fixture->now_ms = next_ms;
    assert_null(slot_retry(&fixture->pool, 0, fixture->now_ms, &next_ms));
    assert_ptr_equal(refusals->next->slot, &fixture->counters[16]->slots[0]);
    assert_int_equal(next_ms,
                     fixture->now_ms + REFUSAL_RETRY_MS * 16 / COUNTERS);
}

/* What a stamp that is over is refused concerns nobody. */
TEST_WITH(REFUSING, refusal_is_forgotten_once_its_stamp_is_over)
{
    const struct slot *last = &fixture->counters[1]->slots[0];
    int64_t next_ms;

    for (int i = 0; i < 2; i++) {
        refuse(fixture, &fixture->counters[i]->slots[0], SEQB_REFUSED);
        fixture->counters[i]->stamp = (struct ha_stamp){1, 1000, 2000 + i};
    }
    script_clock_set(2000);
    fixture->now_ms += REFUSAL_RETRY_MS;
    assert_ptr_equal(slot_retry(&fixture->pool, 0, fixture->now_ms, &next_ms),
                     last);
    assert_int_equal(refusals_of(fixture)->count, 1);
    script_clock_set(2001);
    fixture->now_ms = next_ms;
    assert_null(slot_retry(&fixture->pool, 0, fixture->now_ms, &next_ms));
    assert_int_equal(next_ms, INT64_MAX);
    assert_null(refusals_of(fixture)->first);
}
