/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence that is new in its pool, while no store of this pool can note it.
 * The stores of the other pool know nothing of it, until a broker of an older
 * topology begins it there.
 */
#include <string.h>

#include "support/rig.h"
#include "unit/rig_shapes.h"

#define SHORT_MS 100
#define SOME     100 /* numbers */
#define MOST     300

/* The teardown needs them. */
static struct ha_options old_ha;
static struct queue_sequence_options old_sequence;
static struct queue_options old_queue;

/* Pools "main" of b0 and "other" of b1, and perhaps of the authority. Their
 * stores are made, and know no sequence. "order" is in pool other. */
static void split(struct rig *rig, enum rig_kind other)
{
    rig_shape(rig, other, 1);
    rig_split(rig);
    rig_pools[0].layout.authority = -1;
    rig->backends[0].ops = &backend_fake;
    rig->queue.sequence_count = 0;
    rig_close(rig_open(rig));
    rig->queue.sequence_count = 1;
    rig->sequences[0].pool = 1;
    rig->sequences[0].deadline_ms = SHORT_MS;
}

/* A broker whose topology has pool main alone takes numbers of "order". */
static void begin_in_main(struct rig *rig)
{
    struct rig_broker *broker = &rig->brokers[RIG_BROKERS_MAX - 1];

    old_ha = rig->ha;
    old_ha.pool_count = 1;
    old_ha.backend_count = 1;
    old_sequence = rig->sequences[0];
    old_sequence.pool = 0;
    old_sequence.deadline_ms = RIG_PATIENCE_MS;
    old_queue = rig->queue;
    old_queue.sequences = &old_sequence;
    old_queue.sequence_count = 1;
    old_queue.automatic = NULL;
    assert_ok(ha_open(&old_ha, &broker->ha, NULL));
    assert_ok(queue_open(&old_queue, broker->ha, &broker->queue, NULL));
    rig_take(broker, SOME);
    rig_close(broker);
}

static enum seqb_status take(struct rig *rig, struct rig_broker *broker,
                             struct seqb_error *err)
{
    int64_t number;
    const enum seqb_status status = rig_take_one(broker, &number, err);

    if (status == SEQB_OK)
        numbers_add(&rig->taken, &number, 1);
    return status;
}

/* Nothing is granted, and the error says why, once the stores were asked. */
static void expect_unclaimed(struct rig *rig, struct rig_broker *broker)
{
    static const char why[] = "sequence order is new in pool other, and no "
                              "store of that pool that keeps it has noted it";
    struct seqb_error err;
    enum seqb_status status;

    RIG_AWAIT((status = take(rig, broker, &err)) == SEQB_OK ||
              strstr(err.text, why) != NULL);
    assert_status(status, SEQB_UNAVAILABLE);
}

/* It takes numbers until it is refused. */
static void expect_refused(struct rig *rig, struct rig_broker *broker)
{
    struct seqb_error err = {.status = SEQB_UNAVAILABLE};
    enum seqb_status status;

    RIG_AWAIT((status = take(rig, broker, &err)) == SEQB_OK ||
              status == SEQB_LAYOUT);
    while (status == SEQB_OK && numbers_count(&rig->taken) < MOST)
        status = take(rig, broker, &err);
    if (status == SEQB_OK)
        fail_msg("%zu numbers came twice", numbers_repeats(&rig->taken));
    assert_status(status, SEQB_LAYOUT);
    rig_expect_words(err.text, "sequence order was used in pool main");
}

/* The store of pool other goes away after the start. */
static struct rig_broker *open_and_lose(struct rig *rig)
{
    struct rig_broker *broker;

    split(rig, RIG_DIRECT);
    rig->queue.sequence_count = 0;
    rig_automatic(rig, "ord*", 10);
    rig->automatic.pool = 1;
    rig->automatic.deadline_ms = SHORT_MS;
    broker = rig_open(rig);
    fake_set_down(rig->stores[1], true);
    assert_ok(ha_command(broker->ha, "other", 0, SEQB_ORDER_QUARANTINE, NULL));
    return broker;
}

TEST_WITH(DIRECT, sequence_is_asked_about_again_once_its_pool_answers)
{
    struct rig_broker *broker = open_and_lose(rig);

    expect_unclaimed(rig, broker);
    begin_in_main(rig);
    fake_set_down(rig->stores[1], false);
    expect_refused(rig, broker);
}

