/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a SEQ.NEXT ... COUNT or STAMP, or the texts of a SEQ.NUMBER
 * ... COUNT: first all of them, since the head of an array cannot be taken back
 * when the backends fail, then all replies, both in steps, so that a session
 * takes its turns like any other.
 */
#include "daemon/commands/wish.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands/wish.h"
#include "daemon/lane.h"
#include "daemon/session.h"

#define NUMBERS_STEP 1024 /* numbers taken, or written, by one call */
#define TEXTS_STEP   128  /* the same of texts, which are longer */

struct batch {
    void *items; /* int64_t each, or texts of `size` bytes each */
    size_t size; /* of an item */
    size_t step;
    size_t capacity;
    size_t have;   /* of items */
    size_t sent;   /* of items: written as replies */
    int64_t stamp; /* of a wish that is stamped: all numbers are of it */
};

void batch_free(struct batch *batch)
{
    if (batch == NULL)
        return;
    free(batch->items);
    free(batch);
}

/* A text's size is 0 where there is no template: then the library refuses, as
 * long as there is room for a text. */
static struct batch *batch_new(const struct lane *lane, const struct wish *wish)
{
    struct batch *batch = calloc(1, sizeof *batch);

    if (batch == NULL)
        return NULL;
    batch->size = sizeof(int64_t);
    batch->step = NUMBERS_STEP;
    if (wish->params == NULL)
        return batch;
    batch->size = seqb_number_size(lane->sequence);
    if (batch->size == 0)
        batch->size = SEQB_TEXT_MAX + 1;
    batch->step = TEXTS_STEP;
    return batch;
}

/* Grows with what has come, not with what was asked for. */
static bool batch_reserve(struct batch *batch, size_t needed)
{
    size_t capacity = batch->capacity == 0 ? batch->step : 2 * batch->capacity;
    void *items = NULL;

    if (needed <= batch->capacity)
        return true;
    items = realloc(batch->items, capacity * batch->size);
    if (items == NULL)
        return false;
    batch->items = items;
    batch->capacity = capacity;
    return true;
}

static size_t batch_step(const struct batch *batch, size_t from, size_t to)
{
    return to - from < batch->step ? to - from : batch->step;
}

/*
 * Some numbers of one stamp: as many as are there, since a ring that holds few
 * would never have all of them at once, or is refused to be asked for them.
 * Those of a stamp that is over since are lost.
 */
static enum seqb_status stamped_take(struct batch *batch,
                                     const struct lane *lane, size_t most,
                                     size_t *taken, struct seqb_error *err)
{
    int64_t *all = batch->items;
    int64_t *values = all + batch->have;
    struct seqb_stamp stamp;
    size_t count = most;
    enum seqb_status status =
        seqb_try_next_stamped(lane->sequence, count, values, &stamp, err);

    while ((status == SEQB_AGAIN || status == SEQB_INVALID) && count > 1) {
        count /= 2;
        status =
            seqb_try_next_stamped(lane->sequence, count, values, &stamp, err);
    }
    if (status != SEQB_OK)
        return status;
    if (stamp.digits != batch->stamp) {
        memmove(all, values, count * sizeof *values);
        batch->stamp = stamp.digits;
        batch->have = 0;
    }
    *taken = count;
    return SEQB_OK;
}

static enum seqb_status texts_take(struct batch *batch, const struct lane *lane,
                                   const struct params *params, size_t most,
                                   size_t *taken, struct seqb_error *err)
{
    char *texts = batch->items;

    return seqb_try_numbers(lane->sequence, params->list, params->count, most,
                            texts + batch->have * batch->size, batch->size,
                            taken, err);
}

static enum seqb_status batch_take(struct batch *batch, const struct lane *lane,
                                   const struct wish *wish, size_t most,
                                   size_t *taken, struct seqb_error *err)
{
    int64_t *values = batch->items;

    if (wish->params != NULL)
        return texts_take(batch, lane, wish->params, most, taken, err);
    if (wish->is_stamped)
        return stamped_take(batch, lane, most, taken, err);
    return wish_take(wish, lane, most, values + batch->have, taken, err);
}

static enum command_outcome
batch_fill(struct session *session, struct lane *lane, const struct wish *wish)
{
    struct batch *batch = session->batch;
    struct seqb_error err;

    while (batch->have < wish->count) {
        const size_t step = batch_step(batch, batch->have, wish->count);
        size_t taken = 0;
        enum seqb_status status = SEQB_OK;

        if (session->budget <= 0)
            return COMMAND_YIELDS;
        if (!batch_reserve(batch, batch->have + step)) {
            session->out.is_broken = true;
            return COMMAND_DONE;
        }
        status = batch_take(batch, lane, wish, step, &taken, &err);
        batch->have += taken;
        session->budget -= (int)taken;
        if (status != SEQB_OK)
            return session_wait_or_fail(session, lane, &err);
    }
    return COMMAND_DONE;
}

static void batch_begin(struct session *session, const struct wish *wish)
{
    const struct batch *batch = session->batch;

    if (wish->is_stamped) {
        reply_array(&session->out, 2);
        reply_numbers(&session->out, &batch->stamp, 1, wish->is_text);
    }
    if (wish->is_array)
        reply_array(&session->out, batch->have);
}

static void batch_write(struct buffer *out, const struct batch *batch,
                        size_t count, const struct wish *wish)
{
    const int64_t *values = batch->items;
    const char *texts = batch->items;

    if (wish->params == NULL) {
        reply_numbers(out, values + batch->sent, count, wish->is_text);
        return;
    }
    for (size_t i = 0; i < count; i++)
        reply_string(out, texts + (batch->sent + i) * batch->size);
}

static enum command_outcome batch_send(struct session *session,
                                       const struct wish *wish)
{
    struct batch *batch = session->batch;

    while (batch->sent < batch->have) {
        const size_t step = batch_step(batch, batch->sent, batch->have);

        if (session->budget <= 0 || session->out.length > SESSION_UNSENT_MAX)
            return COMMAND_YIELDS;
        if (batch->sent == 0) /* and not before a turn that comes twice */
            batch_begin(session, wish);
        batch_write(&session->out, batch, step, wish);
        batch->sent += step;
        session->budget -= (int)step;
    }
    return COMMAND_DONE;
}

enum command_outcome batch_run(struct session *session, struct lane *lane,
                               const struct wish *wish)
{
    enum command_outcome outcome = COMMAND_DONE;

    if (session->batch == NULL)
        session->batch = batch_new(lane, wish);
    if (session->batch == NULL) {
        session->out.is_broken = true;
        return COMMAND_DONE;
    }
    if (session->batch->have < wish->count && session_lines_up(session, lane))
        return COMMAND_WAITS;
    outcome = batch_fill(session, lane, wish);
    if (outcome != COMMAND_DONE)
        return outcome;
    /* Less than all: the error is answered. */
    if (session->batch->have == wish->count)
        outcome = batch_send(session, wish);
    if (outcome == COMMAND_DONE) {
        batch_free(session->batch);
        session->batch = NULL;
    }
    return outcome;
}
