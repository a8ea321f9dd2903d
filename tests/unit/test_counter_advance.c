/* SPDX-License-Identifier: Apache-2.0 */
/* To which numbers a counter may be advanced, who is asked for a run above
 * that, and what is told of those who are not above it. What a broker and its
 * stores make of it is in test_advance.c. */
#include <string.h>

#include "ha/counter/source.h"
#include "ha/counter/window.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "store/layout.h"
#include "support/events.h"
#include "unit/slot_fixture.h"

#define LOW_BITS (BITS + MEMORY_BITS)
#define FLOOR    INT64_C(600) /* a counter value */
#define TO       (((FLOOR + 1) << LOW_BITS) - 1)

/* One value, or window, of the counter has to be left for each partition. */
#define MOST_DIRECT ((layout_counter_max(BITS, MEMORY_BITS) << LOW_BITS) - 1)
#define MOST_WINDOWED                                                          \
    ((layout_window_max(BITS, MEMORY_BITS, WINDOW_BITS)                        \
      << (WINDOW_BITS + LOW_BITS)) -                                           \
     1)

static void expect_refused(struct fixture *f, int64_t to, const char *words,
                           int64_t number)
{
    struct seqb_error err;
    char text[64];

    assert_int_equal(ha_counter_advance(f->counter, to, &err), SEQB_INVALID);
    (void)text_format(text, sizeof text, "%s %lld", words, (long long)number);
    assert_non_null(strstr(err.text, text));
    assert_int_equal(f->counter->floor[SEQB_DIRECT], 0);
    assert_int_equal(f->counter->floor[SEQB_WINDOWED], 0);
}

static void expect_bound(struct fixture *f, int64_t most)
{
    expect_refused(f, most + 1, "it can be advanced to", most);
    expect_refused(f, INT64_MAX, "it can be advanced to", most);
    assert_ok(ha_counter_advance(f->counter, most, NULL));
}

TEST_WITH(SLOTS, counter_is_advanced_above_what_was_granted)
{
    const int64_t highest = (1 << LOW_BITS) + 7; /* the first run of all */

    assert_ok(ha_counter_advance(f->counter, 1, NULL));
    f->counter->slots[0].last = 1;
    expect_refused(f, 0, "sequence key:", 0);
    expect_refused(f, highest, "numbers up to", highest);
    expect_bound(f, MOST_DIRECT);
}

TEST_WITH(SLOTS, partition_of_windows_sets_the_bound)
{
    f->counter->slots[0].is_windowed = true;
    expect_bound(f, MOST_WINDOWED);
}

/* The value, or window, that the number lies in. It never goes back. */
TEST_WITH(SLOTS, floor_is_the_last_value_and_window_that_are_skipped)
{
    const int64_t window = INT64_C(1) << (WINDOW_BITS + LOW_BITS);

    assert_ok(ha_counter_advance(f->counter, 3 * window + 100, NULL));
    assert_int_equal(f->counter->floor[SEQB_DIRECT],
                     (3 * window + 100) >> LOW_BITS);
    assert_int_equal(f->counter->floor[SEQB_WINDOWED], 3);
    assert_ok(ha_counter_advance(f->counter, 2 * window, NULL));
    assert_int_equal(f->counter->floor[SEQB_DIRECT],
                     (3 * window + 100) >> LOW_BITS);
    assert_int_equal(f->counter->floor[SEQB_WINDOWED], 3);
}

/* --- the stores --- */

/* Each partition is posted to at most once. */
static void expect_asked(struct fixture *f, int32_t i, bool is_asked)
{
    const struct slot *slot = &f->counter->slots[i];

    assert_ptr_equal(f->workers[i].first, is_asked ? &slot->job : NULL);
    assert_int_equal(slot->is_busy, is_asked);
    if (is_asked)
        assert_int_equal(slot->want, 1);
    f->workers[i].first = NULL;
}

/* Without waiting. */
static enum seqb_status raise_now(struct fixture *f, struct seqb_error *err)
{
    events_start();
    return ha_counter_raise(f->counter, 0, err);
}

#define NOT_ALL                                                                \
    "sequence key is advanced, but not in every store; this broker raises "    \
    "the others before it uses them; "

TEST_WITH(SLOTS, partition_that_is_not_above_the_floor_says_why)
{
    struct pool_member *members = f->pool.pool.member;
    struct seqb_error err;

    assert_ok(ha_counter_advance(f->counter, TO, NULL));
    members[1].state = SEQB_PARTITION_QUARANTINED;
    (void)text_copy(members[1].reason, sizeof members[1].reason, "?");
    members[2].state = SEQB_PARTITION_DRAINED;
    ask(f, 3, 8);
    refuse(f, 3, SEQB_LAYOUT, true); /* and is asked no more */
    assert_int_equal(raise_now(f, &err), SEQB_UNAVAILABLE);
    assert_string_equal(err.text,
                        NOT_ALL "partition 0 (b): no answer in time; partition "
                                "1 (b): ?; partition 2 (b): drained; "
                                "partition 3 (b): it says no");
    events_expect("event=advanced", err.text, 1);
    for (int32_t i = 0; i < PARTITIONS; i++)
        expect_asked(f, i, i == 0);
    assert_int_equal(f->counter->slots[0].floor, FLOOR);
    assert_int_equal(f->counter->advancing, 0);
}

