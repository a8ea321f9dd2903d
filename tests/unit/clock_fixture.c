/* SPDX-License-Identifier: Apache-2.0 */
/* The scripted machine of a guarded clock. */
#include "clock_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/guarded_clock/file.h"
#include "support/events.h"
#include "support/folder.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"

static struct clock_world world;
static char path[64]; /* constant while a clock is open */

struct clock_world *clock_world(void)
{
    return &world;
}

/* --- in place of the real ones --- */

WRAPPED(int64_t, clock_wall_ms, void)
{
    return atomic_load(&world.wall_ms);
}

WRAPPED(int64_t, clock_boot_ms, void)
{
    return atomic_load(&world.boot_ms);
}

WRAPPED(int32_t, ha_clocks, struct ha *ha, int64_t *wall_ms)
{
    (void)ha;
    atomic_fetch_add(&world.looks, 1);
    *wall_ms = atomic_load(&world.store_ms);
    return atomic_load(&world.clocks);
}

WRAPPED(void, ha_begun, struct ha *ha, int64_t begins_ms)
{
    (void)ha;
    (void)begins_ms;
}

WRAPPED(enum seqb_status, ha_note, struct ha *ha, const struct ha_entry *entry,
        int64_t until_ms, int64_t *standing, struct seqb_error *err)
{
    (void)ha;
    atomic_store(&world.note_until_ms, until_ms);
    atomic_store(&world.file_ms, clock_file_says());
    atomic_fetch_add(&world.notes, 1);
    if (atomic_load(&world.is_down))
        return error_set(err, SEQB_UNAVAILABLE, "backend %d is down",
                         (int)entry->backend);
    (void)text_copy(world.name, sizeof world.name, entry->name);
    if (entry->value > atomic_load(&world.noted_ms))
        atomic_store(&world.noted_ms, entry->value);
    *standing = atomic_load(&world.noted_ms) - atomic_load(&world.is_lagging);
    return SEQB_OK;
}

WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    bool was_woken;

    if (!atomic_load(&world.is_patient))
        return __real_condition_wait(condition, lock, until_ms);
    atomic_store(&world.wait_until_ms, until_ms);
    atomic_fetch_add(&world.waiting, 1);
    atomic_fetch_add(&world.waits, 1);
    was_woken = __real_condition_wait(condition, lock, clock_soon());
    atomic_fetch_sub(&world.waiting, 1);
    atomic_fetch_add(&world.late, !was_woken);
    return was_woken;
}

WRAPPED(enum seqb_status, file_lock, const char *name, int64_t until_ms,
        int *out, struct seqb_error *err)
{
    atomic_store(&world.lock_until_ms, until_ms);
    return __real_file_lock(name, until_ms, out, err);
}

WRAPPED(enum seqb_status, file_move, const char *from, const char *to,
        struct seqb_error *err)
{
    const char *failure;

    atomic_fetch_add(&world.moves, 1);
    RIG_AWAIT(!atomic_load(&world.is_held_up));
    failure = atomic_load(&world.failure);
    if (failure != NULL)
        return error_set(err, SEQB_UNCERTAIN, "%s", failure);
    return __real_file_move(from, to, err);
}

/* --- setting up --- */

int clock_case_setup(void **state)
{
    struct clock_case *c = calloc(1, sizeof *c);

    if (c == NULL)
        return -1;
    *state = c;
    if (!folder_make(c->folder, sizeof c->folder))
        return -1;
    memset(&world, 0, sizeof world);
    atomic_store(&world.wall_ms, NOON);
    atomic_store(&world.boot_ms, HOUR);
    atomic_store(&world.store_ms, NOON - HOUR);
    (void)text_format(path, sizeof path, "%s/clock", c->folder);
    (void)text_copy(c->path, sizeof c->path, path);
    c->options = (struct queue_clock_options){
        .rules = {GUARD_HOLD, 10 * MINUTE, 5 * MINUTE},
        .broker = "orders",
        .path = c->path,
        .store = -1,
    };
    return 0;
}

int clock_case_teardown(void **state)
{
    struct clock_case *c = *state;

    atomic_store(&world.is_held_up, false);
    guarded_clock_close(c->clock);
    events_stop();
    folder_remove(c->folder);
    free(c);
    return 0;
}

void clock_go_on(int64_t ms)
{
    atomic_fetch_add(&world.wall_ms, ms);
    atomic_fetch_add(&world.boot_ms, ms);
}

void clock_set(int64_t wall_ms)
{
    atomic_store(&world.wall_ms, wall_ms);
}

int64_t clock_soon(void)
{
    return clock_now_ms() + RIG_PATIENCE_MS;
}

void clock_case_start(struct clock_case *c)
{
    assert_done(
        guarded_clock_open(&c->options, NULL, clock_soon(), &c->clock, &c->err),
        c->err);
}

void clock_case_stop(struct clock_case *c)
{
    guarded_clock_close(c->clock);
    c->clock = NULL;
}

void clock_case_expect_start_fails(struct clock_case *c,
                                   enum seqb_status expected, const char *words)
{
    assert_int_equal(
        guarded_clock_open(&c->options, NULL, clock_soon(), &c->clock, &c->err),
        expected);
    assert_int_equal(c->err.status, expected);
    rig_expect_words(c->err.text, words);
    assert_null(c->clock);
}

/* --- using it --- */

void clock_case_issue(struct clock_case *c, int64_t begin_ms)
{
    assert_done(guarded_clock_issue(c->clock, begin_ms, clock_soon(), &c->err),
                c->err);
}

void clock_case_expect_now(struct clock_case *c, int64_t expected_ms)
{
    int64_t time_ms;

    assert_done(guarded_clock_now(c->clock, &time_ms, &c->err), c->err);
    assert_int_equal(time_ms, expected_ms);
}

void clock_case_expect_no_time(struct clock_case *c, enum seqb_status expected,
                               const char *words)
{
    int64_t time_ms;

    assert_int_equal(guarded_clock_now(c->clock, &time_ms, &c->err), expected);
    rig_expect_words(c->err.text, words);
}

struct seqb_clock_status clock_case_status(struct clock_case *c)
{
    struct seqb_clock_status status;

    (void)guarded_clock_status(c->clock, &status);
    return status;
}

int64_t clock_file_says(void)
{
    struct clock_note note = {"", 0};
    struct seqb_error err;
    char *bytes;
    size_t size;

    if (file_load(path, CLOCK_TEXT_SIZE, &bytes, &size, &err) != SEQB_OK)
        return -1;
    if (bytes != NULL && clock_note_read(bytes, size, &note, &err) != SEQB_OK)
        note.issued_ms = -1;
    free(bytes);
    return note.issued_ms;
}

/* --- waiting --- */

void clock_await_calls(_Atomic int64_t *calls, int64_t count)
{
    RIG_AWAIT(atomic_load(calls) >= count);
}

void clock_await_more(_Atomic int64_t *calls, int64_t more)
{
    clock_await_calls(calls, atomic_load(calls) + more);
}

void clock_await_event(const char *word)
{
    RIG_AWAIT(events_count(word, "") > 0);
}