TEST_WITH(DIRECT, it_begins_if_nobody_began_it_meanwhile)
{
    struct rig_broker *broker = open_and_lose(rig);

    expect_unclaimed(rig, broker);
    fake_set_down(rig->stores[1], false);
    RIG_AWAIT(take(rig, broker, NULL) == SEQB_OK);
}

/* It waits for the store of pool main, and may be served after that. */
TEST_WITH(DIRECT, start_goes_on_if_one_waits_and_all_others_are_refused)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;

    split(rig, RIG_DIRECT);
    rig_put_claim(rig, 1, "sequence/other/bill", "", "memory_bits=7");
    rig->queue.sequence_count = 2;
    rig->sequences[1].pool = 1;
    fake_refuse(rig->stores[0], FAKE_CLAIM, "sequence/main/order",
                SEQB_REFUSED);
    broker = rig_open(rig);
    assert_int_equal(queue_find(broker->queue, "bill", &sequence, NULL),
                     SEQB_LAYOUT);
    fake_refuse(rig->stores[0], FAKE_CLAIM, "sequence/main/order", SEQB_OK);
    RIG_AWAIT(take(rig, broker, &(struct seqb_error){.status = SEQB_OK}) ==
              SEQB_OK);
}

TEST_WITH(DIRECT, sequence_that_a_reload_adds_is_asked_about_again)
{
    struct rig_broker *broker = open_and_lose(rig);
    struct queue_options next = rig->queue;
    struct queue_reload *reload;

    next.automatic = NULL;
    next.sequence_count = 1;
    assert_ok(queue_prepare(broker->queue, &next, NULL, &reload, NULL));
    assert_ok(queue_commit(reload, NULL));
    queue_reload_free(reload);
    expect_unclaimed(rig, broker);
    begin_in_main(rig);
    fake_set_down(rig->stores[1], false);
    expect_refused(rig, broker);
    rig_close(broker); /* before `next` is gone */
}

/* It answers when it is connected, and not when it is to note the sequence. */
TEST_WITH(DIRECT, store_that_fails_on_the_way_has_not_noted_it)
{
    struct rig_broker *broker;

    split(rig, RIG_DIRECT);
    fake_refuse(rig->stores[1], FAKE_CLAIM, "sequence/other/order",
                SEQB_REFUSED);
    broker = rig_open(rig);
    expect_unclaimed(rig, broker);
    begin_in_main(rig);
    fake_refuse(rig->stores[1], FAKE_CLAIM, "sequence/other/order", SEQB_OK);
    expect_refused(rig, broker);
}

/* A store that may forget is not asked by other brokers. Its claim must not
 * deceive the second start. */
TEST_WITH(WINDOWED, authority_has_to_note_it)
{
    struct rig_broker *broker;
    char text[SEQB_CLAIM_SIZE];

    split(rig, RIG_WINDOWED);
    fake_set_down(rig->authority, true);
    for (int i = 0; i < 2; i++) {
        broker = rig_open(rig);
        expect_unclaimed(rig, broker);
        fake_claim_text(rig->stores[1], "sequence/other/order", text,
                        sizeof text);
        assert_string_equal(text, "");
        if (i == 0)
            rig_close(broker);
    }
    begin_in_main(rig);
    fake_set_down(rig->authority, false);
    expect_refused(rig, broker);
}

/* It began while the authority noted it. */
TEST_WITH(WINDOWED, sequence_that_a_cell_knows_is_served_without_the_authority)
{
    struct rig_broker *broker;

    split(rig, RIG_WINDOWED);
    broker = rig_open(rig);
    RIG_AWAIT(take(rig, broker, NULL) == SEQB_OK);
    rig_close(broker);
    fake_set_down(rig->authority, true);
    broker = rig_open(rig);
    RIG_AWAIT(take(rig, broker, NULL) == SEQB_OK);
}

/* It may go back to that pool. */
TEST_WITH(DIRECT, kept_numbers_of_another_pool_stay_while_it_waits)
{
    split(rig, RIG_DIRECT);
    rig->queue.spool_path = rig_file(rig, "spool");
    rig->sequences[0].pool = 0;
    rig_use(rig, SOME);
    fake_claim_put(rig->stores[0], "sequence/main/order", "");
    fake_refuse(rig->stores[1], FAKE_CLAIM, "sequence/other/order",
                SEQB_REFUSED);
    rig->sequences[0].pool = 1;
    rig_use(rig, 0);
    fake_claim_put(rig->stores[0], "sequence/main/order", "memory_bits=2");
    rig->sequences[0].pool = 0;
    assert_true(rig_status(rig_open(rig), "order").stock > 0);
}
