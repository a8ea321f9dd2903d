/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/fork_wiped.h"
#include "platform/thread.h"
#include "queue/flusher/flusher.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "support/wrap.h"

struct seqb_sequence sequences[LISTED + 1];

struct queue_script script;

/* Writes it down. The part before the first space is its name. */
__attribute__((format(printf, 2, 3))) static enum seqb_status
step(struct seqb_error *err, const char *format, ...)
{
    const size_t used = strlen(script.journal);
    char *out = script.journal + used;
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(out, sizeof script.journal - used - 1, format, arguments);
    va_end(arguments);
    if (script.fails != NULL && strcmp(script.fails, out) == 0)
        return error_set(err, SEQB_STATE_DIR, "scripted");
    (void)strcat(out, "|"); /* NOLINT: there is room */
    return SEQB_OK;
}

void expect_steps(const char *steps)
{
    assert_string_equal(script.journal, steps);
    script.journal[0] = '\0';
}

/* --- what the machine gives --- */

WRAPPED(int64_t, clock_now_ms, void)
{
    return script.now_ms;
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return script.is_on && ++script.callocs == script.lacks
               ? NULL
               : __real_calloc(count, size);
}

WRAPPED(struct fork_wiped *, fork_wiped_open, void)
{
    return script.fails != NULL && strcmp(script.fails, "wiped") == 0
               ? NULL
               : __real_fork_wiped_open();
}

WRAPPED(void *, fork_wiped_take, struct fork_wiped *memory, size_t size)
{
    return script.lacks_memory ? NULL : __real_fork_wiped_take(memory, size);
}

WRAPPED(int, pthread_rwlock_init, pthread_rwlock_t *lock,
        const pthread_rwlockattr_t *attributes)
{
    (void)pthread_rwlockattr_getkind_np(attributes, &script.kind);
    return __real_pthread_rwlock_init(lock, attributes);
}

WRAPPED(enum seqb_status, thread_start, pthread_t *out, const char *name,
        void *(*run)(void *argument), void *argument, struct seqb_error *err)
{
    (void)out;
    script.run = run;
    script.argument = argument;
    return step(err, "%s", name);
}

WRAPPED(int, pthread_join, pthread_t thread, void **out)
{
    (void)thread;
    (void)out;
    return (int)step(NULL, "join");
}

/* --- what is made and unmade with it --- */

WRAPPED(void, resume_init, struct resume *resume, const struct clock_pair *now)
{
    script.inits++;
    __real_resume_init(resume, now);
}

WRAPPED(void, agenda_init, struct agenda *agenda)
{
    script.inits++;
    __real_agenda_init(agenda);
}

WRAPPED(void, admitter_init, struct admitter *admitter)
{
    script.inits++;
    __real_admitter_init(admitter);
}

WRAPPED(void, admitter_fini, struct admitter *admitter)
{
    script.finis++;
    __real_admitter_fini(admitter);
}

WRAPPED(void, wakeup_init, struct wakeup *wakeup)
{
    script.inits++;
    __real_wakeup_init(wakeup);
}

WRAPPED(void, wakeup_fini, struct wakeup *wakeup)
{
    script.finis++;
    __real_wakeup_fini(wakeup);
}

WRAPPED(void, widths_init, struct widths *widths)
{
    script.inits++;
    __real_widths_init(widths);
}

WRAPPED(void, widths_fini, struct widths *widths)
{
    script.finis++;
    __real_widths_fini(widths);
}

WRAPPED(void, looks_init, struct looks *looks,
        void (*add)(struct queue *queue, const char *key))
{
    script.inits++;
    __real_looks_init(looks, add);
}

WRAPPED(void, looks_fini, struct looks *looks)
{
    script.finis++;
    __real_looks_fini(looks);
}

/* --- the parts --- */

WRAPPED(enum seqb_status, guarded_clock_open,
        const struct queue_clock_options *options, struct ha *ha,
        int64_t until_ms, struct guarded_clock **out, struct seqb_error *err)
{
    (void)options;
    (void)ha;
    *out = (struct guarded_clock *)&script;
    script.now_ms += 50;
    return step(err, "clock %d", (int)until_ms);
}

WRAPPED(void, guarded_clock_stop, struct guarded_clock *clock)
{
    (void)step(NULL, "clock_stop %d", clock != NULL);
}

