/* SPDX-License-Identifier: Apache-2.0 */
/* Brokers over fake stores. */
#include "support/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ha/policy/round_robin.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "queue/sequence.h"
#include "support/events.h"
#include "support/folder.h"
#include "support/test.h"

#define AT_ONCE 64 /* numbers in one call of rig_take */

static const char *const store_names[] = {"store-0", "store-1", "store-2",
                                          "store-3", "authority"};
static const char *const backend_names[] = {"b0", "b1", "b2", "b3", "auth"};

int64_t rig_patience_end(void)
{
    return clock_now_ms() + RIG_PATIENCE_MS;
}

void rig_wait(int64_t until_ms, const char *condition)
{
    if (clock_now_ms() > until_ms)
        fail_msg("waited for, and did not come: %s", condition);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

void rig_await(bool (*is_true)(void *context), void *context)
{
    RIG_AWAIT(is_true(context));
}

void rig_expect_words(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("'%s' does not say '%s'", text, words);
}

size_t rig_scaled(size_t count)
{
    return count / SEQB_TEST_SCALE;
}

/* --- setting up --- */

static void backend_set(struct rig *rig, size_t i, size_t store,
                        const struct seqb_backend_ops *ops)
{
    rig->backends[i] = (struct store_options){
        .ops = ops,
        .options = {.name = backend_names[store],
                    .path = store_names[store],
                    .timeout_ms = RIG_PATIENCE_MS,
                    .connect_timeout_ms = RIG_PATIENCE_MS}};
}

void rig_shape(struct rig *rig, enum rig_kind kind, int32_t bits)
{
    const size_t partitions = (size_t)1 << bits;
    const bool has_leases = kind == RIG_WINDOWED || kind == RIG_CELLS;

    rig->kind = kind;
    for (size_t i = 0; i < partitions; i++) {
        backend_set(rig, i, i,
                    kind == RIG_WINDOWED ? &backend_fake_windowed
                                         : &backend_fake);
        rig->pool.layout.partitions[i] = (int32_t)i;
    }
    backend_set(rig, partitions, RIG_PARTITIONS, &backend_fake);
    rig->pool.layout.bits = bits;
    rig->pool.layout.authority = has_leases ? (int32_t)partitions : -1;
    rig->pool.layout.all_windowed = kind == RIG_CELLS;
    rig->pool.layout.neighbours = kind == RIG_NEIGHBOURS;
    for (size_t i = 0; i < partitions; i++)
        rig->backends[i].options.needs_incarnation = kind == RIG_NEIGHBOURS;
    rig->ha.backend_count = partitions + has_leases;
}

void rig_set_timeout(struct rig *rig, int32_t timeout_ms)
{
    rig->pool.timeout_ms = timeout_ms;
    for (size_t i = 0; i < rig->ha.backend_count; i++) {
        rig->backends[i].options.timeout_ms = timeout_ms;
        rig->backends[i].options.connect_timeout_ms = timeout_ms;
    }
}

void rig_set_down(struct rig *rig, bool is_down)
{
    for (int32_t i = 0; i < 1 << rig->pool.layout.bits; i++)
        fake_set_down(rig->stores[i], is_down);
}

static void sequence_describe(struct queue_sequence_options *out,
                              const char *key)
{
    *out = (struct queue_sequence_options){
        .key = key,
        .memory_bits = 2,
        .deadline_ms = RIG_PATIENCE_MS,
        .runway_ms = 10,
        .max_unused = 1024,
        .prefetch = false,
    };
}

static void rig_set_options(struct rig *rig)
{
    rig->pool = (struct ha_pool_options){
        .layout.name = "main",
        .layout.window_bits = 8,
        .timeout_ms = RIG_PATIENCE_MS,
        .slow_count = 2,
        .slow_window_ms = RIG_FOREVER_MS,
        .rescue_after_ms = 400,
        .rescue = HA_RESCUE_BACKOFF,
        .layout.failover_gap = 1000,
    };
    rig->ha = (struct ha_options){
        .backends = rig->backends,
        .pools = &rig->pool,
        .pool_count = 1,
        .open_timeout_ms = RIG_PATIENCE_MS,
    };
    sequence_describe(&rig->sequences[0], "order");
    sequence_describe(&rig->sequences[1], "bill");
    sequence_describe(&rig->automatic, NULL);
    rig->queue = (struct queue_options){
        .interval_ms = 5,
        .sequences = rig->sequences,
        .sequence_count = 1,
        .warm_timeout_ms = RIG_PATIENCE_MS,
    };
}

const char *rig_file(struct rig *rig, const char *name)
{
    if (rig->folder[0] == '\0')
        assert_true(folder_make(rig->folder, sizeof rig->folder));
    assert_true(
        text_format(rig->path, sizeof rig->path, "%s/%s", rig->folder, name));
    return rig->path;
}

static int rig_setup(void **state, enum rig_kind kind, int32_t bits)
{
    struct rig *rig = calloc(1, sizeof *rig);

    if (rig == NULL)
        return -1;
    for (size_t i = 0; i < RIG_PARTITIONS; i++)
        rig->stores[i] = fake_store_new(store_names[i]);
    rig->authority = fake_store_new(store_names[RIG_PARTITIONS]);
    for (size_t i = 0; i < RIG_BROKERS_MAX; i++)
        rig->brokers[i].rig = rig;
    numbers_init(&rig->taken);
    rig_set_options(rig);
    rig_shape(rig, kind, bits);
    *state = rig;
    return 0;
}

int rig_setup_direct(void **state)
{
    return rig_setup(state, RIG_DIRECT, 1);
}

int rig_setup_windowed(void **state)
{
    return rig_setup(state, RIG_WINDOWED, 1);
}

int rig_setup_cells(void **state)
{
    return rig_setup(state, RIG_CELLS, 1);
}

int rig_setup_neighbours(void **state)
{
    return rig_setup(state, RIG_NEIGHBOURS, 1);
}

int rig_setup_one_direct(void **state)
{
    return rig_setup(state, RIG_DIRECT, 0);
}

int rig_setup_one_windowed(void **state)
{
    return rig_setup(state, RIG_WINDOWED, 0);
}

/* Whether the store's user kept the contract; it must be closed. */
static bool store_was_used_well(struct fake_store *store)
{
    return fake_misuses(store) == 0 && fake_open_backends(store) == 0;
}

int rig_teardown(void **state)
{
    struct rig *rig = *state;
    size_t repeats;
    bool is_well = true;

    for (size_t i = 0; i < RIG_PARTITIONS; i++)
        fake_release(rig->stores[i]);
    fake_release(rig->authority);
    for (size_t i = 0; i < RIG_BROKERS_MAX; i++)
        rig_close(&rig->brokers[i]);
    events_stop();
    for (size_t i = 0; i < RIG_PARTITIONS; i++) {
        is_well = store_was_used_well(rig->stores[i]) && is_well;
        fake_store_free(rig->stores[i]);
    }
    is_well = store_was_used_well(rig->authority) && is_well;
    fake_store_free(rig->authority);
    repeats = numbers_repeats(&rig->taken);
    numbers_fini(&rig->taken);
    if (rig->folder[0] != '\0')
        folder_remove(rig->folder);
    free(rig);
    if (!is_well)
        print_error("a backend was misused or left open\n");
    if (repeats > 0)
        print_error("%zu numbers were taken twice\n", repeats);
    return is_well && repeats == 0 ? 0 : -1;
}

/* --- brokers --- */

void rig_forget(struct rig_broker *broker)
{
    broker->ha = NULL;
    broker->queue = NULL;
}

void rig_close(struct rig_broker *broker)
{
    queue_stop(broker->queue);
    ha_close(broker->ha);
    queue_free(broker->queue);
    rig_forget(broker);
}

enum seqb_status rig_try_open(struct rig *rig, struct rig_broker **out,
                              struct seqb_error *err)
{
    struct rig_broker *broker = rig->brokers;
    enum seqb_status status;

    while (broker->ha != NULL)
        broker++;
    assert_true(broker < rig->brokers + RIG_BROKERS_MAX);
    status = ha_open(&rig->ha, &broker->ha, err);
    if (status == SEQB_OK)
        status = queue_open(&rig->queue, broker->ha, &broker->queue, err);
    if (status == SEQB_OK)
        *out = broker;
    else
        rig_close(broker);
    return status;
}

struct rig_broker *rig_open(struct rig *rig)
{
    struct rig_broker *broker = NULL;
    struct seqb_error err;

    if (rig_try_open(rig, &broker, &err) != SEQB_OK)
        fail_msg("cannot open: %s", err.text);
    return broker;
}

enum seqb_status rig_find(struct rig_broker *broker, const char *key,
                          struct seqb_sequence **out, struct seqb_error *err)
{
    enum seqb_status status;

    do
        status = queue_find(broker->queue, key, out, err);
    while (status == SEQB_UNAVAILABLE &&
           strstr(err->text, "are asked whether") != NULL);
    return status;
}

struct seqb_sequence *rig_sequence(struct rig_broker *broker, const char *key)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err;

    if (queue_find(broker->queue, key, &sequence, &err) != SEQB_OK)
        fail_msg("no sequence %s: %s", key, err.text);
    return sequence;
}

