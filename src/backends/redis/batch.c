/* SPDX-License-Identifier: Apache-2.0 */
/* See batch.h. */
#include "backends/redis/batch.h"

#include "platform/error.h"

/* Keeps the first failure. SEQB_UNREACHABLE says that nothing was done, so any
 * other one takes its place: another server may have done something. */
static void note(struct seqb_error *first, enum seqb_status status,
                 const struct seqb_error *why)
{
    if (status != SEQB_OK &&
        (first->status == SEQB_OK || first->status == SEQB_UNREACHABLE))
        *first = *why;
}

static void node_lose(struct redis_node *node, struct seqb_error *first)
{
    struct seqb_error why;
    const enum seqb_status status =
        link_lose(&node->link, SEQB_UNCERTAIN, &why);

    note(first, status, &why);
}

/* Adds all runs to the servers' buffers; sends nothing yet. */
static enum seqb_status runs_add(struct batch *batch, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < batch->count && status == SEQB_OK; i++) {
        struct run run;

        batch->nodes[i] = NULL;
        if (!batch->make(batch, i, &run))
            continue;
        status = script_route(batch->redis, &run.script, err);
        if (status != SEQB_OK)
            return status;
        batch->nodes[i] = run.script.node;
        if (!script_append(&run.script))
            return link_lose(&run.script.node->link, SEQB_UNREACHABLE, err);
    }
    return status;
}

/* Flushes each server once: its first run sends everything that was added for
 * it. */
static void runs_flush(struct batch *batch, struct seqb_error *first)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct redis_node *node = batch->nodes[i];

        if (node != NULL && link_is_open(&node->link) &&
            !link_flush(&node->link))
            node_lose(node, first);
    }
}

/* Continues after a refusal, so that every run gets its own answer. */
static void runs_read(struct batch *batch, struct seqb_error *first)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct redis_node *node = batch->nodes[i];
        struct seqb_error why;
        struct run run;
        redisReply *reply;

        if (node == NULL || !link_is_open(&node->link))
            continue; /* not sent, or its answer is lost */
        reply = link_read(&node->link);
        if (reply == NULL) {
            node_lose(node, first);
            continue;
        }
        if (script_is_redirected(batch->redis, reply)) {
            batch->nodes[i] = NULL;
        } else {
            (void)batch->make(batch, i, &run);
            run.script.node = node;
            note(first, batch->take(batch, i, &run.script, reply, &why), &why);
        }
        freeReplyObject(reply);
    }
}

/* Repeats the redirected runs one by one, since slots rarely move. */
static void runs_send_on(struct batch *batch, struct seqb_error *first)
{
    for (size_t i = 0; i < batch->count && first->status == SEQB_OK; i++) {
        redisReply *reply = NULL;
        struct seqb_error why;
        struct run run;
        enum seqb_status status;

        if (batch->nodes[i] != NULL || !batch->make(batch, i, &run))
            continue;
        status = script_send(batch->redis, &run.script, &reply, &why);
        if (reply != NULL) {
            status = batch->take(batch, i, &run.script, reply, &why);
            freeReplyObject(reply);
        }
        note(first, status, &why);
    }
}

enum seqb_status batch_send(struct batch *batch, struct seqb_error *err)
{
    struct seqb_error first = {.status = SEQB_OK};
    enum seqb_status status = script_begin(batch->redis, err);

    if (status == SEQB_OK)
        status = runs_add(batch, err);
    if (status != SEQB_OK)
        return status;
    runs_flush(batch, &first);
    runs_read(batch, &first);
    if (batch->redis->cluster != NULL)
        runs_send_on(batch, &first);
    return first.status == SEQB_OK ? SEQB_OK : error_copy(err, &first);
}
