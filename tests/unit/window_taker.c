/* SPDX-License-Identifier: Apache-2.0 */
/* See window_taker.h. */
#include "unit/window_taker.h"

#include "ha/counter/source.h"
#include "platform/clock.h"

#define DAY_MS INT64_C(86400000)

static const struct ha_counter_attributes attributes = {
    .claim = "", .value_bits = 63, .keep_ms = DAY_MS};

static void taker_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct taker *taker = (struct taker *)sink;

    taker->grant = *grant;
    atomic_fetch_add(&taker->answers, 1);
}

/* Two partitions; the other one leases to the first, or the first itself. */
void taker_begin(struct taker *taker, void **state)
{
    *taker = (struct taker){.sink = {.deliver = taker_deliver}, .rig = *state};
    rig_set_timeout(taker->rig, RIG_FOREVER_MS);
    taker->broker = rig_open(taker->rig);
    assert_ok(ha_counter_new(ha_pool_at(taker->broker->ha, 0), "bill", 2,
                             &taker->sink, &taker->counter, NULL));
    ha_counter_set_attributes(taker->counter, &attributes);
}

void taker_end(struct taker *taker)
{
    struct rig_broker *broker = taker->broker;

    queue_stop(broker->queue);
    ha_close(broker->ha);
    queue_free(broker->queue);
    ha_counter_free(taker->counter);
    rig_forget(broker);
}

int taker_setup(void **state)
{
    static struct taker taker;

    if (rig_setup_neighbours(state) != 0)
        return -1;
    taker_begin(&taker, state);
    *state = &taker;
    return 0;
}

int taker_teardown(void **state)
{
    struct taker *taker = *state;
    void *rig = taker->rig;

    taker_end(taker);
    return rig_teardown(&rig);
}

void taker_post(struct taker *taker, int64_t want)
{
    struct ha_pool *pool = ha_pool_at(taker->broker->ha, 0);
    struct slot *slot = &taker->counter->slots[0];

    atomic_store(&taker->answers, 0);
    pthread_mutex_lock(pool->lock);
    slot_ask(slot, want, clock_now_ms());
    assert_true(worker_push(pool->workers[0], &slot->job));
    pthread_mutex_unlock(pool->lock);
}

/* An answer is there, and the slot may be asked again. */
static bool is_answered(void *context)
{
    const struct taker *taker = context;
    struct ha_view view;

    ha_counter_view(taker->counter, clock_now_ms(), &view);
    return atomic_load(&taker->answers) > 0 && view.all == 0;
}

struct ha_grant taker_answer(struct taker *taker)
{
    rig_await(is_answered, taker);
    return taker->grant;
}

struct ha_grant taker_ask(struct taker *taker, int64_t want)
{
    taker_post(taker, want);
    return taker_answer(taker);
}

/* Until it is answered well, as its partition may have to be rescued. */
struct ha_grant taker_ask_again(struct taker *taker, int64_t want)
{
    struct ha_grant grant;

    do
        grant = taker_ask(taker, want);
    while (grant.count == 0);
    return grant;
}

int64_t taker_window(const struct ha_grant *grant)
{
    return grant->first / RUN / 2 / WINDOW; /* partitions */
}

int64_t taker_cell_window(const struct taker *taker)
{
    return fake_window(taker->rig->stores[0], CELL);
}

int64_t taker_installs(const struct taker *taker)
{
    return fake_calls(taker->rig->stores[0], FAKE_INSTALL);
}

static bool has_spares(void *context)
{
    const struct taker *taker = context;
    struct ha_pool *pool = ha_pool_at(taker->broker->ha, 0);
    const struct window_source *source = taker->counter->slots[0].windows;
    bool has_some;

    pthread_mutex_lock(pool->lock);
    has_some = source->run.left > 1;
    pthread_mutex_unlock(pool->lock);
    return has_some;
}

/* Leaves a whole window of the taker in the cell, and windows at hand. */
int64_t taker_leave_window(struct taker *taker)
{
    (void)taker_ask_again(taker, WANT_MANY);
    rig_await(has_spares, taker);
    return taker_cell_window(taker);
}
