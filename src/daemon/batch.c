/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.NEXT ... COUNT: first all the numbers, then all the replies, both in
 * steps, so that a session takes its turns like any other; see batch.h. */
#include "daemon/batch.h"

#include <stdint.h>
#include <stdlib.h>

#include <seqbroker/seqbroker.h>

#include "daemon/lane.h"
#include "daemon/reply.h"
#include "daemon/session.h"
#include "daemon/wait.h"

#define BATCH_STEP 1024 /* numbers taken, or written, by one call */

struct batch {
    int64_t *values;
    size_t capacity;
    size_t have; /* of values */
    size_t sent; /* of values: written as replies */
};

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

static size_t step_towards(size_t from, size_t to)
{
    return to - from < BATCH_STEP ? to - from : BATCH_STEP;
}

static enum command_outcome batch_fill(struct session *session,
                                       struct lane *lane, size_t count)
{
    struct batch *batch = session->batch;
    struct seqb_error err;

    while (batch->have < count) {
        const size_t step = step_towards(batch->have, count);
        size_t taken = 0;
        enum seqb_status status = SEQB_OK;

        if (session->budget <= 0)
            return COMMAND_YIELDS;
        if (!batch_reserve(batch, batch->have + step)) {
            session->out.is_broken = true;
            return COMMAND_DONE;
        }
        status = seqb_try_next_many(lane->sequence, step,
                                    batch->values + batch->have, &taken, &err);
        batch->have += taken;
        session->budget -= (int)taken;
        if (status != SEQB_OK)
            return wait_or_fail(session, lane, &err);
    }
    return COMMAND_DONE;
}

static enum command_outcome batch_send(struct session *session, bool is_text)
{
    struct batch *batch = session->batch;

    if (batch->sent == 0)
        reply_array(&session->out, batch->have);
    while (batch->sent < batch->have) {
        const size_t step = step_towards(batch->sent, batch->have);

        if (session->budget <= 0 || session->out.length > SESSION_UNSENT_MAX)
            return COMMAND_YIELDS;
        reply_numbers(&session->out, batch->values + batch->sent, step,
                      is_text);
        batch->sent += step;
        session->budget -= (int)step;
    }
    return COMMAND_DONE;
}

enum command_outcome batch_run(struct session *session, struct lane *lane,
                               size_t count, bool is_text)
{
    enum command_outcome outcome = COMMAND_DONE;

    if (session->batch == NULL)
        session->batch = calloc(1, sizeof *session->batch);
    if (session->batch == NULL) {
        session->out.is_broken = true;
        return COMMAND_DONE;
    }
    if (session->batch->have < count && wait_is_due(session, lane)) {
        session_wait(session, lane);
        return COMMAND_WAITS;
    }
    outcome = batch_fill(session, lane, count);
    if (outcome != COMMAND_DONE)
        return outcome;
    /* Less than all: the error is answered. */
    if (session->batch->have == count)
        outcome = batch_send(session, is_text);
    if (outcome == COMMAND_DONE) {
        batch_free(session->batch);
        session->batch = NULL;
    }
    return outcome;
}
