/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads with every signal blocked (a client library's SIGPIPE must not
 * reach the host), conditions on the monotonic clock, and memory that a
 * forked child finds empty.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

/* Starts `run(argument)`, all signals blocked, named `name` (15 bytes). */
enum seqb_status thread_start(pthread_t *out, const char *name,
                              void *(*run)(void *argument), void *argument,
                              struct seqb_error *err);

/* Does nothing for so long; a little longer, as the machine allows. */
void thread_rest_us(int64_t us);

/* A condition whose timed wait is by clock_now_ms(). */
void condition_init(pthread_cond_t *condition);

/* Waits until signalled or until `until_ms`; false when that has passed. */
bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                    int64_t until_ms);

/*
 * Zeroed pages that are zero again in a child after fork() (Linux 4.14,
 * madvise(2) MADV_WIPEONFORK). NULL when out of memory. Free with
 * fork_wiped_free and the same size.
 */
void *fork_wiped_new(size_t size);
void fork_wiped_free(void *memory, size_t size);
