/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that takes from its stripe, and another one that takes its slices
 * away meanwhile: no number is both's. */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupted.h"
#include "queue/stripe.h"
#include "support/ring_memory.h"
#include "support/test.h"

/* One that takes its numbers from a stripe of its own writes them far apart, so
 * that what it stored becomes visible late. */
#define OWNED   ((uint64_t)1 << 22)
#define STRIDE  4099 /* no divisor of OWNED */
#define REMOVED 100  /* at least; more as time permits */

struct owner {
    struct ring *ring;
    struct stripes *stripes;
    unsigned char *seen;     /* by the owner ... */
    unsigned char *gathered; /* ... and by who took away */
    _Atomic bool is_over;
};

static void *owner_run(void *argument)
{
    struct owner *owner = argument;
    enum ring_taken how = RING_TAKEN;
    int64_t number;

    while (how != RING_EMPTY) {
        if (!stripes_take(owner->stripes, &number))
            how = stripes_refill(owner->stripes, owner->ring, &number);
        if (how != RING_EMPTY)
            owner->seen[(uint64_t)number * STRIDE % OWNED]++;
    }
    atomic_store(&owner->is_over, true);
    return NULL;
}

static size_t take_away(struct owner *owner)
{
    struct ring_slice slices[STRIPES];
    const size_t n = stripes_gather(owner->stripes, owner->ring, slices);

    for (size_t i = 0; i < n; i++) {
        for (uint64_t j = 0; j < slices[i].count; j++) {
            const int64_t number = ring_number(
                owner->ring->shape, slices[i].base, slices[i].position + j);

            owner->gathered[(uint64_t)number * STRIDE % OWNED]++;
        }
    }
    return n;
}

static size_t owner_once(struct owner *owner)
{
    pthread_t thread;
    size_t removed = 0;
    uint64_t twice = 0;

    assert_true(ring_push(owner->ring, 0, OWNED));
    atomic_store(&owner->is_over, false);
    memset(owner->seen, 0, OWNED);
    memset(owner->gathered, 0, OWNED);
    assert_int_equal(pthread_create(&thread, NULL, owner_run, owner), 0);
    while (!atomic_load(&owner->is_over))
        removed += take_away(owner);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (uint64_t n = 0; n < OWNED; n++)
        twice += owner->seen[n] + owner->gathered[n] > 1;
    assert_int_equal(twice, 0);
    return removed;
}

/* What was taken away was not taken, too. */
TEST(slices_are_taken_away_from_a_thread_that_takes)
{
    struct owner owner = {.ring = ring_make(8, 10, 0),
                          .seen = malloc(OWNED),
                          .gathered = malloc(OWNED)};
    size_t removed = 0;

    assert_non_null(owner.seen);
    assert_non_null(owner.gathered);
    owner.stripes =
        stripes_init(fork_wiped_new(sizeof *owner.stripes), owner.ring);
    stripes_set_slice(owner.stripes, 64);
    while (removed < REMOVED)
        removed += owner_once(&owner);
    fork_wiped_free(owner.stripes, sizeof *owner.stripes);
    ring_unmake(owner.ring, 8);
    free(owner.seen);
    free(owner.gathered);
}

/* --- after each instruction of a taking --- */

#define PARTITION_BITS 2
#define RUN_BITS       8
#define SLICE          (1 << RUN_BITS)

/* In a child that takes a number between two stops, again and again. */
static struct {
    struct ring *ring;
    struct stripes *stripes;
    bool is_shared; /* the stripe, as with more threads than indexes */
    unsigned char seen[1 << 20];
    int wrong;
} robbed;

static void note(int64_t number)
{
    const int64_t partition = ((1 << PARTITION_BITS) - 1) << RUN_BITS;

    robbed.wrong += (number & partition) != 0 || robbed.seen[number]++ > 0;
}

static void take_and_note(void)
{
    int64_t number;

    if (stripes_take(robbed.stripes, &number) ||
        stripes_refill(robbed.stripes, robbed.ring, &number) != RING_EMPTY)
        note(number);
}

/* What is taken away is of the slice, and is something. */
static void take_away_and_note(void)
{
    struct ring_slice slices[STRIPES];
    const size_t n = stripes_gather(robbed.stripes, robbed.ring, slices);

    for (size_t i = 0; i < n; i++) {
        robbed.wrong += slices[i].count == 0 || slices[i].count > SLICE;
        for (uint64_t j = 0; j < slices[i].count && j < SLICE; j++)
            note(ring_number(robbed.ring->shape, slices[i].base,
                             slices[i].position + j));
    }
}

/* As other threads do that take the slice away, and fill the stripe again. */
static void rob(int signal)
{
    (void)signal;
    take_away_and_note();
    take_and_note();
}

/* As the owner, which takes what is left. */
static void take_two(int signal)
{
    int64_t number;

    (void)signal;
    for (int i = 0; i < 2; i++) {
        if (stripes_take(robbed.stripes, &number))
            note(number);
    }
}

static void end(int signal)
{
    (void)signal;
    _exit(robbed.wrong > 0);
}

/* Each slice is a run, and has another base than the one before. */
static void be_ready(void (*handler)(int signal))
{
    robbed.ring = ring_make(8, RUN_BITS, PARTITION_BITS);
    robbed.stripes =
        stripes_init(fork_wiped_new(sizeof *robbed.stripes), robbed.ring);
    stripes_set_slice(robbed.stripes, SLICE);
    (void)ring_push(robbed.ring, 0, sizeof robbed.seen >> PARTITION_BITS);
    if (robbed.is_shared)
        thread_index_mine = (struct thread_index){.any = THREAD_INDEX_OWN + 1};
    handle_signal(SIGUSR1, handler);
    handle_signal(SIGUSR2, end);
}

static void be_robbed(void)
{
    be_ready(rob);
    for (;;) {
        take_and_note(); /* the stripe holds some */
        (void)raise(SIGSTOP);
        take_and_note();
        (void)raise(SIGSTOP);
    }
}

static void rob_the_owner(void)
{
    be_ready(take_two);
    for (;;) {
        for (int i = 0; i < SLICE - 2; i++)
            take_and_note();
        (void)raise(SIGSTOP);
        take_away_and_note();
        (void)raise(SIGSTOP);
    }
}

TEST(slice_is_taken_away_after_any_instruction_of_its_owner)
{
    robbed.is_shared = false;
    expect_nothing_wrong_in(be_robbed, 1);
}

TEST(slice_is_taken_away_after_any_instruction_of_one_who_shares_it)
{
    robbed.is_shared = true;
    expect_nothing_wrong_in(be_robbed, 1);
}

TEST(owner_takes_after_any_instruction_of_one_who_takes_its_slice_away)
{
    robbed.is_shared = false;
    expect_nothing_wrong_in(rob_the_owner, 5);
}
