/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets: no value comes twice from one history of a store, none is skipped
 * by one taker, and a store that changed is told by its origin. */
#include <stdlib.h>
#include <string.h>

#include "ha/members.h"
#include "platform/clock.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define NAME "0123456789abcdef0123456789abcdef"

static enum seqb_status take(struct rig_broker *broker, int32_t member,
                             struct ha_ticket *out, struct seqb_error *err)
{
    const struct ha_place place = {0, member};

    return ha_ticket(broker->ha, place, NAME, clock_now_ms() + RIG_PATIENCE_MS,
                     out, err);
}

static struct ha_ticket must_take(struct rig_broker *broker, int32_t member)
{
    struct ha_ticket ticket;
    struct seqb_error err;

    assert_done(take(broker, member, &ticket, &err), err);
    return ticket;
}

static void expect_refused(struct rig_broker *broker, int32_t member,
                           enum seqb_status status, const char *words)
{
    struct ha_ticket ticket;
    struct seqb_error err;

    assert_int_equal(take(broker, member, &ticket, &err), status);
    rig_expect_words(err.text, words);
}

TEST_WITH(DIRECT, tickets_follow_each_other_over_restarts)
{
    int64_t last = 0;

    for (int i = 0; i < 3; i++) {
        struct rig_broker *broker = rig_open(rig);

        for (int j = 0; j < 5; j++) {
            const struct ha_ticket ticket = must_take(broker, 0);

            assert_int_equal(ticket.value, last + 1);
            assert_string_equal(ticket.origin, "fake:store-0:0");
            last = ticket.value;
        }
        rig_close(broker);
    }
    assert_int_equal(fake_value(rig->stores[0], "ticket/main/0/" NAME), last);
}

TEST_WITH(DIRECT, each_place_has_tickets_of_its_own)
{
    struct rig_broker *broker = rig_open(rig);

    for (int32_t member = 0; member < 2; member++)
        assert_int_equal(must_take(broker, member).value, 1);
    assert_int_equal(fake_value(rig->stores[1], "ticket/main/1/" NAME), 1);
}

/* A sequence may have the same name. */
TEST_WITH(DIRECT, ticket_is_no_number_of_a_sequence)
{
    struct rig_broker *broker;

    rig->sequences[1].key = NAME;
    rig->queue.sequence_count = 2;
    broker = rig_open(rig);
    rig_take(broker, 100);
    assert_int_equal(must_take(broker, 0).value, 1);
    assert_int_equal(fake_value(rig->stores[0], "main/0/" NAME), -1);
    assert_int_equal(fake_value(rig->stores[0], "window/main/0/" NAME), -1);
}

TEST_WITH(DIRECT, store_that_changed_says_so_and_skips)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_ticket before = must_take(broker, 0);
    struct ha_ticket after;

    fake_change_origin(rig->stores[0]);
    fake_restart(rig->stores[0]);
    rig_close(broker);
    broker = rig_open(rig);
    after = must_take(broker, 0);
    assert_string_not_equal(after.origin, before.origin);
    assert_true(after.value > before.value + 1);
}

TEST_WITH(DIRECT, store_that_cannot_answer_gives_none)
{
    struct rig_broker *broker = rig_open(rig);

    (void)must_take(broker, 0);
    fake_set_down(rig->stores[0], true);
    expect_refused(broker, 0, SEQB_UNAVAILABLE, "backend b0");
    expect_refused(broker, 0, SEQB_UNAVAILABLE, "not usable");
    fake_set_down(rig->stores[0], false);
    rig_await_use(broker, 0);
    (void)must_take(broker, 0);
}

/* It is spent: the next one is not that which was expected. */
TEST_WITH(DIRECT, ticket_whose_answer_is_lost_is_skipped)
{
    struct rig_broker *broker = rig_open(rig);

    assert_int_equal(must_take(broker, 0).value, 1);
    fake_lose_answers(rig->stores[0], FAKE_RESERVE, 1);
    expect_refused(broker, 0, SEQB_UNAVAILABLE, "backend b0");
    rig_await_use(broker, 0);
    assert_int_equal(must_take(broker, 0).value, 3);
}

TEST_WITH(DIRECT, no_time_left_asks_for_none)
{
    struct rig_broker *broker = rig_open(rig);
    const struct ha_place place = {0, 0};
    struct ha_ticket ticket;

    assert_fails(
        ha_ticket(broker->ha, place, NAME, clock_now_ms(), &ticket, &failure),
        SEQB_UNAVAILABLE, "no time");
    assert_int_equal(must_take(broker, 0).value, 1);
}

TEST_WITH(DIRECT, place_without_a_direct_store_gives_none)
{
    struct rig_broker *broker;
    static const int32_t members[] = {-1, 2, 65};
    const struct ha_place place = {1, 0};
    struct ha_ticket ticket;
    struct seqb_error err;

    rig_shape(rig, RIG_DIRECT, 1);
    broker = rig_open(rig);
    assert_int_equal(ha_ticket(broker->ha, place, NAME,
                               clock_now_ms() + RIG_PATIENCE_MS, &ticket, &err),
                     SEQB_LAYOUT);
    for (size_t i = 0; i < 3; i++)
        expect_refused(broker, members[i], SEQB_LAYOUT, "no direct store");
}

static bool are_level(void *context)
{
    struct rig_broker *broker = context;
    struct ha_lessor lessors[RIG_PARTITIONS];
    size_t level = 0;
    size_t count;

    ha_lessors(broker->ha, lessors, RIG_PARTITIONS, &count);
    for (size_t i = 0; i < count; i++)
        level += lessors[i].state == HA_LESSOR_LEVEL;
    return level == count;
}

