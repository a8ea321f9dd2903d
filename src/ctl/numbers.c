/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl next and number, decode and parse: takes numbers and texts, and takes
 * them apart. The daemon decides what they mean. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "ctl/answer.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/json.h"
#include "ctl/terminal/terminal.h"

#define NUMBERS_AT_ONCE 1000 /* in one request to the daemon */
#define AMOUNT_SIZE     24
#define HEAD_WORDS      4 /* command, key, COUNT, and the amount */
#define PARAMS_MAX      (SEQB_PARAM_MAX + 1) /* and the shard of ids */
#define WORDS_MAX       (HEAD_WORDS + 2 * PARAMS_MAX)

#define DIGITS_SIZE 24

/* The prefix of a parameter's name in an answer to SEQ.PARSE. */
#define PARAM_PREFIX "param."

/* --- printing numbers as they arrive --- */

/* One number on a line, or as strings of one JSON object. */
struct listing {
    const char *command; /* the command that was sent */
    bool is_json;
    int64_t printed; /* how many, for JSON */
};

static void line_print(const redisReply *stamp, const char *text)
{
    if (stamp != NULL)
        printf("%lld ", stamp->integer);
    puts(text);
}

/* The text of a number or of a text. */
static const char *item_text(const redisReply *item, char digits[DIGITS_SIZE])
{
    if (item->type == REDIS_REPLY_STRING)
        return item->str;
    snprintf(digits, DIGITS_SIZE, "%lld", item->integer);
    return digits;
}

static json_t *item_make(const redisReply *stamp, const char *text)
{
    json_t *number = json_of_text(text);

    if (stamp == NULL)
        return number;
    return json_pack("{sI so}", "stamp", (json_int_t)stamp->integer, "number",
                     number);
}

