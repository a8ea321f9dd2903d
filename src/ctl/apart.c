/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl decode and parse; see apart.h. What a number or a text means is the
 * daemon's to say. */
#include "ctl/apart.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/json.h"
#include "ctl/object.h"

/* What stands before a parameter's name in an answer to SEQ.PARSE. */
#define PARAM_PREFIX "param."

static const struct field decoded_fields[] = {
    {"counter", MEMBER_BIG},           {"partition", MEMBER_INTEGER},
    {"memory_bits", MEMBER_INTEGER},   {"memory", MEMBER_INTEGER},
    {"time_ms", MEMBER_MAYBE_INTEGER}, {"time", MEMBER_MAYBE_TEXT},
    {"shard", MEMBER_MAYBE_INTEGER},   {"worker", MEMBER_MAYBE_INTEGER},
    {"number", MEMBER_MAYBE_BIG},      {.name = NULL},
};

static const struct field parsed_fields[] = {
    {"value", MEMBER_BIG},
    {"number", MEMBER_BIG},
    {"stamp", MEMBER_MAYBE_INTEGER},
    {"begins_ms", MEMBER_MAYBE_INTEGER},
    {"ends_ms", MEMBER_MAYBE_INTEGER},
    {"shard", MEMBER_MAYBE_INTEGER},
    {.name = NULL},
};

/* What the daemon says, in its order: more of it for some sequences. */
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

static void decoded_print(const redisReply *map)
{
    putchar('{');
    members_print(decoded_fields, map);
    puts("}");
}

/* The name of the parameter that a field is of, NULL if it is of none. */
static const char *param_name(const redisReply *field, const redisReply *value)
{
    const size_t length = strlen(PARAM_PREFIX);

    if (field->type != REDIS_REPLY_STRING ||
        value->type != REDIS_REPLY_STRING ||
        strncmp(field->str, PARAM_PREFIX, length) != 0)
        return NULL;
    return field->str + length;
}

static void params_print(const redisReply *map)
{
    const char *comma = "";

    for (size_t i = 0; i + 1 < map->elements; i += 2) {
        const char *name = param_name(map->element[i], map->element[i + 1]);

        if (name == NULL)
            continue;
        fputs(comma, stdout);
        json_string(stdout, name);
        fputs(": ", stdout);
        json_string(stdout, map->element[i + 1]->str);
        comma = ", ";
    }
}

static void parsed_print(const redisReply *map)
{
    putchar('{');
    members_print(parsed_fields, map);
    fputs(", \"params\": {", stdout);
    params_print(map);
    puts("}}");
}

/* Sends the words; what is answered has that field, or makes no sense. */
static enum ctl_exit apart_call(const struct ctl_options *options,
                                const char *const *words, const char *field,
                                void (*print)(const redisReply *map))
{
    struct client client;
    redisReply *reply = NULL;
    enum ctl_exit result = client_open(options, &client);

    if (result == CTL_OK)
        result = client_call(&client, 3, words, &reply);
    if (result == CTL_OK && reply_field(reply, field) == NULL) {
        ctl_complain("the answer to %s has no %s: is this a seqbrokerd, and "
                     "of this version?",
                     words[0], field);
        result = CTL_FAILED;
    }
    if (result == CTL_OK)
        print(reply);
    freeReplyObject(reply);
    client_close(&client);
    return result;
}

enum ctl_exit apart_decode(const struct ctl_options *options, char **argument)
{
    const char *const words[] = {"SEQ.DECODE", argument[0], argument[1]};

    return apart_call(options, words, "counter",
                      options->given & CTL_JSON ? decoded_print : lines_print);
}

enum ctl_exit apart_parse(const struct ctl_options *options, char **argument)
{
    const char *const words[] = {"SEQ.PARSE", argument[0], argument[1]};

    return apart_call(options, words, "number",
                      options->given & CTL_JSON ? parsed_print : lines_print);
}
