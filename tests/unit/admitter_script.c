/* SPDX-License-Identifier: Apache-2.0 */
#include "admitter_script.h"

#include <errno.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/events.h"
#include "support/wrap.h"

struct admitter_script script;
struct queue queue;
struct source_context context;
struct seqb_sequence sequences[BATCH + 1];

static struct queue_options options;
static struct queue_sequence_options automatic;
static char keys[BATCH + 1][16];

static size_t index_of(const struct ha_counter *counter)
{
    return (size_t)((const struct seqb_sequence *)counter - sequences);
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return script.now_ms;
}

WRAPPED(uint64_t, ha_usable, struct ha *ha)
{
    (void)ha;
    return script.usable;
}

WRAPPED(enum seqb_status, ha_admit, struct ha *ha,
        struct ha_counter *const *counters, size_t count,
        struct seqb_error *err)
{
    const size_t call = script.calls++;

    (void)ha;
    assert_int_equal(pthread_mutex_trylock(&queue.admit_lock), EBUSY);
    assert_true(call < SIX);
    script.at_ms[call] = script.now_ms;
    script.counts[call] = count;
    for (size_t i = 0; i < count; i++) {
        const size_t index = index_of(counters[i]);

        if (call >= script.asked_at[index])
            script.is_unasked[index] = false;
    }
    return script.admitted[call] == SEQB_OK
               ? SEQB_OK
               : error_set(err, script.admitted[call], "scripted");
}

WRAPPED(bool, ha_counter_is_unasked, struct ha_counter *counter)
{
    return script.is_unasked[index_of(counter)];
}

WRAPPED(enum seqb_status, ha_counter_availability, struct ha_counter *counter,
        struct seqb_error *err)
{
    const size_t i = index_of(counter);

    if (script.is_refused[i])
        return error_set(err, SEQB_LAYOUT, "refused");
    return script.is_unasked[i]
               ? error_set(err, SEQB_UNAVAILABLE, "%s is away", keys[i])
               : SEQB_OK;
}

WRAPPED(void, sequence_settle, struct seqb_sequence *sequence,
        enum sequence_admission admission)
{
    assert_int_equal(pthread_rwlock_tryrdlock(&queue.catalog_lock),
                     admission == SEQUENCE_REFUSED ? EBUSY : 0);
    if (admission != SEQUENCE_REFUSED)
        pthread_rwlock_unlock(&queue.catalog_lock);
    assert_int_equal(sequence_admission(sequence), SEQUENCE_ADMITTING);
    atomic_store(&sequence->settings->admission, admission);
}

WRAPPED(enum seqb_status, thread_start, pthread_t *out, const char *name,
        void *(*run)(void *argument), void *argument, struct seqb_error *err)
{
    (void)out;
    assert_string_equal(name, "seqb:admit");
    assert_ptr_equal(argument, &queue);
    script.run = run;
    script.starts++;
    return script.start == SEQB_OK ? SEQB_OK
                                   : error_set(err, script.start, "no thread");
}

WRAPPED(int, pthread_join, pthread_t thread, void **out)
{
    (void)thread;
    (void)out;
    script.joins++;
    return 0;
}

WRAPPED(void, condition_init, pthread_cond_t *condition)
{
    script.conditions += condition == &queue.admitter.changed;
    __real_condition_init(condition);
}

WRAPPED(int, pthread_cond_signal, pthread_cond_t *condition)
{
    script.signals += condition == &queue.admitter.changed;
    return 0;
}

/* It has no more to do: ends. */
WRAPPED(int, pthread_cond_wait, pthread_cond_t *condition,
        pthread_mutex_t *lock)
{
    assert_ptr_equal(condition, &queue.admitter.changed);
    assert_int_equal(pthread_mutex_trylock(lock), EBUSY);
    script.ends++;
    queue.admitter.is_stopping = true;
    return 0;
}

WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    void (*const at_look)(void) = script.at_look;

    assert_int_equal(pthread_mutex_trylock(lock), EBUSY);
    script.until_ms = until_ms;
    if (condition == &queue.admitter.changed) {
        assert_int_equal(until_ms, script.now_ms + LOOK_MS);
        queue.admitter.is_stopping = script.now_ms >= script.stop_ms;
        script.now_ms = until_ms;
    }
    script.at_look = NULL;
    pthread_mutex_unlock(lock);
    if (at_look != NULL)
        at_look();
    pthread_mutex_lock(lock);
    return script.goes_on;
}

WRAPPED(void, thread_rest_us, int64_t us)
{
    assert_int_equal(us, 100000);
    script.rests++;
    script.now_ms += us / 1000;
}

/* The last one is none. */
static const struct queue_sequence_options listed[] = {
    {.key = "key0"}, {.key = "key1"}, {.key = "key2"}};

int admitter_setup(void **state)
{
    memset(&script, 0, sizeof script);
    memset(&queue, 0, sizeof queue);
    memset(sequences, 0, sizeof sequences);
    memset(&context, 0, sizeof context);
    options = (struct queue_options){.automatic = &automatic,
                                     .auto_pattern = "key?",
                                     .sequences = listed,
                                     .sequence_count = 2};
    queue.options = &options;
    queue.automatic = 9;
    for (size_t i = 0; i <= BATCH; i++) {
        (void)text_format(keys[i], sizeof keys[i], "key%zu", i);
        sequences[i].key = keys[i];
        sequences[i].counter = (struct ha_counter *)&sequences[i];
        sequences[i].settings = &sequences[i].own_settings;
        sequences[i].context = &context;
        script.asked_at[i] = SIZE_MAX;
    }
    pthread_rwlock_init(&queue.catalog_lock, NULL);
    pthread_mutex_init(&queue.admit_lock, NULL);
    admitter_init(&queue.admitter);
    assert_int_equal(script.conditions, 1);
    script.now_ms = NOW;
    script.goes_on = true;
    script.stop_ms = INT64_MAX;
    events_start();
    *state = &queue;
    return 0;
}

int admitter_teardown(void **state)
{
    (void)state;
    events_stop();
    admitter_fini(&queue.admitter);
    assert_int_equal(pthread_mutex_trylock(&queue.admit_lock), 0);
    pthread_mutex_unlock(&queue.admit_lock);
    return 0;
}
