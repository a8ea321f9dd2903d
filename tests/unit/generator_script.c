/* SPDX-License-Identifier: Apache-2.0 */
#include "generator_script.h"

#include <errno.h>
#include <string.h>

#include "flake_fixture.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"
#include "queue/sequence.h"
#include "queue/snowflake/snowflake.h"
#include "support/wrap.h"

struct generator_script script;

static bool is_scripted(void)
{
    return script.is_on && pthread_equal(pthread_self(), script.thread);
}

static enum seqb_status say_none(struct seqb_error *err)
{
    script.now_ms += script.pace_ms;
    return script.status == SEQB_AGAIN
               ? SEQB_AGAIN
               : error_set(err, script.status, "scripted");
}

WRAPPED(enum seqb_status, generator_take, struct generator *generator,
        size_t count, int64_t *out, size_t *taken, struct seqb_error *err)
{
    script.generator = generator;
    if (script.most > 0 && count > script.most)
        count = script.most;
    for (*taken = 0; *taken < count && script.left > 0; script.left--)
        out[(*taken)++] = script.next++;
    return *taken > 0 ? SEQB_OK : say_none(err);
}

WRAPPED(enum seqb_status, generator_take_run, struct generator *generator,
        size_t count, int64_t *first, struct seqb_error *err)
{
    (void)generator;
    if (script.left < count)
        return say_none(err);
    *first = script.next;
    script.next += (int64_t)count;
    script.left -= count;
    return SEQB_OK;
}

WRAPPED(enum seqb_status, generator_poll, struct generator *generator,
        struct seqb_error *err)
{
    (void)generator;
    if (!is_scripted())
        return SEQB_AGAIN;
    return script.left > 0 ? SEQB_OK : say_none(err);
}

WRAPPED(int64_t, generator_taken, struct generator *generator)
{
    return is_scripted() ? script.taken : __real_generator_taken(generator);
}

WRAPPED(void, agenda_wake, struct agenda *agenda,
        struct seqb_sequence *sequence)
{
    script.wakes += is_scripted();
    __real_agenda_wake(agenda, sequence);
}

WRAPPED(enum seqb_status, sequence_new, const struct source_setup *setup,
        const struct source *source, size_t size, struct seqb_sequence **out,
        struct seqb_error *err)
{
    return script.lacks_memory
               ? error_set(err, SEQB_NO_MEMORY, "scripted")
               : __real_sequence_new(setup, source, size, out, err);
}

static void next_ms(void)
{
    script.left = script.each;
    if (script.later != SEQB_OK)
        script.status = script.later;
}

WRAPPED(void, thread_rest_us, int64_t us)
{
    if (!is_scripted()) {
        __real_thread_rest_us(us);
        return;
    }
    assert_int_equal(us, 750);
    script.rests++;
    script.now_ms++;
    next_ms();
}

WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    if (!is_scripted())
        return __real_condition_wait(condition, lock, until_ms);
    assert_int_equal(pthread_mutex_trylock(lock), EBUSY);
    assert_int_equal(until_ms, script.now_ms + REST);
    script.waits++;
    script.now_ms += REST;
    next_ms();
    if (script.leaves != NULL)
        atomic_store(&script.leaves->settings->is_removed, true);
    return false;
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return is_scripted() ? script.now_ms : __real_clock_now_ms();
}

WRAPPED(int64_t, clock_wall_us, void)
{
    return is_scripted() ? script.wall_ms * 1000 + 250 : __real_clock_wall_us();
}

WRAPPED(int64_t, clock_wall_ms, void)
{
    return is_scripted() ? script.wall_ms : __real_clock_wall_ms();
}

void script_begin(void)
{
    script = (struct generator_script){.is_on = true,
                                       .thread = pthread_self(),
                                       .next = FIRST,
                                       .status = SEQB_AGAIN,
                                       .now_ms = NOW,
                                       .wall_ms = FLAKE_EPOCH};
}
