/* SPDX-License-Identifier: Apache-2.0 */
/* The ring with one thread: against a model, and after fork(). Threads are in
 * test_ring_threads.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queue/ring.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static struct ring *ring_make(uint64_t runs, int32_t memory_bits)
{
    struct ring *ring = ring_new(runs, memory_bits);

    assert_non_null(ring);
    return ring;
}

static void expect_taken(struct ring *ring, int64_t number,
                         enum ring_taken taken)
{
    int64_t got = -1;

    assert_int_equal(ring_take(ring, &got), taken);
    assert_int_equal(got, number);
}

static void expect_empty(struct ring *ring)
{
    int64_t got[2] = {-1, -1};
    size_t taken = 99;

    assert_int_equal(ring_take(ring, got), RING_EMPTY);
    assert_int_equal(ring_take_many(ring, 2, got, &taken), RING_EMPTY);
    assert_int_equal(taken, 0);
    assert_int_equal(ring_take_run(ring, 1, got), RING_EMPTY);
    assert_int_equal(got[0], -1);
    assert_int_equal(ring_stock(ring), 0);
}

static void a_new_ring_is_empty_and_has_the_room_asked_for(void **state)
{
    static const uint64_t rooms[][2] = {
        {1, 1}, {2, 2}, {3, 4}, {5, 8}, {64, 64}, {65, 128}, {1000, 1024}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        struct ring *ring = ring_make(rooms[i][0], 3);

        assert_true(ring->is_alive);
        assert_int_equal(ring_room(ring), rooms[i][1]);
        assert_int_equal(ring_consumed(ring), 0);
        expect_empty(ring);
        ring_free(ring);
    }
}

static void a_ring_that_does_not_fit_in_memory_is_none(void **state)
{
    (void)state;
    assert_null(ring_new((uint64_t)1 << 56, 0));
    ring_free(NULL);
}

static void numbers_come_in_the_order_of_their_runs(void **state)
{
    struct ring *ring = ring_make(4, 2);

    (void)state;
    assert_int_equal(ring_push(ring, 1000, 400, 2), 2);
    assert_int_equal(ring_push(ring, 80, 16, 1), 1);
    assert_int_equal(ring_stock(ring), 12);
    for (int64_t first = 1000; first <= 1400; first += 400) {
        for (int64_t k = 0; k < 4; k++)
            expect_taken(ring, first + k, RING_TAKEN);
    }
    expect_taken(ring, 80, RING_TAKEN);
    assert_int_equal(ring_stock(ring), 3);
    assert_int_equal(ring_consumed(ring), 9);
    ring_free(ring);
}

static void the_largest_numbers_pass_whole(void **state)
{
    struct ring *ring = ring_make(1, 20);
    const int64_t run = (int64_t)1 << 20;
    int64_t first;

    (void)state;
    assert_int_equal(ring_push(ring, INT64_MAX - run + 1, run, 1), 1);
    assert_int_equal(ring_take_run(ring, (uint64_t)run - 1, &first),
                     RING_TAKEN);
    assert_int_equal(first, INT64_MAX - run + 1);
    expect_taken(ring, INT64_MAX, RING_TAKEN);
    expect_empty(ring);
    ring_free(ring);
}

static void what_does_not_fit_is_not_pushed(void **state)
{
    struct ring *ring = ring_make(4, 1);

    (void)state;
    assert_int_equal(ring_push(ring, 0, 2, 3), 3);
    assert_int_equal(ring_push(ring, 100, 2, 3), 1);
    assert_int_equal(ring_push(ring, 200, 2, 1), 0);
    assert_int_equal(ring_push(ring, 200, 2, 0), 0);
    for (int64_t i = 0; i < 6; i++)
        expect_taken(ring, i, RING_TAKEN);
    expect_taken(ring, 100, RING_TAKEN);
    expect_taken(ring, 101, RING_TAKEN);
    expect_empty(ring);
    ring_free(ring);
}

/* Its rest is still to be read. */
static void a_run_that_is_partly_taken_keeps_its_place(void **state)
{
    struct ring *ring = ring_make(2, 2);

    (void)state;
    assert_int_equal(ring_push(ring, 0, 4, 9), 2);
    for (int64_t i = 0; i < 3; i++) {
        expect_taken(ring, i, RING_TAKEN);
        assert_int_equal(ring_room(ring), 0);
        assert_int_equal(ring_push(ring, 500, 4, 1), 0);
    }
    expect_taken(ring, 3, RING_TAKEN);
    assert_int_equal(ring_room(ring), 1);
    assert_int_equal(ring_push(ring, 500, 4, 2), 1);
    expect_taken(ring, 4, RING_TAKEN);
    ring_free(ring);
}

