/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a sync: what it asks of which store, in which order, and that it
 * ends at the first step that fails. The stores are scripted, and a call runs
 * on the thread of its asker. */
#include <inttypes.h>
#include <string.h>

#include "ha/neighbours/sync.h"
#include "platform/text.h"
#include "support/wrap.h"
#include "unit/slot_fixture.h"

#define LESSORS 3
#define LEVELED 1 /* the lessor of the sync */
#define TIMEOUT 3000

enum failure { IN_STORE, OF_MEMORY, OF_POST, OF_PATIENCE, FAILURES };

/* Lessor i is in partition i + 1. */
static struct {
    struct fixture *f;
    struct fake_store *stores[LESSORS];
    struct store_options options[LESSORS];
    struct seen seen[LESSORS + 1]; /* the last one is nobody's */
    char log[8192];
    enum failure failure;
    int left; /* steps of that kind until one fails; below 0: none does */
    bool has_failed;
    int asks; /* not freed */
} scene = {.left = -1};

static bool fails(enum failure failure)
{
    const bool fails_now = scene.failure == failure && scene.left == 0;

    if (scene.failure == failure && scene.left >= 0)
        scene.left--;
    scene.has_failed |= fails_now;
    return fails_now;
}

WRAPPED(void *, calloc, size_t n, size_t size)
{
    return fails(OF_MEMORY) ? NULL : __real_calloc(n, size);
}

WRAPPED(void *, realloc, void *memory, size_t size)
{
    return fails(OF_MEMORY) ? NULL : __real_realloc(memory, size);
}

WRAPPED(void, ask_init, struct ask *ask,
        enum seqb_status (*call)(struct worker *worker, struct ask *ask,
                                 struct seqb_error *err),
        void (*free)(struct ask *ask))
{
    scene.asks++;
    __real_ask_init(ask, call, free);
}

WRAPPED(void, ask_free, struct ask *ask)
{
    scene.asks--;
    __real_ask_free(ask);
}

WRAPPED(bool, ask_post, struct worker *worker, struct ask *ask)
{
    if (fails(OF_POST))
        return false;
    ask->job.call(worker, &ask->job);
    if (ask->error.status == SEQB_OK && ask->steps > 0)
        (void)text_append(scene.log, sizeof scene.log, "steps: %d\n",
                          (int)ask->steps);
    return true;
}

WRAPPED(bool, ask_wait_steps, struct ask *ask, int64_t patience_ms)
{
    assert_int_equal(patience_ms, 2 * (TIMEOUT + 1));
    return !fails(OF_PATIENCE) && __real_ask_wait_steps(ask, patience_ms);
}

/* --- the stores --- */

static enum seqb_status store_log(const struct seqb_backend *backend,
                                  const char *text, struct seqb_error *err)
{
    int i = 0;

    while (scene.f->workers[i + 1].connection.backend != backend)
        i++;
    assert_false(scene.has_failed);
    (void)text_append(scene.log, sizeof scene.log, "%d %s\n", i, text);
    return fails(IN_STORE) ? error_set(err, SEQB_UNREACHABLE, "it is away")
                           : SEQB_OK;
}

static enum seqb_status store_claim(struct seqb_backend *backend,
                                    const char *name, const char *text,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    char line[256];

    (void)text_format(line, sizeof line, "claim %s %s", name,
                      text == NULL ? "?" : text);
    return store_log(backend, line, err) == SEQB_OK
               ? backend_fake.claim(backend, name, text, standing, size, err)
               : SEQB_UNREACHABLE;
}

static enum seqb_status store_swap(struct seqb_backend *backend,
                                   const struct seqb_swap *swap, char *standing,
                                   size_t size, struct seqb_error *err)
{
    char line[256];

    (void)text_format(line, sizeof line, "swap %s '%s' %s", swap->name,
                      swap->expected, swap->text);
    assert_string_equal(swap->incarnation, "run-0");
    return store_log(backend, line, err) == SEQB_OK
               ? backend_fake.swap(backend, swap, standing, size, err)
               : SEQB_UNREACHABLE;
}

/* What stands behind the last row is nobody's. */
static enum seqb_status store_list(struct seqb_backend *backend,
                                   struct seqb_page *page,
                                   struct seqb_error *err)
{
    char line[256];

    (void)text_format(line, sizeof line, "list %s '%s'", page->prefix,
                      page->after);
    if (store_log(backend, line, err) != SEQB_OK)
        return SEQB_UNREACHABLE;
    assert_ok(backend_fake.list(backend, page, err));
    if (page->count < page->most)
        page->listed[page->count] = (struct seqb_listed){"window/main/1/no", 1};
    return SEQB_OK;
}

