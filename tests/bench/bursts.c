/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of takes, timed as a whole: a clock within would cost more than what
 * it measures. */
#include "bench/bursts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/sorted.h"
#include "support/take.h"

#define BURST      1024
#define WARM       64    /* takes before it, that are not timed */
#define REST_S     0.008 /* 128,000 takes a second and thread */
#define BURSTS_MAX 4096  /* of a thread */
#define SHARD      37

struct crowd {
    struct seqb_sequence *sequence;
    bool has_shard;
    int threads;
    int bursts;
    pthread_barrier_t begin;
    _Atomic int ready; /* threads that wait for the others, over all bursts */
};

struct taker {
    struct crowd *crowd;
    pthread_t thread;
    int64_t used; /* of the ids: so that none is left out by a compiler */
    double ns[BURSTS_MAX];
};

static int64_t take_next(const struct crowd *crowd, int takes)
{
    struct seqb_sequence *const sequence = crowd->sequence;
    struct seqb_error err;
    int64_t used = 0;
    int64_t value;

    for (int i = 0; i < takes; i++) {
        if (seqb_next(sequence, &value, &err) != SEQB_OK)
            die(err.text);
        used ^= value;
    }
    return used;
}

static int64_t take_sharded(const struct crowd *crowd, int takes)
{
    struct seqb_sequence *const sequence = crowd->sequence;
    struct seqb_error err;
    int64_t used = 0;
    int64_t value;

    for (int i = 0; i < takes; i++) {
        if (take_shard(sequence, SHARD, &value, &err) != SEQB_OK)
            die(err.text);
        used ^= value;
    }
    return used;
}

/* The barrier wakes them some time after each other; the last steps are
 * spun, so that the bursts meet. */
static void crowd_meet(struct crowd *crowd, int burst)
{
    const int all = (burst + 1) * crowd->threads;

    pthread_barrier_wait(&crowd->begin);
    atomic_fetch_add(&crowd->ready, 1);
    while (atomic_load(&crowd->ready) < all)
        ;
}

static void *taker_run(void *argument)
{
    struct taker *taker = argument;
    struct crowd *crowd = taker->crowd;
    int64_t (*const take)(const struct crowd *, int) =
        crowd->has_shard ? take_sharded : take_next;

    for (int i = 0; i < crowd->bursts; i++) {
        int64_t start_ns;

        pause_s(REST_S);
        crowd_meet(crowd, i);
        taker->used ^= take(crowd, WARM);
        start_ns = now_ns();
        taker->used ^= take(crowd, BURST);
        taker->ns[i] = (double)(now_ns() - start_ns) / BURST;
    }
    return NULL;
}

static double takers_median(const struct taker *takers, int threads, int bursts)
{
    const size_t count = (size_t)threads * (size_t)bursts;
    double *all = calloc(count, sizeof *all);
    double median;

    if (all == NULL)
        die("out of memory");
    for (size_t i = 0; i < count; i++)
        all[i] = takers[i / (size_t)bursts].ns[i % (size_t)bursts];
    samples_sort(all, count);
    median = all[count / 2];
    free(all);
    return median;
}

double bursts_ns(struct seqb_sequence *sequence, bool has_shard, int threads,
                 double seconds)
{
    static struct taker takers[BURSTS_THREADS_MAX];
    struct crowd crowd = {.sequence = sequence,
                          .has_shard = has_shard,
                          .threads = threads,
                          .bursts = 1 + (int)(seconds / REST_S)};

    if (threads > BURSTS_THREADS_MAX || crowd.bursts > BURSTS_MAX)
        die("too many threads, or too long");
    pthread_barrier_init(&crowd.begin, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        takers[i].crowd = &crowd;
        if (pthread_create(&takers[i].thread, NULL, taker_run, &takers[i]) != 0)
            die("no thread can be made");
    }
    for (int i = 0; i < threads; i++)
        pthread_join(takers[i].thread, NULL);
    pthread_barrier_destroy(&crowd.begin);
    return takers_median(takers, threads, crowd.bursts);
}
