/* SPDX-License-Identifier: Apache-2.0 */
/* Answers by the letters of a row. */
#include "unit/visit_script.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/log.h"
#include "platform/text.h"
#include "support/wrap.h"

#define PER_STEP   2  /* claims */
#define CHECKS_MAX 64 /* more than any visit needs */
#define NOW_MS     INT64_C(1000000)

struct visit_script scene;

static bool is_visiting;
static int allocations;  /* since it began */
static int no_memory_at; /* the one that fails; -1: none does */

/* Behind the memory is a counter that is NULL, for a loop that goes too far. */
WRAPPED(void *, calloc, size_t n, size_t size)
{
    if (is_visiting && allocations++ == no_memory_at)
        return NULL;
    scene.allocated_count += is_visiting;
    return __real_calloc(1, n * size + sizeof(struct admitted));
}

WRAPPED(void, free, void *memory)
{
    scene.allocated_count -= is_visiting && memory != NULL;
    __real_free(memory);
}

static void log_word(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static void log_word(const char *format, ...)
{
    const size_t length = strlen(scene.log);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(&scene.log[length], sizeof scene.log - length, format,
                    arguments);
    va_end(arguments);
    assert_true(text_append(scene.log, sizeof scene.log, " "));
}

static size_t index_of(const char *key)
{
    const char *keys = scene.row->keys;

    return (size_t)(strchr(keys, key[0]) - keys);
}

/* What the store says of it alone. */
static enum seqb_status answer(const char *key, struct seqb_error *err)
{
    struct admitted *admitted = &scene.admission->admitted[index_of(key)];
    const char letter = scene.row->claims[index_of(key)];
    const enum seqb_status status = letter == 'f'   ? SEQB_REFUSED
                                    : letter == 'u' ? SEQB_UNREACHABLE
                                                    : SEQB_LAYOUT;

    if (strchr("lLfu", letter) == NULL)
        return SEQB_OK;
    if (letter == 'L') {
        admitted->is_refused = true;
        admitted->reason = text_copy_of("another store was first");
    }
    return error_set(err, status, "it says no to %s", key);
}

/* --- the batch --- */

static void batch_add(const char *key)
{
    assert_true(scene.batch.count < sizeof scene.batch.letters);
    scene.batch.letters[scene.batch.count++] = scene.row->claims[index_of(key)];
}

WRAPPED(struct claim_batch *, claim_batch_new, void)
{
    return scene.row->has_no_batch ? NULL : calloc(1, 1);
}

WRAPPED(void, claim_batch_begin, struct claim_batch *batch)
{
    assert_non_null(batch);
    log_word("begin");
    scene.batch.count = scene.batch.sent = 0;
}

WRAPPED(void, claim_batch_add, struct claim_batch *batch,
        const struct connection *connection,
        const struct claim_attributes *attributes)
{
    (void)batch;
    assert_int_equal(connection->serial, SERIAL);
    log_word("+%s", attributes->key);
    batch_add(attributes->key);
}

WRAPPED(void, claim_batch_add_absent, struct claim_batch *batch,
        const struct layout *layout, int32_t generation, const char *key)
{
    (void)batch;
    assert_int_equal(generation, layout->generation);
    log_word("?%s", key);
    batch_add(key);
}

/* As of two generations, of which the first does not know it. */
WRAPPED(void, claim_batch_add_moved, struct claim_batch *batch,
        const struct layout *other, const char *key)
{
    (void)batch;
    log_word("%s?%s", other->name, key);
    batch_add(key);
    scene.batch.letters[scene.batch.count - 1] = '.';
    batch_add(key);
}

WRAPPED(size_t, claim_batch_count, const struct claim_batch *batch)
{
    (void)batch;
    return scene.batch.count;
}

WRAPPED(enum seqb_status, claim_batch_step, struct claim_batch *batch,
        struct connection *connection, struct seqb_error *err)
{
    (void)batch;
    (void)connection;
    log_word("step");
    if (scene.row->steps != SEQB_OK)
        return error_set(err, scene.row->steps, "it says no");
    scene.batch.sent += PER_STEP;
    return SEQB_OK;
}

WRAPPED(bool, claim_batch_is_done, const struct claim_batch *batch)
{
    (void)batch;
    return scene.batch.sent >= scene.batch.count;
}

WRAPPED(bool, claim_batch_stands, const struct claim_batch *batch, size_t i)
{
    (void)batch;
    if (i >= scene.batch.count)
        log_word("beyond");
    return i < scene.batch.sent && scene.batch.letters[i] == '.';
}

/* --- one counter --- */

WRAPPED(enum seqb_status, claim_sequence, struct connection *connection,
        const struct claim_attributes *attributes, struct seqb_error *err)
{
    (void)connection;
    log_word("one:%s", attributes->key);
    return answer(attributes->key, err);
}

WRAPPED(enum seqb_status, claim_check_retired, struct connection *connection,
        const struct layout *layout, struct seqb_error *err)
{
    const char *retired = scene.row->retired;

    (void)connection;
    log_word("retired:%s", layout->name);
    if (retired == NULL || strcmp(layout->name, retired) != 0)
        return SEQB_OK;
    return error_set(err, SEQB_LAYOUT, "%s is retired", retired);
}

WRAPPED(enum seqb_status, claim_check_moved, struct connection *connection,
        const struct layout *other, const char *key, const char *pool,
        struct seqb_error *err)
{
    (void)connection;
    assert_string_equal(pool, key[0] == 'd'   ? "other"
                              : key[0] == 'e' ? "strange"
                                              : "main");
    log_word("moved:%s:%s", other->name, key);
    return answer(key, err);
}

WRAPPED(enum seqb_status, claim_read_sequence, struct connection *connection,
        const struct claim_attributes *attributes, int32_t generation,
        char *out, size_t size, struct seqb_error *err)
{
    (void)connection;
    assert_int_equal(generation, attributes->layout->generation);
    log_word("read:%s", attributes->key);
    (void)text_copy(out, size,
                    scene.row->claims[index_of(attributes->key)] == 'k' ? "x"
                                                                        : "");
    return answer(attributes->key, err);
}

/* --- the worker and the asker --- */

WRAPPED(enum seqb_status, worker_connect, struct worker *worker,
        struct seqb_error *err)
{
    (void)worker;
    log_word("connect");
    return ++scene.connects != scene.row->unreachable_at
               ? SEQB_OK
               : error_set(err, SEQB_UNREACHABLE, "it is away");
}

WRAPPED(void, worker_fail, struct worker *worker, const struct seqb_error *why,
        int64_t elapsed_us)
{
    (void)worker;
    assert_int_equal(why->status, SEQB_UNREACHABLE);
    assert_int_equal(elapsed_us, 0);
    log_word("fail");
}

WRAPPED(bool, worker_is_usable, struct worker *worker)
{
    (void)worker;
    scene.looks++;
    return scene.row->unusable_at == 0 || scene.looks < scene.row->unusable_at;
}

WRAPPED(bool, ask_is_over, const struct ask *ask)
{
    assert_ptr_equal(ask, &scene.ask);
    assert_true(++scene.checks < CHECKS_MAX);
    return scene.row->over_at != 0 && scene.checks >= scene.row->over_at;
}

WRAPPED(void, ask_step, struct ask *ask)
{
    assert_ptr_equal(ask, &scene.ask);
    log_word(".");
    scene.now_ms += scene.row->step_ms;
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return scene.now_ms;
}

WRAPPED(void, log_line, enum seqb_log_level level, const char *format, ...)
{
    va_list arguments;
    size_t done;

    (void)level;
    va_start(arguments, format);
    assert_string_equal(va_arg(arguments, const char *), "b");
    done = va_arg(arguments, size_t);
    log_word("log:%zu/%zu", done, va_arg(arguments, size_t));
    va_end(arguments);
}

static void pool_like(struct ha_pool *pool, const struct ha_pool *main,
                      const char *name)
{
    *pool = *main;
    pool->options = &pool->current;
    pool->current.layout.name = name;
}

int visit_setup(void **state)
{
    static const char *const keys[COUNTERS] = {"a", "b", "c", "d", "e"};
    static struct seqb_backend backend;
    struct fixture *f;

    memset(&scene, 0, sizeof scene);
    (void)setup_direct(state);
    f = *state;
    pool_like(&scene.other, &f->pool, "other");
    pool_like(&scene.strange, &f->pool, "strange");
    scene.options.backend_count = PARTITIONS;
    scene.ha.options = &scene.options;
    connect_worker(f, WORKER, &backend);
    f->workers[WORKER].connection.serial = SERIAL;
    f->workers[WORKER].all = f->workers;
    f->workers[WORKER].all_count = PARTITIONS;
    f->workers[WORKER].memberships = scene.memberships;
    scene.memberships[0] = (struct worker_membership){&f->pool, MEMBER};
    scene.memberships[1] = (struct worker_membership){&scene.other, PARTITIONS};
    scene.memberships[2] = (struct worker_membership){&scene.strange, 0};
    for (size_t i = 0; i < COUNTERS; i++)
        assert_ok(ha_counter_new(i < 3    ? &f->pool
                                 : i == 3 ? &scene.other
                                          : &scene.strange,
                                 keys[i], MEMORY_BITS, &f->sink,
                                 &scene.counters[i], NULL));
    return 0;
}

/* A test may have failed with the lock held. */
int visit_teardown(void **state)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (size_t i = 0; i < COUNTERS; i++)
        ha_counter_free(scene.counters[i]);
    return teardown(state);
}

