/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, conditions, and fork-wiped memory over POSIX and Linux. */
#include "platform/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "platform/error.h"

enum seqb_status thread_start(pthread_t *out, const char *name,
                              void *(*run)(void *argument), void *argument,
                              struct seqb_error *err)
{
    sigset_t all;
    sigset_t before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(out, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0)
        return error_set(err, SEQB_NO_MEMORY, "cannot start a thread: %s",
                         strerror(failed));
    (void)pthread_setname_np(*out, name);
    return SEQB_OK;
}

void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                    int64_t until_ms)
{
    const struct timespec until = {until_ms / 1000,
                                   (until_ms % 1000) * 1000000};

    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

void *fork_wiped_new(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    if (madvise(memory, size, MADV_WIPEONFORK) != 0) {
        munmap(memory, size);
        return NULL;
    }
    return memory;
}

void fork_wiped_free(void *memory, size_t size)
{
    if (memory != NULL)
        munmap(memory, size);
}

void thread_rest_us(int64_t us)
{
    (void)nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000},
                    NULL);
}