static enum seqb_status store_raise(struct seqb_backend *backend,
                                    const struct seqb_raise *raise,
                                    int64_t *out, struct seqb_error *err)
{
    char line[256];

    (void)text_format(line, sizeof line, "raise %s %" PRId64, raise->counter,
                      raise->floor);
    assert_int_equal(raise->limit, INT64_MAX);
    return store_log(backend, line, err) == SEQB_OK
               ? backend_fake.raise(backend, raise, out, err)
               : SEQB_UNREACHABLE;
}

static enum seqb_status store_purge(struct seqb_backend *backend,
                                    const struct seqb_purge *purge,
                                    int32_t *deleted, struct seqb_error *err)
{
    char line[256];

    (void)text_format(line, sizeof line, "purge %s %s %" PRId64 " %d",
                      purge->counter, purge->keep, purge->before_ms,
                      (int)purge->most);
    return store_log(backend, line, err) == SEQB_OK
               ? backend_fake.purge(backend, purge, deleted, err)
               : SEQB_UNREACHABLE;
}

static void open_store(struct fixture *f, int32_t i,
                       const struct seqb_backend_ops *ops)
{
    static const char *const names[LESSORS] = {"b0", "b1", "b2"};
    static const _Atomic int64_t begun_ms = 0;
    struct worker *worker = &f->workers[i + 1];
    struct seqb_backend *backend;

    scene.stores[i] = fake_store_new(names[i]);
    scene.options[i] =
        (struct store_options){.ops = ops,
                               .options = {.name = names[i],
                                           .path = names[i],
                                           .needs_incarnation = true,
                                           .connect_timeout_ms = 1,
                                           .timeout_ms = TIMEOUT}};
    assert_ok(backend_fake.open(&scene.options[i].options, &backend, NULL));
    backend->ops = ops;
    connect_worker(f, i + 1, backend);
    worker->connection.options = &scene.options[i];
    (void)text_copy(worker->connection.incarnation,
                    sizeof worker->connection.incarnation,
                    backend->incarnation);
    worker->begun_ms = &begun_ms;
    f->pool.lessors.lessor[i].member = i + 1;
}

static void look(struct fixture *f)
{
    for (int32_t i = 0; i < LESSORS; i++) {
        struct call *call = call_new(&f->pool, i);

        call->run = call_read;
        assert_true(call_ask(call, NULL));
        scene.seen[i] = call->seen;
        scene.seen[i].is_there = true;
        ask_release(&call->ask);
    }
    scene.seen[LESSORS].is_there = true;
    scene.log[0] = '\0';
}

/* The lessor has a counter that is behind, and one that is not. */
static void fill_stores(void)
{
    fake_claim_put(scene.stores[0], "synced/main", "run-0");
    fake_claim_put(scene.stores[0], "sequence/main/order", "bits of order");
    fake_put(scene.stores[0], "ticket/main/1/spool", 6);
    fake_put(scene.stores[0], "window/main/1/bill", 5);
    fake_put(scene.stores[0], "window/main/1/order@01", 1);
    fake_put(scene.stores[0], "window/main/1/order@02", 2);
    fake_put(scene.stores[0], "window/main/1/pay", 3);
    fake_put(scene.stores[0], "window/main/1/rose", 9);
    fake_put(scene.stores[0], "window/main/2/order@01", 4);
    fake_put(scene.stores[0], "window/main/odd", 8);
    fake_put(scene.stores[LEVELED], "window/main/1/bill", 2);
    fake_put(scene.stores[LEVELED], "window/main/1/rose", 9);
    fake_claim_put(scene.stores[2], "synced/main", "run-0");
    fake_claim_put(scene.stores[2], "retired/main", "n");
    fake_claim_put(scene.stores[2], "sequence/main/shut", "bits of shut");
    fake_put(scene.stores[2], "@window/main/1/shut", 7);
}

static int setup_stores(void **state)
{
    static struct seqb_backend_ops ops;
    struct fixture *f;

    ops = backend_fake;
    ops.claim = store_claim;
    ops.swap = store_swap;
    ops.list = store_list;
    ops.raise = store_raise;
    ops.purge = store_purge;
    (void)setup_of(state, &ops);
    f = scene.f = *state;
    scene.left = -1;
    scene.has_failed = false;
    scene.asks = 0;
    (void)text_copy(f->pool.name, sizeof f->pool.name, "main");
    (void)text_copy(f->pool.synced, sizeof f->pool.synced, "synced/main");
    f->pool.lessors.count = LESSORS;
    for (int32_t i = 0; i < LESSORS; i++)
        open_store(f, i, &ops);
    fill_stores();
    look(f);
    return 0;
}

