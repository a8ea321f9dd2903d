/* SPDX-License-Identifier: Apache-2.0 */
/* What a sequence holds is dropped while a thread fills its stripe: no number
 * from before the drop is left in the stripe. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "interrupted.h"
#include "queue/stripe.h"
#include "support/ring_memory.h"
#include "support/test.h"

#define SEGMENTS 8
#define SLICE    4

/* In a child that fills a stripe between two stops, again and again. */
static struct {
    struct ring *ring;
    struct stripes *stripes;
    bool is_dropped;
    bool is_awaited; /* who drops waits for the end of the refill */
    int wrong;
} dropped;

/* As another thread does that drops what the sequence holds. It cannot wait for
 * the thread that it interrupts. */
static void drop(int signal)
{
    struct ring_slice slices[STRIPES];

    (void)signal;
    (void)ring_drop(dropped.ring);
    (void)stripes_gather(dropped.stripes, dropped.ring, slices);
    dropped.is_awaited = atomic_load(&dropped.stripes->filled) != 0;
    dropped.is_dropped = true;
}

static void end(int signal)
{
    (void)signal;
    _exit(dropped.wrong > 0);
}

static void stop_around_refills(void)
{
    struct ring_slice slices[STRIPES];
    int64_t number;

    dropped.ring = ring_make(SEGMENTS, 3, 0);
    dropped.stripes =
        stripes_init(fork_wiped_new(sizeof *dropped.stripes), dropped.ring);
    stripes_set_slice(dropped.stripes, SLICE);
    handle_signal(SIGUSR1, drop);
    handle_signal(SIGUSR2, end);
    for (;;) {
        (void)ring_drop(dropped.ring);
        (void)stripes_gather(dropped.stripes, dropped.ring, slices);
        (void)ring_push(dropped.ring, 0, SLICE);
        dropped.is_dropped = false;
        (void)raise(SIGSTOP);
        (void)stripes_refill(dropped.stripes, dropped.ring, &number);
        (void)raise(SIGSTOP);
        dropped.wrong += dropped.is_dropped && !dropped.is_awaited &&
                         stripes_take(dropped.stripes, &number);
    }
}

TEST(stripe_that_is_being_filled_is_emptied_when_numbers_are_dropped)
{
    expect_nothing_wrong_in(stop_around_refills, 5);
}
