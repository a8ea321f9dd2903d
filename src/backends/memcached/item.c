/* SPDX-License-Identifier: Apache-2.0 */
/* One item of a memcached server: commands and answers. */
#include "backends/memcached/item.h"

#include <inttypes.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

bool memcached_add_read(struct memcached *mc, const struct memcached_key *key)
{
    return memcached_link_add(&mc->link, "mg %s%s v f c\r\n", key->text,
                              key->flag);
}

/* Never with the flag N, which creates a missing item. */
bool memcached_add_count(struct memcached *mc, const struct memcached_key *key,
                         int64_t step)
{
    return memcached_link_add(&mc->link, "ma %s%s MI D%" PRId64 " v\r\n",
                              key->text, key->flag, step);
}

bool memcached_add_store(struct memcached *mc, const struct memcached_key *key,
                         const struct memcached_item *item, uint64_t cas)
{
    char guard[32] = "ME";
    char expiry[32] = "";
    const size_t length = strlen(item->text);

    if (cas != 0)
        (void)text_format(guard, sizeof guard, "C%" PRIu64, cas);
    if (item->expiry != 0)
        (void)text_format(expiry, sizeof expiry, " T%" PRId64, item->expiry);
    return memcached_link_add(&mc->link, "ms %s %zu%s F%" PRIu32 "%s %s\r\n",
                              key->text, length, key->flag, item->flags, expiry,
                              guard) &&
           memcached_link_add_bytes(&mc->link, item->text, length) &&
           memcached_link_add(&mc->link, "\r\n");
}

bool memcached_add_drop(struct memcached *mc, const struct memcached_key *key)
{
    return memcached_link_add(&mc->link, "md %s%s\r\n", key->text, key->flag);
}

enum seqb_status memcached_ask(struct memcached *mc, bool is_added,
                               struct memcached_reply *reply,
                               struct seqb_error *err)
{
    if (is_added && memcached_link_flush(&mc->link) &&
        memcached_link_read(&mc->link, reply))
        return SEQB_OK;
    return memcached_link_lose(&mc->link, SEQB_UNCERTAIN, err);
}

enum seqb_status memcached_unexpected(struct memcached *mc,
                                      const struct memcached_key *key,
                                      const struct memcached_reply *reply,
                                      struct seqb_error *err)
{
    if (reply->code == MEMCACHED_ERROR)
        return memcached_link_refuse(&mc->link, key->name, reply, err);
    return memcached_link_distrust(&mc->link, key->name, reply, err);
}

enum seqb_status memcached_answer_item(struct memcached *mc,
                                       const struct memcached_key *key,
                                       const struct memcached_reply *reply,
                                       struct seqb_error *err)
{
    if (reply->code == MEMCACHED_ABSENT)
        return error_set(err, SEQB_FENCED, "%s: key %s is absent",
                         mc->link.where, key->name);
    /* A version of 0 means that the server has none. */
    if (reply->code != MEMCACHED_VALUE || !reply->has_flags ||
        !reply->has_cas || reply->cas == 0)
        return memcached_unexpected(mc, key, reply, err);
    return SEQB_OK;
}

enum seqb_status memcached_answer_cell(struct memcached *mc,
                                       const struct memcached_key *key,
                                       const struct memcached_reply *reply,
                                       struct memcached_cell *out,
                                       struct seqb_error *err)
{
    const enum seqb_status status = memcached_answer_item(mc, key, reply, err);

    if (status != SEQB_OK)
        return status;
    if (reply->text == NULL ||
        !memcached_cell_read(reply->text, reply->length, reply->flags, out))
        return memcached_foreign(mc, key, err);
    return SEQB_OK;
}

enum seqb_status memcached_foreign(const struct memcached *mc,
                                   const struct memcached_key *key,
                                   struct seqb_error *err)
{
    return error_set(err, SEQB_REFUSED,
                     "%s: key %s holds what is none of ours: use another "
                     "prefix",
                     mc->link.where, key->name);
}

enum seqb_status memcached_resized(const struct memcached *mc,
                                   const struct memcached_key *key,
                                   struct seqb_error *err)
{
    return error_set(err, SEQB_LAYOUT,
                     "%s: key %s was made with another window size",
                     mc->link.where, key->name);
}

enum seqb_status memcached_unguarded(const struct memcached *mc,
                                     const char *counter, int64_t size,
                                     struct seqb_error *err)
{
    return error_set(
        err, SEQB_UNSAFE,
        "%s: %.64s: the server allows %" PRId64 " connections, more than a "
        "window of %" PRId64 " values can guard against: raise the pool's "
        "window_bits, or start the server with -c %" PRId64,
        mc->link.where, counter, mc->session.connections, size, size);
}
