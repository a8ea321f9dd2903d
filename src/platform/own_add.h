/* SPDX-License-Identifier: Apache-2.0 */
/* Counting where one thread alone counts. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/*
 * Adds 1 to what the calling thread alone adds to, and returns what it was
 * before. Between reading and writing no handler of a signal comes; it is one
 * instruction, which need not lock the line where the processor has such a one.
 * Others may read the value, and see it late: barrier_all ends that.
 */
static inline uint64_t own_fetch_increment(_Atomic uint64_t *value)
{
#if defined(__x86_64__)
    uint64_t before = 1;

    __asm__ volatile("xaddq %0, %1"
                     : "+r"(before), "+m"(*(uint64_t *)value)
                     :
                     : "memory", "cc");
    return before;
#else
    return atomic_fetch_add(value, 1);
#endif
}
