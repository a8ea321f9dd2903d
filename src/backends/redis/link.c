/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of the redis engine, and what error replies mean. */
#include "backends/redis/link.h"

#include <fcntl.h>
#include <string.h>
#include <sys/time.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

static struct timeval span(int64_t ms)
{
    const struct timeval out = {ms / 1000, ms % 1000 * 1000};

    return out;
}

enum seqb_status link_connect(struct redis_link *link,
                              const struct redis_address *address,
                              int32_t budget_ms, struct seqb_error *err)
{
    const struct timeval wait = span(budget_ms > 0 ? budget_ms : 1);

    link->budget_ms = budget_ms;
    link->deadline_ms = clock_now_ms() + budget_ms;
    link->context =
        address->port == 0
            ? redisConnectUnixWithTimeout(address->host, wait)
            : redisConnectWithTimeout(address->host, address->port, wait);
    if (link->context == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    if (link->context->err != 0)
        return error_set(err, SEQB_UNREACHABLE, "%s: cannot connect: %s",
                         link->where, link->context->errstr);
    reader_bound(&link->reader, link->context, LINK_ELEMENTS_MAX);
    (void)fcntl(link->context->fd, F_SETFD, FD_CLOEXEC);
    return SEQB_OK;
}

/* The next read or write may take what is left of the call. */
static bool link_arm(struct redis_link *link)
{
    const int64_t rest = link->deadline_ms - clock_now_ms();

    return rest > 0 && redisSetTimeout(link->context, span(rest)) == REDIS_OK;
}

enum seqb_status link_begin(struct redis_link *link, int32_t budget_ms,
                            struct seqb_error *err)
{
    if (link->context == NULL)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost before, open it again",
                         link->where);
    link->budget_ms = budget_ms;
    link->deadline_ms = clock_now_ms() + budget_ms;
    return SEQB_OK;
}

bool link_append(struct redis_link *link, const char *const *argv, int argc)
{
    const char *words[LINK_ARGS_MAX];
    size_t lengths[LINK_ARGS_MAX];

    for (int i = 0; i < argc; i++) {
        words[i] = argv[i];
        lengths[i] = strlen(argv[i]);
    }
    return redisAppendCommandArgv(link->context, argc, words, lengths) ==
           REDIS_OK;
}

bool link_flush(struct redis_link *link)
{
    int done = 0;

    while (!done) {
        if (!link_arm(link) ||
            redisBufferWrite(link->context, &done) != REDIS_OK)
            return false;
    }
    return true;
}

/* redisGetReply would bound each read, not the call: a server that sends a
 * byte now and then would hold the caller for as long as it likes. */
redisReply *link_read(struct redis_link *link)
{
    void *reply = NULL;

    for (;;) {
        if (redisGetReplyFromReader(link->context, &reply) != REDIS_OK)
            return NULL;
        if (reply != NULL)
            return reply;
        if (!link_arm(link) || redisBufferRead(link->context) != REDIS_OK)
            return NULL;
    }
}

enum seqb_status link_lose(struct redis_link *link, enum seqb_status status,
                           struct seqb_error *err)
{
    const redisContext *context = link->context;

    if (context->err == REDIS_ERR_PROTOCOL)
        status = error_set(err, SEQB_PROTOCOL, "%s: %s: is it a redis server?",
                           link->where, context->errstr);
    else if (context->err == REDIS_ERR_OOM && link->reader.has_refused)
        status = error_set(err, SEQB_PROTOCOL,
                           "%s: an answer is an array of more than %d: is it a "
                           "redis server?",
                           link->where, LINK_ELEMENTS_MAX);
    else if (context->err == REDIS_ERR_OOM)
        status =
            error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    else if (clock_now_ms() >= link->deadline_ms)
        error_set(err, status, "%s: no answer within %d ms", link->where,
                  (int)link->budget_ms);
    else
        error_set(err, status, "%s: connection lost: %s", link->where,
                  context->errstr);
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

/* Any other (OOM, MISCONF, NOPERM, ...) is SEQB_REFUSED with the server's own
 * words. Nothing was done then: the script checks first and writes last. */
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
    {"CLUSTERDOWN", SEQB_UNREACHABLE, "the cluster is down"},
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
    if (link->context != NULL)
        redisFree(link->context);
    link->context = NULL;
}
