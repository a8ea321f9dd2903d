/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring with one thread that pushes and four that take in every way, so
 * small that it wraps at almost every push: each number must be accounted
 * for, and none come twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/select.h>

#include "queue/ring.h"

#if defined(__SANITIZE_THREAD__)
#define IS_SLOW 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_SLOW 1
#endif
#endif
#ifndef IS_SLOW
#define IS_SLOW 0
#endif

/* A wrong ring lets some repeat in each of these. */
#define NUMBERS ((uint64_t)(IS_SLOW ? 1 << 15 : 1 << 18))
#define TAKERS  4
#define MANY    37

enum way { TAKE_ONE = 1, TAKE_MANY = 2, TAKE_RUN = 4 };

struct stress {
    struct ring *ring;
    uint64_t run;
    unsigned ways;           /* that takers may use */
    _Atomic bool has_pushed; /* all; pairs with the takers' acquire */
};

/* One taker's own: nothing here makes threads wait for each other, which
 * would hide what is to be found. */
struct taker {
    struct stress *stress;
    pthread_t thread;
    uint64_t seed;
    uint64_t taken;
    uint64_t lows;    /* how often it was told to call for more */
    uint64_t strange; /* numbers that nobody pushed, runs that cross */
    unsigned char *seen;
};

static uint64_t chance(uint64_t *seed, uint64_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % below;
}

static void taker_note(struct taker *taker, int64_t number)
{
    if (number < 0 || (uint64_t)number >= NUMBERS) {
        taker->strange++;
        return;
    }
    taker->taken++;
    if (taker->seen[number] < 2)
        taker->seen[number]++;
}

static enum ring_taken take_many(struct taker *taker)
{
    int64_t out[MANY];
    size_t n;
    const enum ring_taken how = ring_take_many(
        taker->stress->ring, 1 + chance(&taker->seed, MANY), out, &n);

    for (size_t i = 0; i < n; i++)
        taker_note(taker, out[i]);
    return how;
}

static enum ring_taken take_run(struct taker *taker)
{
    const uint64_t run = taker->stress->run;
    const uint64_t count = 1 + chance(&taker->seed, run);
    int64_t first;
    const enum ring_taken how =
        ring_take_run(taker->stress->ring, count, &first);

    if (how == RING_EMPTY)
        return how;
    if (first < 0 || ((uint64_t)first & (run - 1)) + count > run)
        taker->strange++;
    for (uint64_t i = 0; i < count; i++)
        taker_note(taker, first + (int64_t)i);
    return how;
}

static enum ring_taken take_one(struct taker *taker)
{
    int64_t number;
    const enum ring_taken how = ring_take(taker->stress->ring, &number);

    if (how != RING_EMPTY)
        taker_note(taker, number);
    return how;
}

static enum ring_taken take_any(struct taker *taker)
{
    unsigned way;

    do {
        way = 1u << chance(&taker->seed, 3);
    } while ((taker->stress->ways & way) == 0);
    switch (way) {
    case TAKE_MANY:
        return take_many(taker);
    case TAKE_RUN:
        return take_run(taker);
    default:
        return take_one(taker);
    }
}

static void *taker_run(void *argument)
{
    struct taker *taker = argument;
    struct stress *stress = taker->stress;

    for (;;) {
        /* Read before the take: then empty after the last push is the end. */
        const bool is_over =
            atomic_load_explicit(&stress->has_pushed, memory_order_acquire);
        const enum ring_taken how = is_over ? take_one(taker) : take_any(taker);

        taker->lows += how == RING_TAKEN_LOW;
        if (how == RING_EMPTY && is_over)
            return NULL;
        if (how == RING_EMPTY)
            sched_yield();
    }
}

/* The numbers 0 ... NUMBERS - 1, in batches of every size. */
static void push_all(struct stress *stress)
{
    const uint64_t runs = NUMBERS / stress->run;
    uint64_t seed = 4711;
    uint64_t next = 0;

    while (next < runs) {
        const uint64_t left = runs - next;
        uint64_t want = 1 + chance(&seed, 5);
        uint64_t pushed;

        if (want > left)
            want = left;
        pushed = ring_push(stress->ring, (int64_t)(next * stress->run),
                           (int64_t)stress->run, want);
        next += pushed;
        if (pushed < want)
            sched_yield();
    }
    atomic_store_explicit(&stress->has_pushed, true, memory_order_release);
}

static void pause_for(int us)
{
    struct timeval span = {0, us};

    (void)select(0, NULL, NULL, NULL, &span);
}

/* Stops a taker wherever it is just then, for longer than others need to wrap
 * the ring. */
static void disturb(int signal)
{
    (void)signal;
    pause_for(1);
}

static void *disturber_run(void *argument)
{
    const struct taker *takers = argument;
    uint64_t seed = 1234567;

    while (!atomic_load(&takers->stress->has_pushed)) {
        (void)pthread_kill(takers[chance(&seed, TAKERS)].thread, SIGUSR1);
        pause_for(200);
    }
    return NULL;
}

/* Pushes all while the takers are disturbed. */
static void push_disturbed(struct stress *stress, struct taker *takers)
{
    struct sigaction action = {.sa_handler = disturb, .sa_flags = SA_RESTART};
    pthread_t disturber;

    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(pthread_create(&disturber, NULL, disturber_run, takers),
                     0);
    push_all(stress);
    assert_int_equal(pthread_join(disturber, NULL), 0);
}

