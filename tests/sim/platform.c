/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What platform/clock.c and platform/thread.c are to the library, made of a
 * world's time and tasks; and the calls of pthreads that may wait, which the
 * linker sends here (--wrap). A mutex stays a real one: whoever finds it
 * taken lets others run.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "platform/ticks.h"
#include "support/wrap.h"
#include "world.h"

#define TAKEN_US 10 /* before a lock that was taken is tried again */

int64_t clock_now_us(void)
{
    return world_now_us();
}

int64_t clock_now_ms(void)
{
    return world_now_us() / MS;
}

int64_t clock_wall_ms(void)
{
    return world_clock_ms();
}

bool clock_wall_is_within(int64_t begin_ms, int64_t end_ms)
{
    return clock_wall_ms() >= begin_ms && clock_wall_ms() < end_ms;
}

int64_t clock_wall_us(void)
{
    return world_clock_ms() * MS;
}

/* No machine sleeps. */
int64_t clock_boot_ms(void)
{
    return world_now_us() / MS;
}

struct clock_pair clock_read_pair(void)
{
    return (struct clock_pair){clock_boot_ms(), clock_wall_ms(),
                               clock_boot_ms()};
}

int64_t clock_boot_us(void)
{
    return world_now_us();
}

/* The processor counts no virtual time: then each ms is looked at by a clock.
 */
void ticks_measure(struct ticks *ticks)
{
    ticks->per_ms = 0;
}

enum seqb_status thread_start(pthread_t *out, const char *name,
                              void *(*run)(void *argument), void *argument,
                              struct seqb_error *err)
{
    (void)name;
    (void)err;
    *out = (pthread_t)world_spawn(run, argument, true);
    return SEQB_OK;
}

void thread_rest_us(int64_t us)
{
    world_sleep(us);
}

WRAPPED(int, pthread_join, pthread_t thread, void **result)
{
    (void)result;
    world_join((struct task *)thread);
    return 0;
}

WRAPPED(int, pthread_mutex_lock, pthread_mutex_t *lock)
{
    world_may_yield();
    while (pthread_mutex_trylock(lock) != 0)
        world_sleep(TAKEN_US);
    return 0;
}

WRAPPED(int, pthread_rwlock_rdlock, pthread_rwlock_t *lock)
{
    while (pthread_rwlock_tryrdlock(lock) != 0)
        world_sleep(TAKEN_US);
    return 0;
}

WRAPPED(int, pthread_rwlock_wrlock, pthread_rwlock_t *lock)
{
    while (pthread_rwlock_trywrlock(lock) != 0)
        world_sleep(TAKEN_US);
    return 0;
}

void condition_init(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

static bool wait_for(const pthread_cond_t *condition, pthread_mutex_t *lock,
                     int64_t until_us)
{
    bool was_woken;

    pthread_mutex_unlock(lock);
    was_woken = world_wait(condition, until_us);
    pthread_mutex_lock(lock);
    return was_woken;
}

WRAPPED(int, pthread_cond_wait, pthread_cond_t *condition,
        pthread_mutex_t *lock)
{
    (void)wait_for(condition, lock, WORLD_NEVER);
    return 0;
}

bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                    int64_t until_ms)
{
    return wait_for(condition, lock,
                    until_ms > INT64_MAX / MS ? WORLD_NEVER : until_ms * MS);
}

WRAPPED(int, pthread_cond_signal, pthread_cond_t *condition)
{
    world_wake(condition, false);
    return 0;
}

WRAPPED(int, pthread_cond_broadcast, pthread_cond_t *condition)
{
    world_wake(condition, true);
    return 0;
}

void *fork_wiped_new(size_t size)
{
    const size_t whole = (size + 127) / 128 * 128;
    char *memory = aligned_alloc(128, whole);

    for (size_t i = 0; memory != NULL && i < whole; i++)
        memory[i] = 0;
    return memory;
}

void fork_wiped_free(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

/* Between two attempts to lock a file. */
WRAPPED(int, nanosleep, const struct timespec *rest, struct timespec *left)
{
    (void)left;
    world_sleep(rest->tv_sec * SECOND + rest->tv_nsec / 1000);
    return 0;
}

/* The stores' ids, too, are the seed's. */
WRAPPED(ssize_t, getrandom, void *buffer, size_t size, unsigned int flags)
{
    unsigned char *bytes = buffer;

    (void)flags;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)world_random();
    return (ssize_t)size;
}
