/* SPDX-License-Identifier: Apache-2.0 */
/* Leases from neighbours, in the pool of slot_fixture.h: three lessors, for
 * which the test answers, and the store of a witness, which is asked and
 * answers as the test says. */
#pragma once

#include "ha/counter/source.h"
#include "ha/counter/window.h"
#include "platform/text.h"
#include "unit/slot_fixture.h"

#define LESSORS     3 /* in the first partitions */
#define OTHER       3 /* a partition without one */
#define LESSOR_BITS 2
#define FLOOR       10 /* a lease */
#define LEASE_NAME  "window/main/3/key"

/* The store of a witness, which answers as it is told and keeps its question.
 * One is enough, since the witnesses are asked one after the other. */
static struct {
    struct seqb_backend backend;
    enum seqb_status status;
    bool lacks_mark; /* the guard fails */
    int64_t before;  /* what it knew */
    struct seqb_raise raise;
    char counter[SEQB_COUNTER_SIZE];
    char name[SEQB_COUNTER_SIZE]; /* of the guard */
    char text[TERM_SIZE + 1];
} store;

static inline enum seqb_status store_raise(struct seqb_backend *backend,
                                           const struct seqb_raise *raise,
                                           int64_t *out, struct seqb_error *err)
{
    (void)backend;
    store.raise = *raise;
    (void)text_copy(store.counter, sizeof store.counter, raise->counter);
    (void)text_copy(store.name, sizeof store.name, raise->guard->name);
    (void)text_copy(store.text, sizeof store.text, raise->guard->text);
    raise->guard->has_failed = store.lacks_mark;
    *raise->before = store.before;
    *out = max_of(store.before, raise->floor);
    return store.status == SEQB_OK
               ? SEQB_OK
               : error_set(err, store.status, "the witness says no");
}

static const struct seqb_backend_ops store_ops = {.engine = "witness",
                                                  .raise = store_raise};

/* What the slot was told that waited for a window. */
static struct seqb_error told;
static bool is_told_refused;
static int32_t needy; /* its partition */

static inline void tell(struct slot *slot)
{
    told = *slot->why;
    is_told_refused = slot->is_refused;
}

/* Lessor i's server was started. */
static inline void start_lessor(struct fixture *f, int32_t i,
                                const char *incarnation)
{
    struct lessors *lessors = &f->pool.lessors;

    (void)text_copy(f->workers[i].connection.incarnation, SEQB_INCARNATION_SIZE,
                    incarnation);
    lessors_connected(lessors, i, incarnation, 0);
    (void)lessors_set(lessors, i, HA_LESSOR_LEVEL, 0);
    lessors_enter(lessors, i, "nonce~");
}

static inline int setup_lessors(void **state)
{
    static const int32_t members[LESSORS] = {0, 1, 2};
    static const _Atomic int64_t never_begun;
    static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    struct fixture *f;

    (void)setup_windowed(state);
    f = *state;
    store.backend.ops = &store_ops;
    store.lacks_mark = false;
    (void)text_copy(f->pool.name, sizeof f->pool.name, "main");
    f->pool.lessors_changed = &changed;
    lessors_init(&f->pool.lessors, members, LESSORS, 1, 0);
    for (int32_t i = 0; i < LESSORS; i++) {
        connect_worker(f, i, &store.backend);
        f->workers[i].begun_ms = &never_begun;
        start_lessor(f, i, "run");
    }
    for (int32_t i = 0; i < PARTITIONS; i++)
        f->counter->slots[i].done = tell;
    return 0;
}

#define LEASES FIXTURE(struct fixture *f, setup_lessors, teardown)

static inline struct slot *slot_that_waits(struct fixture *f)
{
    return &f->counter->slots[needy];
}

static inline struct window_source *source_at(struct fixture *f)
{
    return slot_that_waits(f)->windows;
}

/* The partition needs a window above that one, and has none. */
static inline enum seqb_status want(struct fixture *f, int32_t partition,
                                    struct seqb_error *err)
{
    struct windows none;

    needy = partition;
    told = (struct seqb_error){.status = SEQB_OK};
    is_told_refused = false;
    return window_take(slot_that_waits(f), FLOOR << LESSOR_BITS | 1, 0, &none,
                       err);
}

static inline void expect_wants(struct fixture *f, int32_t partition)
{
    assert_ok(want(f, partition, NULL));
}

/* Takes the only job that is posted to the workers, which is that one of that
 * worker. */
static inline void expect_job(struct fixture *f, int32_t i,
                              const struct worker_job *job)
{
    for (int32_t j = 0; j < PARTITIONS; j++)
        assert_ptr_equal(f->workers[j].first, j == i ? job : NULL);
    f->workers[i].first = NULL;
}

/* Lessor i is asked for a lease, under the name that its worker says. */
static inline struct slot *expect_asked(struct fixture *f, int32_t i)
{
    struct slot *slot = &source_at(f)->lease;

    expect_job(f, i, &slot->job);
    window_lease_begins(slot, LEASE_NAME);
    return slot;
}

static inline void lease(struct slot *slot, int64_t first, int64_t count)
{
    slot->block = (struct seqb_block){first, count};
    slot->is_unlevel = false;
    slot_answer(slot, false, NULL);
}

static inline void deny(struct slot *slot, enum seqb_status status,
                        bool is_refused, const char *text)
{
    struct seqb_error why;

    (void)error_set(&why, status, "%s", text);
    slot_answer(slot, is_refused, &why);
}

/* Witness i is told of the lease; it knew one before, or fails. */
static inline void note(struct fixture *f, int32_t i, int64_t before,
                        enum seqb_status status)
{
    struct worker_job *job = &source_at(f)->neighbours->note;

    expect_job(f, i, job);
    store.before = before;
    store.status = status;
    job->call(&f->workers[i], job);
}

static inline void expect_told(enum seqb_status status, bool is_refused,
                               const char *text)
{
    assert_int_equal(told.status, status);
    assert_string_equal(told.text, text);
    assert_int_equal(is_told_refused, is_refused);
}

static inline void drain(struct fixture *f, int32_t i)
{
    f->pool.pool.member[i].state = SEQB_PARTITION_DRAINED;
}

/* The slot goes on with a window. It takes all that there are. */
static inline void expect_goes_on(struct fixture *f)
{
    expect_job(f, needy, &slot_that_waits(f)->job);
    expect_told(SEQB_OK, false, "");
    source_at(f)->run.left = 0;
}
