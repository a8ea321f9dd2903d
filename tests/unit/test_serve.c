/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker's thread does with what was posted to it, and what it asks its
 * store by itself: in a probe, and in a look. The test is the store. The thread
 * stops after the first call. When it is due is in test_rescue.c and
 * test_look.c. */
#include <errno.h>
#include <string.h>

#include "ha/worker_connection.h"
#include "platform/text.h"
#include "unit/slot_fixture.h"

#define WORKER 1

/* The worker's store: what it was asked, and what it answers. */
static struct {
    struct seqb_backend backend;
    struct worker *worker;
    enum seqb_status status;
    char log[128];
    int64_t at_ms; /* the last call */
} store;

static void store_log(const char *text)
{
    pthread_mutex_lock(&lock);
    store.worker->is_stopping = true;
    pthread_mutex_unlock(&lock);
    store.at_ms = clock_now_ms();
    if (strstr(store.log, text) == NULL)
        (void)text_append(store.log, sizeof store.log, "%s;", text);
}

static int64_t still_ms;  /* the clock; 0: it goes on */
static int64_t waited_ms; /* the end of the last wait */
static bool no_thread_starts;
static char thread_name[16];

int64_t __real_clock_now_ms(void);
int64_t __wrap_clock_now_ms(void);
bool __real_condition_wait(pthread_cond_t *condition, pthread_mutex_t *held,
                           int64_t until_ms);
bool __wrap_condition_wait(pthread_cond_t *condition, pthread_mutex_t *held,
                           int64_t until_ms);
int __real_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);

int64_t __wrap_clock_now_ms(void)
{
    return still_ms != 0 ? still_ms : __real_clock_now_ms();
}

bool __wrap_condition_wait(pthread_cond_t *condition, pthread_mutex_t *held,
                           int64_t until_ms)
{
    waited_ms = until_ms;
    return __real_condition_wait(condition, held, until_ms);
}

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    return no_thread_starts
               ? EAGAIN
               : __real_pthread_create(out, attributes, run, argument);
}

int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    (void)thread;
    (void)text_copy(thread_name, sizeof thread_name, name);
    return 0;
}

static enum seqb_status store_answer(struct seqb_error *err)
{
    return store.status == SEQB_OK ? SEQB_OK
                                   : error_set(err, store.status, "it says no");
}

static enum seqb_status store_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    (void)options;
    (void)out;
    store_log("open");
    return error_set(err, SEQB_UNREACHABLE, "it is away");
}

static enum seqb_status store_reserve(struct seqb_backend *backend,
                                      struct seqb_request *requests, size_t n,
                                      struct seqb_error *err)
{
    char text[32];

    (void)backend;
    (void)text_format(text, sizeof text, n == 1 ? "want %d" : "%d slots",
                      n == 1 ? (int)requests[0].want : (int)n);
    store_log(text);
    for (size_t i = 0; i < n; i++) {
        requests[i].status = SEQB_REFUSED;
        (void)error_set(&requests[i].error, SEQB_REFUSED, "no rights");
    }
    return store_answer(err);
}

static enum seqb_status store_claim(struct seqb_backend *backend,
                                    const char *name, const char *text,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    (void)backend;
    (void)text;
    store_log(strcmp(name, CLAIM_STORE) == 0 ? "look" : "verify");
    (void)text_copy(standing, size, "");
    return store_answer(err);
}

static enum seqb_status store_clock(struct seqb_backend *backend,
                                    int64_t *out_ms, struct seqb_error *err)
{
    (void)backend;
    (void)err;
    *out_ms = 0;
    return SEQB_OK;
}

static void store_close(struct seqb_backend *backend)
{
    (void)backend;
    (void)text_append(store.log, sizeof store.log, "close;");
}

static const struct seqb_backend_ops store_ops = {.engine = "test",
                                                  .open = store_open,
                                                  .reserve = store_reserve,
                                                  .claim = store_claim,
                                                  .clock = store_clock,
                                                  .close = store_close};

