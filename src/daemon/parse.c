/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.PARSE: a text taken apart, if it is one of the sequence's numbers. */
#include <stdio.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands.h"
#include "daemon/lane.h"
#include "daemon/reply.h"
#include "daemon/session.h"
#include "daemon/words.h"

/* Before a parameter's name: whatever it is, it is no other field's. */
#define PARAM_PREFIX "param."

#define FIELD_SIZE (sizeof PARAM_PREFIX + SEQB_PARAM_NAME_MAX)

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

/* What the text does not tell is left out. */
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

/* A string of the word; false after answering that it is no number's text. */
static bool text_copy(struct session *session, const struct lane *lane,
                      struct resp_slice word, char *out)
{
    const char *why = NULL;

    if (word.length > SEQB_TEXT_MAX)
        why = "it is longer than any";
    else if (memchr(word.data, '\0', word.length) != NULL)
        why = "it has a NUL byte";
    if (why != NULL) {
        reply_error(&session->out, seqb_status_name(SEQB_FOREIGN),
                    "%s: the text is none of its numbers: %s", lane->key, why);
        return false;
    }
    memcpy(out, word.data, word.length);
    out[word.length] = '\0';
    return true;
}

enum command_outcome command_parse(struct session *session,
                                   const struct resp_request *request)
{
    const struct lane *lane = NULL;
    char text[SEQB_TEXT_MAX + 1];
    struct seqb_parsed parsed;
    struct seqb_error err;
    bool is_text = false;

    if (!command_is_text(session, request, 3, &is_text))
        return COMMAND_DONE;
    lane = session_lane(session, request->argv[1]);
    if (lane == NULL || !text_copy(session, lane, request->argv[2], text))
        return COMMAND_DONE;
    if (seqb_parse(lane->sequence, text, &parsed, &err) == SEQB_OK)
        reply_parsed(session, &parsed, is_text);
    else
        reply_failure(&session->out, &err);
    return COMMAND_DONE;
}
