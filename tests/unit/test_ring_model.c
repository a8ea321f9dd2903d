/* SPDX-License-Identifier: Apache-2.0 */
/* The ring against a model of it: any steps in any order. */

#include <stdlib.h>

#include "support/ring_memory.h"
#include "support/test.h"

/* The ring as it ought to be: every number that was pushed, in order. */
#define MODEL_NUMBERS 4000000

struct model {
    struct ring *ring;
    int64_t *numbers;
    uint64_t *ends; /* of the segment that the number is in */
    uint32_t segments;
    uint64_t run;
    int32_t memory_bits;
    int32_t partition_bits;
    int32_t window_bits;
    int32_t lessor_bits; /* 0: segments are not of windows */
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

/* Segments that hold something still. */
static uint32_t model_held(const struct model *model)
{
    uint64_t at = model->head;
    uint32_t held = 0;

    for (; at < model->tail; at = model->ends[at])
        held++;
    return held;
}

static void model_set_low(struct model *model, uint64_t low)
{
    model->low = low;
    ring_set_low(model->ring, low);
}

/* The window that a number is in. */
static int64_t model_window(const struct model *model, int64_t number)
{
    return number >>
           (model->memory_bits + model->partition_bits + model->window_bits);
}

/* One by one: over the runs of others, and over their windows. */
static int64_t model_next(const struct model *model, int64_t number)
{
    const int64_t last = number++;

    if (((uint64_t)number & (model->run - 1)) != 0)
        return number;
    number += (int64_t)(((1u << model->partition_bits) - 1) * model->run);
    if (model_window(model, number) != model_window(model, last))
        number += (int64_t)((1u << model->lessor_bits) - 1)
                  << (model->memory_bits + model->partition_bits +
                      model->window_bits);
    return number;
}

static void model_push(struct model *model)
{
    const bool has_room = model_held(model) < model->segments;
    const uint64_t count =
        1 + chance(model, 4 * model->run << model->window_bits);
    int64_t number = (int64_t)chance(model, 1 << 30);
    const uint64_t end = model->tail + count;

    assert_int_equal(ring_push(model->ring, number, count), has_room);
    if (!has_room)
        return;
    while (model->tail < end) {
        model->ends[model->tail] = end;
        model->numbers[model->tail++] = number;
        number = model_next(model, number);
    }
    model_set_low(model, model->low);
}

/* What taking up to `after` must say. */
static enum ring_taken model_advance(struct model *model, uint64_t after)
{
    const uint64_t had = model->tail - model->head;
    const uint64_t has = model->tail - after;