static int setup_worker(void **state)
{
    struct fixture *f;

    (void)setup_of(state, &store_ops);
    f = *state;
    f->pool.pool.members = PARTITIONS + 1;
    connect_worker(f, WORKER, &store.backend);
    f->workers[WORKER].is_serving = true;
    store.backend.ops = &store_ops;
    store.worker = &f->workers[WORKER];
    store.status = SEQB_OK;
    store.log[0] = '\0';
    still_ms = 0;
    return 0;
}

#define SERVED FIXTURE(struct fixture *f, setup_worker, teardown)

/* Runs the thread until it was stopped. */
static void serve(struct fixture *f)
{
    assert_ok(worker_start(&f->workers[WORKER], NULL));
    worker_join(&f->workers[WORKER]);
}

/* --- probes and looks --- */

enum fact {
    IS_RESTING = 1,     /* the partition: so a probe is due, else a look */
    IS_SILENT = 2,      /* its store let a call pass its time-out */
    IS_FAILING = 4,     /* its store's next call */
    IS_CLOSED = 8,      /* its connection */
    IS_DOUBTED = 16,    /* the same */
    HAS_NO_RECENT = 32, /* the pool was asked for nothing yet */
    IS_VOID = 64,       /* the sequence, as the next four */
    IS_UNLISTED = 128,
    IS_BUSY = 256,
    IS_OVER = 512,
    IS_UNHEARD = 1024,
    IS_REFUSED = 2048,
    IS_AUTHORITY = 4096, /* the member is no partition */
    IS_REFUSING = 8192,  /* its store */
    IS_CHANGED = 16384,  /* its connection: the claims were not compared */
    IS_SPENT = 32768     /* the sequence's cell */
};

static void set_counter(struct fixture *f, int facts)
{
    static const struct ha_counter_attributes asks = {
        .claim = "", .value_bits = 63, .asks_first = true};
    struct ha_counter *counter = f->counter;

    counter->is_void = (facts & IS_VOID) != 0;
    counter->is_unlisted = (facts & IS_UNLISTED) != 0;
    counter->slots[WORKER].is_busy = (facts & IS_BUSY) != 0;
    counter->slots[WORKER].is_windowed = (facts & IS_SPENT) != 0;
    if ((facts & IS_OVER) != 0)
        counter->stamp = (struct ha_stamp){1, 1, 2};
    if ((facts & IS_UNHEARD) != 0)
        ha_counter_set_attributes(counter, &asks);
    if ((facts & IS_REFUSED) != 0) {
        ask(f, WORKER, 8);
        refuse(f, WORKER, SEQB_REFUSED, true);
    }
}

static struct pool_member *member_of(struct fixture *f)
{
    return &f->pool.pool.member[f->workers[WORKER].memberships->member];
}

static void set_store(struct fixture *f, int facts)
{
    struct worker *worker = &f->workers[WORKER];
    struct pool_member *member;

    if ((facts & IS_AUTHORITY) != 0)
        worker->memberships->member = PARTITIONS;
    member = member_of(f);
    f->pool.current.check_interval_ms = 1;
    if ((facts & IS_RESTING) != 0)
        member->state = SEQB_PARTITION_QUARANTINED;
    else
        member->state = SEQB_PARTITION_UP;
    still_ms = clock_now_ms(); /* it is due just now */
    member->next_probe_ms = member->next_look_ms = still_ms;
    member->unanswered = (facts & IS_SILENT) != 0;
    member->is_silent = true;
    store.status = (facts & IS_FAILING) != 0    ? SEQB_UNREACHABLE
                   : (facts & IS_REFUSING) != 0 ? SEQB_REFUSED
                                                : SEQB_OK;
    if ((facts & IS_CLOSED) != 0)
        worker->connection.backend = NULL;
    if ((facts & IS_CHANGED) != 0)
        worker->connection.serial++;
    worker->is_doubted = (facts & IS_DOUBTED) != 0;
    f->pool.recent = (facts & HAS_NO_RECENT) != 0 ? NULL : f->counter;
}

