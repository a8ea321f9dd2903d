/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small index for each thread, into what is kept once a thread. Up to
 * THREAD_INDEX_OWN threads have one that no other thread has while they live;
 * it is given to another one when they end. The others share the rest, as all
 * do where barrier_all is refused, without which nobody could take anything
 * away from a thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define THREAD_INDEXES    64 /* 0 is no thread's */
#define THREAD_INDEX_OWN  55 /* 1 ... 55 have one owner each */
#define THREAD_INDEX_REST (THREAD_INDEXES - 1 - THREAD_INDEX_OWN)

struct thread_index {
    uint32_t any; /* in 1 ... THREAD_INDEXES - 1; 0: not asked for yet */

    /* No other thread has it, and this one does not change what is kept by it
     * just now: the handler of a signal that comes meanwhile must not. */
    atomic_bool is_free;
};

/* The calling thread's. */
extern _Thread_local struct thread_index thread_index_mine
    __attribute__((tls_model("initial-exec")));

/* The calling thread's, in 1 ... THREAD_INDEXES - 1; chosen at the first call.
 */
uint32_t thread_index_choose(void);

static inline bool thread_index_is_shared(uint32_t index)
{
    return index > THREAD_INDEX_OWN;
}