static int teardown_stores(void **state)
{
    for (int32_t i = 0; i < LESSORS; i++) {
        connection_close(&scene.f->workers[i + 1].connection);
        fake_store_free(scene.stores[i]);
    }
    return teardown(state);
}

/* As it was in the beginning. */
static void renew(void)
{
    void *state = scene.f;

    (void)teardown_stores(&state);
    (void)setup_stores(&state);
}

#define STORES FIXTURE(struct fixture *f, setup_stores, teardown_stores)

static bool run(struct fixture *f, struct seqb_error *err)
{
    const struct sync sync = sync_of(&f->pool, scene.seen, LEVELED);

    return sync_run(&sync, err);
}

static void expect_claim(int32_t i, const char *name, const char *expected)
{
    char text[64];

    fake_claim_text(scene.stores[i], name, text, sizeof text);
    assert_string_equal(text, expected);
}

/* --- the steps --- */

/* A claim is there before the counter that is of it: a sync that is cut off
 * finds the counter lacking again. */
static const char steps[] =
    "1 swap synced/main '' -run-0\n"
    "0 swap known/main/1 '' run-0|run-0\n"
    "2 swap known/main/1 '' run-0|run-0\n"
    "0 claim retired/main ?\nsteps: 1\n"
    "steps: 1\n"
    "2 claim retired/main ?\nsteps: 1\n"
    "1 claim retired/main n\nsteps: 1\n"
    "1 list @window/main/ ''\n"
    "1 list ticket/main/ ''\n"
    "1 list window/main/ ''\n"
    "0 list ticket/main/ ''\n"
    "1 raise ticket/main/1/spool 6\nsteps: 1\n"
    "0 list window/main/ ''\n"
    "0 claim sequence/main/order ?\n"
    "0 claim sequence/main/pay ?\n"
    "0 claim sequence/main/order ?\nsteps: 3\n"
    "1 claim sequence/main/order bits of order\n"
    "1 claim sequence/main/order bits of order\nsteps: 3\n"
    "1 raise window/main/1/bill 5\n"
    "1 raise window/main/1/order@01 1\n"
    "1 raise window/main/1/order@02 2\n"
    "1 raise window/main/1/pay 3\n"
    "1 raise window/main/2/order@01 4\n"
    "1 raise window/main/odd 8\nsteps: 6\n"
    "0 list @window/main/ ''\n"
    "2 list ticket/main/ ''\n"
    "2 list window/main/ ''\n"
    "2 list @window/main/ ''\n"
    "2 claim sequence/main/shut ?\nsteps: 1\n"
    "1 claim sequence/main/shut bits of shut\nsteps: 1\n"
    "1 purge window/main/1/shut window/main/1/shut@0 7 0\nsteps: 1\n"
    "1 swap synced/main '-run-0' run-0\n";

TEST_WITH(STORES, lessor_learns_all_that_others_know_and_then_is_level)
{
    assert_true(run(f, NULL));
    assert_string_equal(scene.log, steps);
    assert_int_equal(scene.asks, 0);
    expect_claim(LEVELED, "sequence/main/order", "bits of order");
    expect_claim(LEVELED, "sequence/main/shut", "bits of shut");
    expect_claim(LEVELED, "retired/main", "n");
    expect_claim(LEVELED, "synced/main", "run-0");
}

static const struct {
    enum seqb_status status;
    const char *text;
    int steps;
} failures[FAILURES] = {{SEQB_UNREACHABLE, "it is away", 31},
                        {SEQB_NO_MEMORY, "out of memory", 30},
                        {SEQB_CLOSED, "the broker is closing", 24},
                        {SEQB_UNAVAILABLE, ": no answer in time", 24}};

/* Nothing is asked after step n, which fails. False if there is none. */
static bool ends_at(struct fixture *f, enum failure failure, int n)
{
    struct seqb_error err;
    bool is_done;

    scene.failure = failure;
    scene.left = n;
    is_done = run(f, &err);
    scene.left = -1;
    assert_int_equal(is_done, !scene.has_failed);
    assert_int_equal(scene.asks, 0);
    assert_memory_equal(scene.log, steps, strlen(scene.log));
    if (is_done)
        return false;
    assert_int_equal(err.status, failures[failure].status);
    assert_non_null(strstr(err.text, failures[failure].text));
    return true;
}

TEST_WITH(STORES, sync_ends_at_the_first_step_that_fails)
{
    for (enum failure failure = 0; failure < FAILURES; failure++) {
        int n = 0;

        while (ends_at(f, failure, n++))
            renew();
        assert_int_equal(n - 1, failures[failure].steps);
        assert_string_equal(scene.log, steps);
        renew();
    }
}

