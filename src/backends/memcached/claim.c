/* SPDX-License-Identifier: Apache-2.0 */
/* The memcached engine's claims: stored if there is none, and read in the same
 * round trip, which many claims share. */
#include <string.h>

#include "backends/memcached/item.h"
#include "backends/name.h"
#include "platform/error.h"
#include "platform/text.h"

#define CLAIM_KIND  "claim:"
#define CLAIM_FLAGS 0x73710100U /* the client flags of claims; no cell's */
#define CLAIMS_MAX  64          /* their answers fit MEMCACHED_IN_SIZE */

static bool claim_key(const struct memcached *mc, const char *name,
                      struct memcached_key *key, struct seqb_error *err)
{
    if (memcached_key_make(mc->prefix, CLAIM_KIND, name, key))
        return true;
    (void)name_refuse(mc->link.where, name, err);
    return false;
}

/* Without a text the claim is only read. */
static bool claim_ask(struct memcached *mc, const struct memcached_key *key,
                      const char *text)
{
    const struct memcached_item item = {.text = text, .flags = CLAIM_FLAGS};

    return (text == NULL || memcached_add_store(mc, key, &item, 0)) &&
           memcached_add_read(mc, key);
}

static enum seqb_status stored_answer(struct memcached *mc,
                                      const struct memcached_key *key,
                                      const struct memcached_reply *reply,
                                      struct seqb_error *err)
{
    if (reply->code == MEMCACHED_DONE || reply->code == MEMCACHED_NOT_STORED)
        return SEQB_OK;
    return memcached_unexpected(mc, key, reply, err);
}

static enum seqb_status read_answer(struct memcached *mc,
                                    const struct memcached_key *key,
                                    const struct memcached_reply *reply,
                                    struct seqb_error *err)
{
    const enum seqb_status status = memcached_answer_item(mc, key, reply, err);

    if (status != SEQB_OK)
        return status;
    if (reply->flags != CLAIM_FLAGS)
        return memcached_foreign(mc, key, err);
    if (reply->text == NULL || reply->length == 0 ||
        memchr(reply->text, '\0', reply->length) != NULL)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: key %s holds a text that is none of ours",
                         mc->link.where, key->name);
    return SEQB_OK;
}

/* Reads the answers to claim_ask. `reply` is the stored claim, and is valid
 * until the next call on the link; its text is NULL if there is none. */
static enum seqb_status claim_receive(struct memcached *mc,
                                      const struct memcached_key *key,
                                      const char *text,
                                      struct memcached_reply *reply,
                                      struct seqb_error *err)
{
    struct seqb_error why = {.status = SEQB_OK};
    enum seqb_status status = SEQB_OK;
    enum seqb_status stored = SEQB_OK;

    if (text != NULL) {
        status = memcached_ask(mc, true, reply, err);
        if (status == SEQB_OK)
            stored = stored_answer(mc, key, reply, &why);
        /* If the connection is still open, the other answer follows. */
        if (!memcached_link_is_open(&mc->link))
            return status != SEQB_OK ? status : error_copy(err, &why);
    }
    status = memcached_ask(mc, true, reply, err);
    if (status == SEQB_OK && stored != SEQB_OK)
        return error_copy(err, &why);
    if (status == SEQB_OK)
        status = read_answer(mc, key, reply, err);
    if (status != SEQB_FENCED)
        return status;
    reply->text = NULL;
    if (text == NULL)
        return SEQB_OK;
    return error_set(err, SEQB_REFUSED,
                     "%s: key %s was dropped as soon as it was stored: give "
                     "the server more memory (-m)",
                     mc->link.where, key->name);
}

static void text_take(const struct memcached_reply *reply, char *standing,
                      size_t size)
{
    const size_t length = reply->text == NULL    ? 0
                          : reply->length < size ? reply->length
                                                 : size - 1;

    if (length > 0)
        memcpy(standing, reply->text, length);
    standing[length] = '\0';
}

enum seqb_status memcached_claim(struct seqb_backend *backend, const char *name,
                                 const char *text, char *standing, size_t size,
                                 struct seqb_error *err)
{
    struct memcached *mc = memcached_of(backend);
    struct memcached_reply reply;
    struct memcached_key key;
    enum seqb_status status;

    if (!claim_key(mc, name, &key, err))
        return SEQB_INVALID;
    status = memcached_link_begin(&mc->link, mc->timeout_ms, err);
    if (status != SEQB_OK)
        return status;
    if (!claim_ask(mc, &key, text))
        return memcached_link_lose(&mc->link, SEQB_UNCERTAIN, err);
    status = claim_receive(mc, &key, text, &reply, err);
    if (status != SEQB_OK)
        return status;
    if (reply.text != NULL && reply.length >= size)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: claim '%s' is longer than %zu bytes",
                         mc->link.where, name, size - 1);
    text_take(&reply, standing, size);
    return SEQB_OK;
}

/* Returns the first error, after all answers were read: the connection stays
 * open. */
static enum seqb_status many_receive(struct memcached *mc,
                                     struct seqb_claim *claims, size_t n,
                                     struct seqb_error *err)
{
    struct seqb_error first = {.status = SEQB_OK};

    for (size_t i = 0; i < n && memcached_link_is_open(&mc->link); i++) {
        struct memcached_reply reply;
        struct memcached_key key;
        struct seqb_error why;

        (void)memcached_key_make(mc->prefix, CLAIM_KIND, claims[i].name, &key);
        if (claim_receive(mc, &key, claims[i].text, &reply, &why) == SEQB_OK)
            text_take(&reply, claims[i].standing, sizeof claims[i].standing);
        else if (first.status == SEQB_OK)
            first = why;
    }
    return first.status == SEQB_OK ? SEQB_OK : error_copy(err, &first);
}

enum seqb_status memcached_claim_many(struct seqb_backend *backend,
                                      struct seqb_claim *claims, size_t n,
                                      size_t *done, struct seqb_error *err)
{
    struct memcached *mc = memcached_of(backend);
    struct memcached_key key;
    enum seqb_status status;

    *done = n < CLAIMS_MAX ? n : CLAIMS_MAX;
    for (size_t i = 0; i < *done; i++) {
        if (!claim_key(mc, claims[i].name, &key, err))
            return SEQB_INVALID;
    }
    status = memcached_link_begin(&mc->link, mc->timeout_ms, err);
    if (status != SEQB_OK)
        return status;
    for (size_t i = 0; i < *done; i++) {
        (void)claim_key(mc, claims[i].name, &key, err);
        if (!claim_ask(mc, &key, claims[i].text))
            return memcached_link_lose(&mc->link, SEQB_UNCERTAIN, err);
    }
    return many_receive(mc, claims, *done, err);
}
