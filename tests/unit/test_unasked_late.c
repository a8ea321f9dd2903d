/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store of another pool refuses a sequence just after the broker gave up
 * waiting for that store, and just before the broker looks which stores have
 * not answered.
 */
#include <stdatomic.h>
#include <string.h>

#include "ha/admission/admission.h"
#include "ha/worker.h"
#include "platform/thread.h"
#include "support/rig.h"
#include "support/wrap.h"
#include "unit/rig_shapes.h"

/* b0 answers while the broker looks at "order" the second time: the first look
 * is whether all sequences are refused, the second one whether this one is to
 * be closed. */
static struct {
    atomic_bool waits; /* b0 does not answer; set up before the broker opens */
    int looks;         /* of the main thread */
} script;

WRAPPED(enum seqb_status, visit_all, struct worker *worker,
        struct admission *admission, struct ask *ask, struct seqb_error *err)
{
    while (strcmp(worker_name(worker), "b0") == 0 && atomic_load(&script.waits))
        thread_rest_us(1000);
    return __real_visit_all(worker, admission, ask, err);
}

WRAPPED(bool, admitted_is_refused, const struct admitted *admitted)
{
    const bool is_refused = __real_admitted_is_refused(admitted);

    if (!atomic_load(&script.waits) ||
        strcmp(admitted->counter->key, "order") != 0 || ++script.looks < 2)
        return is_refused;
    atomic_store(&script.waits, false);
    RIG_AWAIT(__real_admitted_is_refused(admitted));
    return is_refused;
}

/* Pools "main" of b0 and "other" of b1. "order" was used in pool main. */
static void split(struct rig *rig)
{
    rig_shape(rig, RIG_DIRECT, 1);
    rig_split(rig);
    rig_use(rig, 100);
}

/* `claim` is that of "order" in pool other, "": none. */
static void expect_refused(struct rig *rig, const char *claim)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;
    char text[SEQB_CLAIM_SIZE];

    split(rig);
    if (claim[0] != '\0')
        rig_put_claim(rig, 1, "sequence/other/order", "", claim);
    rig->queue.sequence_count = 2;
    rig->sequences[0].pool = 1;
    rig->sequences[1].pool = 1;
    script.looks = 0;
    atomic_store(&script.waits, true);
    broker = rig_open(rig);
    RIG_AWAIT(queue_find(broker->queue, "order", &sequence, &err) ==
              SEQB_LAYOUT);
    rig_expect_words(err.text, "sequence order was used in pool main");
    fake_claim_text(rig->stores[1], "sequence/other/order", text, sizeof text);
    assert_string_equal(text, claim);
}

TEST_WITH(DIRECT, refusal_that_comes_late_is_not_forgotten)
{
    expect_refused(rig, "");
}

TEST_WITH(DIRECT, nor_is_it_if_its_own_pool_knows_the_sequence)
{
    expect_refused(rig, "memory_bits=2");
}
