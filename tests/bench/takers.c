/* SPDX-License-Identifier: Apache-2.0 */
/* One loop for each way, so that nothing but the taking is in it. Every number
 * is used, or a compiler would leave out what makes it. */
#include "bench/takers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/outside.h"
#include "support/race.h"

#define STRIDE 4096 /* takes between two looks at the clock */
#define SLICE  4096 /* numbers of a cursor's slice */

struct crowd {
    struct seqb_sequence *sequence;
    enum taking taking;
    double seconds;
    _Alignas(64) _Atomic int64_t counter;
    _Alignas(64) pthread_mutex_t lock; /* guards `guarded` */
    int64_t guarded;
};

struct taker {
    struct crowd *crowd;
    struct seqb_cursor *cursor;
    double rate;  /* out: million a second */
    int64_t used; /* of the numbers */
    int64_t own;  /* no other thread's */
};

/* Each keeps the handle in its hands, as callers do. */
static void take_fetch_add(struct taker *taker)
{
    _Atomic int64_t *const counter = &taker->crowd->counter;
    int64_t used = 0;

    for (int i = 0; i < STRIDE; i++)
        used ^= atomic_fetch_add(counter, 1);
    taker->used ^= used;
}

static void take_outside(struct taker *taker)
{
    _Atomic int64_t *const counter = &taker->crowd->counter;
    int64_t used = 0;
    int64_t value;

    for (int i = 0; i < STRIDE; i++) {
        if (outside_take(counter, INT64_MAX, &value) != 0)
            exit(EXIT_FAILURE);
        used ^= value;
    }
    taker->used ^= used;
}

static void take_nothing(struct taker *taker)
{
    int64_t used = 0;
    int64_t value;

    for (int i = 0; i < STRIDE; i++) {
        if (outside_nothing(i, &value) != 0)
            exit(EXIT_FAILURE);
        used ^= value;
    }
    taker->used ^= used;
}

/* Volatile: it goes through memory each time, as a cursor does. */
static void take_own(struct taker *taker)
{
    volatile int64_t *const counter = &taker->own;
    int64_t used = 0;

    for (int i = 0; i < STRIDE; i++) {
        const int64_t value = *counter;

        *counter = value + 1;
        used ^= value;
    }
    taker->used ^= used;
}

static void take_mutex(struct taker *taker)
{
    struct crowd *crowd = taker->crowd;
    int64_t used = 0;

    for (int i = 0; i < STRIDE; i++) {
        pthread_mutex_lock(&crowd->lock);
        used ^= crowd->guarded++;
        pthread_mutex_unlock(&crowd->lock);
    }
    taker->used ^= used;
}

static void take_next(struct taker *taker)
{
    struct seqb_sequence *const sequence = taker->crowd->sequence;
    struct seqb_error err;
    int64_t used = 0;
    int64_t value;

    for (int i = 0; i < STRIDE; i++) {
        if (seqb_next(sequence, &value, &err) != SEQB_OK)
            die(err.text);
        used ^= value;
    }
    taker->used ^= used;
}

static void take_cursor(struct taker *taker)
{
    struct seqb_cursor *const cursor = taker->cursor;
    struct seqb_error err;
    int64_t used = 0;
    int64_t value;

    for (int i = 0; i < STRIDE; i++) {
        if (seqb_cursor_next(cursor, &value, &err) != SEQB_OK)
            die(err.text);
        used ^= value;
    }
    taker->used ^= used;
}

static void cursor_begin(struct taker *taker)
{
    struct seqb_error err;

    if (taker->crowd->taking == TAKE_CURSOR &&
        seqb_cursor_open(taker->crowd->sequence, SLICE, &taker->cursor, &err) !=
            SEQB_OK)
        die(err.text);
}

static void taker_run(void *racer)
{
    static void (*const ways[])(struct taker *) = {
        [TAKE_FETCH_ADD] = take_fetch_add, [TAKE_OUTSIDE] = take_outside,
        [TAKE_NOTHING] = take_nothing,     [TAKE_OWN] = take_own,
        [TAKE_MUTEX] = take_mutex,         [TAKE_NEXT] = take_next,
        [TAKE_CURSOR] = take_cursor,
    };
    struct taker *taker = racer;
    void (*const take)(struct taker *) = ways[taker->crowd->taking];
    int64_t takes = 0;
    double start;
    double end;

    cursor_begin(taker);
    race_meet();
    start = now_s();
    do {
        take(taker);
        takes += STRIDE;
        end = now_s();
    } while (end - start < taker->crowd->seconds);
    taker->rate = (double)takes / (end - start) / 1e6;
    seqb_cursor_close(taker->cursor);
}

double takers_rate(struct seqb_sequence *sequence, enum taking taking,
                   int threads, double seconds)
{
    struct crowd crowd = {
        .sequence = sequence, .taking = taking, .seconds = seconds};
    struct taker takers[TAKERS_MAX] = {0};
    double rate = 0;

    if (threads > TAKERS_MAX)
        exit(EXIT_FAILURE);
    pthread_mutex_init(&crowd.lock, NULL);
    for (int i = 0; i < threads; i++)
        takers[i].crowd = &crowd;
    race_run(takers, (size_t)threads, sizeof takers[0], taker_run);
    for (int i = 0; i < threads; i++)
        rate += takers[i].rate;
    pthread_mutex_destroy(&crowd.lock);
    return rate;
}
