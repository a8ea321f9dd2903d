/* SPDX-License-Identifier: Apache-2.0 */
/* Which workers are asked about counters, and what is made of their answers.
 * The threads of the workers run, and the test is what they ask: it answers by
 * worker and counter. What they really ask is in test_many_claims.c and
 * test_unasked.c. */
#include <string.h>

#include "ha/admission/admission.h"
#include "ha/startup.h"
#include "platform/text.h"
#include "support/wrap.h"
#include "unit/slot_fixture.h"

#define COUNTERS 2
#define OLD      2 /* the worker whose store knows a key */

static struct {
    struct fixture *f;
    struct ha ha;
    struct ha_options options;
    struct ha_counter *counters[COUNTERS];
    const char *letters[PARTITIONS]; /* see `admitted` */
    bool is_asked[PARTITIONS];
} scene;

/* That this thread has left; below 0: any number. */
static _Thread_local int allocations = -1;

WRAPPED(void *, calloc, size_t n, size_t size)
{
    if (allocations < 0)
        return __real_calloc(n, size);
    return allocations-- > 0 ? __real_calloc(n, size) : NULL;
}

static char letter_of(const struct worker *worker, size_t counter)
{
    return scene.letters[worker - scene.f->workers][counter];
}

static bool concerns(const struct worker *worker,
                     const struct ha_counter *counter)
{
    return letter_of(worker, counter == scene.counters[1]) != 'n';
}

static void add_none(const struct worker *worker,
                     const struct ha_counter *counter,
                     struct claim_batch *batch)
{
    (void)worker;
    (void)counter;
    (void)batch;
}

static enum seqb_status one(struct worker *worker, struct admission *admission,
                            size_t i, struct seqb_error *err)
{
    const char letter = letter_of(worker, i);
    const int index = (int)(worker - scene.f->workers);

    (void)admission;
    scene.is_asked[index] = true;
    if (letter != 'r' && letter != 'f')
        return SEQB_OK;
    return error_set(err, letter == 'r' ? SEQB_LAYOUT : SEQB_REFUSED,
                     "%d refuses %d", index, (int)i);
}

static const struct visit visit = {
    .concerns = concerns, .add = add_none, .one = one};

static enum seqb_status store_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    (void)options;
    (void)out;
    return error_set(err, SEQB_LAYOUT, "another layout");
}

static enum seqb_status store_claim(struct seqb_backend *backend,
                                    const char *name, const char *text,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    const bool is_old = strcmp(name, "sequence/main/old") == 0 &&
                        backend == scene.f->workers[OLD].connection.backend;

    (void)text;
    (void)err;
    (void)text_copy(standing, size, is_old ? "memory_bits=3" : "");
    return SEQB_OK;
}

static void store_close(struct seqb_backend *backend)
{
    (void)backend;
}

static const struct seqb_backend_ops store_ops = {.engine = "test",
                                                  .open = store_open,
                                                  .claim = store_claim,
                                                  .close = store_close};

static int setup_workers(void **state)
{
    static struct seqb_backend backends[PARTITIONS];
    struct fixture *f;

    (void)setup_of(state, &store_ops);
    f = *state;
    memset(&scene, 0, sizeof scene);
    scene.f = f;
    scene.options.backend_count = PARTITIONS;
    scene.ha.options = &scene.options;
    scene.ha.workers = f->workers;
    scene.counters[0] = f->counter;
    assert_ok(ha_counter_new(&f->pool, "bill", MEMORY_BITS, &f->sink,
                             &scene.counters[1], NULL));
    for (int32_t i = 0; i < PARTITIONS; i++) {
        scene.letters[i] = "..";
        backends[i].ops = &store_ops;
        connect_worker(f, i, &backends[i]);
    }
    return 0;
}

static int teardown_workers(void **state)
{
    ha_counter_free(scene.counters[1]);
    return teardown(state);
}

#define WORKERS FIXTURE(struct fixture *f, setup_workers, teardown_workers)

static void start_workers(struct fixture *f)
{
    for (int i = 0; i < PARTITIONS; i++)
        assert_ok(worker_start(&f->workers[i], NULL));
}

