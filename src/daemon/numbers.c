/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that hand out numbers. Each asks the library without waiting;
 * when there is none at hand the session goes into the lane's line, and the
 * command is executed again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "daemon/commands.h"
#include "daemon/lane.h"
#include "daemon/reply.h"
#include "daemon/session.h"

#define COUNT_MAX  100000 /* numbers of one SEQ.NEXT */
#define BATCH_STEP 1024   /* numbers taken by one call */

/* The numbers of a SEQ.NEXT ... COUNT: kept until it has all of them, since
 * the head of an array cannot be taken back when the backends fail. */
struct batch {
    int64_t *values;
    size_t capacity;
    size_t have; /* of values */
    size_t sent; /* of values: written as replies */
};

/* What SEQ.NEXT asks for. */
struct wish {
    size_t count;
    bool is_array;
    bool is_text;
};

/* No number came: waits, if one may still come in time. */
static enum command_outcome number_missing(struct session *session,
                                           struct lane *lane,
                                           struct seqb_error *err)
{
    bool may_come =
        err->status == SEQB_AGAIN || err->status == SEQB_UNAVAILABLE;

    if (may_come && !session->is_late) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    if (err->status == SEQB_AGAIN)
        reply_error(&session->out, "TIMEOUT",
                    "%s: the backends did not answer within %lld ms", lane->key,
                    (long long)seqb_deadline_ms(lane->sequence));
    else
        reply_failure(&session->out, err);
    return COMMAND_DONE;
}

/* Whether the session has to stand behind others that came before. */
static bool number_is_due_to_others(const struct session *session,
                                    const struct lane *lane)
{
    return lane_has_line(lane) && !session->is_late;
}

static enum command_outcome number_next(struct session *session,
                                        struct lane *lane, bool is_text)
{
    struct seqb_error err;
    int64_t value = 0;

    if (number_is_due_to_others(session, lane)) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    if (seqb_try_next(lane->sequence, &value, &err) != SEQB_OK)
        return number_missing(session, lane, &err);
    if (is_text)
        reply_digits(&session->out, value);
    else
        reply_integer(&session->out, value);
    return COMMAND_DONE;
}

enum command_outcome command_incr(struct session *session,
                                  const struct resp_request *request)
{
    struct lane *lane = session_lane(session, request->argv[1]);

    if (lane == NULL)
        return COMMAND_DONE;
    return number_next(session, lane, false);
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
    if (number_is_due_to_others(session, lane)) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    if (count < 0)
        count = 0; /* as wrong, and the library's answer says the bound */
    if (seqb_try_next_run(lane->sequence, (size_t)count, &first, &err) !=
        SEQB_OK)
        return number_missing(session, lane, &err);
    reply_integer(&session->out, first + count - 1);
    return COMMAND_DONE;
}

void batch_free(struct batch *batch)
{
    if (batch == NULL)
        return;
    free(batch->values);
    free(batch);
}

/* Grows with what has come, not with what was asked for. */
static bool batch_reserve(struct batch *batch, size_t needed)
{
    size_t capacity = batch->capacity == 0 ? BATCH_STEP : 2 * batch->capacity;
    int64_t *values = NULL;

    if (needed <= batch->capacity)
        return true;
    values = realloc(batch->values, capacity * sizeof *values);
    if (values == NULL)
        return false;
    batch->values = values;
    batch->capacity = capacity;
    return true;
}

static enum command_outcome batch_fill(struct session *session,
                                       struct lane *lane, size_t count)
{
    struct batch *batch = session->batch;
    struct seqb_error err;

    while (batch->have < count) {
        size_t step = count - batch->have;
        size_t taken = 0;
        enum seqb_status status = SEQB_OK;

        if (session->budget <= 0)
            return COMMAND_YIELDS;
        if (step > BATCH_STEP)
            step = BATCH_STEP;
        if (!batch_reserve(batch, batch->have + step)) {
            session->out.is_broken = true;
            return COMMAND_DONE;
        }
        status = seqb_try_next_many(lane->sequence, step,
                                    batch->values + batch->have, &taken, &err);
        batch->have += taken;
        session->budget -= (int)taken;
        if (status != SEQB_OK)
            return number_missing(session, lane, &err);
    }
    return COMMAND_DONE;
}

static enum command_outcome batch_send(struct session *session, bool is_text)
{
    struct batch *batch = session->batch;

    if (batch->sent == 0)
        reply_array(&session->out, batch->have);
    while (batch->sent < batch->have) {
        int64_t value = batch->values[batch->sent];

        if (session->out.length > SESSION_UNSENT_MAX)
            return COMMAND_YIELDS;
        if (is_text)
            reply_digits(&session->out, value);
        else
            reply_integer(&session->out, value);
        batch->sent++;
    }
    return COMMAND_DONE;
}

/* Called again, from where it stood, until it is done. */
static enum command_outcome
batch_run(struct session *session, struct lane *lane, const struct wish *wish)
{
    enum command_outcome outcome = COMMAND_DONE;

    if (session->batch == NULL)
        session->batch = calloc(1, sizeof *session->batch);
    if (session->batch == NULL) {
        session->out.is_broken = true;
        return COMMAND_DONE;
    }
    if (session->batch->have < wish->count &&
        number_is_due_to_others(session, lane)) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    outcome = batch_fill(session, lane, wish->count);
    if (outcome != COMMAND_DONE)
        return outcome;
    /* Less than all: the error is answered. */
    if (session->batch->have == wish->count)
        outcome = batch_send(session, wish->is_text);
    if (outcome == COMMAND_DONE) {
        batch_free(session->batch);
        session->batch = NULL;
    }
    return outcome;
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
    return wish.is_array ? batch_run(session, lane, &wish)
                         : number_next(session, lane, wish.is_text);
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