    model->head = after;
    return model->low > 0 && had > model->low && has <= model->low
               ? RING_TAKEN_LOW
               : RING_TAKEN;
}

static void model_take(struct model *model)
{
    int64_t got;
    const enum ring_taken taken = ring_take(model->ring, &got);

    if (model->head == model->tail) {
        assert_int_equal(taken, RING_EMPTY);
        return;
    }
    assert_int_equal(got, model->numbers[model->head]);
    assert_int_equal(taken, model_advance(model, model->head + 1));
}

static void model_take_many(struct model *model)
{
    const uint64_t stock = model->tail - model->head;
    const uint64_t count = 1 + chance(model, 4 * model->run);
    int64_t out[128];
    size_t n;
    const enum ring_taken taken = ring_take_many(model->ring, count, out, &n);

    /* Of 8 segments at most. */
    assert_true(n <= count && n <= stock && (n > 0 || stock == 0));
    if (model_held(model) <= 8)
        assert_int_equal(n, count < stock ? count : stock);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(out[i], model->numbers[model->head + i]);
    assert_int_equal(taken, n == 0 ? RING_EMPTY
                                   : model_advance(model, model->head + n));
}

/* Where a run of `count` begins. */
static uint64_t model_find_run(const struct model *model, uint64_t count)
{
    uint64_t at = model->head;

    while (at < model->tail) {
        const uint64_t end = model->ends[at];
        const uint64_t left =
            model->run - ((uint64_t)model->numbers[at] & (model->run - 1));

        if (left < count)
            at += left;
        if (at + count <= end)
            return at;
        at = end;
    }
    return at;
}

static void model_take_run(struct model *model)
{
    const uint64_t count = 1 + chance(model, model->run);
    const uint64_t start = model_find_run(model, count);
    int64_t first;
    const enum ring_taken taken = ring_take_run(model->ring, count, &first);

    if (start >= model->tail) {
        assert_int_equal(taken, RING_EMPTY);
        return;
    }
    assert_int_equal(first, model->numbers[start]);
    assert_int_equal(taken, model_advance(model, start + count));
}

static void model_skip_short(struct model *model)
{
    const uint64_t count = 1 + chance(model, model->run);

    ring_skip_short(model->ring, count);
    if (model_find_run(model, count) >= model->tail)
        model->head = model->tail;
}

/* Whether a slice from the head on is of one such part. */
static bool model_is_part(const struct model *model, enum ring_part part,
                          uint64_t count)
{
    const int64_t first = model->numbers[model->head];
    const int64_t last = model->numbers[model->head + count - 1];

    if (part == RING_RUN)
        return last / (int64_t)model->run == first / (int64_t)model->run;
    return part == RING_SEGMENT ||
           model_window(model, last) == model_window(model, first);
}

static void model_take_slice(struct model *model)
{
    const enum ring_part part = (enum ring_part)chance(model, 3);
    const uint64_t count = 1 + chance(model, 3 * model->run);
    struct ring_slice slice;
    const enum ring_taken taken =
        ring_take_slice(model->ring, count, part, &slice);

    if (model->head == model->tail) {
        assert_int_equal(taken, RING_EMPTY);
        return;
    }
    assert_true(model->head + slice.count <= model->ends[model->head]);
    if (model->lessor_bits > 0 || part != RING_WINDOW)
        assert_true(model_is_part(model, part, slice.count));
    for (uint64_t i = 0; i < slice.count; i++)
        assert_int_equal(
            ring_number(model->ring->shape, slice.base, slice.position + i),
            model->numbers[model->head + i]);
    assert_int_equal(ring_number_after(model->ring, model->numbers[model->head],
                                       slice.count - 1),
                     model->numbers[model->head + slice.count - 1]);
    assert_int_equal(taken, model_advance(model, model->head + slice.count));
}

static void model_step(struct model *model)
{
    switch (chance(model, 10)) {
    case 0:
    case 1:
        model_push(model);
        break;
    case 2:
        model_set_low(model, chance(model, 4 * model->run));
        break;
    case 3:
    case 4:
        model_take_many(model);
        break;
    case 5:
        model_take_run(model);
        break;
    case 6:
        model_take_slice(model);
        break;
    case 7:
        model_skip_short(model);
        break;
    default:
        model_take(model);
    }
    assert_int_equal(ring_stock(model->ring), model->tail - model->head);
    assert_int_equal(ring_free_blocks(model->ring),
                     model->segments - model_held(model));
}

/* Of a pool without neighbours, with lessor_bits 0. */
static void model_run(uint32_t segments, int32_t memory_bits,
                      int32_t window_bits, int32_t lessor_bits)
{
    struct model model = {
        .ring = ring_make(segments, memory_bits, memory_bits % 3),
        .numbers = malloc(MODEL_NUMBERS * sizeof *model.numbers),
        .ends = malloc(MODEL_NUMBERS * sizeof *model.ends),
        .segments = segments,
        .run = (uint64_t)1 << memory_bits,
        .memory_bits = memory_bits,
        .partition_bits = memory_bits % 3,
        .window_bits = window_bits,
        .lessor_bits = lessor_bits,
        .seed = 88172645463325252u};

    assert_non_null(model.numbers);
    assert_non_null(model.ends);
    if (lessor_bits > 0)
        ring_step_windows(model.ring, window_bits, lessor_bits);
    for (int step = 0; step < 10000; step++)
        model_step(&model);
    assert_true(model.head > (uint64_t)20 * segments * model.run);
    free(model.ends);
    free(model.numbers);
    ring_unmake(model.ring, segments);
}

TEST(any_steps_in_any_order_do_as_the_model)
{
    static const uint32_t segments[] = {1, 2, 4, 16};

    for (size_t i = 0; i < COUNT_OF(segments); i++) {
        for (int32_t memory_bits = 0; memory_bits <= 5; memory_bits++)
            model_run(segments[i], memory_bits, 0, 0);
    }
}

/* From windows of one run on, in pools of 2 to 8 lessors. */
TEST(segments_of_several_windows_do_as_the_model)
{
    for (int32_t memory_bits = 0; memory_bits <= 3; memory_bits++) {
        for (int32_t window_bits = 0; window_bits <= 3; window_bits++) {
            for (int32_t lessor_bits = 1; lessor_bits <= 3; lessor_bits++)
                model_run(4, memory_bits, window_bits, lessor_bits);
        }
    }
}
