/* SPDX-License-Identifier: Apache-2.0 */
/* A counter in a pool of four partitions whose workers do not run: the test
 * answers what they are asked, and no store is asked. */
#pragma once

#include <stdlib.h>

#include "ha/counter/counter.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "support/fake.h"
#include "support/test.h"

#define BITS        2
#define PARTITIONS  (1 << BITS)
#define MEMORY_BITS 3
#define WINDOW_BITS 8

struct fixture {
    struct ha_sink sink; /* first */
    struct store_options store;
    struct worker workers[PARTITIONS];
    struct worker_membership memberships[PARTITIONS];
    struct ha_pool pool;
    struct ha_counter *counter;
    struct ha_grant grant; /* the last one */
    int deliveries;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static inline void deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct fixture *f = (struct fixture *)sink;

    f->grant = *grant;
    f->deliveries++;
}

static inline int setup_of(void **state, const struct seqb_backend_ops *ops)
{
    static const _Atomic int64_t no_limit_ms = INT64_MAX;
    static struct fixture f;
    struct ha_pool *pool = &f.pool;

    f = (struct fixture){.sink.deliver = deliver,
                         .store = {.ops = ops, .options.name = "b"}};
    pool->options = &pool->current;
    pool->current.layout.name = "main";
    pool->current.layout.bits = BITS;
    pool->current.layout.window_bits = WINDOW_BITS;
    pool->lock = &lock;
    pool->current.timeout_ms = 60000;
    pool->current.slow_count = 3;
    pool->current.rescue_after_ms = 60000;
    pool_init(&pool->pool, pool->options, PARTITIONS, 1, clock_now_ms());
    for (int i = 0; i < PARTITIONS; i++) {
        f.workers[i].connection.options = &f.store;
        f.workers[i].limit_ms = &no_limit_ms;
        pool->workers[i] = &f.workers[i];
        pool->pool.member[i].state = SEQB_PARTITION_UP;
    }
    assert_ok(
        ha_counter_new(pool, "key", MEMORY_BITS, &f.sink, &f.counter, NULL));
    *state = &f;
    return 0;
}

static inline int setup_direct(void **state)
{
    return setup_of(state, &backend_fake);
}

static inline int setup_windowed(void **state)
{
    return setup_of(state, &backend_fake_windowed);
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;

    ha_counter_free(f->counter);
    return 0;
}

#define SLOTS    FIXTURE(struct fixture *f, setup_direct, teardown)
#define OF_CELLS FIXTURE(struct fixture *f, setup_windowed, teardown)

/* The worker of partition i may run, or be called as if it did. It is connected
 * to the store, and has compared the claims. */
static inline void connect_worker(struct fixture *f, int32_t i,
                                  struct seqb_backend *store)
{
    struct worker *worker = &f->workers[i];

    f->memberships[i] = (struct worker_membership){&f->pool, i};
    worker->memberships = &f->memberships[i];
    worker->membership_count = 1;
    worker->lock = &lock;
    connection_init(&worker->connection, &f->store, NULL, NULL);
    worker->connection.backend = store;
    worker->connection.serial = 1;
    connection_set_verified(&worker->connection);
    f->counter->slots[i].admitted_on = 1;
}

static inline void ask(struct fixture *f, int32_t i, int64_t want)
{
    slot_ask(&f->counter->slots[i], want, clock_now_ms());
}

static inline void grant(struct fixture *f, int32_t i, int64_t first,
                         int64_t count)
{
    struct slot *slot = &f->counter->slots[i];

    slot->block = (struct seqb_block){first, count};
    slot_answer(slot, false, NULL);
}

static inline void refuse(struct fixture *f, int32_t i, enum seqb_status status,
                          bool is_refused)
{
    struct seqb_error why;

    (void)error_set(&why, status, "it says no");
    slot_answer(&f->counter->slots[i], is_refused, &why);
}
