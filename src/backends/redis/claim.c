/* SPDX-License-Identifier: Apache-2.0 */
/* The redis engine's claims, one and many. */
#include <string.h>

#include "backends/name.h"
#include "backends/redis/batch.h"
#include "platform/error.h"
#include "platform/text.h"

/* Even a busy Redis answers this many in a few ms. */
#define CLAIMS_MAX 512

static enum seqb_status claim_answer(const struct script *script,
                                     const redisReply *reply, char *standing,
                                     size_t size, struct seqb_error *err)
{
    const redisReply *text = reply_text(reply);

    if (reply_status(reply) != SEQB_OK || text == NULL)
        return link_distrust(&script->node->link, script->key, err);
    if (text->len >= size || strlen(text->str) != text->len)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: key %s holds a text that is none of ours",
                         script->node->link.where, script->key);
    (void)text_copy(standing, size, text->str);
    return SEQB_OK;
}

enum seqb_status redis_claim(struct seqb_backend *backend, const char *name,
                             const char *text, char *standing, size_t size,
                             struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    struct script script = {"", {"claim", text}, NULL};
    enum seqb_status status;
    redisReply *reply = NULL;

    if (!script_key(redis, "claim:", name, script.key))
        return name_refuse(redis->where, name, err);
    status = script_run(redis, &script, &reply, err);
    if (reply == NULL)
        return status;
    status = claim_answer(&script, reply, standing, size, err);
    freeReplyObject(reply);
    return status;
}

static bool claim_make(const struct batch *batch, size_t i, struct run *out)
{
    const struct seqb_claim *claim =
        &((const struct seqb_claim *)batch->context)[i];

    out->script = (struct script){"", {"claim", claim->text}, NULL};
    return script_key(batch->redis, "claim:", claim->name, out->script.key);
}

static enum seqb_status claim_take(const struct batch *batch, size_t i,
                                   const struct script *script,
                                   const redisReply *reply,
                                   struct seqb_error *err)
{
    struct seqb_claim *claim = &((struct seqb_claim *)batch->context)[i];
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status;

    if (reply->type == REDIS_REPLY_ERROR)
        return script_refuse(script, reply, err);
    status = claim_answer(script, reply, standing, sizeof standing, err);
    if (status == SEQB_OK)
        (void)text_copy(claim->standing, sizeof claim->standing, standing);
    return status;
}

enum seqb_status redis_claim_many(struct seqb_backend *backend,
                                  struct seqb_claim *claims, size_t n,
                                  size_t *done, struct seqb_error *err)
{
    struct batch batch;
    char key[REDIS_KEY_SIZE];

    batch.redis = redis_of(backend);
    batch.count = n < CLAIMS_MAX ? n : CLAIMS_MAX;
    batch.context = claims;
    batch.make = claim_make;
    batch.take = claim_take;
    *done = batch.count;
    for (size_t i = 0; i < batch.count; i++) {
        if (!script_key(batch.redis, "claim:", claims[i].name, key))
            return name_refuse(batch.redis->where, claims[i].name, err);
    }
    return batch_send(&batch, err);
}