static const struct served {
    int facts;
    int64_t want; /* of the last ask */
    const char *log;
    enum {
        FAILS,
        RISES,  /* the probe succeeded */
        WORKS,  /* the store is not silent, and no number was asked for */
        ANSWERS /* it answers when numbers are asked for, as far as is known */
    } outcome;
} served[] = {
    /* A probe asks for as much as the last ask. */
    {IS_RESTING, 0, "want 1;close;", RISES},
    {IS_RESTING, 1, "want 1;close;", RISES},
    {IS_RESTING, 64, "want 64;close;", RISES},
    {IS_RESTING, 65, "want 64;close;", RISES},
    {IS_RESTING | IS_FAILING, 8, "want 8;close;", FAILS},
    {IS_RESTING | IS_CLOSED, 8, "open;", FAILS},
    {IS_RESTING | IS_DOUBTED, 8, "close;open;", FAILS},
    /* Without a number it compares claims, here a partition of another store.
     */
    {IS_RESTING | HAS_NO_RECENT, 8, "look;verify;close;", FAILS},
    {IS_RESTING | IS_VOID, 8, "look;verify;close;", FAILS},
    {IS_RESTING | IS_UNLISTED, 8, "look;verify;close;", FAILS},
    {IS_RESTING | IS_BUSY, 8, "look;verify;close;", FAILS},
    {IS_RESTING | IS_OVER, 8, "look;verify;close;", FAILS},
    {IS_RESTING | IS_UNHEARD, 8, "look;verify;close;", FAILS},
    {IS_RESTING | IS_REFUSED, 8, "look;verify;close;", FAILS},
    {IS_RESTING | IS_AUTHORITY, 8, "look;verify;close;", RISES},
    /* A look asks for no number. */
    {0, 8, "look;close;", WORKS},
    {IS_REFUSING, 8, "look;close;", WORKS},
    {IS_FAILING, 8, "look;close;", FAILS},
    {IS_CLOSED, 8, "open;", FAILS},
    {IS_DOUBTED, 8, "close;open;", FAILS},
    {IS_CHANGED, 8, "look;verify;close;", FAILS},
    /* Of a store that is silent one number is asked for. */
    {IS_SILENT, 8, "want 1;close;", ANSWERS},
    {IS_SILENT | IS_SPENT, 8, "want 1;close;", ANSWERS},
    {IS_SILENT | IS_VOID, 8, "look;close;", WORKS},
    {IS_SILENT | IS_AUTHORITY, 8, "look;close;", WORKS},
    {IS_SILENT | HAS_NO_RECENT, 8, "look;close;", ANSWERS},
    {IS_SILENT | HAS_NO_RECENT | IS_AUTHORITY, 8, "look;close;", WORKS},
};

static void expect_outcome(struct fixture *f, const struct served *row)
{
    const struct worker *worker = &f->workers[WORKER];
    const struct pool_member *member = member_of(f);

    assert_string_equal(store.log, row->log);
    assert_int_equal(member->reason[0] != '\0', row->outcome == FAILS);
    assert_int_equal(member->successes, row->outcome == RISES);
    assert_int_equal(member->is_silent, row->outcome == FAILS);
    assert_int_equal(member->unanswered,
                     row->outcome == WORKS && (row->facts & IS_SILENT) != 0);
    assert_int_equal(member->slow, 0);
    assert_int_equal(member->latency_us > 0,
                     row->outcome == RISES || row->outcome == ANSWERS);
    assert_true(member->latency_us < INT64_C(60000000));
    assert_int_equal(member->next_look_ms > still_ms,
                     (row->facts & IS_RESTING) == 0);
    assert_false(worker->is_probing);
    assert_false(worker->is_looking);
}