void rig_set_deadline(struct rig_broker *broker, const char *key, int32_t ms)
{
    atomic_store(&rig_sequence(broker, key)->settings->deadline_ms, ms);
}

void rig_take(struct rig_broker *broker, size_t count)
{
    struct seqb_sequence *sequence = rig_sequence(broker, "order");
    int64_t numbers[AT_ONCE];
    struct seqb_error err;

    while (count > 0) {
        const size_t n = count < AT_ONCE ? count : AT_ONCE;

        if (queue_next_many(sequence, n, numbers, &err) != SEQB_OK)
            fail_msg("no numbers: %s", err.text);
        numbers_add(&broker->rig->taken, numbers, n);
        count -= n;
    }
}

enum seqb_status rig_take_one(struct rig_broker *broker, int64_t *out,
                              struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    const enum seqb_status status =
        queue_find(broker->queue, "order", &sequence, err);

    return status == SEQB_OK ? queue_next(sequence, out, err) : status;
}

struct seqb_error rig_take_refused(struct rig_broker *broker, const char *key)
{
    struct seqb_sequence *sequence = rig_sequence(broker, key);
    struct seqb_error err = {.status = SEQB_OK};
    enum seqb_status status;
    int64_t number;

    do
        status = queue_next(sequence, &number, &err);
    while (status == SEQB_OK || status == SEQB_TIMEOUT);
    return err;
}

