/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small index for each thread, for data that is kept once a thread. Up to
 * THREAD_INDEX_OWN threads have an index that no other live thread has; it is
 * reused when its thread ends. The other threads share the rest of the indexes.
 * If barrier_all is refused, all threads share them: without it, nobody could
 * take back what a thread keeps.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define THREAD_INDEXES    64 /* no thread has index 0 */
#define THREAD_INDEX_OWN  55 /* 1 ... 55 have one owner each */
#define THREAD_INDEX_REST (THREAD_INDEXES - 1 - THREAD_INDEX_OWN)

struct thread_index {
    uint32_t any; /* in 1 ... THREAD_INDEXES - 1; 0: not chosen yet */

    /* No other thread has the index, and this thread is not changing data of
     * its index: a signal handler may change that data only then. */
    atomic_bool is_free;
};

/* The calling thread's index. */
extern _Thread_local struct thread_index thread_index_mine
    __attribute__((tls_model("initial-exec")));

/* Chooses the calling thread's index, in 1 ... THREAD_INDEXES - 1, at the first
 * call. */
uint32_t thread_index_choose(void);

static inline bool thread_index_is_shared(uint32_t index)
{
    return index > THREAD_INDEX_OWN;
}