static void many_are_taken_over_the_bounds_of_runs_and_of_the_ring(void **state)
{
    struct ring *ring = ring_make(4, 1);
    int64_t out[16];
    size_t taken;

    (void)state;
    assert_int_equal(ring_push(ring, 10, 10, 3), 3);
    assert_int_equal(ring_take_many(ring, 5, out, &taken), RING_TAKEN);
    assert_int_equal(taken, 5);
    assert_int_equal(ring_push(ring, 40, 10, 3), 3);
    assert_int_equal(ring_take_many(ring, 16, out, &taken), RING_TAKEN);
    assert_int_equal(taken, 7);
    assert_memory_equal(out, ((int64_t[]){31, 40, 41, 50, 51, 60, 61}),
                        7 * sizeof out[0]);
    expect_empty(ring);
    ring_free(ring);
}

static void a_run_is_taken_within_one_run_only(void **state)
{
    static const struct {
        uint64_t before; /* numbers taken of the first run */
        uint64_t count;
        int64_t first; /* -1: none */
        uint64_t consumed;
    } cases[] = {
        {0, 8, 80, 8},   {0, 1, 80, 1},    {3, 5, 83, 8},   {3, 6, 160, 14},
        {7, 1, 87, 8},   {7, 2, 160, 10},  {1, 8, 160, 16}, {8, 8, 160, 16},
        {9, 7, 161, 16}, {15, 1, 167, 16}, {9, 8, -1, 9},   {15, 2, -1, 15},
        {16, 1, -1, 16},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ring *ring = ring_make(2, 3);
        int64_t out[16];
        int64_t first = -1;
        size_t taken;

        assert_int_equal(ring_push(ring, 80, 80, 2), 2);
        (void)ring_take_many(ring, cases[i].before, out, &taken);
        assert_int_equal(ring_take_run(ring, cases[i].count, &first),
                         cases[i].first < 0 ? RING_EMPTY : RING_TAKEN);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(ring_consumed(ring), cases[i].consumed);
        ring_free(ring);
    }
}

/* For each way of taking, from above to below, exactly one call. */
/* Also the rest of a run that is partly taken, and over the ring's bounds. */
static void what_is_dropped_comes_to_nobody(void **state)
{
    struct ring *ring = ring_make(4, 2);

    (void)state;
    assert_int_equal(ring_drop(ring), 0);
    for (int64_t round = 0; round < 10; round++) {
        const int64_t first = 1000 * (round + 1);

        assert_int_equal(ring_push(ring, first, 4, 3), 3);
        expect_taken(ring, first, RING_TAKEN);
        assert_int_equal(ring_drop(ring), 11);
        expect_empty(ring);
        assert_int_equal(ring_room(ring), 4);
        assert_int_equal(ring_consumed(ring), 12 * (round + 1));
        assert_int_equal(ring_drop(ring), 0);
    }
    ring_free(ring);
}

