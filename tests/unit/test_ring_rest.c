/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of an idle ring, read by a thread while others use it: those that
 * are read together were noted together. */
#include <pthread.h>

#include "support/ring_memory.h"
#include "support/test.h"

#define PUSHES 30000
#define PUSHED 8 /* numbers of each push */

struct reading {
    struct ring *ring;
    atomic_bool is_over;
    int64_t mixed; /* stock and taken were of different moments */
};

static void *read_counts(void *argument)
{
    struct reading *reading = argument;
    int64_t stock;
    int64_t taken;

    while (!atomic_load(&reading->is_over)) {
        if (ring_rests(reading->ring, &stock, &taken))
            reading->mixed += (stock + taken) % PUSHED != 0;
    }
    return NULL;
}

/* As one who reads the counts, of which there is one at a time. */
static void note(struct ring *ring, int64_t taken)
{
    ring_note_rest(ring, ring_head(ring), (int64_t)ring_stock(ring), taken);
}

TEST(stock_and_taken_are_of_one_moment)
{
    struct reading reading = {.ring = ring_make(4, 3, 0)};
    int64_t taken = 0;
    pthread_t reader;
    int64_t number;

    assert_int_equal(pthread_create(&reader, NULL, read_counts, &reading), 0);
    for (int64_t i = 0; i < PUSHES; i++) {
        assert_true(ring_push(reading.ring, PUSHED * i, PUSHED));
        for (int k = 0; k < PUSHED; k++) {
            note(reading.ring, taken);
            assert_int_equal(ring_take(reading.ring, &number), RING_TAKEN);
            assert_int_equal(number, taken++);
        }
        note(reading.ring, taken);
    }
    atomic_store(&reading.is_over, true);
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_int_equal(reading.mixed, 0);
    ring_unmake(reading.ring, 4);
}
