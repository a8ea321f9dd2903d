/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps whose windows neighbours lease, over scripted stores and a scripted
 * clock: closed and deleted in some of them, while one goes back. */
#include <string.h>

#include "neighbours_fixture.h"
#include "period_fixture.h"

#define STAMP  "@20261121120000"
#define LATER  "@20261121120001"
#define TAKEN  ((size_t)4 * WINDOW_STOCK)
#define STORES 3 /* lessors; the fourth store may forget */

static void shape(struct period_fixture *fixture)
{
    void *rig = fixture->rig;

    (void)mixed(&rig, STORES);
}

/* Takes up to `count` numbers of the stamp; returns why there are no more. */
static enum seqb_status take(struct rig *rig, struct rig_broker *broker,
                             size_t count, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < count && status == SEQB_OK; i++) {
        struct seqb_stamp stamp;
        int64_t number;

        status = period_take(broker, &number, &stamp, err);
        if (status == SEQB_OK) {
            assert_int_equal(stamp.begins_ms, NOON);
            numbers_add(&rig->taken, &number, 1);
        }
    }
    return status;
}

static void use(struct rig *rig)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_error err;

    if (take(rig, broker, TAKEN, &err) != SEQB_OK)
        fail_msg("no number: %s", err.text);
    rig_close(broker);
}

/* As a broker whose clock is later does it: the stamp is closed, and deleted.
 */
static void purge(struct rig *rig, int32_t i)
{
    static const char *const kinds[] = {"window/main", SEQB_CELL "main"};
    struct seqb_backend *backend;

    assert_ok(backend_fake.open(&rig->backends[i].options, &backend, NULL));
    for (size_t at = 0; at < (size_t)2 * RIG_PARTITIONS; at++) {
        char counter[SEQB_COUNTER_SIZE];
        char keep[SEQB_COUNTER_SIZE];
        const struct seqb_purge purge = {.counter = counter,
                                         .keep = keep,
                                         .before_ms = NOON + SECOND,
                                         .most = 1};
        int32_t deleted;

        (void)text_format(counter, sizeof counter, "%s/%zu/order",
                          kinds[at / RIG_PARTITIONS], at % RIG_PARTITIONS);
        (void)text_format(keep, sizeof keep, "%s" LATER, counter);
        assert_ok(backend_fake.purge(backend, &purge, &deleted, NULL));
    }
    backend_fake.close(backend);
}

/* The second lessor is away while the stamp is closed, and is level again: it
 * knows that the stamp is closed, and still has its row. Then the first one
 * goes back. A broker whose clock is behind asks for the stamp. */
TEST_WITH(PERIOD, stamp_that_others_deleted_is_leased_no_more)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    struct seqb_error err;

    shape(fixture);
    use(rig);
    fake_save(rig->stores[0]);
    fake_set_down(rig->stores[1], true);
    use(rig);
    purge(rig, 0);
    purge(rig, 2);
    forget(rig, STORES);
    fake_set_down(rig->stores[1], false);
    fake_restart(rig->stores[1]);
    broker = rig_open(rig);
    await_lessor(broker, 1, HA_LESSOR_LEVEL);
    rig_close(broker);
    fake_put_back(rig->stores[0]);
    broker = rig_open(rig);
    await_lessor(broker, 0, HA_LESSOR_LEVEL);
    assert_true(fake_value(rig->stores[0], "window/main/3/order" STAMP) > 0);
    assert_status(take(rig, broker, TAKEN, &err), SEQB_EXHAUSTED);
}
