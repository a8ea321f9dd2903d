/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool in a pool with neighbours: its tickets are leased and noted as
 * windows are, so that one store may go back, and the file with it.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "platform/text.h"
#include "spool_fixture.h"
#include "support/events.h"
#include "support/test.h"

#define FILE_MAX ((size_t)1 << 20)
#define OWN      (5 << SPOOL_MEMORY_BITS) /* numbers of a block here */

/* Of the partition whose store stays as it is. */
static struct spool_block block_of(const char *key)
{
    return spool_case_block(key, 1, 10, 5);
}

/* The counter of the file's tickets, which are lessor 0's. */
static const char *ticket_counter(const struct spool_case *c)
{
    static char counter[SEQB_COUNTER_SIZE];
    struct seqb_error err;
    char *bytes;
    size_t size;

    assert_int_equal(file_load(c->path, FILE_MAX, &bytes, &size, &err),
                     SEQB_OK);
    bytes[size] = '\0';
    assert_non_null(strstr(bytes, " 0 0 neighbours\n"));
    (void)text_format(counter, sizeof counter, "ticket/main/0/%.32s",
                      strstr(bytes, "\nid ") + 4);
    free(bytes);
    return counter;
}

static bool is_level(void *context)
{
    struct spool_case *c = context;
    struct ha_lessor lessors[RIG_PARTITIONS];
    size_t count;

    ha_lessors(c->broker->ha, lessors, RIG_PARTITIONS, &count);
    return count == 2 && lessors[0].state == HA_LESSOR_LEVEL &&
           lessors[1].state == HA_LESSOR_LEVEL;
}

/* Another broker, for which all lessors are level. */
static void restart(struct spool_case *c)
{
    spool_case_restart(c);
    rig_await(is_level, c);
}

/* Tries until a ticket was had: a guard that failed has the lessors looked at
 * first. */
static bool has_taken(void *context)
{
    struct spool_case *c = context;

    return spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS) ==
           SEQB_OK;
}

static void expect_going_on(struct spool_case *c)
{
    spool_case_give(c, block_of("later"));
    spool_case_expect(c, OWN);
    assert_string_equal(c->taken[0].key, "later");
    spool_case_expect(c, 0);
}

#define AMONG_NEIGHBOURS                                                       \
    FIXTURE(struct spool_case *c, spool_case_setup_neighbours,                 \
            spool_case_teardown)

TEST_WITH(AMONG_NEIGHBOURS, numbers_are_kept_over_a_stop)
{
    for (int i = 0; i < 3; i++) {
        spool_case_give(c, block_of("order"));
        restart(c);
        spool_case_expect(c, OWN);
        assert_int_equal(c->taken[0].first, block_of("order").first);
        spool_case_expect(c, 0);
    }
    assert_false(spool_case_has(c, ".refused"));
}

TEST_WITH(AMONG_NEIGHBOURS, ticket_is_noted_before_it_is_used)
{
    const char *counter;

    spool_case_give(c, block_of("order"));
    spool_case_give(c, block_of("bill"));
    counter = ticket_counter(c);
    assert_int_equal(fake_value(c->rig->stores[0], counter), 2);
    assert_int_equal(fake_value(c->rig->stores[1], counter), 2);
}

TEST_WITH(AMONG_NEIGHBOURS, file_that_was_put_back_is_refused)
{
    spool_case_give(c, block_of("order"));
    spool_case_copy(c->path, spool_case_beside(c, ".backup"));
    spool_case_expect(c, OWN);
    spool_case_copy(spool_case_beside(c, ".backup"), c->path);
    restart(c);
    events_start();
    spool_case_take(c);
    spool_case_expect_refused(c, "copy");
    expect_going_on(c);
}

/* Again and again: what the lessor lost its neighbour has. */
TEST_WITH(AMONG_NEIGHBOURS, file_is_refused_that_was_put_back_with_its_lessor)
{
    spool_case_give(c, block_of("order"));
    spool_case_copy(c->path, spool_case_beside(c, ".backup"));
    fake_save(c->rig->stores[0]);
    spool_case_expect(c, OWN);
    for (int i = 0; i < 3; i++) {
        fake_put_back(c->rig->stores[0]);
        spool_case_copy(spool_case_beside(c, ".backup"), c->path);
        restart(c);
        events_start();
        spool_case_take(c);
        spool_case_expect_refused(c, "copy");
        expect_going_on(c);
    }
}