static void takers_start(struct stress *stress, struct taker *takers)
{
    for (int i = 0; i < TAKERS; i++) {
        takers[i] = (struct taker){.stress = stress,
                                   .seed = 2463534242u + (uint64_t)i,
                                   .seen = calloc(NUMBERS, 1)};
        assert_non_null(takers[i].seen);
    }
    for (int i = 0; i < TAKERS; i++)
        assert_int_equal(
            pthread_create(&takers[i].thread, NULL, taker_run, &takers[i]), 0);
}

/* How often each number was taken, in the first taker's place. */
static const unsigned char *takers_join(struct taker *takers)
{
    for (int i = 0; i < TAKERS; i++)
        assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
    for (int i = 1; i < TAKERS; i++) {
        for (uint64_t n = 0; n < NUMBERS; n++)
            takers[0].seen[n] += takers[i].seen[n];
    }
    return takers[0].seen;
}

static void takers_free(struct taker *takers)
{
    for (int i = 0; i < TAKERS; i++)
        free(takers[i].seen);
}

/* None twice; and none is missing but the rest of a run, behind a number that
 * was taken, if runs were taken at all. */
static void expect_accounted(const struct stress *stress,
                             const struct taker *takers,
                             const unsigned char *seen)
{
    uint64_t twice = 0;
    uint64_t missing = 0;
    uint64_t skipped = 0;
    uint64_t taken = 0;

    for (int i = 0; i < TAKERS; i++) {
        assert_int_equal(takers[i].strange, 0);
        taken += takers[i].taken;
    }
    for (uint64_t n = 0; n < NUMBERS; n++) {
        const bool is_first = n % stress->run == 0;
        const bool is_behind_gap = !is_first && seen[n - 1] == 0;

        twice += seen[n] > 1;
        missing += (seen[n] == 0 && is_first) || (seen[n] > 0 && is_behind_gap);
        skipped += seen[n] == 0;
    }
    assert_int_equal(twice, 0);
    assert_int_equal(missing, 0);
    assert_int_equal(taken + skipped, NUMBERS);
    if ((stress->ways & TAKE_RUN) == 0)
        assert_int_equal(skipped, 0);
}

static void stress_once(uint64_t slots, int32_t memory_bits, unsigned ways)
{
    struct stress stress = {.ring = ring_new(slots, memory_bits),
                            .run = (uint64_t)1 << memory_bits,
                            .ways = ways};
    struct taker takers[TAKERS];

    assert_non_null(stress.ring);
    takers_start(&stress, takers);
    push_disturbed(&stress, takers);
    expect_accounted(&stress, takers, takers_join(takers));
    assert_int_equal(ring_consumed(stress.ring), NUMBERS);
    assert_int_equal(ring_stock(stress.ring), 0);
    takers_free(takers);
    ring_free(stress.ring);
}

static void single_numbers_come_once_each(void **state)
{
    (void)state;
    stress_once(1, 0, TAKE_ONE);
    stress_once(2, 2, TAKE_ONE);
}

static void many_at_once_come_once_each(void **state)
{
    (void)state;
    stress_once(2, 0, TAKE_MANY);
    stress_once(4, 3, TAKE_ONE | TAKE_MANY);
}

static void contiguous_numbers_come_once_each(void **state)
{
    (void)state;
    stress_once(1, 0, TAKE_RUN);
    stress_once(2, 1, TAKE_RUN);
}

static void in_every_way_at_once_none_comes_twice(void **state)
{
    (void)state;
    stress_once(1, 1, TAKE_ONE | TAKE_MANY | TAKE_RUN);
    stress_once(2, 3, TAKE_ONE | TAKE_MANY | TAKE_RUN);
    stress_once(8, 5, TAKE_ONE | TAKE_MANY | TAKE_RUN);
}

/* A ring that only drains crosses its mark once, whoever takes. */
static void one_taker_of_all_is_told_that_the_stock_is_low(void **state)
{
    (void)state;
    for (uint64_t low = 0; low < NUMBERS; low = low * 20 + 3) {
        struct stress stress = {.ring = ring_new(NUMBERS / 8, 3),
                                .run = 8,
                                .ways = TAKE_ONE | TAKE_MANY | TAKE_RUN};
        struct taker takers[TAKERS];
        uint64_t lows = 0;

        assert_non_null(stress.ring);
        ring_set_low(stress.ring, low);
        assert_int_equal(ring_push(stress.ring, 0, 8, NUMBERS / 8),
                         NUMBERS / 8);
        takers_start(&stress, takers);
        while (ring_stock(stress.ring) > 0)
            sched_yield();
        atomic_store_explicit(&stress.has_pushed, true, memory_order_release);
        expect_accounted(&stress, takers, takers_join(takers));
        for (int i = 0; i < TAKERS; i++)
            lows += takers[i].lows;
        assert_int_equal(lows, 1);
        takers_free(takers);
        ring_free(stress.ring);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_numbers_come_once_each),
        cmocka_unit_test(many_at_once_come_once_each),
        cmocka_unit_test(contiguous_numbers_come_once_each),
        cmocka_unit_test(in_every_way_at_once_none_comes_twice),
        cmocka_unit_test(one_taker_of_all_is_told_that_the_stock_is_low),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