static void falling_to_the_mark_is_told_once(void **state)
{
    (void)state;
    for (uint64_t low = 0; low < 16; low++) {
        struct ring *ring = ring_make(2, 3);
        int64_t out[16];
        size_t taken;

        (void)ring_push(ring, 0, 8, 2);
        ring_set_low(ring, low);
        for (uint64_t left = 15; left != UINT64_MAX; left--)
            assert_int_equal(ring_take(ring, out),
                             left == low ? RING_TAKEN_LOW : RING_TAKEN);
        for (uint64_t left = 13; left < 16; left -= 3) {
            if (left == 13)
                (void)ring_push(ring, 16, 8, 2);
            assert_int_equal(ring_take_many(ring, 3, out, &taken),
                             left <= low && low < left + 3 ? RING_TAKEN_LOW
                                                           : RING_TAKEN);
        }
        ring_free(ring);
    }
}

static void a_skipped_rest_falls_to_the_mark_as_well(void **state)
{
    (void)state;
    /* 13 left, a rest of 5 skipped and 6 taken: 2 left. */
    for (uint64_t low = 0; low <= 16; low++) {
        struct ring *ring = ring_make(2, 3);
        int64_t out[16];
        size_t taken;

        (void)ring_push(ring, 0, 8, 2);
        (void)ring_take_many(ring, 3, out, &taken);
        ring_set_low(ring, low);
        assert_int_equal(ring_take_run(ring, 6, out),
                         low >= 2 && low < 13 ? RING_TAKEN_LOW : RING_TAKEN);
        ring_free(ring);
    }
}

/* The ring as it ought to be, with room for all that a test pushes. */
#define MODEL_RUNS 200000

struct model {
    struct ring *ring;
    int64_t *firsts;
    uint64_t slots;
    uint64_t run;
    uint64_t head;
    uint64_t tail;
    uint64_t low;
    uint64_t seed;
};

/* xorshift64: the same steps in every run. */
static uint64_t chance(struct model *model, uint64_t below)
{
    model->seed ^= model->seed << 13;
    model->seed ^= model->seed >> 7;
    model->seed ^= model->seed << 17;
    return model->seed % below;
}

static int64_t model_number(const struct model *model, uint64_t position)
{
    return model->firsts[position / model->run] +
           (int64_t)(position % model->run);
}

static uint64_t model_room(const struct model *model)
{
    return model->slots - (model->tail / model->run - model->head / model->run);
}

static void model_push(struct model *model)
{
    const uint64_t count = chance(model, model->slots + 2);
    const uint64_t room = model_room(model);
    const int64_t step = (int64_t)(model->run << chance(model, 3));
    const int64_t first = (int64_t)(chance(model, 1 << 30) * model->run);
    const uint64_t pushed = ring_push(model->ring, first, step, count);

    assert_int_equal(pushed, count < room ? count : room);
    for (uint64_t i = 0; i < pushed; i++)
        model->firsts[model->tail / model->run + i] = first + (int64_t)i * step;
    model->tail += pushed * model->run;
}

/* What taking up to `after` must say. */
static enum ring_taken model_advance(struct model *model, uint64_t after)
{
    const uint64_t had = model->tail - model->head;
    const uint64_t has = model->tail - after;

    model->head = after;
    return had > model->low && has <= model->low ? RING_TAKEN_LOW : RING_TAKEN;
}

static void model_take(struct model *model)
{
    int64_t got;
    const enum ring_taken taken = ring_take(model->ring, &got);

    if (model->head == model->tail) {
        assert_int_equal(taken, RING_EMPTY);
        return;
    }
    assert_int_equal(got, model_number(model, model->head));
    assert_int_equal(taken, model_advance(model, model->head + 1));
}

static void model_take_many(struct model *model)
{
    const uint64_t stock = model->tail - model->head;
    const uint64_t count = 1 + chance(model, 2 * model->run);
    int64_t out[64];
    size_t n;
    const enum ring_taken taken = ring_take_many(model->ring, count, out, &n);

    assert_int_equal(n, count < stock ? count : stock);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(out[i], model_number(model, model->head + i));
    assert_int_equal(taken, n == 0 ? RING_EMPTY
                                   : model_advance(model, model->head + n));
}

