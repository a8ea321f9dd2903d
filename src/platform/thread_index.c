/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of threads: one bit of a word for each. A bit is cleared when its
 * thread ends. */
#include "platform/thread_index.h"

#include <pthread.h>

#include "platform/barrier.h"

_Thread_local struct thread_index thread_index_mine;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t ended; /* its destructor runs when a thread ends */
static bool is_prepared;    /* constant after `once` ran */

/* Bit n: index n has an owner. A thread that takes a bit sees all that the
 * bit's last owner did: the acquire pairs with the release of index_free. */
static _Atomic uint64_t owned;

static _Atomic uint32_t shared; /* how many threads share indexes */

static uint64_t bit_of(uint32_t index)
{
    return (uint64_t)1 << index;
}

/* A thread ends. If a later destructor asks again, it gets another index. */
static void index_free(void *argument)
{
    const uint64_t bit = bit_of(thread_index_mine.any);

    (void)argument;
    thread_index_mine = (struct thread_index){.any = 0};
    atomic_fetch_and_explicit(&owned, ~bit, memory_order_release);
}

/* After a fork the child has only this thread. */
static void forked(void)
{
    const uint32_t any = thread_index_mine.any;
    const bool is_owner = any != 0 && !thread_index_is_shared(any);

    (void)barrier_prepare();
    atomic_store(&owned, is_owner ? bit_of(any) : 0);
}

static void prepare(void)
{
    is_prepared = barrier_prepare() &&
                  pthread_atfork(NULL, NULL, forked) == 0 &&
                  pthread_key_create(&ended, index_free) == 0;
}

/* Threads that end after the library was unloaded must not call into it. */
__attribute__((destructor)) static void unload(void)
{
    if (is_prepared)
        (void)pthread_key_delete(ended);
}

/* 0: no index is free. */
static uint32_t index_own(void)
{
    const uint64_t all = (bit_of(THREAD_INDEX_OWN + 1) - 1) & ~bit_of(0);
    uint64_t had = atomic_load_explicit(&owned, memory_order_relaxed);
    uint32_t index;

    do {
        if ((all & ~had) == 0)
            return 0;
        index = (uint32_t)__builtin_ctzll(all & ~had);
    } while (!atomic_compare_exchange_weak_explicit(
        &owned, &had, had | bit_of(index), memory_order_acquire,
        memory_order_relaxed));
    return index;
}

uint32_t thread_index_choose(void)
{
    uint32_t index;
    bool is_own;

    if (thread_index_mine.any != 0)
        return thread_index_mine.any;
    (void)pthread_once(&once, prepare);
    index = is_prepared ? index_own() : 0;
    if (index != 0 && pthread_setspecific(ended, &owned) != 0) {
        atomic_fetch_and(&owned, ~bit_of(index));
        index = 0;
    }
    is_own = index != 0;
    if (!is_own)
        index = 1 + THREAD_INDEX_OWN +
                atomic_fetch_add_explicit(&shared, 1, memory_order_relaxed) %
                    THREAD_INDEX_REST;
    thread_index_mine.any = index;
    atomic_store_explicit(&thread_index_mine.is_free, is_own,
                          memory_order_relaxed);
    return index;
}
