/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of the redis engine, and the meaning of error replies. */
#include "backends/redis/link.h"

#include <string.h>

#include "backends/tls_files.h"
#include "platform/error.h"

enum seqb_status link_connect(struct redis_link *link,
                              const struct seqb_backend_options *options,
                              const struct address *address, int32_t budget_ms,
                              struct seqb_error *err)
{
    const struct tls_client_files files = tls_files_of(options);
    const struct stream_target target = {
        .host = address->host,
        .port = address->port,
        .tls =
            options->tls != SEQB_TLS_OFF && address->port != 0 ? &files : NULL,
    };
    struct seqb_error why;
    const enum seqb_status status = resp_open(
        &link->resp, &target, budget_ms,
        (struct resp_bounds){LINK_ELEMENTS_MAX, LINK_BYTES_MAX}, &why);

    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(err, status, "%s: cannot connect: %s", link->where,
                     why.text);
}

bool link_is_open(const struct redis_link *link)
{
    return link->resp.reader != NULL;
}

enum seqb_status link_begin(struct redis_link *link, int32_t budget_ms,
                            struct seqb_error *err)
{
    if (!link_is_open(link))
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost before, open it again",
                         link->where);
    stream_begin(&link->resp.stream, budget_ms);
    return SEQB_OK;
}

bool link_append(struct redis_link *link, const char *const *argv, int argc)
{
    return resp_append(&link->resp, argv, argc);
}

bool link_flush(struct redis_link *link)
{
    return resp_flush(&link->resp);
}

redisReply *link_read(struct redis_link *link)
{
    return resp_read(&link->resp);
}

enum seqb_status link_lose(struct redis_link *link, enum seqb_status status,
                           struct seqb_error *err)
{
    char why[RESP_WHY_SIZE];

    switch (resp_why(&link->resp, why)) {
    case RESP_GARBLED:
        status = error_set(err, SEQB_PROTOCOL, "%s: %s: is it a redis server?",
                           link->where, why);
        break;
    case RESP_NO_MEMORY:
        status = error_set(err, SEQB_NO_MEMORY, "%s: %s", link->where, why);
        break;
    case RESP_LOST:
        error_set(err, status, "%s: %s", link->where, why);
        break;
    }
    link_close(link);
    return status;
}

enum seqb_status link_distrust(struct redis_link *link, const char *asked,
                               struct seqb_error *err)
{
    link_close(link);
    return error_set(err, SEQB_PROTOCOL, "%s: the answer to %s makes no sense",
                     link->where, asked);
}

/* --- error replies --- */

/* Any other error (OOM, MISCONF, NOPERM, ...) is SEQB_REFUSED with the server's
 * own words. It means that nothing was done, because the script checks first
 * and writes last. */
static const struct {
    const char *word;
    enum seqb_status status;
    const char *text;
} refusals[] = {
    {"NOTMASTER", SEQB_ROLE, "the server is no master any more"},
    {"READONLY", SEQB_ROLE, "the server is a replica"},
    {"MASTERDOWN", SEQB_ROLE, "the server is a replica"},
    {"NOSCRIPT", SEQB_UNREACHABLE,
     "the scripts were flushed, reconnecting loads them"},
    {"LOADING", SEQB_UNREACHABLE, "the server is loading its data"},
    {"BUSY", SEQB_UNREACHABLE, "the server is busy with a script"},
    {"CLUSTERDOWN", SEQB_UNREACHABLE,
     "the cluster is down: no majority, or nobody has the slot"},
    {"MOVED", SEQB_REFUSED,
     "the server is one of a Redis Cluster: name some of them in 'cluster'"},
    {"TRYAGAIN", SEQB_UNREACHABLE, "the keys of the slot are on their way"},
    {"NOAUTH", SEQB_REFUSED, "the server wants a password"},
};

bool reply_is_error(const redisReply *reply, const char *code)
{
    const size_t length = strlen(code);

    return reply->type == REDIS_REPLY_ERROR && reply->len >= length &&
           memcmp(reply->str, code, length) == 0 &&
           (reply->len == length || reply->str[length] == ' ');
}

enum seqb_status link_refuse(const struct redis_link *link,
                             const redisReply *reply, struct seqb_error *err)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (reply_is_error(reply, refusals[i].word))
            return error_set(err, refusals[i].status, "%s: %s", link->where,
                             refusals[i].text);
    }
    return error_set(err, SEQB_REFUSED, "%s: refused: %.200s", link->where,
                     reply->str);
}

void link_close(struct redis_link *link)
{
    resp_close(&link->resp);
}
