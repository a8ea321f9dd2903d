/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a SEQ.NEXT ... COUNT or STAMP, or the texts of a SEQ.NUMBER
 * ... COUNT. All of them are taken before the first reply is written, because
 * the head of an array cannot be taken back when the backends fail. Both parts
 * go in steps, so that the session shares the loop with others.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "daemon/commands/take_request.h"
#include "daemon/session.h"
#include "daemon/waitlist.h"

#define NUMBERS_STEP 1024 /* numbers taken or written by one call */
#define TEXTS_STEP   128  /* the same for texts, which are longer */

/* Bytes of an answer that is held whole: of a number, and beside a text. */
#define NUMBER_ANSWER 26
#define TEXT_ANSWER   6

struct batch {
    struct waitlist *waitlist;
    void *items; /* int64_t each, or texts of `size` bytes each */
    size_t size; /* of an item */
    size_t step;
    size_t capacity;
    size_t most;   /* items that were asked for */
    size_t have;   /* items that were taken */
    size_t sent;   /* items that were written as replies */
    int64_t stamp; /* if the request is stamped: the stamp of all numbers */
    struct charge charge;
};

void batch_free(struct batch *batch)
{
    if (batch == NULL)
        return;
    charge_end(&batch->charge);
    free(batch->items);
    free(batch);
}

/* seqb_number_size is 0 for a sequence without a template. The library then
 * refuses, but only if there is room for a text. */
static struct batch *batch_new(struct waitlist *waitlist,
                               const struct take_request *take_request)
{
    struct batch *batch = calloc(1, sizeof *batch);

    if (batch == NULL)
        return NULL;
    batch->waitlist = waitlist;
    batch->most = take_request->take.count;
    batch->size = sizeof(int64_t);
    batch->step = NUMBERS_STEP;
    if (!take_request->is_text)
        return batch;
    batch->size = seqb_number_size(waitlist->sequence);
    if (batch->size == 0)
        batch->size = SEQB_TEXT_MAX + 1;
    batch->step = TEXTS_STEP;
    return batch;
}

/* Grows with the items that were taken, up to the number asked for. */
static bool batch_reserve(struct batch *batch, size_t needed)
{
    size_t capacity = batch->capacity == 0 ? batch->step : 2 * batch->capacity;
    void *items = NULL;

    if (needed <= batch->capacity)
        return true;
    if (capacity > batch->most)
        capacity = batch->most;
    assert(capacity >= needed && batch->size > 0);
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

/* Takes one step. If the stamp has changed, the numbers taken before are
 * dropped as gaps. */
static enum command_outcome batch_take(struct session *session,
                                       const struct take_request *take_request,
                                       size_t most, size_t *taken)
{
    struct batch *batch = session->batch;
    char *all = batch->items;
    struct take_request_items items = {.at = all + batch->have * batch->size,
                                       .size = batch->size,
                                       .count = most};
    struct seqb_stamp stamp;
    const enum command_outcome outcome = take_request_take_or_wait(
        session, batch->waitlist, take_request, &items, &stamp);

    *taken = items.count;
    batch->charge.left -= (int64_t)items.count;
    if (items.count == 0)
        return outcome;
    if (take_request->is_stamped && stamp.digits != batch->stamp) {
        memmove(all, items.at, items.count * batch->size);
        batch->stamp = stamp.digits;
        batch->have = 0;
    }
    batch->have += items.count;
    session->budget -= (int)items.count;
    return outcome;
}

static enum command_outcome batch_fill(struct session *session,
                                       const struct take_request *take_request)
{
    struct batch *batch = session->batch;

    while (batch->have < take_request->take.count) {
        const size_t step =
            batch_step(batch, batch->have, take_request->take.count);
        size_t taken = 0;
        enum command_outcome outcome = COMMAND_DONE;

        if (session->budget <= 0)
            return COMMAND_YIELDS;
        if (!batch_reserve(batch, batch->have + step)) {
            session->out.is_broken = true;
            return COMMAND_DONE;
        }
        outcome = batch_take(session, take_request, step, &taken);
        if (outcome != COMMAND_DONE || taken < step)
            return outcome;
    }
    return COMMAND_DONE;
}

static void batch_head(struct session *session,
                       const struct take_request *take_request)
{
    const struct batch *batch = session->batch;

    if (take_request->is_stamped) {
        reply_array(&session->out, 2);
        reply_numbers(&session->out, &batch->stamp, 1, take_request->is_string);
    }
    if (take_request->is_array)
        reply_array(&session->out, batch->have);
}

static enum command_outcome batch_send(struct session *session,
                                       const struct take_request *take_request)
{
    struct batch *batch = session->batch;
    char *all = batch->items;

    while (batch->sent < batch->have) {
        const size_t step = batch_step(batch, batch->sent, batch->have);

        if (session->budget <= 0 || !session_has_room(session))
            return COMMAND_YIELDS;
        if (batch->sent == 0) /* only together with the first items: a call that
                                 yields before them is repeated */
            batch_head(session, take_request);
        take_request_reply(
            &session->out, take_request,
            &(struct take_request_items){all + batch->sent * batch->size,
                                         batch->size, step});
        batch->sent += step;
        session->budget -= (int)step;
    }
    return COMMAND_DONE;
}

/* The bytes that the batch takes, and its answer if that is held whole: they
 * are asked for before any number is taken. */
static size_t batch_bytes(const struct session *session,
                          const struct batch *batch, bool is_text)
{
    const size_t answer =
        is_text ? batch->size + TEXT_ANSWER : (size_t)NUMBER_ANSWER;

    return batch->most * (batch->size + (session->holds_answer ? answer : 0));
}

/* Begins the batch, before any number is taken. False after answering that the
 * key has no sequence, that clients hold too much memory, or that a quota
 * refuses. */
static bool batch_begin(struct session *session, struct resp_slice key,
                        const struct take_request *take_request)
{
    struct waitlist *waitlist =
        take_request_waitlist(session, key, take_request);
    struct batch *batch = NULL;
    size_t bytes = 0;

    if (waitlist == NULL)
        return false;
    batch = batch_new(waitlist, take_request);
    if (batch == NULL) {
        session->out.is_broken = true;
        return false;
    }
    bytes = batch_bytes(session, batch, take_request->is_text);
    if (!session_may_hold(session, bytes, false) ||
        !session_charge(session, waitlist, batch->most, 0, &batch->charge)) {
        batch_free(batch);
        return false;
    }
    session->batch = batch;
    session->batch_size = bytes;
    session_account(session, 0);
    return true;
}

enum command_outcome batch_run(struct session *session, struct resp_slice key,
                               const struct take_request *take_request)
{
    enum command_outcome outcome = COMMAND_DONE;

    if (session->batch == NULL && !batch_begin(session, key, take_request))
        return COMMAND_DONE;
    outcome = batch_fill(session, take_request);
    if (outcome != COMMAND_DONE)
        return outcome;
    /* If fewer were taken, the error is answered already. */
    if (session->batch->have == take_request->take.count)
        outcome = batch_send(session, take_request);
    if (outcome == COMMAND_DONE) {
        batch_free(session->batch);
        session->batch = NULL;
        session->batch_size = 0;
    }
    return outcome;
}
