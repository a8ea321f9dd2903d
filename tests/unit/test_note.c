/* SPDX-License-Identifier: Apache-2.0 */
/* What is noted in a store: over scripted stores, and with a worker whose store
 * is the test. */
#include <stdlib.h>
#include <string.h>

#include "ha/ask.h"
#include "ha/startup.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"
#include "unit/slot_fixture.h"

TEST_WITH(DIRECT, a_note_is_never_lowered_and_outlives_the_broker)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;
    struct rig_broker *broker = rig_open(rig);
    struct seqb_error err;
    int64_t standing = -1;

    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){0, "clock/x", 0},
                             until_ms, &standing, &err),
                     SEQB_OK);
    assert_int_equal(standing, 0);
    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){0, "clock/x", 500},
                             until_ms, &standing, &err),
                     SEQB_OK);
    assert_int_equal(standing, 500);
    rig_close(broker);
    broker = rig_open(rig);
    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){0, "clock/x", 300},
                             until_ms, &standing, &err),
                     SEQB_OK);
    assert_int_equal(standing, 500);
}

/* A store that changed is bound, with all that goes with it, by who counts. */
TEST_WITH(DIRECT, a_note_leaves_the_base_as_it_is)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t standing;

    for (int i = 0; i < RIG_PARTITIONS; i++)
        fake_save(rig->stores[i]);
    rig_use(rig, 20);
    for (int i = 0; i < RIG_PARTITIONS; i++)
        fake_restore(rig->stores[i]);
    broker = rig_open(rig);
    for (int32_t i = 0; i < 2; i++)
        assert_int_equal(ha_note(broker->ha,
                                 &(struct ha_entry){i, "clock/x", 1}, until_ms,
                                 &standing, &err),
                         SEQB_OK);
    rig_take(broker, 20);
}

TEST_WITH(DIRECT, a_note_that_is_not_answered_says_so)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t standing = 0;

    fake_hang(rig->stores[0]);
    assert_fails(ha_note(broker->ha, &(struct ha_entry){0, "clock/x", 1},
                         clock_now_ms() + 50, &standing, &failure),
                 SEQB_UNAVAILABLE, "b0");
    fake_release(rig->stores[0]);
}

/* Its partition rests and has no connection; none is tried for long. */
TEST_WITH(DIRECT, note_connects_to_a_store_that_is_back)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t standing = 0;

    rig->pool.rescue = HA_RESCUE_FIXED;
    rig->pool.rescue_after_ms = RIG_FOREVER_MS;
    broker = rig_open(rig);
    fake_set_down(rig->stores[1], true);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){1, "clock/x", 7},
                             until_ms, &standing, &err),
                     SEQB_UNAVAILABLE);
    fake_set_down(rig->stores[1], false);
    while (ha_note(broker->ha, &(struct ha_entry){1, "clock/x", 7}, until_ms,
                   &standing, &err) != SEQB_OK)
        assert_true(clock_now_ms() < until_ms);
    assert_int_equal(standing, 7);
}

/* A note that is refused without a try. */
static bool is_not_tried(void *context)
{
    struct rig_broker *broker = context;
    struct fake_store *store = broker->rig->stores[1];
    const int64_t opens = fake_calls(store, FAKE_OPEN);
    int64_t standing;
    struct seqb_error err;

    assert_int_equal(ha_note(broker->ha, &(struct ha_entry){1, "clock/x", 7},
                             clock_now_ms() + RIG_PATIENCE_MS, &standing, &err),
                     SEQB_UNAVAILABLE);
    return fake_calls(store, FAKE_OPEN) == opens &&
           strstr(err.text, "its server is down, and was tried") != NULL;
}

TEST_WITH(DIRECT, server_that_was_just_tried_is_not_tried_for_a_note)
{
    struct rig_broker *broker = rig_open(rig);

    fake_set_down(rig->stores[1], true);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    rig_await(is_not_tried, broker);
}

/* --- each answer --- */

#define UNTIL_MS 123

