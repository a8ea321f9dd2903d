/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that takes from its stripe, and another one that takes its slices
 * away meanwhile: no number is both's. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