static void stop_workers(struct fixture *f)
{
    for (int i = 0; i < PARTITIONS; i++)
        worker_stop(&f->workers[i]);
    for (int i = 0; i < PARTITIONS; i++)
        worker_join(&f->workers[i]);
}

/* By worker and counter: '.' well, 'r' refuses it for its layout, 'f' for
 * another reason, 'n' is not concerned. A worker by its first letter: 'q' is
 * quarantined, 's' stops, 'l' finds another layout. */
static const struct admitted_row {
    const char *letters[PARTITIONS];
    bool is_part; /* there are more counters */
    enum seqb_status status;
    const char *text;
    const char *closed[COUNTERS]; /* why */
    int by[COUNTERS];             /* the partition */
} rows[] = {
    {.letters = {"..", "..", "..", ".."}},
    {.letters = {"..", "..", ".r", ".."},
     .closed = {NULL, "2 refuses 1"},
     .by = {0, 2}},
    {.letters = {".f", "f.", "..", ".."}},
    {.letters = {"..", "r.", ".r", ".."},
     .status = SEQB_LAYOUT,
     .text = "2 refuses 1",
     .closed = {"1 refuses 0", "2 refuses 1"},
     .by = {1, 2}},
    {.letters = {"..", "r.", ".r", ".."},
     .is_part = true,
     .closed = {"1 refuses 0", "2 refuses 1"},
     .by = {1, 2}},
    {.letters = {"q.", "..", "..", ".."}},
    {.letters = {"..", "nn", "..", ".."}},
    {.letters = {"..", "..", "s.", ".."}},
    {.letters = {"..", "n.", ".n", ".."}},
    {.letters = {"l.", "..", "..", ".."},
     .status = SEQB_LAYOUT,
     .text = "another layout"},
};

static void set_workers(struct fixture *f, const struct admitted_row *row)
{
    for (int i = 0; i < PARTITIONS; i++) {
        const char letter = row->letters[i][0];

        scene.letters[i] = row->letters[i];
        if (letter == 'q')
            f->pool.pool.member[i].state = SEQB_PARTITION_QUARANTINED;
        f->workers[i].is_stopping = letter == 's';
        if (letter == 'l')
            f->workers[i].connection.backend = NULL;
    }
}

/* Once both counters are refused, a worker need not be asked any more. */
static void expect_asked(const struct admitted_row *row)
{
    for (int i = 0; i < PARTITIONS; i++) {
        const char *letters = row->letters[i];

        if (strchr("qsl", letters[0]) != NULL || strcmp(letters, "nn") == 0)
            assert_false(scene.is_asked[i]);
        else if (row->closed[0] == NULL)
            assert_true(scene.is_asked[i]);
    }
}

static void expect_closed(const struct ha_counter *counter, const char *why,
                          int by)
{
    assert_int_equal(counter->is_void, why != NULL);
    for (int i = 0; i < PARTITIONS; i++) {
        const struct refusal *refusal = counter->slots[i].refusal;

        assert_int_equal(refusal != NULL, why != NULL && i == by);
        if (refusal != NULL)
            assert_string_equal(refusal_reason(refusal), why);
    }
}

static enum seqb_status admit(bool is_part, struct seqb_error *err)
{
    struct admission *admission =
        admission_new(&scene.ha, &visit, scene.counters, COUNTERS);
    enum seqb_status status;

    assert_non_null(admission);
    assert_null(admission->has_no_such);
    admission->is_part = is_part;
    status = visit_run(&scene.ha, admission, err);
    visit_end(admission);
    return status;
}

TEST_WITH(WORKERS, counters_are_closed_that_a_store_refuses_for_their_layout)
{
    for (size_t n = 0; n < COUNT_OF(rows); n++) {
        const struct admitted_row *row = &rows[n];
        struct seqb_error err;
        void *state = f;

        print_message("  row %zu\n", n);
        set_workers(f, row);
        start_workers(f);
        assert_int_equal(admit(row->is_part, &err), row->status);
        stop_workers(f);
        if (row->text != NULL)
            assert_string_equal(err.text, row->text);
        expect_asked(row);
        for (int i = 0; i < COUNTERS; i++)
            expect_closed(scene.counters[i], row->closed[i], row->by[i]);
        (void)teardown_workers(&state);
        (void)setup_workers(&state);
    }
}

