/* SPDX-License-Identifier: Apache-2.0 */
/* The flusher's thread, its clock, its memory, and its file. */
#include "flusher_rounds.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"
#include "store/layout.h"
#include "support/test.h"
#include "support/wrap.h"

struct rounds_thread self;
struct rounds_file file;

static bool is_self(void)
{
    return pthread_equal(pthread_self(), self.thread) != 0;
}

WRAPPED(int64_t, clock_now_ms, void)
{
    if (is_self() && self.now_ms != 0)
        return self.now_ms;
    return __real_clock_now_ms() + (is_self() ? self.passed_ms : 0);
}

static bool has_memory(void)
{
    return !is_self() || self.lacks == 0 || --self.lacks > 0;
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return has_memory() ? __real_calloc(count, size) : NULL;
}

WRAPPED(void *, realloc, void *memory, size_t size)
{
    if (is_self())
        self.grown++;
    return has_memory() ? __real_realloc(memory, size) : NULL;
}

static void *run_nothing(void *argument)
{
    return argument;
}

/* Nothing is refilled, and the flusher runs when the test says so. */
WRAPPED(enum seqb_status, thread_start, pthread_t *out, const char *name,
        void *(*run)(void *argument), void *argument, struct seqb_error *err)
{
    enum seqb_status status;

    if (strcmp(name, "seqb:refill") == 0)
        return __real_thread_start(out, name, run_nothing, NULL, err);
    if (strcmp(name, "seqb:flusher") != 0)
        return __real_thread_start(out, name, run, argument, err);
    if (self.no_thread)
        return error_set(err, SEQB_NO_MEMORY, "there is no thread");
    self.run = run;
    self.flusher = argument;
    self.is_joined = false;
    status = __real_thread_start(out, name, run_nothing, NULL, err);
    self.started = *out;
    return status;
}

WRAPPED(int, pthread_join, pthread_t thread, void **out)
{
    if (is_self()) {
        assert_true(thread != 0); /* one that was never started */
        self.is_joined |= pthread_equal(thread, self.started) != 0;
    }
    return __real_pthread_join(thread, out);
}

WRAPPED(bool, wakeup_wait, struct wakeup *wakeup, int64_t woken_ms,
        int64_t usual_ms)
{
    if (!is_self())
        return __real_wakeup_wait(wakeup, woken_ms, usual_ms);
    self.woken_ms = woken_ms;
    self.usual_ms = usual_ms;
    return self.rounds-- > 0;
}

static void exchange_give(const struct spool_exchange_options *options)
{
    file.given = options->give_count;
    file.given_numbers = 0;
    for (size_t i = 0; i < options->give_count; i++) {
        file.last = options->give[i];
        file.given_numbers += file.last.length;
    }
}

static void exchange_choose(const struct spool_exchange_options *options)
{
    int32_t memory_bits;

    file.is_searched = options->choose != NULL;
    for (size_t i = 0; i < file.count && file.is_searched; i++) {
        memory_bits = -1;
        file.choices[i] =
            options->choose(options->context, &file.blocks[i], &memory_bits);
        assert_true(file.choices[i] != SPOOL_TAKE || memory_bits == 2);
    }
}

WRAPPED(enum seqb_status, spool_exchange, struct spool *spool,
        const struct spool_exchange_options *options, int64_t until_ms,
        struct seqb_error *err)
{
    (void)spool;
    file.exchanges++;
    file.is_repeated = options->is_repeated;
    file.until_ms = until_ms;
    exchange_give(options);
    exchange_choose(options);
    self.now_ms += self.now_ms == 0 ? 0 : file.takes_ms;
    if (file.status != SEQB_OK)
        return error_set(err, file.status, "the file is played");
    for (size_t i = 0; i < file.count && file.is_searched; i++) {
        if (file.choices[i] == SPOOL_TAKE)
            options->take(options->context, &file.blocks[i]);
    }
    return SEQB_OK;
}

struct spool_block rounds_block(const char *key, int64_t v, int64_t runs)
{
    return (struct spool_block){.key = key,
                                .memory_bits = 2,
                                .first = layout_number(v, 0, 1, 2),
                                .length = runs * ROUNDS_RUN};
}

void rounds_keep(struct spool_block block)
{
    file.blocks[file.count++] = block;
}

struct rig_broker *rounds_open(struct rig *rig, size_t listed)
{
    self.thread = pthread_self();
    self.passed_ms = 0;
    rig->queue.spool_path = "played";
    rig->queue.sequence_count = listed;
    rig->sequences[0].idle_after_ms = ROUNDS_IDLE_MS;
    return rig_open(rig);
}

struct rig_broker *rounds_open_empty(struct rig *rig)
{
    struct rig_broker *broker;

    memset(&file, 0, sizeof file);
    broker = rounds_open(rig, 2);
    memset(&file, 0, sizeof file);
    return broker;
}

void rounds_run(void)
{
    const int64_t now_ms = clock_now_ms();

    file.is_searched = false;
    self.rounds = 1;
    self.now_ms = now_ms;
    (void)self.run(self.flusher);
    self.now_ms = 0;
}

void rounds_run_idle(void)
{
    self.passed_ms += ROUNDS_IDLE_MS;
    rounds_run();
}

void rounds_put(struct seqb_sequence *sequence, int64_t v, int64_t runs)
{
    const struct spool_block block = rounds_block("", v, runs);

    sequence_put(sequence, block.first, (uint64_t)block.length);
}

void rounds_miss(struct seqb_sequence *sequence)
{
    atomic_store(&sequence->may_be_kept, true);
    sequence_miss(sequence);
}

int64_t rounds_stock(const struct seqb_sequence *sequence)
{
    return (int64_t)ring_stock(sequence->ring);
}

void rounds_take(struct rig *rig, struct seqb_sequence *sequence, size_t count)
{
    int64_t numbers[2 * ROUNDS_RUN];
    size_t taken;

    assert_ok(queue_try_many(sequence, count, numbers, &taken, NULL));
    assert_int_equal(taken, count);
    numbers_add(&rig->taken, numbers, taken);
}
