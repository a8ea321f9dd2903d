/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.DECODE: a number taken apart, with its time where it has one. */
#include <stdio.h>
#include <time.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands.h"
#include "daemon/lane.h"
#include "daemon/reply.h"
#include "daemon/session.h"
#include "daemon/words.h"

#define TIME_SIZE 40

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

/* What is in a time-ordered id besides. */
static void reply_id(struct buffer *out, const struct seqb_decoded *decoded,
                     bool is_text)
{
    char text[TIME_SIZE] = "";

    time_print(decoded->time_ms, text, sizeof text);
    reply_field_integer(out, "time_ms", decoded->time_ms);
    reply_field_string(out, "time", text);
    if (decoded->shard >= 0)
        reply_field_integer(out, "shard", decoded->shard);
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
        count +=
            3 + (size_t)(decoded->shard >= 0) + (size_t)(decoded->worker >= 0);
    reply_map(out, count, session->is_resp3);
    reply_field_number(out, "counter", decoded->counter, is_text);
    reply_field_integer(out, "partition", decoded->partition);
    reply_field_integer(out, "memory_bits", decoded->memory_bits);
    reply_field_integer(out, "memory", decoded->memory);
    if (has_time)
        reply_id(out, decoded, is_text);
}

enum command_outcome command_decode(struct session *session,
                                    const struct resp_request *request)
{
    const struct lane *lane = NULL;
    struct seqb_decoded decoded;
    struct seqb_error err;
    long long value = 0;
    bool is_text = false;

    if (!command_is_text(session, request, 3, &is_text))
        return COMMAND_DONE;
    lane = session_lane(session, request->argv[1]);
    if (lane == NULL)
        return COMMAND_DONE;
    if (!command_integer(session, request->argv[2], &value))
        return COMMAND_DONE;
    if (seqb_decode(lane->sequence, value, &decoded, &err) == SEQB_OK)
        reply_decoded(session, &decoded, is_text);
    else
        reply_failure(&session->out, &err);
    return COMMAND_DONE;
}
