/* SPDX-License-Identifier: Apache-2.0 */
#include "support/race.h"

#include <pthread.h>
#include <stdatomic.h>

#define RACERS_MAX 16

static size_t racing;
static pthread_barrier_t all;
static atomic_size_t arrived; /* racers, over all close meetings */
static _Thread_local size_t expected;

struct lane {
    pthread_t thread;
    void (*run)(void *racer);
    void *racer;
};

void race_meet(void)
{
    (void)pthread_barrier_wait(&all);
}

void race_meet_closely(void)
{
    expected += racing;
    race_meet();
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < expected)
        ;
}

static void *lane_run(void *argument)
{
    const struct lane *lane = argument;

    race_meet();
    lane->run(lane->racer);
    return NULL;
}

void race_run(void *racers, size_t n, size_t size, void (*run)(void *racer))
{
    struct lane lanes[RACERS_MAX];

    assert_in_range(n, 1, RACERS_MAX);
    assert_int_equal(pthread_barrier_init(&all, NULL, (unsigned)n), 0);
    racing = n;
    atomic_store(&arrived, 0);
    for (size_t i = 0; i < n; i++) {
        lanes[i].run = run;
        lanes[i].racer = (char *)racers + i * size;
        assert_int_equal(
            pthread_create(&lanes[i].thread, NULL, lane_run, &lanes[i]), 0);
    }
    for (size_t i = 0; i < n; i++)
        pthread_join(lanes[i].thread, NULL);
    pthread_barrier_destroy(&all);
}
