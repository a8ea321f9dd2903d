/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring and its stripes with one thread that pushes and four that take in
 * every way, so small that it wraps at almost every push: each number must be
 * accounted for, and none come twice.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/select.h>

#include "queue/stripe.h"
#include "support/ring_memory.h"
#include "support/test.h"

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

enum way {
    TAKE_ONE = 1,
    TAKE_MANY = 2,
    TAKE_RUN = 4,
    TAKE_SLICE = 8,   /* and give some of it back */
    TAKE_STRIPE = 16, /* and sometimes take away what the stripes hold */
    ONE_STRIPE = 32   /* for all takers */
};
#define WAYS 5

struct stress {
    struct ring *ring;
    struct stripes *stripes;
    pthread_mutex_t lock; /* of who pushes */
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

/* What does not fit back is used up. */
static void give_back(struct taker *taker, const struct ring_slice *slice)
{
    struct stress *stress = taker->stress;
    struct ring *ring = stress->ring;
    bool is_pushed;

    pthread_mutex_lock(&stress->lock);
    is_pushed =
        ring_push(ring, ring_number(ring->shape, slice->base, slice->position),
                  slice->count);
    pthread_mutex_unlock(&stress->lock);
    for (uint64_t i = 0; !is_pushed && i < slice->count; i++)
        taker_note(taker,
                   ring_number(ring->shape, slice->base, slice->position + i));
}

static enum ring_taken take_slice(struct taker *taker)
{
    struct ring *ring = taker->stress->ring;
    struct ring_slice slice;
    const enum ring_taken how = ring_take_slice(
        ring, 1 + chance(&taker->seed, MANY), RING_SEGMENT, &slice);
    uint64_t left;

    if (how == RING_EMPTY)
        return how;
    for (left = slice.count; left > 0 && chance(&taker->seed, 20) > 0; left--)
        taker_note(taker,
                   ring_number(ring->shape, slice.base, slice.position++));
    slice.count = left;
    if (left > 0)
        give_back(taker, &slice);
    return how;
}

static void gather(struct taker *taker)
{
    struct stress *stress = taker->stress;
    struct ring_slice slices[STRIPES];
    const size_t n = stripes_gather(stress->stripes, stress->ring, slices);

    for (size_t i = 0; i < n; i++)
        give_back(taker, &slices[i]);
}

static enum ring_taken take_stripe(struct taker *taker)
{
    struct stress *stress = taker->stress;
    enum ring_taken how = RING_TAKEN;
    int64_t number;

    if (chance(&taker->seed, 50) == 0)
        gather(taker);
    if (!stripes_take(stress->stripes, &number))
        how = stripes_refill(stress->stripes, stress->ring, &number);
    if (how != RING_EMPTY)
        taker_note(taker, number);
    return how;
}

static enum ring_taken take_any(struct taker *taker)
{
    unsigned way;

