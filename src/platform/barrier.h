/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A barrier that one thread makes all threads of the process pass, so that
 * what they do often needs none (Linux 4.14, membarrier(2)). What a thread
 * stored before its barrier is seen by who called barrier_all; what it loads
 * behind it is at least as new as what that one stored before.
 */
#pragma once

#include <stdbool.h>

/* Whether barrier_all can be used by this process: to be asked once before,
 * and once more in a forked child. Any thread, any number of times. */
bool barrier_prepare(void);

/* Returns when each thread has passed a barrier; some microseconds, and an
 * interrupt of each processor that runs one. False: none did. */
bool barrier_all(void);
