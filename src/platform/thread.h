/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads with every signal blocked (a client library's SIGPIPE must not reach
 * the host), conditions on the monotonic clock, and memory that is zero in a
 * forked child.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

/* Starts `run(argument)` on a thread that blocks all signals. Its name is
 * `name`, at most 15 bytes. */
enum seqb_status thread_start(pthread_t *out, const char *name,
                              void *(*run)(void *argument), void *argument,
                              struct seqb_error *err);

/* Sleeps for `us`, or a little longer, as the machine's timers allow. */
void thread_rest_us(int64_t us);

/* A condition whose timed waits are by clock_now_ms(). */
void condition_init(pthread_cond_t *condition);

/* Waits for a signal until `until_ms`. False if that time has passed. */
bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                    int64_t until_ms);

/*
 * Zeroed pages that are zero again in a child after fork() (Linux 4.14,
 * madvise(2) MADV_WIPEONFORK). NULL if out of memory. Free them with
 * fork_wiped_free and the same size.
 */
void *fork_wiped_new(size_t size);
void fork_wiped_free(void *memory, size_t size);
