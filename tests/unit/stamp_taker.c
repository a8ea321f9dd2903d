/* SPDX-License-Identifier: Apache-2.0 */
/* See stamp_taker.h. */
#include "unit/stamp_taker.h"

#include "platform/clock.h"

static const struct ha_counter_attributes attributes = {
    .claim = "", .value_bits = 63, .keep_ms = HOUR};

static void taker_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct taker *taker = (struct taker *)sink;

    atomic_store(&taker->first, grant->first);
    atomic_fetch_add(&taker->granted, grant->count);
}

void taker_make(struct taker *taker, const struct rig_broker *broker)
{
    *taker = (struct taker){.sink = {.deliver = taker_deliver}};
    assert_ok(ha_counter_new(ha_pool_at(broker->ha, 0), "bill", 2, &taker->sink,
                             &taker->counter, NULL));
    ha_counter_set_attributes(taker->counter, &attributes);
}

bool is_restamped(struct taker *taker, int64_t digits)
{
    const struct ha_stamp stamp = {digits, digits * SECOND,
                                   (digits + 1) * SECOND};

    return ha_counter_restamp(taker->counter, &stamp);
}

void await_rest(struct taker *taker)
{
    struct ha_view view = {.all = 1};

    while (view.all > 0)
        ha_counter_view(taker->counter, clock_now_ms(), &view);
}

void take(struct taker *taker)
{
    atomic_store(&taker->granted, 0);
    assert_int_equal(
        ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms()), 4);
    RIG_AWAIT(atomic_load(&taker->granted) > 0);
    await_rest(taker);
}

void taker_end(struct taker *taker, struct rig_broker *broker)
{
    queue_stop(broker->queue);
    ha_close(broker->ha);
    queue_free(broker->queue);
    ha_counter_free(taker->counter);
    rig_forget(broker);
}
