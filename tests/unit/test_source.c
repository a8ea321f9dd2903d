/* SPDX-License-Identifier: Apache-2.0 */
/* The windows that are leased for a slot: in which order they are taken, and
 * which are dropped. */
#include <stdlib.h>

#include "ha/counter/source.h"
#include "ha/counter/window.h"
#include "platform/error.h"
#include "support/test.h"

#define PARTITION 3
#define LESSORS   2

/* The source is of the slot of that partition. */
struct fixture {
    struct ha_pool *pool;
    struct ha_counter *counter;
    struct window_source *source;
    struct slot slot;
};

static void *new_zeroed(size_t size)
{
    void *memory = calloc(1, size);

    assert_non_null(memory);
    return memory;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int setup(void **state)
{
    struct fixture *f = new_zeroed(sizeof *f);

    f->pool = new_zeroed(sizeof *f->pool);
    f->pool->options = &f->pool->current;
    f->pool->current.layout.window_bits = 8;
    f->pool->lessors.count = LESSORS;
    f->pool->resumed = 5;
    f->counter = new_zeroed(sizeof *f->counter);
    f->counter->pool = f->pool;
    f->source = new_zeroed(sizeof *f->source);
    f->source->lease.counter = f->counter;
    f->source->lease.partition = PARTITION;
    f->source->resumed = 5;
    f->source->lock = &lock;
    f->slot.counter = f->counter;
    f->slot.windows = f->source;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    window_source_free(f->source);
    free(f->counter);
    free(f->pool);
    free(f);
    return 0;
}

#define SOURCE FIXTURE(struct fixture *f, setup, teardown)

/* Takes so many windows, which must be these, and then none is left. */
static void expect_left(struct fixture *f, const int64_t *windows, size_t n)
{
    if (n > 0)
        assert_int_equal(source_last(f->source), windows[n - 1]);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(f->pool->spares[PARTITION], 1);
        assert_int_equal(source_next(f->source, 1).first, windows[i]);
    }
    assert_int_equal(f->pool->spares[PARTITION], 0);
    assert_int_equal(f->source->run.left, 0);
    assert_int_equal(source_last(f->source), SEQB_NO_WINDOW);
}

TEST_WITH(SOURCE, windows_of_a_run_are_taken_one_after_another)
{
    source_leased(f->source, 10, 2, 3);
    expect_left(f, (int64_t[]){10, 12, 14}, 3);
    /* The last one is not used up yet. */
    assert_true(f->source->pace.has_begun);
    assert_int_equal(f->source->pace.used, 2);
}

TEST_WITH(SOURCE, next_run_is_taken_after_the_first_one)
{
    source_leased(f->source, 10, 1, 2);
    source_leased(f->source, 20, 4, 2);
    expect_left(f, (int64_t[]){10, 11, 20, 24}, 4);
    source_leased(f->source, 30, 1, 2);
    source_leased(f->source, 40, 1, 1);
    expect_left(f, (int64_t[]){30, 31, 40}, 3);
}

static void expect_taken(struct fixture *f, int64_t most, int64_t first,
                         int64_t count)
{
    const struct windows taken = source_next(f->source, most);

    assert_int_equal(taken.first, first);
    assert_int_equal(taken.count, count);
    assert_int_equal(windows_last(&taken), first + (count - 1) * taken.step);
}

/* What is taken at once is of one lease, and never there again. */
TEST_WITH(SOURCE, windows_that_are_taken_at_once_are_of_one_run)
{
    source_leased(f->source, 10, 2, 5);
    source_leased(f->source, 20, 4, 3);
    expect_taken(f, 3, 10, 3);
    assert_int_equal(f->source->run.taken, 3);
    assert_int_equal(f->source->pace.used, 2);
    expect_taken(f, 3, 16, 2);
    assert_int_equal(f->source->pace.used, 4);
    expect_taken(f, 2, 20, 2);
    assert_int_equal(f->source->run.taken, 2);
    expect_left(f, (int64_t[]){28}, 1);
}

/* Two runs: 10, 12, 14 and 20, 22, 24. */
TEST_WITH(SOURCE, windows_up_to_the_floor_are_dropped)
{
    static const int64_t all[] = {10, 12, 14, 20, 22, 24};
    static const struct {
        int64_t floor;
        size_t dropped;
    } cases[] = {{0, 0},  {9, 0},  {10, 1}, {11, 1}, {12, 2}, {13, 2}, {14, 3},
                 {19, 3}, {20, 4}, {21, 4}, {23, 5}, {24, 6}, {99, 6}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        source_leased(f->source, 10, 2, 3);
        source_leased(f->source, 20, 2, 3);
        source_drop(f->source, cases[i].floor);
        expect_left(f, &all[cases[i].dropped], 6 - cases[i].dropped);
    }
}

/* Only then is it known how many of them are of use. */
TEST_WITH(SOURCE, next_run_is_shorter_if_the_rest_of_one_was_dropped)
{
    source_leased(f->source, 10, 1, 20);
    for (int i = 0; i < 8; i++)
        (void)source_next(f->source, 1);
    source_drop(f->source, 28);
    assert_int_equal(f->source->pace.last, 20);
    source_drop(f->source, 29);
    assert_int_equal(f->source->pace.last, 8 / PACE_GROWTH);
    /* Those that were taken of the run before do not count. */
    source_leased(f->source, 40, 1, 20);
    source_drop(f->source, 59);
    assert_int_equal(f->source->pace.last, 0);
}

