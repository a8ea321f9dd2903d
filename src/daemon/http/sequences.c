/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of a sequence: each builds a command of the Redis protocol. */
#include <stdio.h>
#include <string.h>

#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"
#include "daemon/http/route.h"
#include "daemon/http/take.h"

/* The most numbers of one answer, which is held until it is complete. */
#define COUNT_MAX 10000

/* Reads the count, 1 to COUNT_MAX; "1" if the query has none. False after
 * answering what is wrong. */
static bool count_read(struct exchange *exchange, const struct target *target,
                       const char **out)
{
    const char *count = evhttp_find_header(&target->query, "count");
    int value = 0;

    *out = count != NULL ? count : "1";
    for (size_t i = 0; (*out)[i] != '\0'; i++) {
        const char digit = (*out)[i];

        value = digit >= '0' && digit <= '9' && value <= COUNT_MAX
                    ? value * 10 + (digit - '0')
                    : COUNT_MAX + 1;
    }
    if (value >= 1 && value <= COUNT_MAX)
        return true;
    problem_answer(exchange, HTTP_BADREQUEST, "ERR", "count is 1 to 10000");
    return false;
}

/* Whether the query has only these names, whose list ends with NULL. False
 * after answering the error. */
static bool query_is_known(struct exchange *exchange,
                           const struct target *target,
                           const char *const *names)
{
    const struct evkeyval *pair = NULL;
    char why[128];

    TAILQ_FOREACH(pair, &target->query, next) {
        size_t i = 0;

        while (names[i] != NULL && strcmp(names[i], pair->key) != 0)
            i++;
        if (names[i] != NULL)
            continue;
        snprintf(why, sizeof why,
                 "'%.64s' is no parameter of this path: see docs/http.md",
                 pair->key);
        problem_answer(exchange, HTTP_BADREQUEST, "ERR", why);
        return false;
    }
    return true;
}

void next_route(struct exchange *exchange, const struct target *target)
{
    static const char *const names[] = {"count", "shard", NULL};
    const char *shard = evhttp_find_header(&target->query, "shard");
    const char *count = NULL;
    struct take *take = NULL;

    if (!query_is_known(exchange, target, names) ||
        !count_read(exchange, target, &count))
        return;
    take = take_new(exchange, "numbers");
    if (take == NULL)
        return;
    take_add(take, "SEQ.NEXT");
    take_add(take, target->key);
    take_add(take, "COUNT");
    take_add(take, count);
    if (shard != NULL) {
        take_add(take, "SHARD");
        take_add(take, shard);
    }
    take_add(take, "STR");
    take_start(take);
}

/* Names other than "count" are parameters of the template. */
void number_route(struct exchange *exchange, const struct target *target)
{
    const struct evkeyval *pair = NULL;
    const char *count = NULL;
    struct take *take = NULL;

    if (!count_read(exchange, target, &count))
        return;
    take = take_new(exchange, "texts");
    if (take == NULL)
        return;
    take_add(take, "SEQ.NUMBER");
    take_add(take, target->key);
    take_add(take, "COUNT");
    take_add(take, count);
    TAILQ_FOREACH(pair, &target->query, next) {
        if (strcmp(pair->key, "count") == 0)
            continue;
        take_add(take, pair->key);
        take_add(take, pair->value);
    }
    take_start(take);
}

/* Runs a command with the sequence's key and one word of the query. */
static void word_route(struct exchange *exchange, const struct target *target,
                       const char *command, const char *name)
{
    const char *const names[] = {name, NULL};
    const char *word = evhttp_find_header(&target->query, name);
    struct take *take = NULL;

    if (!query_is_known(exchange, target, names))
        return;
    if (word == NULL) {
        problem_answer(exchange, HTTP_BADREQUEST, "ERR",
                       "the query lacks a parameter: see docs/http.md");
        return;
    }
    take = take_new(exchange, NULL);
    if (take == NULL)
        return;
    take_add(take, command);
    take_add(take, target->key);
    take_add(take, word);
    take_add(take, "STR");
    take_start(take);
}

void decode_route(struct exchange *exchange, const struct target *target)
{
    word_route(exchange, target, "SEQ.DECODE", "number");
}

void parse_route(struct exchange *exchange, const struct target *target)
{
    word_route(exchange, target, "SEQ.PARSE", "text");
}
