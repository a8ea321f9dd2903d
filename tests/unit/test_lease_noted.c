/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers with leases of different lengths, while the store that leases worker
 * ids goes back: the longest lease is noted in the other direct stores.
 */
#include <string.h>

#include "flake_fixture.h"
#include "lease/worker_lease.h"
#include "platform/text.h"
#include "support/test.h"

#define CLAIM "snowflake/main"
#define ROW   "worker/main/0"

/* What the leasing store has: of two direct ones, b0. */
struct texts {
    char claim[SEQB_CLAIM_SIZE];
    char origin[SEQB_CLAIM_SIZE];
    char row[SEQB_CLAIM_SIZE];
};

static void claim_get(const struct rig *rig, int32_t store, char *out)
{
    fake_claim_text(rig->stores[store], CLAIM, out, SEQB_CLAIM_SIZE);
}

static void save(const struct rig *rig, struct texts *out)
{
    claim_get(rig, 0, out->claim);
    fake_claim_text(rig->stores[0], "workers/main", out->origin,
                    sizeof out->origin);
    fake_claim_text(rig->stores[0], ROW, out->row, sizeof out->row);
}

/* As a copy that is put back: it has another origin. */
static void put_back(const struct rig *rig, const struct texts *texts)
{
    fake_restart(rig->stores[0]);
    fake_change_origin(rig->stores[0]);
    fake_claim_put(rig->stores[0], CLAIM, texts->claim);
    fake_claim_put(rig->stores[0], "workers/main", texts->origin);
    fake_claim_put(rig->stores[0], ROW, texts->row);
}

/* A pool that brokers with short leases have used. */
static void use(struct rig *rig, struct texts *out)
{
    rig_shape(rig, RIG_DIRECT, 1);
    rig_use(rig, 1);
    save(rig, out);
}

/* A broker with a long lease that does not reach the leasing store any more. */
static struct rig_broker *hold(struct rig *rig)
{
    struct rig_broker *holder;

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    holder = rig_open(rig);
    rig_take(holder, 1);
    assert_ok(ha_command(holder->ha, "main", 0, SEQB_ORDER_DRAIN, NULL));
    return holder;
}

static void expect_waits(struct rig *rig, const char *state, int32_t lease_ms)
{
    char expected[64];
    char text[SEQB_CLAIM_SIZE] = "";

    assert_true(text_format(expected, sizeof expected,
                            "workers 1 state=%s lease=%d origin=", state,
                            (int)lease_ms));
    fake_claim_text(rig->stores[0], "workers/main", text, sizeof text);
    if (strncmp(text, expected, strlen(expected)) != 0)
        fail_msg("'%s' is not '%s...'", text, expected);
}

TEST_WITH(SNOWFLAKES, longest_lease_is_waited_for_that_another_store_noted)
{
    struct rig_broker *holder;
    struct rig_broker *broker;
    struct texts before;

    use(rig, &before);
    holder = hold(rig);
    put_back(rig, &before);
    flake_set_lease(rig, FLAKE_LEASE_MS);
    broker = rig_open(rig);
    flake_await_refusal(broker, "b0 is new, or not what it was");
    expect_waits(rig, "waiting", FLAKE_LONG_LEASE_MS);
    rig_take(holder, 1);
}

static int64_t noted(const struct rig *rig, int32_t store)
{
    char text[SEQB_CLAIM_SIZE];

    claim_get(rig, store, text);
    return lease_note_read(text);
}

/* The lessor's note says to later brokers that all stores have one. */
TEST_WITH(SNOWFLAKES, longer_lease_is_noted_in_all_stores_before_it_is_used)
{
    struct rig_broker *broker;
    struct texts before;

    use(rig, &before);
    assert_int_equal(noted(rig, 0), FLAKE_LEASE_MS);
    assert_int_equal(noted(rig, 1), FLAKE_LEASE_MS);
    fake_set_down(rig->stores[1], true);
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    for (int i = 0; i < 2; i++) {
        broker = rig_open(rig);
        flake_await_refusal(broker,
                            "needs all direct stores of the pool to note it; "
                            "backend b1: ");
        assert_int_equal(noted(rig, 0), FLAKE_LEASE_MS);
        if (i == 0)
            rig_close(broker);
    }
    fake_set_down(rig->stores[1], false);
    RIG_AWAIT(flake_why(broker)[0] == '\0');
    assert_int_equal(noted(rig, 0), FLAKE_LONG_LEASE_MS);
    assert_int_equal(noted(rig, 1), FLAKE_LONG_LEASE_MS);
    rig_close(broker);
    fake_set_down(rig->stores[1], true); /* a later start needs but one */
    rig_take(rig_open(rig), 1);
}

