/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers over fake stores: stores of four partitions and an authority, options
 * with small defaults that a test may change before it opens a broker, and
 * functions that wait for an event.
 *
 * A failure of these functions fails the test. Call them from the main thread
 * only, unless their comment says otherwise.
 */
#pragma once

#include "ha/ha.h"
#include "queue/queue.h"
#include "support/fake.h"
#include "support/numbers.h"
#include "support/queue_calls.h"
#include "support/test.h"

#define RIG_PARTITIONS  4
#define RIG_BROKERS_MAX 4
#define RIG_PATIENCE_MS 30000  /* what has not happened by then never will */
#define RIG_FOREVER_MS  600000 /* longer than a test program may run */

/* RIG_CELLS: direct stores that count in windows. RIG_NEIGHBOURS: they also
 * lease the windows to each other, without an authority. */
enum rig_kind { RIG_DIRECT, RIG_WINDOWED, RIG_CELLS, RIG_NEIGHBOURS };

struct rig_broker {
    struct rig *rig;
    struct ha *ha; /* NULL: not open */
    struct queue *queue;
};

struct rig {
    struct fake_store *stores[RIG_PARTITIONS];
    struct fake_store *authority; /* not used in a direct pool */

    /* Brokers read the members below while they are open. The backends are "b0"
     * ... and "auth", the stores "store-0" ... and "authority", the pool is
     * "main". The sequences are "order" and "bill"; "bill" is not listed. */
    enum rig_kind kind;
    struct store_options backends[RIG_PARTITIONS + 1];
    struct ha_pool_options pool;
    struct ha_options ha;
    struct queue_sequence_options sequences[2];
    struct queue_sequence_options automatic;
    struct queue_options queue;

    struct rig_broker brokers[RIG_BROKERS_MAX];

    char folder[64]; /* "": none yet */
    char path[96];   /* what rig_file returned last */

    /* What the functions below took, of all brokers together. A test may add
     * what it took itself. */
    struct numbers taken;
};

/* For cmocka: *state becomes a rig with two partitions. The teardown closes its
 * brokers. It fails if a number was taken twice, or if the contract of an
 * engine was broken. */
int rig_setup_direct(void **state);
int rig_setup_windowed(void **state);
int rig_setup_cells(void **state);
int rig_setup_neighbours(void **state);
int rig_setup_one_direct(void **state); /* one partition */
int rig_setup_one_windowed(void **state);
int rig_teardown(void **state);

#define DIRECT     FIXTURE(struct rig *rig, rig_setup_direct, rig_teardown)
#define WINDOWED   FIXTURE(struct rig *rig, rig_setup_windowed, rig_teardown)
#define NEIGHBOURS FIXTURE(struct rig *rig, rig_setup_neighbours, rig_teardown)
#define CELLS      FIXTURE(struct rig *rig, rig_setup_cells, rig_teardown)
#define ONE_DIRECT FIXTURE(struct rig *rig, rig_setup_one_direct, rig_teardown)
#define ONE_WINDOWED                                                           \
    FIXTURE(struct rig *rig, rig_setup_one_windowed, rig_teardown)

/* Returns the path of a file in a folder that the teardown removes. Valid until
 * the next call. */
const char *rig_file(struct rig *rig, const char *name);

/* Sets the backends and the pool again, with 2^bits partitions. */
void rig_shape(struct rig *rig, enum rig_kind kind, int32_t bits);

/* Sets the time-out of every call, and when a call counts as slow. */
void rig_set_timeout(struct rig *rig, int32_t timeout_ms);

void rig_set_down(struct rig *rig, bool is_down); /* all partitions */

enum seqb_status rig_try_open(struct rig *rig, struct rig_broker **out,
                              struct seqb_error *err);
struct rig_broker *rig_open(struct rig *rig);
void rig_close(struct rig_broker *broker);

/* The test closed the parts of the broker itself. */
void rig_forget(struct rig_broker *broker);

struct seqb_sequence *rig_sequence(struct rig_broker *broker, const char *key);

/* As queue_find. Waits while the stores are asked about a key that is beyond
 * the limit of automatic sequences. */
enum seqb_status rig_find(struct rig_broker *broker, const char *key,
                          struct seqb_sequence **out, struct seqb_error *err);

/* Sets the deadline of calls that begin from now on, as a reload would. */
void rig_set_deadline(struct rig_broker *broker, const char *key, int32_t ms);

/* Takes numbers of "order", and fails if any is missing. */
void rig_take(struct rig_broker *broker, size_t count);

/* Takes one number of "order", and retries as long as necessary.
 * Thread-safe. */
enum seqb_status rig_take_one(struct rig_broker *broker, int64_t *out,
                              struct seqb_error *err);

/* Takes numbers of a sequence until it refuses; returns the error. A deadline
 * that passed before the stores answered does not count. */
struct seqb_error rig_take_refused(struct rig_broker *broker, const char *key);

struct seqb_partition_status rig_partition(const struct rig_broker *broker,
                                           int32_t partition);
struct seqb_sequence_status rig_status(const struct rig_broker *broker,
                                       const char *key);

/* Opens a broker, takes `count` numbers (may be 0), and closes it: the pool was
 * in use. */
void rig_use(struct rig *rig, size_t count);

/* Replaces the claim `name` in backend i's store by `text`, whoever wrote it.
 * `before` is its present text, "" for none. */
void rig_put_claim(struct rig *rig, int32_t i, const char *name,
                   const char *before, const char *text);

/* Expects that opening fails with that status, and that the error contains
 * `words`. */
void rig_expect_open_fails(struct rig *rig, enum seqb_status expected,
                           const char *words);

/* Both wait until the partition is in `state`, which must be a lasting state.
 * rig_take_until takes numbers meanwhile, so that the partition is asked. */
void rig_await_state(const struct rig_broker *broker, int32_t partition,
                     enum seqb_partition_state state);
void rig_take_until(struct rig_broker *broker, int32_t partition,
                    enum seqb_partition_state state);

/* Takes numbers until the partition has granted at least `granted`, and nothing
 * is in flight. Then it has something to lose. A store that connects slowly may
 * have granted nothing after thousands of numbers. */
void rig_take_from(struct rig_broker *broker, int32_t partition,
                   int64_t granted);

/* Waits until a partition may be asked: it is up, or about to be. */
void rig_await_use(const struct rig_broker *broker, int32_t partition);

/* Takes numbers until more than `errors` calls of a partition have failed. Its
 * quarantine may be over by then. */
void rig_take_until_failed(struct rig_broker *broker, int32_t partition,
                           int64_t errors);

/* Waits until nothing of "order" is in flight, and the refill thread is
 * idle. */
void rig_await_rest(const struct rig_broker *broker);

/* Waits until the condition is true. It is evaluated each ms, and the test
 * fails if it is still false after RIG_PATIENCE_MS. */
#define RIG_AWAIT(condition)                                                   \
    for (const int64_t await_until_ms = rig_patience_end(); !(condition);      \
         rig_wait(await_until_ms, #condition))                                 \
    continue

/* The same for a condition that is a function: `is_true(context)`. */
void rig_await(bool (*is_true)(void *context), void *context);

/* For RIG_AWAIT: when its patience ends, and a pause. The test fails if that
 * time has passed. */
int64_t rig_patience_end(void);
void rig_wait(int64_t until_ms, const char *condition);

/* Fails, and shows the text, unless it contains `words`. */
void rig_expect_words(const char *text, const char *words);

/* Scales a large count down if a sanitizer makes everything slow. */
size_t rig_scaled(size_t count);