static json_t *items_make(const redisReply *stamp, const redisReply *items)
{
    json_t *list = json_array();
    char digits[DIGITS_SIZE];

    for (size_t i = 0; i < items->elements; i++) {
        const char *text = item_text(items->element[i], digits);

        if (json_array_append_new(list, item_make(stamp, text)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static bool items_print(struct listing *listing, const redisReply *stamp,
                        const redisReply *items)
{
    char digits[DIGITS_SIZE];

    if (listing->is_json) {
        fputs(listing->printed == 0 ? "{\"numbers\": [" : ", ", stdout);
        listing->printed += (int64_t)items->elements;
        return json_print(items_make(stamp, items), JSON_EMBED);
    }
    for (size_t i = 0; i < items->elements; i++)
        line_print(stamp, item_text(items->element[i], digits));
    return true;
}

static bool are_items(const redisReply *items, int64_t count)
{
    if (items->type != REDIS_REPLY_ARRAY || (int64_t)items->elements != count)
        return false;
    for (size_t i = 0; i < items->elements; i++) {
        if (items->element[i]->type != REDIS_REPLY_INTEGER &&
            items->element[i]->type != REDIS_REPLY_STRING)
            return false;
    }
    return true;
}

/* Prints an answer of `count` items, each with the stamp before it unless the
 * stamp is NULL. */
static enum ctl_exit listing_add(struct listing *listing,
                                 const redisReply *stamp,
                                 const redisReply *items, int64_t count)
{
    if (!are_items(items, count))
        return reply_refuse(listing->command, "makes no sense");
    return items_print(listing, stamp, items) && fflush(stdout) == 0 &&
                   ferror(stdout) == 0
               ? CTL_OK
               : CTL_FAILED;
}

/* Completes the JSON object, also after a failure. */
static void listing_end(const struct listing *listing)
{
    if (listing->is_json && listing->printed > 0)
        puts("]}");
}

/* --- taking --- */

/* A command that is repeated until there are as many numbers as asked for. */
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
    const int64_t wanted = options->count > 0 ? options->count : 1;
    int64_t left = wanted;
    char amount[AMOUNT_SIZE];
    struct request some = *request;
    struct progress progress;
    struct client client;
    enum ctl_exit result = client_open(options, &client);

    progress_begin(&progress, false);
    some.words[2] = "COUNT";
    some.words[3] = amount;
    while (result == CTL_OK && left > 0) {
        int64_t count = left < NUMBERS_AT_ONCE ? left : NUMBERS_AT_ONCE;

        snprintf(amount, sizeof amount, "%" PRId64, count);
        result = request_send(&client, &some, count, &listing);
        left -= count;
        progress_show(&progress, wanted - left, wanted);
    }
    progress_erase(&progress);
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

/* NAME=VALUE; the first = ends the name. */
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

/* --- taking apart --- */

static const struct status_field decoded_fields[] = {
    {.name = "counter", .kind = STATUS_BIG},
    {.name = "partition", .kind = STATUS_INTEGER},
    {.name = "memory_bits", .kind = STATUS_INTEGER},
    {.name = "memory", .kind = STATUS_INTEGER},
    {.name = "time_ms", .kind = STATUS_INTEGER},
    {.name = "time", .kind = STATUS_TEXT},
    {.name = "shard", .kind = STATUS_INTEGER},
    {.name = "datacenter", .kind = STATUS_INTEGER},
    {.name = "worker", .kind = STATUS_INTEGER},
    {.name = "number", .kind = STATUS_BIG},
    {.name = NULL},
};

static const struct status_field parsed_fields[] = {
    {.name = "value", .kind = STATUS_BIG},
    {.name = "number", .kind = STATUS_BIG},
    {.name = "stamp", .kind = STATUS_INTEGER},
    {.name = "begins_ms", .kind = STATUS_INTEGER},
    {.name = "ends_ms", .kind = STATUS_INTEGER},
    {.name = "shard", .kind = STATUS_INTEGER},
    {.name = NULL},
};

/* Prints the fields in the daemon's order; some sequences have more fields. */
static void lines_print(const redisReply *map)
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

static json_t *decoded_make(const redisReply *map)
{
    return object_make(decoded_fields, map);
}

/* The name of the field's parameter; NULL if the field is not a parameter. */
static const char *param_name(const redisReply *field, const redisReply *value)
{
    const size_t length = strlen(PARAM_PREFIX);

    if (field->type != REDIS_REPLY_STRING ||
        value->type != REDIS_REPLY_STRING ||
        strncmp(field->str, PARAM_PREFIX, length) != 0)
        return NULL;
    return field->str + length;
}

/* The names of parameters are letters and digits, and therefore UTF-8. */
static json_t *params_make(const redisReply *map)
{
    json_t *params = json_object();

    for (size_t i = 0; i + 1 < map->elements; i += 2) {
        const char *name = param_name(map->element[i], map->element[i + 1]);

        if (name != NULL &&
            json_object_set_new(params, name,
                                json_of_text(map->element[i + 1]->str)) != 0) {
            json_decref(params);
            return NULL;
        }
    }
    return params;
}

static json_t *parsed_make(const redisReply *map)
{
    json_t *parsed = object_make(parsed_fields, map);

    if (json_object_set_new(parsed, "params", params_make(map)) == 0)
        return parsed;
    json_decref(parsed);
    return NULL;
}

/* Sends the words. An answer without `field` makes no sense. */
static enum ctl_exit apart_call(const struct ctl_options *options,
                                const char *const *words, const char *field,
                                json_t *(*make)(const redisReply *map))
{
    char why[32];
    redisReply *reply;
    enum ctl_exit result = client_ask(options, 3, words, &reply);

    snprintf(why, sizeof why, "has no %s", field);
    if (result == CTL_OK && reply_field(reply, field) == NULL)
        result = reply_refuse(words[0], why);
    if (result == CTL_OK && (options->given & CTL_JSON) == 0)
        lines_print(reply);
    else if (result == CTL_OK && !json_line_print(make(reply)))
        result = CTL_FAILED;
    freeReplyObject(reply);
    return result;
}

enum ctl_exit numbers_decode(const struct ctl_options *options, char **argument)
{
    const char *const words[] = {"SEQ.DECODE", argument[0], argument[1]};

    return apart_call(options, words, "counter", decoded_make);
}

enum ctl_exit numbers_parse(const struct ctl_options *options, char **argument)
{
    const char *const words[] = {"SEQ.PARSE", argument[0], argument[1]};

    return apart_call(options, words, "number", parsed_make);
}
