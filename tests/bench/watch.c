/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that polls, and what it saw, under a lock. */
#include "bench/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/clock.h"
#include "platform/thread.h"

#define PERIOD_NS  1000000
#define WINDOW     500 /* periods of which the share is taken */
#define SHARE_FULL 80  /* % of an equal share: it is noisy */

struct watch {
    struct seqb_broker *broker;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    bool is_ending;
    int64_t mark_us[WATCHED];
    int64_t periods; /* since the latest mark */
    int64_t at_mark[WATCHED];
    int64_t history[WINDOW][WATCHED]; /* granted in all, a ring */
    struct watched seen[WATCHED];
};

static void note(int64_t *first_us, bool is_so, int64_t now_us)
{
    if (*first_us < 0 && is_so)
        *first_us = now_us;
}

/* Whether the partition granted its share of the last window. */
static bool has_share(const struct watch *watch, int i,
                      const int64_t granted[WATCHED])
{
    const int64_t *past = watch->history[watch->periods % WINDOW];
    int64_t all = 0;

    if (watch->periods < WINDOW)
        return false;
    for (int j = 0; j < WATCHED; j++)
        all += granted[j] - past[j];
    return all > 0 &&
           (granted[i] - past[i]) * WATCHED * 100 >= all * SHARE_FULL;
}

static void look(struct watch *watch)
{
    struct seqb_partition_status now[WATCHED + 1];
    int64_t granted[WATCHED];
    size_t count;
    int64_t now_us;

    if (seqb_partitions(watch->broker, now, sizeof now[0], WATCHED + 1, &count,
                        NULL) != SEQB_OK)
        abort();
    pthread_mutex_lock(&watch->lock);
    now_us = clock_now_us();
    for (int i = 0; i < WATCHED; i++)
        granted[i] = now[i].granted;
    for (int i = 0; i < WATCHED; i++) {
        struct watched *seen = &watch->seen[i];
        const int64_t past_us = now_us - watch->mark_us[i];

        note(&seen->suspect_us, now[i].state == SEQB_PARTITION_SUSPECT,
             past_us);
        note(&seen->out_us,
             now[i].state == SEQB_PARTITION_QUARANTINED ||
                 now[i].state == SEQB_PARTITION_PROBING,
             past_us);
        note(&seen->granted_us, granted[i] > watch->at_mark[i], past_us);
        note(&seen->full_us, has_share(watch, i, granted), past_us);
    }
    memcpy(watch->history[watch->periods++ % WINDOW], granted, sizeof granted);
    pthread_mutex_unlock(&watch->lock);
}

static void *watch_run(void *argument)
{
    struct watch *watch = argument;
    bool goes_on = true;

    while (goes_on) {
        look(watch);
        nanosleep(&(struct timespec){.tv_nsec = PERIOD_NS}, NULL);
        pthread_mutex_lock(&watch->lock);
        goes_on = !watch->is_ending;
        pthread_mutex_unlock(&watch->lock);
    }
    return NULL;
}

struct watch *watch_new(struct seqb_broker *broker)
{
    struct watch *watch = calloc(1, sizeof *watch);

    if (watch == NULL)
        abort();
    watch->broker = broker;
    pthread_mutex_init(&watch->lock, NULL);
    watch_mark(watch);
    if (thread_start(&watch->thread, "watch", watch_run, watch, NULL) !=
        SEQB_OK)
        abort();
    return watch;
}

void watch_free(struct watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->is_ending = true;
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

/* From partition `first` up to, not including, `end`. */
static void mark(struct watch *watch, int first, int end)
{
    struct seqb_partition_status now[WATCHED + 1];
    size_t count;

    if (seqb_partitions(watch->broker, now, sizeof now[0], WATCHED + 1, &count,
                        NULL) != SEQB_OK)
        abort();
    pthread_mutex_lock(&watch->lock);
    watch->periods = 0;
    for (int i = first; i < end; i++) {
        watch->mark_us[i] = clock_now_us();
        watch->at_mark[i] = now[i].granted;
        watch->seen[i] = (struct watched){-1, -1, -1, -1};
    }
    pthread_mutex_unlock(&watch->lock);
}

void watch_mark(struct watch *watch)
{
    mark(watch, 0, WATCHED);
}

void watch_mark_one(struct watch *watch, int i)
{
    mark(watch, i, i + 1);
}

struct watched watch_read(struct watch *watch, int i)
{
    struct watched seen;

    pthread_mutex_lock(&watch->lock);
    seen = watch->seen[i];
    pthread_mutex_unlock(&watch->lock);
    return seen;
}

bool watch_await(struct watch *watch, int i, enum watch_what what,
                 int64_t patience_ms)
{
    const int64_t until_ms = clock_now_ms() + patience_ms;

    for (;;) {
        const struct watched seen = watch_read(watch, i);

        if ((what == WATCH_OUT && seen.out_us >= 0) ||
            (what == WATCH_GRANTED && seen.granted_us >= 0) ||
            (what == WATCH_FULL && seen.full_us >= 0))
            return true;
        if (clock_now_ms() > until_ms)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = PERIOD_NS}, NULL);
    }
}