void visit_make(const struct visit_row *row)
{
    const size_t count = strlen(row->keys);
    struct ha_counter *counters[COUNTERS];

    for (size_t i = 0; i < count; i++) {
        counters[i] = scene.counters[row->keys[i] - 'a'];
        counters[i]->is_void = row->claims[i] == 'v';
        counters[i]->claims_read = 0;
        counters[i]->slots[MEMBER].admitted_on = 0;
    }
    scene.admission =
        admission_new(&scene.ha, row->visit != NULL ? row->visit : &visit_claim,
                      counters, count);
    assert_non_null(scene.admission);
    for (size_t i = 0; i < count; i++) {
        scene.admission->admitted[i].is_refused = row->claims[i] == 'r';
        scene.admission->admitted[i].is_known = row->claims[i] == 'K';
    }
}

static size_t membership_count_of(const struct visit_row *row)
{
    if (row->membership_count == 0)
        return 2;
    return row->membership_count < 0 ? 0 : (size_t)row->membership_count;
}

enum seqb_status visit_play(struct fixture *f, const struct visit_row *row,
                            int fails_at, struct seqb_error *err)
{
    enum seqb_status status;

    scene.row = row;
    visit_make(row);
    f->workers[WORKER].membership_count = membership_count_of(row);
    scene.other.current.layout.generation = row->generation;
    scene.checks = scene.looks = scene.connects = 0;
    scene.now_ms = NOW_MS;
    scene.log[0] = '\0';
    allocations = 0;
    no_memory_at = fails_at;
    is_visiting = true;
    status = visit_all(&f->workers[WORKER], scene.admission, &scene.ask, err);
    is_visiting = false;
    return status;
}
