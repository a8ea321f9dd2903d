/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watchdog's thread and its list of connections. There are few connections,
 * so the list is searched linearly. Deadlines are rarely reached, so a call
 * that begins wakes the thread only if the call's deadline is before the
 * thread's next wake-up.
 */
#include "store/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"

#define NEVER INT64_MAX

struct watchdog {
    pthread_t thread;
    pthread_mutex_t lock; /* guards the fields below, and all fields of a watch
                             in the list */
    pthread_cond_t changed;
    struct watch *first;
    int64_t (*judge)(void *context, int64_t now_ms); /* constant */
    void *context;
    int64_t evaluate_ms; /* when to call `judge`; NEVER: only after
                            watchdog_expect */
    int64_t wake_ms;     /* when the thread wakes up next; NEVER: when
                            signalled */
    bool is_stopping;
};

/* Ends every call that is past its deadline, and returns the next deadline. The
 * lock is held during the shutdown, which does not block: so no other thread
 * can close the descriptor between the check of the deadline and the
 * shutdown. */
static int64_t watchdog_poll(struct watchdog *watchdog, int64_t now_ms)
{
    int64_t next_ms = NEVER;

    for (struct watch *watch = watchdog->first; watch != NULL;
         watch = watch->next) {
        if (watch->due_ms <= now_ms) {
            (void)shutdown(watch->fd, SHUT_RDWR);
            watch->has_ended = true;
            watch->due_ms = NEVER;
        }
        if (watch->due_ms < next_ms)
            next_ms = watch->due_ms;
    }
    return next_ms;
}

/* Called with the lock held; releases it during the call of `judge`. */
static void watchdog_evaluate(struct watchdog *watchdog, int64_t now_ms)
{
    int64_t next_ms;

    if (watchdog->judge == NULL || now_ms < watchdog->evaluate_ms)
        return;
    watchdog->evaluate_ms = NEVER;
    pthread_mutex_unlock(&watchdog->lock);
    next_ms = watchdog->judge(watchdog->context, now_ms);
    pthread_mutex_lock(&watchdog->lock);
    if (next_ms < watchdog->evaluate_ms)
        watchdog->evaluate_ms = next_ms;
}

static void *watchdog_run(void *argument)
{
    struct watchdog *watchdog = argument;

    pthread_mutex_lock(&watchdog->lock);
    while (!watchdog->is_stopping) {
        watchdog_evaluate(watchdog, clock_now_ms());
        watchdog->wake_ms = watchdog_poll(watchdog, clock_now_ms());
        if (watchdog->evaluate_ms < watchdog->wake_ms)
            watchdog->wake_ms = watchdog->evaluate_ms;
        if (watchdog->is_stopping)
            break;
        if (watchdog->wake_ms == NEVER)
            pthread_cond_wait(&watchdog->changed, &watchdog->lock);
        else
            (void)condition_wait(&watchdog->changed, &watchdog->lock,
                                 watchdog->wake_ms);
    }
    pthread_mutex_unlock(&watchdog->lock);
    return NULL;
}

static void watchdog_free(struct watchdog *watchdog)
{
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->lock);
    free(watchdog);
}

enum seqb_status watchdog_open(int64_t (*judge)(void *context, int64_t now_ms),
                               void *context, struct watchdog **out,
                               struct seqb_error *err)
{
    struct watchdog *watchdog = calloc(1, sizeof *watchdog);
    enum seqb_status status;

    if (watchdog == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    pthread_mutex_init(&watchdog->lock, NULL);
    condition_init(&watchdog->changed);
    watchdog->wake_ms = NEVER;
    watchdog->judge = judge;
    watchdog->context = context;
    watchdog->evaluate_ms = NEVER;
    status = thread_start(&watchdog->thread, "seqb:watchdog", watchdog_run,
                          watchdog, err);
    if (status != SEQB_OK) {
        watchdog_free(watchdog);
        return status;
    }
    *out = watchdog;
    return SEQB_OK;
}

void watchdog_close(struct watchdog *watchdog)
{
    if (watchdog == NULL)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watchdog->is_stopping = true;
    pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    watchdog_free(watchdog);
}

void watchdog_expect(struct watchdog *watchdog, int64_t at_ms)
{
    if (watchdog == NULL)
        return;
    pthread_mutex_lock(&watchdog->lock);
    if (at_ms < watchdog->evaluate_ms) {
        watchdog->evaluate_ms = at_ms;
        if (at_ms < watchdog->wake_ms)
            pthread_cond_signal(&watchdog->changed);
    }
    pthread_mutex_unlock(&watchdog->lock);
}

enum seqb_status watch_open(struct watchdog *watchdog, int fd,
                            struct watch *watch, struct seqb_error *err)
{
    if (fd < 0)
        return SEQB_OK;
    fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "cannot watch its connection: %s", strerror(errno));
    pthread_mutex_lock(&watchdog->lock);
    *watch = (struct watch){.watchdog = watchdog,
                            .next = watchdog->first,
                            .fd = fd,
                            .due_ms = NEVER};
    watchdog->first = watch;
    pthread_mutex_unlock(&watchdog->lock);
    return SEQB_OK;
}

void watch_close(struct watch *watch)
{
    struct watchdog *watchdog = watch->watchdog;
    struct watch **link;

    if (watchdog == NULL)
        return;
    pthread_mutex_lock(&watchdog->lock);
    for (link = &watchdog->first; *link != watch; link = &(*link)->next)
        continue;
    *link = watch->next;
    pthread_mutex_unlock(&watchdog->lock);
    (void)close(watch->fd);
    *watch = (struct watch){.watchdog = NULL};
}

void watch_begin(struct watch *watch, int64_t due_ms)
{
    struct watchdog *watchdog = watch->watchdog;

    if (watchdog == NULL)
        return;
    pthread_mutex_lock(&watchdog->lock);
    watch->has_ended = false;
    watch->due_ms = due_ms;
    if (due_ms < watchdog->wake_ms)
        pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
}

bool watch_end(struct watch *watch)
{
    struct watchdog *watchdog = watch->watchdog;
    bool has_ended;

    if (watchdog == NULL)
        return false;
    pthread_mutex_lock(&watchdog->lock);
    has_ended = watch->has_ended;
    watch->due_ms = NEVER;
    pthread_mutex_unlock(&watchdog->lock);
    return has_ended;
}
