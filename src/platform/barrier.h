/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory barrier that one thread makes all threads of the process execute, so
 * that their own fast paths often need none (Linux 4.14, membarrier(2)). What a
 * thread stored before its barrier is visible to the caller of barrier_all.
 * What a thread loads after its barrier is at least as new as what the caller
 * stored before the call.
 */
#pragma once

#include <stdbool.h>

/* Whether this process can use barrier_all. Call it once before, and once more
 * in a forked child. Any thread may call it, any number of times. */
bool barrier_prepare(void);

/* Returns after each thread has executed a barrier. It takes some microseconds,
 * and interrupts each processor that runs one of the threads. False: no thread
 * did. */
bool barrier_all(void);
