/* SPDX-License-Identifier: Apache-2.0 */
/* A walk along the sentinels: one connection and one query each. */
#include "backends/redis/sentinel.h"

#include <string.h>

#include "backends/redis/login.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

enum seqb_status sentinel_begin(struct sentinel_walk *walk,
                                const struct seqb_backend_options *options,
                                struct seqb_error *err)
{
    struct address address = {.port = 0};

    if (options->master_name == NULL || options->sentinels[0] == NULL)
        return error_set(err, SEQB_INVALID,
                         "%s: sentinels need a master_name, and a master_name "
                         "sentinels",
                         options->name);
    for (size_t i = 0; options->sentinels[i] != NULL; i++) {
        if (!address_parse(options->sentinels[i], &address))
            return error_set(err, SEQB_INVALID,
                             "%s: sentinel '%.80s' is no host:port",
                             options->name, options->sentinels[i]);
    }
    *walk = (struct sentinel_walk){
        .options = options,
        .deadline_ms = clock_now_ms() + options->connect_timeout_ms,
    };
    return SEQB_OK;
}

int32_t sentinel_rest_ms(const struct sentinel_walk *walk)
{
    return (int32_t)(walk->deadline_ms - clock_now_ms());
}

/* A sentinel that hangs uses only its share: the other sentinels and the master
 * keep theirs. */
static int32_t share_ms(const struct sentinel_walk *walk)
{
    const char *const *left = walk->options->sentinels + walk->asked;
    int32_t shares = 1;

    while (*left++ != NULL)
        shares++;
    return sentinel_rest_ms(walk) / shares;
}

static void note(struct sentinel_walk *walk, const char *text)
{
    (void)text_append(walk->said, sizeof walk->said, "%s%s",
                      walk->said[0] == '\0' ? "" : "; ", text);
}

/* A text with a 0 in it is invalid: it would be truncated there, to another
 * name. */
static bool is_text(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING && reply->len > 0 &&
           memchr(reply->str, '\0', reply->len) == NULL;
}

/* Reads the address from an answer, an array of host and port. */
static bool master_take(const redisReply *reply, struct address *out)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
           is_text(reply->element[0]) && is_text(reply->element[1]) &&
           text_copy(out->host, sizeof out->host, reply->element[0]->str) &&
           port_parse(reply->element[1]->str, &out->port);
}

static enum seqb_status answer_read(struct redis_link *link,
                                    const char *master_name,
                                    const redisReply *reply,
                                    struct address *out, struct seqb_error *err)
{
    if (reply->type == REDIS_REPLY_NIL)
        return error_set(err, SEQB_UNREACHABLE, "%s: knows no master '%s'",
                         link->where, master_name);
    if (reply_is_error(reply, "NOAUTH"))
        return error_set(err, SEQB_REFUSED,
                         "%s: wants a password: set sentinel_password_file",
                         link->where);
    if (reply_is_error(reply, "ERR"))
        return error_set(err, SEQB_REFUSED, "%s: is it a sentinel?: %.80s",
                         link->where, reply->str);
    if (reply->type == REDIS_REPLY_ERROR)
        return link_refuse(link, reply, err);
    if (!master_take(reply, out))
        return link_distrust(link, "SENTINEL", err);
    return SEQB_OK;
}

static enum seqb_status sentinel_ask(struct redis_link *link,
                                     const struct seqb_backend_options *options,
                                     struct address *out,
                                     struct seqb_error *err)
{
    const struct redis_login login = {options->sentinel_user,
                                      options->sentinel_password};
    const char *const words[] = {"SENTINEL", "get-master-addr-by-name",
                                 options->master_name};
    enum seqb_status status;
    redisReply *reply;

    if (!login_append(link, &login) || !link_append(link, words, 3) ||
        !link_flush(link))
        return link_lose(link, SEQB_UNREACHABLE, err);
    status = login_answer(link, &login, err);
    if (status != SEQB_OK)
        return status;
    reply = link_read(link);
    if (reply == NULL)
        return link_lose(link, SEQB_UNREACHABLE, err);
    status = answer_read(link, options->master_name, reply, out, err);
    freeReplyObject(reply);
    return status;
}

/* Asks the next sentinel. */
static enum seqb_status walk_step(struct sentinel_walk *walk,
                                  struct address *out, struct seqb_error *err)
{
    const int32_t budget_ms = share_ms(walk);
    const char *name = walk->options->sentinels[walk->asked++];
    struct redis_link link = {.where = ""};
    struct address address = {.port = 0};
    enum seqb_status status;

    (void)address_parse(name, &address); /* checked by sentinel_begin */
    (void)text_format(link.where, sizeof link.where, "sentinel %s", name);
    status = link_connect(&link, walk->options, &address, budget_ms, err);
    if (status == SEQB_OK)
        status = sentinel_ask(&link, walk->options, out, err);
    link_close(&link);
    return status;
}

bool sentinel_next(struct sentinel_walk *walk)
{
    while (walk->options->sentinels[walk->asked] != NULL) {
        struct address found = {.port = 0};
        struct seqb_error why;

        if (sentinel_rest_ms(walk) <= 0) {
            note(walk, "no time was left for the others");
            return false;
        }
        if (walk_step(walk, &found, &why) != SEQB_OK) {
            note(walk, why.text);
            continue;
        }
        if (address_equal(&found, &walk->found))
            continue; /* it was rejected, see `said` */
        walk->found = found;
        return true;
    }
    return false;
}

void sentinel_reject(struct sentinel_walk *walk, const struct seqb_error *why)
{
    char text[512];

    (void)text_format(text, sizeof text, "sentinel %s led to %s",
                      walk->options->sentinels[walk->asked - 1], why->text);
    note(walk, text);
}

enum seqb_status sentinel_fail(const struct sentinel_walk *walk,
                               enum seqb_status status, struct seqb_error *err)
{
    return error_set(err, status,
                     "%s: no sentinel leads to a master '%s', check sentinels "
                     "and master_name: %s",
                     walk->options->name, walk->options->master_name,
                     walk->said);
}
