/* SPDX-License-Identifier: Apache-2.0 */
#include "support/race.h"

#include <pthread.h>

#include "platform/thread.h"

#define RACERS_MAX 8

static pthread_barrier_t all;

struct lane {
    pthread_t thread;
    void (*run)(void *racer);
    void *racer;
};

void race_meet(void)
{
    (void)pthread_barrier_wait(&all);
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
    for (size_t i = 0; i < n; i++) {
        lanes[i].run = run;
        lanes[i].racer = (char *)racers + i * size;
        assert_ok(
            thread_start(&lanes[i].thread, "racer", lane_run, &lanes[i], NULL));
    }
    for (size_t i = 0; i < n; i++)
        pthread_join(lanes[i].thread, NULL);
    pthread_barrier_destroy(&all);
}