static void expect_noted_by_one(struct rig *rig)
{
    static const char *const names[] = {
        "ticket/main/0/" NAME, "ticket/main/1/" NAME, "ticket/main/2/" NAME,
        "ticket/main/3/" NAME};
    struct rig_broker *broker = rig_open(rig);

    rig_await(are_level, broker);
    for (int32_t member = 0; member < 1 << rig->pool.layout.bits; member++) {
        int noted = 0;

        assert_int_equal(must_take(broker, member).value, 1);
        assert_int_equal(fake_value(rig->stores[member], names[member]), 1);
        for (int i = 0; i < RIG_PARTITIONS; i++)
            noted += fake_value(rig->stores[i], names[member]) == 1;
        assert_int_equal(noted, 2);
    }
}

TEST_WITH(NEIGHBOURS, ticket_is_noted_by_the_only_neighbour)
{
    expect_noted_by_one(rig);
}

TEST_WITH(NEIGHBOURS, ticket_is_noted_by_one_of_several_neighbours)
{
    rig_shape(rig, RIG_NEIGHBOURS, 2);
    expect_noted_by_one(rig);
}

static bool is_taken(void *context)
{
    struct ha_ticket ticket;
    struct seqb_error err;

    return take(context, 0, &ticket, &err) == SEQB_OK;
}

/* No sequence would have it looked at. */
TEST_WITH(NEIGHBOURS, lessor_that_refuses_a_ticket_is_made_level)
{
    struct rig_broker *broker;

    rig->queue.sequence_count = 0;
    broker = rig_open(rig);
    rig_await(are_level, broker);
    fake_forget(rig->stores[0], "synced/main");
    expect_refused(broker, 0, SEQB_UNAVAILABLE, "backend b0");
    rig_await(is_taken, broker);
}

TEST_WITH(WINDOWED, authority_comes_before_partitions)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_place place;

    /* The only store that counts directly is past the two partitions. */
    assert_true(ha_place_at(broker->ha, 0, &place));
    assert_int_equal(place.pool, 0);
    assert_int_equal(place.member, 2);
    assert_false(ha_place_at(broker->ha, 1, &place));
    assert_int_equal(must_take(broker, 2).value, 1);
    expect_refused(broker, 0, SEQB_LAYOUT, "no direct store");
    assert_int_equal(fake_value(rig->authority, "ticket/main/2/" NAME), 1);
}
TEST_ALSO(CELLS, authority_comes_before_partitions);

TEST_WITH(DIRECT, partitions_are_places_in_their_order)
{
    struct rig_broker *broker;
    struct ha_place place;

    rig_shape(rig, RIG_DIRECT, 2);
    broker = rig_open(rig);
    for (size_t i = 0; i < 4; i++) {
        assert_true(ha_place_at(broker->ha, i, &place));
        assert_int_equal(place.member, i);
    }
    assert_false(ha_place_at(broker->ha, 4, &place));
}

/* The authority of both, and a partition of the second that is direct. */
TEST_WITH(WINDOWED, authorities_of_all_pools_come_before_their_partitions)
{
    static const struct ha_place places[] = {{0, 1}, {1, 1}, {1, 0}};
    struct rig_broker *broker;
    struct ha_place place;

    rig_split(rig);
    rig->backends[1].ops = &backend_fake;
    broker = rig_open(rig);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        assert_true(ha_place_at(broker->ha, i, &place));
        assert_int_equal(place.pool, places[i].pool);
        assert_int_equal(place.member, places[i].member);
    }
    assert_false(ha_place_at(broker->ha, COUNT_OF(places), &place));
}

static void set_state(struct rig_broker *broker, int32_t partition,
                      enum seqb_partition_state state)
{
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);

    pthread_mutex_lock(pool->lock);
    pool->pool.member[partition].state = state;
    pthread_mutex_unlock(pool->lock);
}

/* It may be another store, or one that went back. */
TEST_WITH(DIRECT, origin_of_a_store_that_is_refused_is_not_known)
{
    static const enum seqb_partition_state states[] = {SEQB_PARTITION_REFUSED,
                                                       SEQB_PARTITION_POISONED};
    struct rig_broker *broker = rig_open(rig);
    char origin[SEQB_ORIGIN_SIZE];

    for (int32_t i = 0; i < 2; i++) {
        set_state(broker, i, states[i]);
        assert_int_equal(ha_pool_origin(ha_pool_at(broker->ha, 0), i, origin),
                         HA_ORIGIN_NONE);
    }
}

TEST_WITH(DIRECT, origin_is_known_as_it_was_last)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);
    char origin[SEQB_ORIGIN_SIZE];
    struct ha_ticket ticket;
    struct seqb_error err;

    assert_int_equal(ha_pool_origin(pool, 1, origin), HA_ORIGIN_NOW);
    assert_string_equal(origin, "fake:store-1:0");
    fake_set_down(rig->stores[1], true);
    assert_int_not_equal(take(broker, 1, &ticket, &err), SEQB_OK);
    assert_int_equal(ha_pool_origin(pool, 1, origin), HA_ORIGIN_PAST);
    assert_string_equal(origin, "fake:store-1:0");
    rig_close(broker);
    broker = rig_open(rig);
    pool = ha_pool_at(broker->ha, 0);
    assert_int_equal(ha_pool_origin(pool, 1, origin), HA_ORIGIN_NONE);
    fake_change_origin(rig->stores[1]);
    fake_set_down(rig->stores[1], false);
    rig_await_use(broker, 1);
    assert_int_equal(ha_pool_origin(pool, 1, origin), HA_ORIGIN_NOW);
    assert_string_equal(origin, "fake:store-1:1");
}
