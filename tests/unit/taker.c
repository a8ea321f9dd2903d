/* SPDX-License-Identifier: Apache-2.0 */
/* See taker.h. */
#include "unit/taker.h"

#include "ha/counter/source.h"
#include "platform/clock.h"

static const struct ha_counter_attributes attributes = {
    .claim = "", .value_bits = 63, .keep_ms = HOUR};

static void taker_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct taker *taker = (struct taker *)sink;

    pthread_mutex_lock(&taker->lock);
    taker->grant = *grant;
    pthread_mutex_unlock(&taker->lock);
    atomic_store(&taker->first, grant->first);
    atomic_fetch_add(&taker->granted, grant->count);
    atomic_fetch_add(&taker->answers, 1);
}

void taker_make(struct taker *taker, struct rig_broker *broker, const char *key)
{
    *taker = (struct taker){.sink = {.deliver = taker_deliver},
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .rig = broker->rig,
                            .broker = broker};
    assert_ok(ha_counter_new(ha_pool_at(broker->ha, 0), key, 2, &taker->sink,
                             &taker->counter, NULL));
    ha_counter_set_attributes(taker->counter, &attributes);
}

void taker_begin(struct taker *taker, struct rig *rig)
{
    rig_set_timeout(rig, RIG_FOREVER_MS);
    taker_make(taker, rig_open(rig), "bill");
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

static int setup_over(void **state, int (*rig_setup)(void **state))
{
    static struct taker taker;

    if (rig_setup(state) != 0)
        return -1;
    taker_begin(&taker, *state);
    *state = &taker;
    return 0;
}

int taker_setup_direct(void **state)
{
    return setup_over(state, rig_setup_direct);
}

int taker_setup_windowed(void **state)
{
    return setup_over(state, rig_setup_windowed);
}

int taker_setup_cells(void **state)
{
    return setup_over(state, rig_setup_cells);
}

int taker_setup_neighbours(void **state)
{
    return setup_over(state, rig_setup_neighbours);
}

int taker_teardown(void **state)
{
    struct taker *taker = *state;
    void *rig = taker->rig;

    /* If it failed while they hung. */
    for (size_t i = 0; i < RIG_PARTITIONS; i++)
        fake_release(taker->rig->stores[i]);
    fake_release(taker->rig->authority);
    taker_end(taker);
    return rig_teardown(&rig);
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
    struct ha_grant grant;

    rig_await(is_answered, taker);
    pthread_mutex_lock(&taker->lock);
    grant = taker->grant;
    pthread_mutex_unlock(&taker->lock);
    return grant;
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
