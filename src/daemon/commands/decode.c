/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.DECODE shows the parts of a number, with its time if it has one.
 * SEQ.PARSE does so for a text, if the text is one of the sequence's
 * numbers. */
#include <stdio.h>
#include <time.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/session.h"

#define TIME_SIZE 40

/* Prefix of a parameter's name, so that it never equals the name of another
 * field. */
#define PARAM_PREFIX "param."

#define FIELD_SIZE (sizeof PARAM_PREFIX + SEQB_PARAM_NAME_MAX)

/* ISO 8601, in UTC. */
static void time_print(int64_t ms, char *out, size_t size)
{
    const time_t at = (time_t)(ms / 1000);
    struct tm parts;
    size_t length = 0;

    if (gmtime_r(&at, &parts) != NULL)
        length = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + length, size - length, ".%03dZ", (int)(ms % 1000));
}

/* The further parts of a time-ordered id. */
static void reply_id(struct buffer *out, const struct seqb_decoded *decoded,
                     bool is_text)
{
    char text[TIME_SIZE] = "";

    time_print(decoded->time_ms, text, sizeof text);
    reply_field_integer(out, "time_ms", decoded->time_ms);
    reply_field_string(out, "time", text);
    if (decoded->shard >= 0)
        reply_field_integer(out, "shard", decoded->shard);
    if (decoded->datacenter >= 0)
        reply_field_integer(out, "datacenter", decoded->datacenter);
    if (decoded->worker >= 0)
        reply_field_integer(out, "worker", decoded->worker);
    reply_field_number(out, "number", decoded->number, is_text);
}

static void reply_decoded(struct session *session,
                          const struct seqb_decoded *decoded, bool is_text)
{
    struct buffer *out = &session->out;
    const bool has_time = decoded->time_ms >= 0;
    size_t count = 4;

    if (has_time)
        count += 3 + (size_t)(decoded->shard >= 0) +
                 (size_t)(decoded->datacenter >= 0) +
                 (size_t)(decoded->worker >= 0);
    reply_map(out, count, session->is_resp3);
    reply_field_number(out, "counter", decoded->counter, is_text);
    reply_field_integer(out, "partition", decoded->partition);
    reply_field_integer(out, "memory_bits", decoded->memory_bits);
    reply_field_integer(out, "memory", decoded->memory);
    if (has_time)
        reply_id(out, decoded, is_text);
}

/* The word as a string; "" if it cannot be a key, which the library then
 * refuses. */
static void key_copy(struct resp_slice word, char out[SEQB_KEY_MAX + 1])
{
    if (!word_copy(word, out, SEQB_KEY_MAX + 1))
        out[0] = '\0';
}

enum command_outcome command_decode(struct session *session,
                                    const struct resp_request *request)
{
    char key[SEQB_KEY_MAX + 1];
    struct seqb_decoded decoded;
    struct seqb_error err;
    long long value = 0;
    bool is_text = false;

    if (!session_is_text(session, request, 3, &is_text) ||
        !session_integer(session, request->argv[2], &value))
        return COMMAND_DONE;
    key_copy(request->argv[1], key);
    if (seqb_decode_key(session->daemon->broker, key, value, &decoded, &err) ==
        SEQB_OK)
        reply_decoded(session, &decoded, is_text);
    else
        reply_failure(&session->out, &err);
    return COMMAND_DONE;
}

/* --- texts --- */

static void reply_stamp(struct buffer *out, const struct seqb_stamp *stamp)
{
    reply_field_integer(out, "stamp", stamp->digits);
    reply_field_integer(out, "begins_ms", stamp->begins_ms);
    reply_field_integer(out, "ends_ms", stamp->ends_ms);
}

static void reply_param(struct buffer *out,
                        const struct seqb_parsed_param *param)
{
    char field[FIELD_SIZE];

    snprintf(field, sizeof field, PARAM_PREFIX "%s", param->name);
    reply_field_string(out, field, param->value);
}

/* Parts that the text does not contain are left out. */
static void reply_parsed(struct session *session,
                         const struct seqb_parsed *parsed, bool is_text)
{
    const bool has_stamp = parsed->stamp.digits != 0;
    const bool has_shard = parsed->shard >= 0;
    struct buffer *out = &session->out;

    reply_map(out,
              2 + 3 * (size_t)has_stamp + (size_t)has_shard +
                  parsed->param_count,
              session->is_resp3);
    reply_field_number(out, "value", parsed->value, is_text);
    reply_field_number(out, "number", parsed->number, is_text);
    if (has_stamp)
        reply_stamp(out, &parsed->stamp);
    if (has_shard)
        reply_field_integer(out, "shard", parsed->shard);
    for (size_t i = 0; i < parsed->param_count; i++)
        reply_param(out, &parsed->params[i]);
}

/* The word as a string. False after answering that it cannot be the text of a
 * number. */
static bool text_copy(struct session *session,
                      const struct resp_request *request,
                      char out[SEQB_TEXT_MAX + 1])
{
    const struct resp_slice key = request->argv[1];
    const struct resp_slice word = request->argv[2];

    if (word_copy(word, out, SEQB_TEXT_MAX + 1))
        return true;
    reply_error(&session->out, seqb_status_name(SEQB_FOREIGN),
                "%.*s: the text is none of its numbers: %s", word_shown(key),
                key.data,
                word.length > SEQB_TEXT_MAX ? "it is longer than any"
                                            : "it has a NUL byte");
    return false;
}

enum command_outcome command_parse(struct session *session,
                                   const struct resp_request *request)
{
    char key[SEQB_KEY_MAX + 1];
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    struct seqb_error err;
    bool is_text = false;

    if (!session_is_text(session, request, 3, &is_text) ||
        !text_copy(session, request, text))
        return COMMAND_DONE;
    key_copy(request->argv[1], key);
    if (seqb_parse_key(session->daemon->broker, key, text, &parsed, &err) ==
        SEQB_OK)
        reply_parsed(session, &parsed, is_text);
    else
        reply_failure(&session->out, &err);
    return COMMAND_DONE;
}