/* No connection ends: only the statement that leases can tell. */
TEST_WITH(AMONG_NEIGHBOURS,
          lessor_that_goes_back_under_a_broker_gives_no_ticket)
{
    spool_case_give(c, block_of("order"));
    spool_case_copy(c->path, spool_case_beside(c, ".backup"));
    fake_save(c->rig->stores[0]);
    spool_case_expect(c, OWN);
    fake_put_back_silently(c->rig->stores[0]);
    spool_case_copy(spool_case_beside(c, ".backup"), c->path);
    events_start();
    rig_await(has_taken, c);
    spool_case_expect_refused(c, "copy");
}

/* It went back to before the file was there. Its neighbour says where its
 * counter was, neither more nor less. */
TEST_WITH(AMONG_NEIGHBOURS, file_is_good_whose_lessor_went_back)
{
    fake_save(c->rig->stores[0]);
    for (int i = 0; i < 3; i++) {
        spool_case_give(c, block_of("order"));
        fake_put_back(c->rig->stores[0]);
        restart(c);
        spool_case_expect(c, OWN);
    }
    assert_false(spool_case_has(c, ".refused"));
}

/* The same as another file: tickets do not rest on origins. */
TEST_WITH(AMONG_NEIGHBOURS, file_is_good_whose_lessor_is_a_copy)
{
    fake_save(c->rig->stores[0]);
    spool_case_give(c, block_of("order"));
    fake_restore(c->rig->stores[0]);
    restart(c);
    spool_case_expect(c, OWN);
    assert_false(spool_case_has(c, ".refused"));
}

/* A ticket that nobody can note would be one that is skipped. */
TEST_WITH(AMONG_NEIGHBOURS, no_ticket_is_taken_without_a_witness)
{
    spool_case_give(c, block_of("order"));
    fake_set_down(c->rig->stores[1], true);
    spool_case_close(c);
    spool_case_open(c);
    assert_int_equal(
        spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS),
        SEQB_OK); /* its partition is away: nothing to change */
    assert_int_equal(c->taken_count, 0);
    c->choice = SPOOL_DROP;
    assert_int_equal(
        spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS),
        SEQB_UNAVAILABLE);
    rig_expect_words(c->err.text, "no neighbour of backend b0 is usable");
    c->choice = SPOOL_TAKE;
    fake_set_down(c->rig->stores[1], false);
    rig_await_use(c->broker, 1);
    rig_await(is_level, c);
    spool_case_expect(c, OWN);
}

/* The only one, which is rescued meanwhile. */
TEST_WITH(AMONG_NEIGHBOURS, witness_that_fails_is_asked_again)
{
    spool_case_give(c, block_of("order"));
    fake_fail(c->rig->stores[1], FAKE_RAISE, 1, SEQB_UNREACHABLE);
    c->choice = SPOOL_DROP;
    spool_case_expect(c, 0);
    assert_int_equal(fake_value(c->rig->stores[1], ticket_counter(c)), 2);
    assert_false(spool_case_has(c, ".refused"));
}

/* Another broker has made the lessor level since this one's lease: whoever read
 * the witness then did not find the ticket there. */
TEST_WITH(AMONG_NEIGHBOURS, ticket_that_comes_after_the_next_mark_is_none)
{
    spool_case_give(c, block_of("order"));
    fake_claim_put(c->rig->stores[1], "known/main/0", "run-9|run-0");
    assert_int_equal(
        spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS),
        SEQB_UNAVAILABLE);
    assert_int_equal(c->taken_count, 0);
    assert_int_equal(fake_value(c->rig->stores[1], ticket_counter(c)), 1);
    events_start();
    rig_await(has_taken, c);
    spool_case_expect_refused(c, "broken off");
    rig_await(is_level, c);
    expect_going_on(c);
}

/* Its server goes on. Each copy has one more of its tickets granted again. */
TEST_WITH(AMONG_NEIGHBOURS, file_is_refused_whose_lessor_was_emptied)
{
    spool_case_give(c, block_of("order"));
    spool_case_copy(c->path, spool_case_beside(c, ".backup"));
    spool_case_expect(c, OWN);
    fake_flush(c->rig->stores[0]);
    for (int i = 0; i < 4; i++) {
        spool_case_copy(spool_case_beside(c, ".backup"), c->path);
        (void)spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS);
        assert_int_equal(c->taken_count, 0);
    }
}
