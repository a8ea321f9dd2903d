/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that hand out numbers. Each asks the library without waiting;
 * when there is none at hand the session goes into the lane's line, and the
 * command is executed again. */
#include <stdint.h>

#include <seqbroker/admin.h>

#include "daemon/batch.h"
#include "daemon/commands.h"
#include "daemon/lane.h"
#include "daemon/reply.h"
#include "daemon/session.h"
#include "daemon/wait.h"

#define COUNT_MAX   100000 /* numbers of one SEQ.NEXT */
#define REPEATS_MAX 1024   /* requests answered together with one before */

/* What SEQ.NEXT asks for. */
struct wish {
    size_t count;
    bool is_array;
    bool is_text;
};

/* How many more requests fit into this turn: it ends where it would end if
 * they were executed one by one. */
static size_t repeats_allowed(const struct session *session)
{
    const size_t unsent = session->out.length;
    size_t allowed = (size_t)session->budget - 1;

    if (unsent > SESSION_UNSENT_MAX)
        return 0;
    if (allowed > (SESSION_UNSENT_MAX - unsent) / REPLY_NUMBER_MAX)
        allowed = (SESSION_UNSENT_MAX - unsent) / REPLY_NUMBER_MAX;
    return allowed < REPEATS_MAX ? allowed : REPEATS_MAX;
}

/* Answers those that follow with the same bytes as the one just answered, all
 * by one step of the ring. The rest of them, if it has not enough, are
 * executed like any others. */
static void number_repeat(struct session *session, struct lane *lane,
                          size_t size, bool is_text)
{
    const struct resp_slice ahead = session->ahead;
    const size_t most = repeats_allowed(session) * size;
    const size_t reach = ahead.length < most ? ahead.length : most;
    const size_t count = resp_repeats(ahead.data - size, size + reach, size);
    int64_t values[REPEATS_MAX];
    size_t taken = 0;

    if (count == 0 ||
        buffer_room(&session->out, count * REPLY_NUMBER_MAX) == NULL)
        return;
    /* `taken` says it all. */
    if (seqb_try_next_many(lane->sequence, count, values, &taken, NULL) ==
        SEQB_OK)
        taken = count;
    reply_numbers(&session->out, values, taken, is_text);
    session_answered(session, taken, size);
}

static enum command_outcome number_next(struct session *session,
                                        struct lane *lane,
                                        const struct resp_request *request,
                                        bool is_text)
{
    struct seqb_error err;
    int64_t value = 0;

    if (wait_is_due(session, lane)) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    if (seqb_try_next(lane->sequence, &value, &err) != SEQB_OK)
        return wait_or_fail(session, lane, &err);
    reply_numbers(&session->out, &value, 1, is_text);
    if (session->ahead.length >= request->size)
        number_repeat(session, lane, request->size, is_text);
    return COMMAND_DONE;
}

enum command_outcome command_incr(struct session *session,
                                  const struct resp_request *request)
{
    struct lane *lane = session_lane(session, request->argv[1]);

    if (lane == NULL)
        return COMMAND_DONE;
    return number_next(session, lane, request, false);
}

enum command_outcome command_incrby(struct session *session,
                                    const struct resp_request *request)
{
    struct lane *lane = session_lane(session, request->argv[1]);
    struct seqb_error err;
    long long count = 0;
    int64_t first = 0;

    if (lane == NULL)
        return COMMAND_DONE;
    if (!word_to_integer(request->argv[2], &count)) {
        reply_error(&session->out, "ERR",
                    "value is not an integer or out of range");
        return COMMAND_DONE;
    }
    if (wait_is_due(session, lane)) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    if (count < 0)
        count = 0; /* as wrong, and the library's answer says the bound */
    if (seqb_try_next_run(lane->sequence, (size_t)count, &first, &err) !=
        SEQB_OK)
        return wait_or_fail(session, lane, &err);
    reply_integer(&session->out, first + count - 1);
    return COMMAND_DONE;
}

/* False after answering the error. */
static bool wish_parse(struct session *session,
                       const struct resp_request *request, struct wish *out)
{
    *out = (struct wish){.count = 1};
    for (size_t i = 2; i < request->argc; i++) {
        long long count = 0;

        if (word_is(request->argv[i], "STR")) {
            out->is_text = true;
            continue;
        }
        if (!word_is(request->argv[i], "COUNT") || i + 1 == request->argc) {
            reply_error(&session->out, "ERR",
                        "syntax error, use SEQ.NEXT key [COUNT n] [STR]");
            return false;
        }
        i++;
        if (!word_to_integer(request->argv[i], &count) || count < 1 ||
            count > COUNT_MAX) {
            reply_error(&session->out, "ERR", "COUNT is 1 to %d", COUNT_MAX);
            return false;
        }
        out->count = (size_t)count;
        out->is_array = true;
    }
    return true;
}

enum command_outcome command_next(struct session *session,
                                  const struct resp_request *request)
{
    struct wish wish;
    struct lane *lane = NULL;

    if (!wish_parse(session, request, &wish))
        return COMMAND_DONE;
    lane = session_lane(session, request->argv[1]);
    if (lane == NULL)
        return COMMAND_DONE;
    return wish.is_array ? batch_run(session, lane, wish.count, wish.is_text)
                         : number_next(session, lane, request, wish.is_text);
}

enum command_outcome command_decode(struct session *session,
                                    const struct resp_request *request)
{
    struct lane *lane = session_lane(session, request->argv[1]);
    struct seqb_decoded decoded;
    struct seqb_error err;
    long long value = 0;

    if (lane == NULL)
        return COMMAND_DONE;
    if (!word_to_integer(request->argv[2], &value)) {
        reply_error(&session->out, "ERR",
                    "value is not an integer or out of range");
        return COMMAND_DONE;
    }
    if (seqb_decode(lane->sequence, value, &decoded, &err) != SEQB_OK) {
        reply_failure(&session->out, &err);
        return COMMAND_DONE;
    }
    reply_map(&session->out, 4, session->is_resp3);
    reply_field_integer(&session->out, "counter", decoded.counter);
    reply_field_integer(&session->out, "partition", decoded.partition);
    reply_field_integer(&session->out, "memory_bits", decoded.memory_bits);
    reply_field_integer(&session->out, "memory", decoded.memory);
    return COMMAND_DONE;
}
