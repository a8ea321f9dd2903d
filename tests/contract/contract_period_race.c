/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of periods that are made and purged at once. Some brokers take
 * values of the last few periods of a counter, also of those that are over.
 * Meanwhile another one ends one period after another, without waiting between
 * noting and deleting. No value of a period may be taken twice.
 */
#include "contract/contract_suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "platform/text.h"
#include "platform/thread.h"

#define PERIOD   (NEEDS_DIRECT | NEEDS_PERIODS)
#define COUNTER  "main/0/order"
#define TAKERS   3
#define PERIODS  150
#define VALUES   4096 /* of a period, at most */
#define PACE     6    /* takes between two purges, at least */
#define HASTE    20   /* and about at most, so that none starves at a lock */
#define MOST     3    /* deleted at once */
#define FAILURES 200  /* deadlocks and the like, which repeat nothing */

/* Periods are a second long, and period 0 begins then. */
#define BEGINS_MS(period) (INT64_C(1793491200000) + (int64_t)(period)*1000)

struct race {
    const struct seqb_backend_ops *ops;
    const struct seqb_backend_options *options;
    atomic_int period; /* which has begun; PERIODS: the race is over */
    atomic_int takes;  /* since the last period began */
    atomic_int granted;
    atomic_int refused; /* since the period was over */
    atomic_int failed;
    atomic_int repeated;
    int deleted;
    _Atomic char seen[PERIODS + 2][VALUES];
};

static void name_make(char out[SEQB_COUNTER_SIZE], int period)
{
    (void)text_format(out, SEQB_COUNTER_SIZE, COUNTER "@%08d", period);
}

static bool race_open(struct race *race, struct seqb_backend **backend)
{
    if (*backend != NULL ||
        race->ops->open(race->options, backend, NULL) == SEQB_OK)
        return true;
    atomic_fetch_add(&race->failed, 1);
    return false;
}

static void race_drop(struct race *race, struct seqb_backend **backend)
{
    race->ops->close(*backend);
    *backend = NULL;
    atomic_fetch_add(&race->failed, 1);
}

static void race_see(struct race *race, int period, struct seqb_block block)
{
    atomic_fetch_add(&race->granted, 1);
    if (block.count != 1 || block.first < 1 || block.first >= VALUES ||
        atomic_exchange(&race->seen[period][block.first], 1) != 0)
        atomic_fetch_add(&race->repeated, 1);
}

static void race_take(struct race *race, struct seqb_backend **backend,
                      int period)
{
    char name[SEQB_COUNTER_SIZE];
    struct seqb_request request = {.counter = name,
                                   .want = 1,
                                   .limit = VALUES - 1,
                                   .begins_ms = BEGINS_MS(period)};

    if (!race_open(race, backend))
        return;
    name_make(name, period);
    if ((*backend)->ops->reserve(*backend, &request, 1, NULL) != SEQB_OK)
        race_drop(race, backend);
    else if (request.status == SEQB_OK)
        race_see(race, period, request.block);
    else if (request.status == SEQB_EXHAUSTED)
        atomic_fetch_add(&race->refused, 1);
    else
        atomic_fetch_add(&race->failed, 1);
    atomic_fetch_add(&race->takes, 1);
}

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){0, 50000}, NULL);
}

static void *taker_run(void *argument)
{
    struct race *race = argument;
    struct seqb_backend *backend = NULL;
    int now;

    for (int step = 0; (now = atomic_load(&race->period)) < PERIODS; step++) {
        if (atomic_load(&race->takes) < HASTE)
            race_take(race, &backend, now > 2 ? now - 2 + step % 4 : now);
        else
            pause_briefly();
    }
    race->ops->close(backend);
    return NULL;
}

/* How many are deleted; -1 if the backend had to be closed. */
static int32_t race_purge(struct race *race, struct seqb_backend **backend,
                          int period, int32_t most)
{
    char keep[SEQB_COUNTER_SIZE];
    const struct seqb_purge purge = {.counter = COUNTER,
                                     .keep = keep,
                                     .before_ms = BEGINS_MS(period),
                                     .most = most};
    int32_t deleted = 0;

    name_make(keep, period);
    if (!race_open(race, backend))
        return -1;
    if ((*backend)->ops->purge(*backend, &purge, &deleted, NULL) == SEQB_OK)
        return deleted;
    race_drop(race, backend);
    return -1;
}

static void purger_step(struct race *race, struct seqb_backend **backend,
                        int period)
{
    int32_t deleted;

    while (atomic_load(&race->takes) < PACE)
        pause_briefly();
    atomic_store(&race->takes, 0);
    atomic_store(&race->period, period);
    do {
        deleted = race_purge(race, backend, period, MOST);
        race->deleted += deleted > 0 ? deleted : 0;
    } while (deleted == MOST ||
             (deleted < 0 && atomic_load(&race->failed) < FAILURES));
}

/* The first note of a counter is in time before whatever it ends. */
static void purger_run(struct race *race)
{
    struct seqb_backend *backend = NULL;

    assert_int_equal(race_purge(race, &backend, 0, 0), 0);
    for (int period = 1; period < PERIODS; period++)
        purger_step(race, &backend, period);
    atomic_store(&race->period, PERIODS);
    race->ops->close(backend);
}

CONTRACT_TEST(periods_made_and_purged_at_once_never_repeat, PERIOD)
{
    struct race *race = calloc(1, sizeof *race);
    pthread_t takers[TAKERS];

    assert_non_null(race);
    race->ops = contract->subject->ops;
    race->options = &contract->store->options;
    for (int i = 0; i < TAKERS; i++)
        assert_ok(thread_start(&takers[i], "taker", taker_run, race, NULL));
    purger_run(race);
    for (int i = 0; i < TAKERS; i++)
        pthread_join(takers[i], NULL);
    assert_int_equal(race->repeated, 0);
    assert_in_range(race->granted, PERIODS, INT32_MAX);
    assert_in_range(race->refused, 1, INT32_MAX);
    assert_in_range(race->deleted, PERIODS / 2, INT32_MAX);
    assert_in_range(race->failed, 0, FAILURES - 1);
    free(race);
}