static const struct note_row {
    enum seqb_status asked;  /* SEQB_OK: the worker answers */
    enum seqb_status status; /* of its store, where 5 stands */
    int64_t value;
    bool is_lost; /* the connection */
    bool is_away; /* the server, which was just tried */
    int64_t standing;
    enum seqb_status expected;
    const char *text;
    bool is_failed; /* the connection is closed, and the pool is told */
} notes[] = {
    {.value = 4, .standing = 5},
    {.value = 7, .standing = 7},
    {.status = SEQB_REFUSED,
     .standing = -1,
     .expected = SEQB_UNAVAILABLE,
     .text = "backend b: clock/x: it says no"},
    {.status = SEQB_UNREACHABLE,
     .standing = -1,
     .expected = SEQB_UNAVAILABLE,
     .text = "backend b: clock/x: it says no",
     .is_failed = true},
    {.status = SEQB_UNCERTAIN,
     .standing = -1,
     .expected = SEQB_UNAVAILABLE,
     .text = "backend b: clock/x: it says no",
     .is_failed = true},
    {.status = SEQB_CLOSED,
     .standing = -1,
     .expected = SEQB_CLOSED,
     .text = "backend b: clock/x: it says no"},
    {.is_lost = true,
     .standing = -1,
     .expected = SEQB_UNAVAILABLE,
     .text = "backend b: clock/x: it cannot be opened",
     .is_failed = true},
    {.is_lost = true,
     .is_away = true,
     .standing = -1,
     .expected = SEQB_UNAVAILABLE,
     .text = "backend b: clock/x: its server is down, and was tried less than "
             "500 ms ago"},
    {.asked = SEQB_UNAVAILABLE,
     .standing = -1,
     .expected = SEQB_UNAVAILABLE,
     .text = "backend b: not heard to clock/x"},
    {.asked = SEQB_CLOSED,
     .standing = -1,
     .expected = SEQB_CLOSED,
     .text = "not heard"},
    {.asked = SEQB_NO_MEMORY,
     .standing = -1,
     .expected = SEQB_NO_MEMORY,
     .text = "clock/x: out of memory"},
};

static const struct note_row *row; /* NULL: the worker's thread answers */

WRAPPED(void *, calloc, size_t n, size_t size)
{
    return row != NULL && row->asked == SEQB_NO_MEMORY ? NULL
                                                       : __real_calloc(n, size);
}

WRAPPED(bool, worker_ask, struct worker *worker, struct ask *ask,
        int64_t until_ms, struct seqb_error *err)
{
    if (row == NULL)
        return __real_worker_ask(worker, ask, until_ms, err);
    assert_int_equal(until_ms, UNTIL_MS);
    if (row->asked == SEQB_OK) {
        ask->job.call(worker, &ask->job);
        return true;
    }
    ask->free(ask);
    (void)error_set(err, row->asked, "not heard");
    return false;
}

static enum seqb_status store_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    (void)options;
    (void)out;
    assert_false(row->is_away);
    return error_set(err, SEQB_UNREACHABLE, "it cannot be opened");
}

static enum seqb_status store_claim(struct seqb_backend *backend,
                                    const char *name, const char *text,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    (void)backend;
    assert_string_equal(name, "clock/x");
    assert_null(text);
    (void)text_copy(standing, size, "5");
    return row->status == SEQB_OK ? SEQB_OK
                                  : error_set(err, row->status, "it says no");
}

static enum seqb_status store_swap(struct seqb_backend *backend,
                                   const struct seqb_swap *swap, char *standing,
                                   size_t size, struct seqb_error *err)
{
    (void)backend;
    (void)err;
    assert_string_equal(swap->expected, "5");
    (void)text_copy(standing, size, swap->text);
    return SEQB_OK;
}

static void store_close(struct seqb_backend *backend)
{
    (void)backend;
}

static const struct seqb_backend_ops store_ops = {.engine = "test",
                                                  .open = store_open,
                                                  .claim = store_claim,
                                                  .swap = store_swap,
                                                  .close = store_close};

static int setup_noted(void **state)
{
    return setup_of(state, &store_ops);
}

#define NOTED FIXTURE(struct fixture *f, setup_noted, teardown)

/* The worker is as the row says. */
static void set_worker(struct fixture *f, struct seqb_backend *backend,
                       struct endpoint *server)
{
    struct worker *worker = &f->workers[1];

    f->pool.pool.member[1].state = SEQB_PARTITION_UP;
    f->pool.pool.member[1].errors = 0;
    connect_worker(f, 1, backend);
    if (row->is_away)
        worker->connection.endpoint = server;
    if (row->is_lost) {
        worker->connection.backend = NULL;
        worker->connection.serial++;
    }
}

TEST_WITH(NOTED, each_answer_is_told)
{
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        struct seqb_backend backend = {.ops = &store_ops};
        struct endpoint server = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .gate = {true, INT64_MAX}};
        struct ha ha = {.workers = f->workers};
        int64_t standing = -1;
        struct seqb_error err;

        print_message("  row %zu\n", i);
        row = &notes[i];
        set_worker(f, &backend, &server);
        assert_status(ha_note(&ha, &(struct ha_entry){1, "clock/x", row->value},
                              UNTIL_MS, &standing, &err),
                      row->expected);
        if (row->text != NULL)
            assert_string_equal(err.text, row->text);
        assert_int_equal(standing, row->standing);
        assert_int_equal(f->pool.pool.member[1].errors > 0, row->is_failed);
        assert_int_equal(connection_is_open(&f->workers[1].connection),
                         !row->is_failed && !row->is_lost);
    }
    row = NULL;
}