static const struct {
    int32_t lessor;
    const char *name;
    const char *text;
} swapped[] = {{LEVELED, "synced/main", "-run-7"},
               {2, "known/main/1", "run-7|run-0"}};

TEST_WITH(STORES, claim_that_another_broker_changed_is_not_replaced)
{
    for (size_t i = 0; i < COUNT_OF(swapped); i++) {
        struct seqb_error err = {SEQB_OK, ""};

        fake_claim_put(scene.stores[swapped[i].lessor], swapped[i].name,
                       swapped[i].text);
        assert_false(run(f, &err));
        assert_int_equal(err.status, SEQB_AGAIN);
        assert_string_equal(err.text, "another broker was faster");
        assert_int_equal(scene.asks, 0);
        expect_claim(swapped[i].lessor, swapped[i].name, swapped[i].text);
        renew();
    }
}

/* As many keys as a page has counters, and one more. The lessor has a single
 * counter, whose claim it does not need. */
TEST_WITH(STORES, page_that_is_full_is_not_the_last)
{
    char name[SEQB_COUNTER_SIZE];

    for (int i = 0; i <= CALL_LISTED; i++) {
        (void)text_format(name, sizeof name, "window/main/3/%03d@1", i);
        fake_put(scene.stores[2], name, 1);
    }
    fake_flush(scene.stores[LEVELED]);
    fake_put(scene.stores[LEVELED], "window/main/1/bill", 2);
    fake_claim_put(scene.stores[0], "sequence/main/bill", "bits");
    fake_claim_put(scene.stores[2], "sequence/main/255", "bits");
    fake_claim_put(scene.stores[2], "sequence/main/256", "bits of the last");
    assert_true(run(f, NULL));
    assert_int_equal(scene.asks, 0);
    assert_int_equal(fake_calls(scene.stores[2], FAKE_LIST), 4);
    assert_int_equal(fake_calls(scene.stores[LEVELED], FAKE_RAISE),
                     8 + CALL_LISTED + 1);
    assert_int_equal(fake_value(scene.stores[LEVELED], name), 1);
    expect_claim(LEVELED, "sequence/main/bill", "");
    expect_claim(LEVELED, "sequence/main/255", "bits");
    expect_claim(LEVELED, "sequence/main/256", "bits of the last");
}

static const struct {
    const char *counter;
    enum seqb_status status;
    bool is_level;
} refused[] = {{"window/main/1/order@01", SEQB_EXHAUSTED, true},
               {"window/main/1/order@01", SEQB_REFUSED, false},
               {"window/main/1/pay", SEQB_EXHAUSTED, false}};

/* The lessor may have deleted the counter of a period, and leases nothing of
 * it. */
TEST_WITH(STORES, counter_that_is_over_need_not_be_raised)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct seqb_error err;

        fake_refuse(scene.stores[LEVELED], FAKE_RAISE, refused[i].counter,
                    refused[i].status);
        assert_int_equal(run(f, &err), refused[i].is_level);
        assert_true(connection_is_open(&f->workers[LEVELED + 1].connection));
        renew();
    }
}

/* --- a call --- */

static const struct {
    bool rests, is_tried, is_lost, is_fresh;
    enum seqb_status status;
    const char *text;
} unasked[] = {
    {true, false, false, false, SEQB_UNAVAILABLE, "quarantined: it rests"},
    {false, true, true, false, SEQB_UNAVAILABLE, "its server is down"},
    {false, false, true, false, SEQB_UNREACHABLE, "is down"},
    {false, false, false, true, SEQB_UNREACHABLE, "is down"},
};

TEST_WITH(STORES, store_that_cannot_be_asked_is_not)
{
    struct worker *worker = &f->workers[LEVELED + 1];
    struct pool_member *member = &f->pool.pool.member[LEVELED + 1];

    for (size_t i = 0; i < COUNT_OF(unasked); i++) {
        struct endpoint server = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .gate = {unasked[i].is_tried, INT64_MAX}};
        struct call *call = call_new(&f->pool, LEVELED);
        struct seqb_error err;

        call->run = call_read;
        call->is_fresh = unasked[i].is_fresh;
        if (unasked[i].rests)
            member->state = SEQB_PARTITION_QUARANTINED;
        (void)text_copy(member->reason, sizeof member->reason, "it rests");
        if (unasked[i].is_lost)
            connection_close(&worker->connection);
        worker->connection.serial += unasked[i].is_lost;
        worker->connection.endpoint = &server;
        fake_set_down(scene.stores[LEVELED], true);
        assert_false(call_ask(call, &err));
        assert_int_equal(err.status, unasked[i].status);
        assert_non_null(strstr(err.text, unasked[i].text));
        assert_string_equal(scene.log, "");
        worker->connection.endpoint = NULL;
        renew();
    }
}
