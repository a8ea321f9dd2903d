/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, answers, and what is in them; see taker.h. */
#include "taker.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAIRS_FIRST 4096
#define NAP_US      4000 /* between two requests: less than a step takes */

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void pairs_reserve(struct taker *taker)
{
    const size_t capacity =
        taker->capacity == 0 ? PAIRS_FIRST : 2 * taker->capacity;
    struct pair *pairs = realloc(taker->pairs, capacity * sizeof *pairs);

    if (pairs == NULL)
        abort();
    taker->pairs = pairs;
    taker->capacity = capacity;
}

static void pair_add(struct taker *taker, int64_t stamp, int64_t number)
{
    if (taker->pairs == NULL || taker->count == taker->capacity)
        pairs_reserve(taker);
    taker->pairs[taker->count++] = (struct pair){stamp, number};
    if (stamp < taker->stamp)
        taker->steps_back++;
    taker->stamp = stamp;
}

static void numbers_add(struct taker *taker, const redisReply *stamp,
                        const redisReply *numbers)
{
    for (size_t i = 0; i < numbers->elements; i++) {
        const long long number = numbers->element[i]->integer;

        must(numbers->element[i]->type == REDIS_REPLY_INTEGER);
        pair_add(taker, stamp != NULL ? stamp->integer : number >> taker->shift,
                 number);
    }
}

static enum taken error_note(struct taker *taker, const redisReply *reply)
{
    snprintf(taker->error, sizeof taker->error, "%s", reply->str);
    if (strncmp(reply->str, "CLOCK ", 6) != 0) {
        taker->others++;
        return TAKEN_OTHER;
    }
    taker->refusals++;
    return TAKEN_CLOCK;
}

static enum taken reply_note(struct taker *taker, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR)
        return error_note(taker, reply);
    must(reply->type == REDIS_REPLY_ARRAY && reply->elements > 0);
    if (taker->shift > 0)
        numbers_add(taker, NULL, reply);
    else
        numbers_add(taker, reply->element[0], reply->element[1]);
    return TAKEN_NUMBERS;
}

static void taker_hang_up(struct taker *taker)
{
    if (taker->connection != NULL)
        redisFree(taker->connection);
    taker->connection = NULL;
}

/* Over a new connection where that of the last request is lost; NULL: there is
 * no daemon, or it ends. */
static redisReply *request(struct taker *taker, const char *command)
{
    redisReply *reply = NULL;

    for (int i = 0; i < 2 && reply == NULL; i++) {
        if (taker->connection == NULL)
            taker->connection = redisConnectUnix(taker->socket);
        must(taker->connection != NULL);
        if (taker->connection->err == 0)
            reply = redisCommand(taker->connection, command);
        if (reply == NULL)
            taker_hang_up(taker);
    }
    return reply;
}

redisReply *taker_ask(struct taker *taker, const char *command)
{
    redisReply *reply = request(taker, command);

    must(reply != NULL);
    return reply;
}

enum taken taker_take(struct taker *taker)
{
    redisReply *reply = request(taker, taker->command);
    enum taken taken;

    if (reply == NULL)
        return TAKEN_LOST;
    taken = reply_note(taker, reply);
    freeReplyObject(reply);
    return taken;
}

static void *taker_run(void *argument)
{
    struct taker *taker = argument;

    while (!atomic_load(&taker->is_over)) {
        (void)taker_take(taker);
        usleep(NAP_US);
    }
    return NULL;
}

void taker_start(struct taker *taker)
{
    atomic_store(&taker->is_over, false);
    must(pthread_create(&taker->thread, NULL, taker_run, taker) == 0);
}

void taker_end(struct taker *taker)
{
    atomic_store(&taker->is_over, true);
    must(pthread_join(taker->thread, NULL) == 0);
}

void taker_fini(struct taker *taker)
{
    taker_hang_up(taker);
    free(taker->pairs);
    taker->pairs = NULL;
    taker->count = 0;
}

static int pair_order(const void *a, const void *b)
{
    const struct pair *one = a;
    const struct pair *other = b;

    if (one->stamp != other->stamp)
        return one->stamp < other->stamp ? -1 : 1;
    return (one->number > other->number) - (one->number < other->number);
}

size_t takers_repeats(const struct taker *const *takers, size_t count)
{
    struct pair *all;
    size_t length = 0;
    size_t repeats = 0;

    for (size_t i = 0; i < count; i++)
        length += takers[i]->count;
    all = calloc(length + 1, sizeof *all);
    must(all != NULL);
    length = 0;
    for (size_t i = 0; i < count; i++) {
        if (takers[i]->count > 0)
            memcpy(all + length, takers[i]->pairs,
                   takers[i]->count * sizeof *all);
        length += takers[i]->count;
    }
    qsort(all, length, sizeof *all, pair_order);
    for (size_t i = 1; i < length; i++)
        repeats += pair_order(&all[i - 1], &all[i]) == 0;
    free(all);
    return repeats;
}