    do {
        way = 1u << chance(&taker->seed, WAYS);
    } while ((taker->stress->ways & way) == 0);
    switch (way) {
    case TAKE_SLICE:
        return take_slice(taker);
    case TAKE_STRIPE:
        return take_stripe(taker);
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

    if ((stress->ways & ONE_STRIPE) != 0)
        thread_index_mine.any = THREAD_INDEXES - 1;
    for (;;) {
        /* Read before the take: then empty after the last push is the end. */
        const bool is_over =
            atomic_load_explicit(&stress->has_pushed, memory_order_acquire);
        const enum ring_taken how = is_over ? take_one(taker) : take_any(taker);

        taker->lows += how == RING_TAKEN_LOW;
        if (how != RING_EMPTY)
            continue;
        if (is_over)
            return NULL;
        sched_yield();
    }
}

/* The numbers 0 ... NUMBERS - 1, in batches of every size, the last first: so
 * that a number of one segment is none of the next one's. */
static void push_all(struct stress *stress)
{
    const uint64_t runs = NUMBERS / stress->run;
    uint64_t seed = 4711;
    uint64_t next = 0;

    while (next < runs) {
        const uint64_t left = runs - next;
        uint64_t want = 1 + chance(&seed, 5);
        bool is_pushed;

        if (want > left)
            want = left;
        pthread_mutex_lock(&stress->lock);
        is_pushed =
            ring_push(stress->ring, (int64_t)((left - want) * stress->run),
                      want * stress->run);
        pthread_mutex_unlock(&stress->lock);
        if (is_pushed)
            next += want;
        else
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
static const unsigned char *takers_sum(struct taker *takers)
{
    for (int i = 1; i < TAKERS; i++) {
        for (uint64_t n = 0; n < NUMBERS; n++)
            takers[0].seen[n] += takers[i].seen[n];
    }
    return takers[0].seen;
}

/* None twice; and none is missing but the rest of a run, behind a number that
 * was taken, if runs were taken at all; or some that a taker lost who was
 * stopped between looking at its stripe and adding to it. */
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
    assert_int_equal(taken + skipped, NUMBERS);
    if ((stress->ways & TAKE_RUN) == 0)
        assert_in_range(skipped, 0,
                        (stress->ways & TAKE_STRIPE) != 0 ? NUMBERS / 10 : 0);
    else if ((stress->ways & (TAKE_SLICE | TAKE_STRIPE)) == 0)
        assert_int_equal(missing, 0);
}

/* What the stripes hold in the end. */
static void drain(struct stress *stress, struct taker *taker)
{
    struct ring_slice slices[STRIPES];
    const size_t n = stripes_gather_all(stress->stripes, stress->ring, slices);

    for (size_t i = 0; i < n; i++) {
        for (uint64_t j = 0; j < slices[i].count; j++)
            taker_note(taker, ring_number(stress->ring->shape, slices[i].base,
                                          slices[i].position + j));
    }
    while (take_one(taker) != RING_EMPTY)
        continue;
}

static void stress_init(struct stress *stress, uint32_t segments,
                        int32_t memory_bits, unsigned ways)
{
    void *memory = fork_wiped_new(sizeof *stress->stripes);

    assert_non_null(memory);
    *stress = (struct stress){.ring = ring_make(segments, memory_bits, 0),
                              .run = (uint64_t)1 << memory_bits,
                              .ways = ways};
    stress->stripes = stripes_init(memory, stress->ring);
    stripes_set_slice(stress->stripes, (ways & ONE_STRIPE) != 0 ? 3 : 16);
    pthread_mutex_init(&stress->lock, NULL);
}

static void stress_fini(struct stress *stress, struct taker *takers,
                        uint32_t segments)
{
    for (int i = 0; i < TAKERS; i++)
        free(takers[i].seen);
    fork_wiped_free(stress->stripes, sizeof *stress->stripes);
    ring_unmake(stress->ring, segments);
    pthread_mutex_destroy(&stress->lock);
}

static void stress_once(uint32_t segments, int32_t memory_bits, unsigned ways)
{
    struct stress stress;
    struct taker takers[TAKERS];

    stress_init(&stress, segments, memory_bits, ways);
    takers_start(&stress, takers);
    push_disturbed(&stress, takers);
    for (int i = 0; i < TAKERS; i++)
        assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
    drain(&stress, &takers[0]);
    expect_accounted(&stress, takers, takers_sum(takers));
    assert_int_equal(ring_stock(stress.ring), 0);
    stress_fini(&stress, takers, segments);
}

TEST(single_numbers_come_once_each)
{
    stress_once(1, 0, TAKE_ONE);
    stress_once(2, 2, TAKE_ONE);
}

TEST(many_at_once_come_once_each)
{
    stress_once(4, 3, TAKE_ONE | TAKE_MANY);
}

TEST(contiguous_numbers_come_once_each)
{
    stress_once(2, 1, TAKE_RUN);
}

TEST(slices_that_are_given_back_come_once_each)
{
    stress_once(2, 0, TAKE_SLICE);
    stress_once(4, 3, TAKE_ONE | TAKE_SLICE);
}

/* Slices of 16 numbers: of several runs, and of a part of one. */
TEST(stripes_give_each_number_once)
{
    stress_once(4, 2, TAKE_STRIPE);
    stress_once(4, 8, TAKE_STRIPE);
    stress_once(16, 2, TAKE_STRIPE | TAKE_ONE);
    stress_once(4, 1, TAKE_STRIPE | ONE_STRIPE);
    stress_once(4, 8, TAKE_STRIPE | ONE_STRIPE);
}

TEST(in_every_way_at_once_none_comes_twice)
{
    const unsigned all = TAKE_ONE | TAKE_MANY | TAKE_RUN;

    stress_once(1, 1, all);
    stress_once(8, 5, all);
    stress_once(8, 3, all | TAKE_SLICE);
    stress_once(8, 8, all | TAKE_SLICE | TAKE_STRIPE);
}

/* A ring that only drains crosses its mark once, whoever takes. */
TEST(one_taker_of_all_is_told_that_the_stock_is_low)
{
    for (uint64_t low = 1; low < NUMBERS; low = low * 20 + 3) {
        struct stress stress;
        struct taker takers[TAKERS];
        uint64_t lows = 0;

        stress_init(&stress, 8, 3, TAKE_ONE | TAKE_MANY | TAKE_RUN);
        for (uint64_t i = 0; i < 8; i++)
            assert_true(ring_push(stress.ring, (int64_t)(i * (NUMBERS / 8)),
                                  NUMBERS / 8));
        ring_set_low(stress.ring, low);
        takers_start(&stress, takers);
        while (ring_stock(stress.ring) > 0)
            sched_yield();
        atomic_store_explicit(&stress.has_pushed, true, memory_order_release);
        for (int i = 0; i < TAKERS; i++)
            assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
        expect_accounted(&stress, takers, takers_sum(takers));
        for (int i = 0; i < TAKERS; i++)
            lows += takers[i].lows;
        assert_int_equal(lows, 1);
        stress_fini(&stress, takers, 8);
    }
}