/* What was used up to the last window was not too long. */
TEST_WITH(SOURCE, run_that_was_used_up_is_none_that_was_dropped)
{
    source_leased(f->source, 10, 1, 8);
    for (int i = 0; i < 8; i++)
        (void)source_next(f->source, 1);
    source_drop(f->source, 17);
    assert_int_equal(f->source->pace.last, 8);
}

/* They may have been used before the image was made that was resumed. */
TEST_WITH(SOURCE, windows_leased_before_a_resumption_are_dropped)
{
    source_leased(f->source, 10, 1, 2);
    f->pool->resumed = 6;
    f->source->resumed = 6;
    source_leased(f->source, 20, 1, 2);
    source_drop(f->source, 0);
    expect_left(f, (int64_t[]){20, 21}, 2);
    f->pool->resumed = 7;
    source_leased(f->source, 40, 1, 2);
    source_leased(f->source, 50, 1, 2);
    source_drop(f->source, 0);
    expect_left(f, NULL, 0);
    /* The answer to a lease that was asked for before. */
    f->source->resumed = 5;
    source_leased(f->source, 30, 1, 2);
    source_drop(f->source, 0);
    expect_left(f, NULL, 0);
}

TEST_WITH(SOURCE, words_of_the_last_lease_are_kept)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_REFUSED, "no rights");
    source_result(f->source, true, &why);
    assert_int_equal(f->source->status, SEQB_REFUSED);
    assert_string_equal(f->source->why, "no rights");
    assert_true(f->source->is_refused);
    source_result(f->source, false, NULL);
    assert_ok(f->source->status);
    assert_null(f->source->why);
    assert_false(f->source->is_refused);
    source_result(f->source, false, &why); /* freed with the source */
}

static struct lease *lease_of(struct window_source *source)
{
    struct lease *lease =
        new_zeroed(sizeof *lease + LESSORS * sizeof lease->marks[0]);

    lease->source = source;
    for (int i = 0; i < LESSORS; i++)
        lease->marks[i] = (struct lease_mark){.value = 100, .run = 1};
    return lease;
}

TEST_WITH(SOURCE, nothing_of_a_stamp_is_used_for_the_next_one)
{
    struct seqb_error why;

    f->source->neighbours = lease_of(f->source);
    source_leased(f->source, 10, 1, 2);
    source_leased(f->source, 20, 1, 2);
    (void)source_next(f->source, 1);
    (void)error_set(&why, SEQB_EXHAUSTED, "no more");
    source_result(f->source, true, &why);
    f->source->lease.mark.value = 9;
    window_renew(&f->slot);
    expect_left(f, NULL, 0);
    assert_int_equal(f->source->after.left, 0);
    assert_int_equal(f->source->pace.last, 0);
    assert_false(f->source->pace.has_begun);
    assert_int_equal(f->source->lease.mark.value, FENCE_NOTHING.value);
    assert_ok(f->source->status);
    for (int i = 0; i < LESSORS; i++)
        assert_int_equal(f->source->neighbours->marks[i].run, 0);
}

TEST_WITH(SOURCE, slot_without_a_source_has_nothing_to_forget)
{
    f->slot.windows = NULL;
    window_renew(&f->slot);
    assert_false(window_is_asked(&f->slot));
    f->slot.windows = f->source;
    assert_false(window_is_asked(&f->slot));
    f->source->is_asked = true;
    assert_true(window_is_asked(&f->slot));
    window_source_free(NULL);
}

/* --- what is asked of a cell --- */

/* Of 100 values, from a cell that granted up to `value` of a window of 256. */
static void expect_asked(struct fixture *f, int64_t value, int64_t wanted,
                         bool is_spent)
{
    f->slot.want = 100;
    f->slot.mark.value = value;
    assert_int_equal(window_wanted(&f->slot), wanted);
    assert_int_equal(window_is_spent(&f->slot), is_spent);
}

static void use_own_window(struct fixture *f)
{
    f->slot.is_windowed = true;
    f->slot.is_alone = true;
    f->slot.mark.window = 1;
}

TEST_WITH(SOURCE, own_window_is_asked_for_no_more_than_is_left_of_it)
{
    use_own_window(f);
    expect_asked(f, FENCE_NOTHING.value, 100, false);
    expect_asked(f, 155, 100, false);
    expect_asked(f, 156, 99, false);
    expect_asked(f, 254, 1, false);
    expect_asked(f, 255, 100, true);
}

/* What is left of it is not known. */
TEST_WITH(SOURCE, cell_that_is_not_surely_its_own_is_asked_for_all)
{
    use_own_window(f);
    f->slot.is_alone = false;
    expect_asked(f, 255, 100, false);
    use_own_window(f);
    f->slot.is_windowed = false;
    expect_asked(f, 255, 100, false);
    use_own_window(f);
    f->slot.mark.window = 0;
    expect_asked(f, 255, 100, false);
}

/* A 64th of what is wanted, if another window is there besides the cell's. */
TEST_WITH(SOURCE, next_to_nothing_is_left_for_whole_windows_that_are_leased)
{
    use_own_window(f);
    source_leased(f->source, 10, 1, 2);
    expect_asked(f, 254, 1, true);
    expect_asked(f, 253, 2, false);
    (void)source_next(f->source, 1);
    expect_asked(f, 254, 1, false);
    source_leased(f->source, 20, 1, 1);
    f->counter->memory_bits = 13; /* too large to be granted whole */
    (void)source_next(f->source, 1);
    source_leased(f->source, 30, 1, 2);
    expect_asked(f, 254, 1, false);
    f->slot.windows = NULL;
    f->counter->memory_bits = 0;
    expect_asked(f, 254, 1, false);
}
