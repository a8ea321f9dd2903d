/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl next and number; see numbers.h. How they are printed is in
 * listing.c. */
#include "ctl/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "ctl/client.h"
#include "ctl/listing.h"

#define NUMBERS_AT_ONCE 1000 /* asked of the daemon in one request */
#define AMOUNT_SIZE     24
#define HEAD_WORDS      4 /* command, key, COUNT, and the amount */
#define PARAMS_MAX      (SEQB_PARAM_MAX + 1) /* and the shard of ids */
#define WORDS_MAX       (HEAD_WORDS + 2 * PARAMS_MAX)

/* A command that is sent again until there are as many as were wished for. */
struct request {
    const char *words[WORDS_MAX];
    size_t length;
    bool is_stamped; /* the answer is a stamp and its numbers */
};

static bool is_stamped_answer(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
           reply->element[0]->type == REDIS_REPLY_INTEGER;
}

static enum ctl_exit request_send(struct client *client,
                                  const struct request *request, int64_t count,
                                  struct listing *listing)
{
    redisReply *reply;
    enum ctl_exit result =
        client_call(client, request->length, request->words, &reply);

    if (result != CTL_OK)
        return result;
    if (request->is_stamped && is_stamped_answer(reply))
        result =
            listing_add(listing, reply->element[0], reply->element[1], count);
    else
        result = listing_add(listing, NULL, reply, count);
    freeReplyObject(reply);
    return result;
}

static enum ctl_exit request_run(const struct ctl_options *options,
                                 const struct request *request)
{
    struct listing listing = {.command = request->words[0],
                              .is_json = options->given & CTL_JSON};
    int64_t left = options->count > 0 ? options->count : 1;
    char amount[AMOUNT_SIZE];
    struct request some = *request;
    struct client client;
    enum ctl_exit result = client_open(options, &client);

    some.words[2] = "COUNT";
    some.words[3] = amount;
    while (result == CTL_OK && left > 0) {
        int64_t count = left < NUMBERS_AT_ONCE ? left : NUMBERS_AT_ONCE;

        snprintf(amount, sizeof amount, "%" PRId64, count);
        result = request_send(&client, &some, count, &listing);
        left -= count;
    }
    listing_end(&listing);
    client_close(&client);
    return result;
}

enum ctl_exit numbers_next(const struct ctl_options *options, char **argument)
{
    struct request request = {.words = {"SEQ.NEXT", argument[0]},
                              .length = HEAD_WORDS,
                              .is_stamped = options->given & CTL_STAMP};
    char shard[AMOUNT_SIZE];

    snprintf(shard, sizeof shard, "%" PRId64, options->shard);
    if (options->given & CTL_SHARD) {
        request.words[request.length++] = "SHARD";
        request.words[request.length++] = shard;
    }
    if (request.is_stamped)
        request.words[request.length++] = "STAMP";
    return request_run(options, &request);
}

/* NAME=VALUE, of which the first = ends the name. */
static bool param_add(struct request *request, char *word)
{
    char *equals = strchr(word, '=');

    if (equals == NULL || equals == word) {
        ctl_complain("a parameter is NAME=VALUE, not \"%s\"", word);
        return false;
    }
    if (request->length + 2 > WORDS_MAX) {
        ctl_complain("there are at most %d parameters", PARAMS_MAX);
        return false;
    }
    *equals = '\0';
    request->words[request->length++] = word;
    request->words[request->length++] = equals + 1;
    return true;
}

enum ctl_exit numbers_number(const struct ctl_options *options, char **argument)
{
    struct request request = {.words = {"SEQ.NUMBER", argument[0]},
                              .length = HEAD_WORDS};

    for (size_t i = 1; argument[i] != NULL; i++) {
        if (!param_add(&request, argument[i]))
            return CTL_USAGE;
    }
    return request_run(options, &request);
}
