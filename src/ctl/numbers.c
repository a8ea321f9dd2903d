/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl next and decode; see numbers.h. What a number means is the daemon's
 * to say. */
#include "ctl/numbers.h"

#include <inttypes.h>
#include <stdio.h>

#include "ctl/client.h"

#define NUMBERS_AT_ONCE 1000 /* asked of the daemon in one request */
#define WORDS_MAX       8

/* One a line, with the stamp before it unless that is NULL. */
static bool number_print(const redisReply *stamp, const redisReply *number)
{
    if (number->type != REDIS_REPLY_INTEGER)
        return false;
    if (stamp != NULL && printf("%lld ", stamp->integer) < 0)
        return false;
    return printf("%lld\n", number->integer) > 0;
}

/* True if the answer was `count` numbers and stdout took them. */
static bool numbers_print(const redisReply *stamp, const redisReply *numbers,
                          int64_t count)
{
    if (numbers->type != REDIS_REPLY_ARRAY ||
        (int64_t)numbers->elements != count) {
        ctl_complain("the answer to SEQ.NEXT makes no sense: is this a "
                     "seqbrokerd, and of this version?");
        return false;
    }
    for (size_t i = 0; i < numbers->elements; i++) {
        if (!number_print(stamp, numbers->element[i]))
            return false;
    }
    return fflush(stdout) == 0;
}

/* A stamp and its numbers; what is none is told as numbers that are none. */
static bool stamped_print(const redisReply *reply, int64_t count)
{
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
        reply->element[0]->type == REDIS_REPLY_INTEGER)
        return numbers_print(reply->element[0], reply->element[1], count);
    return numbers_print(NULL, reply, count);
}

static enum ctl_exit numbers_take(struct client *client, const char *key,
                                  const struct ctl_options *options,
                                  int64_t count)
{
    const bool is_stamped = options->given & CTL_STAMP;
    char amount[24];
    char shard[24];
    const char *words[WORDS_MAX] = {"SEQ.NEXT", key, "COUNT", amount};
    size_t length = 4;
    redisReply *reply;
    enum ctl_exit result;
    bool is_printed;

    snprintf(amount, sizeof amount, "%" PRId64, count);
    snprintf(shard, sizeof shard, "%" PRId64, options->shard);
    if (options->given & CTL_SHARD) {
        words[length++] = "SHARD";
        words[length++] = shard;
    }
    if (is_stamped)
        words[length++] = "STAMP";
    result = client_call(client, length, words, &reply);
    if (result != CTL_OK)
        return result;
    is_printed = is_stamped ? stamped_print(reply, count)
                            : numbers_print(NULL, reply, count);
    freeReplyObject(reply);
    return is_printed ? CTL_OK : CTL_FAILED;
}

enum ctl_exit numbers_next(const struct ctl_options *options, char **argument)
{
    int64_t left = options->count > 0 ? options->count : 1;
    struct client client;
    enum ctl_exit result = client_open(options, &client);

    while (result == CTL_OK && left > 0) {
        int64_t count = left < NUMBERS_AT_ONCE ? left : NUMBERS_AT_ONCE;

        result = numbers_take(&client, argument[0], options, count);
        left -= count;
    }
    client_close(&client);
    return result;
}

/* What the daemon says, in its order: more of it for some sequences. */
static void decoded_print(const redisReply *map)
{
    for (size_t i = 0; i + 1 < map->elements; i += 2) {
        const redisReply *value = map->element[i + 1];

        if (map->element[i]->type != REDIS_REPLY_STRING)
            continue;
        if (value->type == REDIS_REPLY_INTEGER)
            printf("%-12s %lld\n", map->element[i]->str, value->integer);
        else if (value->type == REDIS_REPLY_STRING)
            printf("%-12s %s\n", map->element[i]->str, value->str);
    }
}

enum ctl_exit numbers_decode(const struct ctl_options *options, char **argument)
{
    const char *const words[] = {"SEQ.DECODE", argument[0], argument[1]};
    struct client client;
    redisReply *reply = NULL;
    enum ctl_exit result = client_open(options, &client);

    if (result == CTL_OK)
        result = client_call(&client, 3, words, &reply);
    if (result == CTL_OK && reply_field(reply, "counter") == NULL) {
        ctl_complain("the answer to SEQ.DECODE has no counter: is this a "
                     "seqbrokerd, and of this version?");
        result = CTL_FAILED;
    }
    if (result == CTL_OK)
        decoded_print(reply);
    freeReplyObject(reply);
    client_close(&client);
    return result;
}