/* Two are at it, by their window or value, one is used up, one above it. */
TEST_WITH(SLOTS, only_who_is_not_above_the_floor_is_asked)
{
    const int64_t window = ((FLOOR >> WINDOW_BITS) + 1) << WINDOW_BITS;
    struct slot *slots = f->counter->slots;
    struct seqb_error err;

    assert_ok(ha_counter_advance(f->counter, TO, NULL));
    slots[0].is_windowed = true;
    slots[0].last = window - 1;
    slots[1].last = FLOOR;
    ask(f, 2, 8);
    refuse(f, 2, SEQB_EXHAUSTED, true);
    slots[3].is_windowed = true;
    slots[3].last = window;
    assert_int_equal(raise_now(f, &err), SEQB_UNAVAILABLE);
    assert_string_equal(err.text,
                        NOT_ALL "partition 0 (b): no answer in time; partition "
                                "1 (b): no answer in time");
    for (int32_t i = 0; i < PARTITIONS; i++)
        expect_asked(f, i, i < 2);
    grant(f, 0, window, 1);
    grant(f, 1, FLOOR + 1, 1);
    assert_ok(raise_now(f, &err));
    events_expect("event=advanced", "by an operator, beyond counter value 600",
                  1);
    expect_asked(f, 1, false);
}

/* --- waiting for answers --- */

static int32_t low; /* the partition that is not above the floor */

enum answer { LOW, HIGH, WAITS, FAILS };

struct answers {
    struct fixture *f;
    const enum answer *next;
};

/* Of that partition, as often as it is asked. */
static void answer(struct fixture *f, enum answer answer)
{
    if (answer == LOW)
        grant(f, low, 1, 1);
    else if (answer == HIGH)
        grant(f, low, FLOOR + 1, 1);
    else
        refuse(f, low, answer == WAITS ? SEQB_AGAIN : SEQB_REFUSED, true);
}

static void *answer_all(void *argument)
{
    struct answers *answers = argument;
    struct fixture *f = answers->f;
    struct worker *worker = &f->workers[low];

    for (bool goes_on = true; goes_on;) {
        pthread_mutex_lock(&lock);
        while (worker->first == NULL && !worker->is_stopping)
            pthread_cond_wait(&worker->changed, &lock);
        goes_on = worker->first != NULL;
        worker->first = NULL;
        f->counter->slots[low].is_waiting = *answers->next == WAITS;
        pthread_mutex_unlock(&lock);
        if (goes_on)
            answer(f, *answers->next++);
    }
    return NULL;
}

static const struct raised {
    const char *name;
    enum answer answers[3];
    int asked;
    bool is_busy;     /* it was asked before the advance */
    const char *text; /* NULL: it is raised */
} raised[] = {
    {"above it", {HIGH}, 1, false, NULL},
    {"asked before", {LOW, HIGH}, 2, true, NULL},
    {"not above it", {LOW}, 1, false, "asked in vain"},
    {"it fails", {FAILS}, 1, false, "it says no"},
    {"after the others", {WAITS, WAITS, HIGH}, 3, false, NULL},
};

/* It is the only one below the floor. */
static void expect_raised(struct fixture *f, const struct raised *row)
{
    struct answers answers = {f, row->answers};
    struct seqb_error err;
    pthread_t thread;

    assert_ok(ha_counter_advance(f->counter, TO, NULL));
    for (int32_t i = 0; i < PARTITIONS; i++)
        f->counter->slots[i].last = i == low ? 0 : FLOOR + 1;
    f->workers[low].memberships = f->memberships;
    f->workers[low].lock = &lock;
    condition_init(&f->pool.answered);
    if (row->is_busy) {
        ask(f, low, 8);
        assert_true(worker_push(&f->workers[low], &f->counter->slots[low].job));
    }
    assert_int_equal(pthread_create(&thread, NULL, answer_all, &answers), 0);
    assert_int_equal(
        ha_counter_raise(f->counter, clock_now_ms() + 600000, &err),
        row->text == NULL ? SEQB_OK : SEQB_UNAVAILABLE);
    worker_stop(&f->workers[low]);
    pthread_join(thread, NULL);
    assert_int_equal(answers.next - row->answers, row->asked);
    if (row->text != NULL)
        assert_non_null(strstr(err.text, row->text));
}

TEST_WITH(SLOTS, partition_is_asked_until_it_is_above_or_fails)
{
    for (size_t i = 0; i < 2 * COUNT_OF(raised); i++) {
        void *state;

        print_message("  %s\n", raised[i / 2].name);
        low = (int32_t)(i % 2);
        expect_raised(f, &raised[i / 2]);
        ha_counter_free(f->counter);
        (void)setup_direct(&state);
    }
}

/* Each cell was granted window 6. */
static void expect_authority_raised(struct fixture *f, int64_t level,
                                    int64_t floor)
{
    f->counter->level[SEQB_WINDOWED] = level;
    f->counter->floor[SEQB_WINDOWED] = 5;
    for (int32_t i = 0; i < PARTITIONS; i++) {
        f->counter->slots[i].last = 6 << WINDOW_BITS;
        f->counter->slots[i].is_busy = false;
    }
    (void)raise_now(f, NULL);
    assert_int_equal(f->counter->floor[SEQB_WINDOWED], floor);
    for (int32_t i = 0; i < PARTITIONS; i++)
        expect_asked(f, i, floor >= 6);
}

/* A cell above the floor does not show whether its authority is. */
TEST_WITH(OF_CELLS, authority_is_raised_above_all_known_windows)
{
    struct slot *slot = &f->counter->slots[0];
    const int64_t half = slot_window_max(slot) / 2;
    struct windows none;

    expect_authority_raised(f, 9, 5);
    f->pool.authority = &f->workers[0];
    expect_authority_raised(f, 4, 5);
    expect_authority_raised(f, 9, 9);
    expect_authority_raised(f, half, half);
    expect_authority_raised(f, half + 1, 5);
    assert_int_equal(window_take(slot, 0, 0, &none, NULL), SEQB_UNAVAILABLE);
    f->workers[0].first = NULL;
    source_leased(slot->windows, 11, 1, 1);
    expect_authority_raised(f, 9, 11);
}