/* That was said before. */
TEST_WITH(WORKERS, counter_that_is_closed_is_not_closed_again)
{
    struct seqb_error err;

    for (int i = 0; i < COUNTERS; i++)
        scene.counters[i]->is_void = true;
    start_workers(f);
    assert_int_equal(admit(false, &err), SEQB_LAYOUT);
    stop_workers(f);
    assert_string_equal(err.text, seqb_status_text(SEQB_LAYOUT));
    assert_int_equal(f->deliveries, 0);
    for (int i = 0; i < PARTITIONS; i++)
        assert_false(scene.is_asked[i]);
}

TEST_WITH(WORKERS, nothing_is_waited_for_once_the_broker_closes)
{
    static const _Atomic int64_t limit_ms = 1;

    for (int i = 0; i < PARTITIONS; i++)
        f->workers[i].limit_ms = &limit_ms;
    assert_ok(admit(false, NULL)); /* no worker runs */
    start_workers(f);
    stop_workers(f);
    for (int i = 0; i < PARTITIONS; i++)
        assert_false(scene.is_asked[i]);
}

/* The claim of this store is of other bits: it has none. */
TEST_WITH(WORKERS, start_is_refused_if_all_counters_are)
{
    start_workers(f);
    assert_ok(claim_all(&scene.ha, NULL, 0, NULL));
    assert_int_equal(claim_all(&scene.ha, scene.counters, 1, NULL),
                     SEQB_LAYOUT);
    stop_workers(f);
}

TEST_WITH(WORKERS, answers_are_kept_of_who_may_know_another_pool)
{
    struct admission *admission =
        admission_new(&scene.ha, &visit_elsewhere, scene.counters, COUNTERS);

    (void)f;
    assert_non_null(admission);
    for (size_t i = 0; i < COUNTERS; i++)
        assert_false(admission_answers(admission, i, PARTITIONS)[0]);
    visit_end(admission);
}

static const char *const keys[] = {"new", "old", "newer"};

TEST_WITH(WORKERS, key_is_known_if_one_store_knows_it)
{
    bool is_known[COUNT_OF(keys) + 1] = {true, false, true, true};

    start_workers(f);
    ha_known(&scene.ha, &f->pool, keys, COUNT_OF(keys), is_known);
    stop_workers(f);
    assert_false(is_known[0]);
    assert_true(is_known[1]);
    assert_false(is_known[2]);
    assert_true(is_known[3]); /* it was not asked for */
    assert_int_equal(f->deliveries, 0);
}

/* --- memory that runs out --- */

static enum seqb_status admit_with(int left, const struct visit *of,
                                   struct seqb_error *err)
{
    struct admission *admission;
    enum seqb_status status;

    allocations = left;
    admission = admission_new(&scene.ha, of, scene.counters, COUNTERS);
    status = visit_run(&scene.ha, admission, err);
    allocations = -1;
    visit_end(admission);
    return status;
}

/* The admission, its list, and a question to each worker. */
TEST_WITH(WORKERS, nothing_is_claimed_without_memory)
{
    struct seqb_error err;

    start_workers(f);
    for (int left = 0; left < 2 + PARTITIONS; left++) {
        assert_int_equal(admit_with(left, &visit, &err), SEQB_NO_MEMORY);
        assert_string_equal(err.text, "admission: out of memory");
    }
    assert_int_equal(admit_with(1, &visit_elsewhere, &err), SEQB_NO_MEMORY);
    for (int i = 0; i < PARTITIONS; i++)
        assert_false(scene.is_asked[i]);
    assert_ok(admit_with(2 + PARTITIONS, &visit, &err));
    stop_workers(f);
}

TEST_WITH(WORKERS, no_key_is_known_without_memory)
{
    start_workers(f);
    for (int left = 0; left < (int)COUNT_OF(keys) + 2 + PARTITIONS; left++) {
        bool is_known[] = {false, true, false};

        allocations = left;
        ha_known(&scene.ha, &f->pool, keys, COUNT_OF(keys), is_known);
        allocations = -1;
        assert_false(is_known[1]);
    }
    stop_workers(f);
}