/* --- how they are --- */

struct seqb_partition_status rig_partition(const struct rig_broker *broker,
                                           int32_t partition)
{
    struct seqb_partition_status all[RIG_PARTITIONS + 1];
    size_t count;

    ha_status(broker->ha, all, RIG_PARTITIONS + 1, &count);
    for (size_t i = 0; i < count; i++) {
        if (all[i].partition == partition)
            return all[i];
    }
    fail_msg("no partition %d", (int)partition);
    return all[0];
}

struct seqb_sequence_status rig_status(const struct rig_broker *broker,
                                       const char *key)
{
    struct seqb_sequence_status all[8];
    size_t count;

    queue_status(broker->queue, all, 8, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].key, key) == 0)
            return all[i];
    }
    fail_msg("no sequence %s", key);
    return all[0];
}

/* What is waited for: a partition's state. */
struct awaited {
    const struct rig_broker *broker;
    int32_t partition;
    enum seqb_partition_state state;
};

static bool state_has_come(void *context)
{
    const struct awaited *awaited = context;

    return rig_partition(awaited->broker, awaited->partition).state ==
           awaited->state;
}

static void state_fails_to_come(const struct awaited *awaited)
{
    const struct seqb_partition_status is =
        rig_partition(awaited->broker, awaited->partition);

    events_print();
    fail_msg("partition %d is %s (%s) and does not get %s",
             (int)awaited->partition, seqb_partition_state_name(is.state),
             is.reason, seqb_partition_state_name(awaited->state));
}

void rig_await_state(const struct rig_broker *broker, int32_t partition,
                     enum seqb_partition_state state)
{
    struct awaited awaited = {broker, partition, state};
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;

    while (!state_has_come(&awaited)) {
        if (clock_now_ms() > until_ms)
            state_fails_to_come(&awaited);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

void rig_await_use(const struct rig_broker *broker, int32_t partition)
{
    RIG_AWAIT(pool_state_is_usable(rig_partition(broker, partition).state));
}

void rig_take_until(struct rig_broker *broker, int32_t partition,
                    enum seqb_partition_state state)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;

    while (rig_partition(broker, partition).state != state) {
        if (clock_now_ms() > until_ms)
            state_fails_to_come(&(struct awaited){broker, partition, state});
        rig_take(broker, 16);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

void rig_take_until_failed(struct rig_broker *broker, int32_t partition,
                           int64_t errors)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;

    while (rig_partition(broker, partition).errors <= errors) {
        rig_take(broker, 16);
        rig_wait(until_ms, "a call of the partition that fails");
    }
}

static bool is_at_rest(void *context)
{
    const struct rig_broker *broker = *(const struct rig_broker **)context;

    return rig_status(broker, "order").in_flight == 0;
}

void rig_await_rest(const struct rig_broker *broker)
{
    rig_await(is_at_rest, &broker);
}

void rig_take_from(struct rig_broker *broker, int32_t partition,
                   int64_t granted)
{
    while (rig_partition(broker, partition).granted < granted)
        rig_take(broker, 100);
    rig_await_rest(broker);
}

void rig_use(struct rig *rig, size_t count)
{
    struct rig_broker *broker = rig_open(rig);

    if (count > 0)
        rig_take(broker, count);
    rig_close(broker);
}

void rig_put_claim(struct rig *rig, int32_t i, const char *name,
                   const char *before, const char *text)
{
    const struct seqb_swap swap = {name, before, text, NULL};
    struct seqb_backend *backend = NULL;
    char standing[SEQB_CLAIM_SIZE];

    assert_ok(backend_fake.open(&rig->backends[i].options, &backend, NULL));
    assert_ok(
        backend_fake.swap(backend, &swap, standing, sizeof standing, NULL));
    assert_string_equal(standing, text);
    backend_fake.close(backend);
}

void rig_expect_open_fails(struct rig *rig, enum seqb_status expected,
                           const char *words)
{
    struct rig_broker *broker;
    struct seqb_error err = {SEQB_OK, ""};

    assert_int_equal(rig_try_open(rig, &broker, &err), expected);
    assert_int_equal(err.status, expected);
    rig_expect_words(err.text, words);
}