/* It answers, and then does not note the lease. */
TEST_WITH(SNOWFLAKES, first_lease_of_a_pool_is_noted_in_all_stores)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_DIRECT, 1);
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    fake_refuse(rig->stores[1], FAKE_SWAP, CLAIM, SEQB_REFUSED);
    broker = rig_open(rig);
    flake_await_refusal(broker, "needs all direct stores of the pool to note "
                                "it; backend b1: ");
    assert_int_equal(noted(rig, 0), 0);
    fake_refuse(rig->stores[1], FAKE_SWAP, CLAIM, SEQB_OK);
    RIG_AWAIT(flake_why(broker)[0] == '\0');
    assert_int_equal(noted(rig, 1), FLAKE_LONG_LEASE_MS);
}

/* What it said of the others is lost. */
TEST_WITH(SNOWFLAKES, lease_is_noted_in_all_stores_if_the_lessor_lost_its_claim)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_DIRECT, 2);
    rig_use(rig, 1);
    fake_forget(rig->stores[0], CLAIM);
    fake_set_down(rig->stores[3], true);
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    broker = rig_open(rig);
    flake_await_refusal(broker, "needs all direct stores of the pool to note "
                                "it; backend b3: ");
    fake_set_down(rig->stores[3], false);
    RIG_AWAIT(flake_why(broker)[0] == '\0');
    for (int i = 0; i < 4; i++)
        assert_int_equal(noted(rig, i), FLAKE_LONG_LEASE_MS);
}

TEST_WITH(SNOWFLAKES, longest_note_is_put_into_all_stores_again)
{
    struct rig_broker *broker;
    struct texts before;

    use(rig, &before);
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    rig_use(rig, 1);
    fake_claim_put(rig->stores[0], CLAIM, before.claim);
    flake_set_lease(rig, FLAKE_LEASE_MS);
    broker = rig_open(rig);
    rig_take(broker, 1);
    assert_int_equal(noted(rig, 0), FLAKE_LONG_LEASE_MS);
    assert_int_equal(noted(rig, 1), FLAKE_LONG_LEASE_MS);
}

/* Cuts the claim off. */
static void shorten(const struct rig *rig, int32_t store, const char *from)
{
    char text[SEQB_CLAIM_SIZE];
    char *end;

    claim_get(rig, store, text);
    end = strstr(text, from);
    assert_non_null(end);
    *end = '\0';
    fake_claim_put(rig->stores[store], CLAIM, text);
}

/* It is no other layout, and its brokers may go on. */
TEST_WITH(SNOWFLAKES, claims_of_earlier_versions_are_noted_as_stores_answer)
{
    struct rig_broker *broker;
    struct texts before;

    use(rig, &before);
    shorten(rig, 0, " by=");
    shorten(rig, 1, " lease=");
    fake_set_down(rig->stores[1], true);
    broker = rig_open(rig);
    rig_take(broker, 1);
    assert_int_equal(noted(rig, 0), FLAKE_LEASE_MS);
    rig_close(broker);
    fake_set_down(rig->stores[1], false);
    rig_use(rig, 1);
    assert_int_equal(noted(rig, 0), FLAKE_LEASE_MS);
    assert_int_equal(noted(rig, 1), FLAKE_LEASE_MS);
}

TEST(note_that_no_broker_writes_is_none)
{
    static const char *const damaged[] = {
        "",
        "snowflake lessor=a",
        "snowflake lessor=a lease=5",
        "snowflake lessor=a by=1/0",
        "snowflake lessor=a by=1/0 lease=",
        "snowflake lessor=a by=1/0 lease=5x",
        "snowflake lessor=a by=1/0 lease=-5",
        "snowflake lessor=a by=1/0 lease=3600001",
    };

    for (size_t i = 0; i < COUNT_OF(damaged); i++)
        assert_int_equal(lease_note_read(damaged[i]), 0);
    assert_int_equal(lease_note_read("snowflake lessor=a by=1/0 lease=3600000"),
                     3600000);
}