WRAPPED(void, guarded_clock_close, struct guarded_clock *clock)
{
    (void)step(NULL, "clock_close %d", clock != NULL);
}

WRAPPED(enum seqb_status, generators_open, struct queue *queue,
        struct seqb_error *err)
{
    (void)queue;
    return step(err, "generators");
}

WRAPPED(enum seqb_status, generators_start, struct queue *queue,
        int64_t until_ms, struct seqb_error *err)
{
    (void)queue;
    return step(err, "leases %d", (int)until_ms);
}

WRAPPED(void, generators_shut, struct queue *queue)
{
    (void)queue;
    (void)step(NULL, "shut");
}

WRAPPED(void, generators_close, struct queue *queue)
{
    (void)queue;
    (void)step(NULL, "generators_close");
}

WRAPPED(void, generators_free, struct queue *queue)
{
    (void)queue;
    (void)step(NULL, "generators_free");
}

WRAPPED(enum seqb_status, admitter_expect, struct queue *queue,
        struct seqb_sequence *const *list, size_t count, struct seqb_error *err)
{
    (void)queue;
    assert_true(count == 0 || list[0] == &sequences[0]);
    return step(err, "expect %zu", count);
}

WRAPPED(void, admitter_put_off, struct queue *queue,
        struct seqb_sequence *const *list, size_t count)
{
    (void)queue;
    assert_true(count == 0 || list[0] == &sequences[0]);
    (void)step(NULL, "put_off %zu", count);
}

WRAPPED(void, admitter_stop, struct admitter *admitter)
{
    (void)admitter;
    (void)step(NULL, "admitter_stop");
}

WRAPPED(void, looks_shut, struct looks *looks)
{
    (void)looks;
    (void)step(NULL, "looks_shut");
}

WRAPPED(void, looks_stop, struct looks *looks)
{
    (void)looks;
    (void)step(NULL, "looks_stop");
}

WRAPPED(enum seqb_status, flusher_open, struct queue *queue,
        const struct queue_options *options, struct ha *ha, int64_t until_ms,
        struct flusher **out, struct seqb_error *err)
{
    (void)queue;
    (void)options;
    (void)ha;
    *out = (struct flusher *)&script;
    return step(err, "spool %d", (int)until_ms);
}

WRAPPED(enum seqb_status, flusher_start, struct flusher *flusher,
        struct seqb_error *err)
{
    (void)flusher;
    return step(err, "flusher");
}

WRAPPED(void, flusher_stop, struct flusher *flusher)
{
    (void)flusher;
    (void)step(NULL, "flusher_stop");
}

WRAPPED(void, flusher_keep_all, struct flusher *flusher, int64_t until_ms)
{
    (void)flusher;
    (void)step(NULL, "keep %d", (int)until_ms);
}

WRAPPED(void, flusher_close, struct flusher *flusher)
{
    (void)step(NULL, "flusher_close %d", flusher != NULL);
}

WRAPPED(void, ha_end_waits, struct ha *ha, int64_t until_ms)
{
    (void)ha;
    (void)step(NULL, "end_waits %d", (int)until_ms);
}

WRAPPED(enum seqb_status, ha_admit, struct ha *ha,
        struct ha_counter *const *counters, size_t count,
        struct seqb_error *err)
{
    (void)ha;
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(counters[i], &sequences[i]);
    return step(err, "admit %zu", count);
}

WRAPPED(enum seqb_status, ha_counter_availability, struct ha_counter *counter,
        struct seqb_error *err)
{
    const size_t index =
        (size_t)((const struct seqb_sequence *)counter - sequences);

    (void)err;
    return index + 1 == script.refused ? SEQB_LAYOUT : SEQB_UNAVAILABLE;
}

WRAPPED(void, sequence_finish, struct seqb_sequence *sequence, int64_t until_ms)
{
    (void)step(NULL, "finish %s %d", sequence->key, (int)until_ms);
}

/* --- the sequences --- */

static bool refill(struct seqb_sequence *sequence, int64_t now_ms,
                   int64_t *next_ms)
{
    assert_int_equal(now_ms, script.now_ms);
    *next_ms = script.next_ms[sequence - sequences];
    (void)step(NULL, "refill %s", sequence->key);
    return sequence == &sequences[0];
}