TEST_WITH(SERVED, store_is_asked_what_shows_how_it_is)
{
    for (size_t i = 0; i < COUNT_OF(served); i++) {
        const struct served *row = &served[i];
        void *state;

        print_message("  row %zu: %s\n", i, row->log);
        f->counter->slots[WORKER].want = row->want;
        set_counter(f, row->facts);
        set_store(f, row->facts);
        serve(f);
        expect_outcome(f, row);
        ha_counter_free(f->counter);
        (void)setup_worker(&state);
    }
}

TEST_WITH(SERVED, thread_is_named_after_its_backend_or_is_none)
{
    struct worker *worker = &f->workers[WORKER];
    struct seqb_error err;

    set_store(f, 0);
    serve(f);
    assert_string_equal(thread_name, "seqb:b");
    no_thread_starts = true;
    assert_int_equal(worker_start(worker, &err), SEQB_NO_MEMORY);
    no_thread_starts = false;
    assert_false(worker->is_started);
}

/* The probe is the next attempt. */
TEST_WITH(SERVED, probe_waits_until_a_server_that_is_down_may_be_tried)
{
    const int64_t next_ms = clock_now_ms() + 20;
    struct endpoint server = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .gate = {true, next_ms}};

    set_store(f, IS_RESTING | IS_CLOSED);
    still_ms = 0;
    connection_change(&f->workers[WORKER].connection, &f->store, &server);
    serve(f);
    assert_string_equal(store.log, "open;");
    assert_int_equal(waited_ms, next_ms); /* it does not spin */
    assert_true(store.at_ms >= next_ms);
    assert_int_equal(member_of(f)->next_look_ms, next_ms);
}

TEST_WITH(SERVED, connection_that_was_lost_is_opened_again)
{
    f->workers[WORKER].wanted = &f->store;
    worker_connect_again(&f->workers[WORKER]);
    serve(f);
    assert_string_equal(store.log, "close;open;");
}

/* --- what was posted --- */

static struct seqb_error told; /* the last slot */
static size_t answers;         /* of slots */

static void count(struct slot *slot)
{
    told = *slot->why;
    answers++;
}

static void log_call(struct worker *worker, struct worker_job *job)
{
    (void)worker;
    (void)job;
    store_log("call");
}

static void log_abandon(struct worker_job *job)
{
    (void)job;
    store_log("abandon");
}

static void post_slots(struct fixture *f, size_t n)
{
    static struct slot slots[WORKER_BATCH];

    answers = 0;
    for (size_t i = 0; i < n; i++) {
        slots[i] = (struct slot){.counter = NULL};
        slot_init(&slots[i], f->counter, WORKER);
        slots[i].admitted_on = 1;
        slots[i].want = 1;
        slots[i].done = count;
        assert_true(worker_push(&f->workers[WORKER], &slots[i].job));
    }
}

/* A call is made where it stands, between two batches. */
TEST_WITH(SERVED, slots_are_served_in_batches_and_calls_one_by_one)
{
    static struct worker_job call = {.call = log_call};

    post_slots(f, WORKER_BATCH);
    assert_true(worker_push(&f->workers[WORKER], &call));
    ask(f, WORKER, 7);
    assert_true(
        worker_push(&f->workers[WORKER], &f->counter->slots[WORKER].job));
    serve(f);
    assert_string_equal(store.log, "64 slots;call;want 7;close;");
    assert_int_equal(answers, WORKER_BATCH);
    assert_int_equal(f->deliveries, 1);
}

TEST_WITH(SERVED, what_was_not_served_before_the_stop_is_abandoned)
{
    static struct worker_job jobs[] = {
        {.call = log_call, .abandon = log_abandon}, {.call = log_call}};
    struct worker *worker = &f->workers[WORKER];

    assert_true(worker_push(worker, &jobs[0]));
    post_slots(f, 1);
    assert_true(worker_push(worker, &jobs[1]));
    worker_stop(worker);
    serve(f);
    assert_string_equal(store.log, "abandon;close;");
    assert_int_equal(answers, 1);
    assert_int_equal(told.status, SEQB_CLOSED);
    assert_string_equal(told.text, "the broker is closing");
}
