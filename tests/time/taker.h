/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that takes numbers of one sequence, each with its stamp, and sees
 * to it that stamps never go back, whatever becomes of the daemon meanwhile.
 * One thread's at a time.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

/* A number, unique together with its stamp. */
struct pair {
    int64_t stamp;
    int64_t number;
};

enum taken {
    TAKEN_NUMBERS,
    TAKEN_CLOCK, /* an error of the clock */
    TAKEN_OTHER, /* another error, see `error` */
    TAKEN_LOST   /* the connection */
};

struct taker {
    const char *socket;
    const char *command; /* SEQ.NEXT ... STAMP COUNT, or of ids: COUNT */
    int shift;           /* of ids: an id less so many bits is its time */
    redisContext *connection;
    struct pair *pairs;
    size_t count;
    size_t capacity;
    int64_t stamp; /* of the last ones */
    int64_t steps_back;
    int64_t refusals; /* by the clock */
    int64_t others;   /* other errors */
    char error[256];  /* the last one */
    /* On a thread of its own: */
    pthread_t thread;
    atomic_bool is_over;
};

/* One request. */
enum taken taker_take(struct taker *taker);

/* Another request; the answer is for freeReplyObject. */
redisReply *taker_ask(struct taker *taker, const char *command);

/* Takes for ever, on a thread, until it is ended. */
void taker_start(struct taker *taker);
void taker_end(struct taker *taker);

/* Frees all of it. */
void taker_fini(struct taker *taker);

/* How many of all pairs of so many takers came before. */
size_t takers_repeats(const struct taker *const *takers, size_t count);