static bool warm(struct seqb_sequence *sequence, int64_t until_ms)
{
    (void)step(NULL, "warm %s %d", sequence->key, (int)until_ms);
    return !script.is_cold[sequence - sequences];
}

static void close_one(struct seqb_sequence *sequence)
{
    (void)step(NULL, "close %s", sequence->key);
}

static void free_one(struct seqb_sequence *sequence)
{
    (void)step(NULL, "free %s", sequence->key);
}

static const struct source scripted = {
    .refill = refill, .warm = warm, .close = close_one, .free = free_one};

static const struct queue_sequence_options listed[] = {
    {.key = "a", .attributes = "A"}, {.key = "b", .attributes = "B"}};

WRAPPED(enum seqb_status, queue_add, struct queue *queue,
        const struct queue_sequence_options *options, const char *key,
        struct seqb_sequence **out, struct seqb_error *err)
{
    const enum seqb_status status = step(err, "add %s", key);

    if (status != SEQB_OK)
        return status;
    *out = &sequences[options - listed];
    (*out)->context = &queue->context;
    assert_true(catalog_add(&queue->catalog, *out));
    return SEQB_OK;
}

/* --- the agenda of the refill thread, in two rounds --- */

WRAPPED(void, agenda_wake, struct agenda *agenda,
        struct seqb_sequence *sequence)
{
    (void)agenda;
    (void)step(NULL, "wake %s", sequence->key);
}

WRAPPED(void, agenda_poll_at, struct agenda *agenda, int64_t poll_ms)
{
    (void)agenda;
    (void)step(NULL, "poll_at %d", (int)poll_ms);
}

WRAPPED(void, agenda_stop, struct agenda *agenda)
{
    (void)agenda;
    (void)step(NULL, "agenda_stop");
}

WRAPPED(bool, agenda_wait, struct agenda *agenda, int64_t until_ms,
        int64_t latest_ms, struct seqb_sequence **list)
{
    (void)agenda;
    assert_int_equal(latest_ms, script.now_ms + 1000);
    script.until_ms[script.rounds] = until_ms;
    *list = script.rounds == 1 ? &sequences[0] : NULL;
    return script.rounds++ < 2;
}

WRAPPED(bool, agenda_is_due, struct agenda *agenda, int64_t now_ms)
{
    (void)agenda;
    assert_int_equal(now_ms, script.now_ms);
    return script.is_due;
}

WRAPPED(struct seqb_sequence *, agenda_begin, struct agenda *agenda,
        struct seqb_sequence *sequence)
{
    (void)agenda;
    return sequence == &sequences[0] ? &sequences[1] : NULL;
}

WRAPPED(void, agenda_end, struct agenda *agenda, struct seqb_sequence *sequence,
        bool stays)
{
    (void)agenda;
    (void)step(NULL, "end %s %d", sequence->key, stays);
}

WRAPPED(void, width_poll, struct seqb_sequence *sequence)
{
    (void)step(NULL, "width %s", sequence->key);
}

WRAPPED(void, queue_watch, struct queue *queue)
{
    (void)queue;
    (void)step(NULL, "watch");
}

int queue_script_setup(void **state)
{
    static struct fixture fixture;
    static const struct queue_clock_options clock;

    memset(&script, 0, sizeof script);
    memset(sequences, 0, sizeof sequences);
    for (size_t i = 0; i <= LISTED; i++) {
        sequences[i].key = &"a\0b\0c"[2 * i];
        sequences[i].source = &scripted;
        sequences[i].settings = &sequences[i].own_settings;
        sequences[i].counter = (struct ha_counter *)&sequences[i];
        sequences[i].poll_ms = INT64_MAX;
    }
    fixture = (struct fixture){.options = {.interval_ms = 20,
                                           .sequences = listed,
                                           .sequence_count = LISTED,
                                           .spool_path = "spool",
                                           .warm_timeout_ms = 100,
                                           .clock = &clock}};
    script.now_ms = NOW;
    script.is_on = true;
    *state = &fixture;
    return 0;
}

int queue_script_teardown(void **state)
{
    struct fixture *fixture = *state;

    script.is_on = false;
    queue_free(fixture->queue);
    return 0;
}