static void model_take_run(struct model *model)
{
    const uint64_t count = 1 + chance(model, model->run);
    const uint64_t rest = model->run - model->head % model->run;
    const uint64_t start = model->head + (rest < count ? rest : 0);
    int64_t first;
    const enum ring_taken taken = ring_take_run(model->ring, count, &first);

    if (start + count > model->tail) {
        assert_int_equal(taken, RING_EMPTY);
        return;
    }
    assert_int_equal(first, model_number(model, start));
    assert_int_equal(taken, model_advance(model, start + count));
}

static void model_step(struct model *model)
{
    switch (chance(model, 8)) {
    case 0:
    case 1:
        model_push(model);
        break;
    case 2:
        model->low = chance(model, model->slots * model->run + 1);
        ring_set_low(model->ring, model->low);
        break;
    case 3:
    case 4:
        model_take_many(model);
        break;
    case 5:
        model_take_run(model);
        break;
    default:
        model_take(model);
    }
    assert_int_equal(ring_stock(model->ring), model->tail - model->head);
    assert_int_equal(ring_consumed(model->ring), model->head);
    assert_int_equal(ring_room(model->ring), model_room(model));
}

static void any_steps_in_any_order_do_as_the_model(void **state)
{
    static const uint64_t slots[] = {1, 2, 4, 16};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(slots); i++) {
        for (int32_t memory_bits = 0; memory_bits <= 5; memory_bits++) {
            struct model model = {.ring = ring_make(slots[i], memory_bits),
                                  .firsts =
                                      malloc(MODEL_RUNS * sizeof *model.firsts),
                                  .slots = slots[i],
                                  .run = (uint64_t)1 << memory_bits,
                                  .low = RING_NEVER_LOW,
                                  .seed = 88172645463325252u};

            assert_non_null(model.firsts);
            for (int step = 0; step < 10000; step++)
                model_step(&model);
            assert_true(model.head > 20 * model.slots * model.run);
            free(model.firsts);
            ring_free(model.ring);
        }
    }
}

static bool is_empty_and_dead(struct ring *ring)
{
    int64_t out[4];
    size_t taken;

    return !ring->is_alive && ring_stock(ring) == 0 &&
           ring_consumed(ring) == 0 && ring_take(ring, out) == RING_EMPTY &&
           ring_take_many(ring, 4, out, &taken) == RING_EMPTY && taken == 0 &&
           ring_take_run(ring, 1, out) == RING_EMPTY &&
           ring_take_run(ring, 8, out) == RING_EMPTY;
}

/* Both would hand out the same numbers. */
static void a_forked_child_finds_an_empty_ring(void **state)
{
    struct ring *ring = ring_make(600, 3);
    int status;
    pid_t child;

    (void)state;
    (void)ring_push(ring, 0, 8, 600);
    expect_taken(ring, 0, RING_TAKEN);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool is_good = is_empty_and_dead(ring);

        ring_free(ring);
        _exit(is_good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(ring->is_alive);
    for (int64_t i = 1; i < 4800; i++)
        expect_taken(ring, i, RING_TAKEN);
    expect_empty(ring);
    ring_free(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_ring_is_empty_and_has_the_room_asked_for),
        cmocka_unit_test(a_ring_that_does_not_fit_in_memory_is_none),
        cmocka_unit_test(numbers_come_in_the_order_of_their_runs),
        cmocka_unit_test(the_largest_numbers_pass_whole),
        cmocka_unit_test(what_does_not_fit_is_not_pushed),
        cmocka_unit_test(a_run_that_is_partly_taken_keeps_its_place),
        cmocka_unit_test(
            many_are_taken_over_the_bounds_of_runs_and_of_the_ring),
        cmocka_unit_test(a_run_is_taken_within_one_run_only),
        cmocka_unit_test(what_is_dropped_comes_to_nobody),
        cmocka_unit_test(falling_to_the_mark_is_told_once),
        cmocka_unit_test(a_skipped_rest_falls_to_the_mark_as_well),
        cmocka_unit_test(any_steps_in_any_order_do_as_the_model),
        cmocka_unit_test(a_forked_child_finds_an_empty_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
