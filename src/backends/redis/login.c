/* SPDX-License-Identifier: Apache-2.0 */
/* See login.h. */
#include "backends/redis/login.h"

#include "platform/error.h"

bool login_append(struct redis_link *link, const struct redis_login *login)
{
    const char *password = login->password != NULL ? login->password : "";

    if (!login_is_given(login))
        return true;
    if (login->user != NULL)
        return link_append(link,
                           (const char *[]){"AUTH", login->user, password}, 3);
    return link_append(link, (const char *[]){"AUTH", password}, 2);
}

enum seqb_status login_answer(struct redis_link *link,
                              const struct redis_login *login,
                              struct seqb_error *err)
{
    redisReply *reply;
    enum seqb_status status = SEQB_OK;

    if (!login_is_given(login))
        return SEQB_OK;
    reply = link_read(link);
    if (reply == NULL)
        return link_lose(link, SEQB_UNREACHABLE, err);
    if (reply->type == REDIS_REPLY_ERROR)
        status = link_refuse(link, reply, err);
    else if (reply->type != REDIS_REPLY_STATUS)
        status = link_distrust(link, "AUTH", err);
    freeReplyObject(reply);
    if (status == SEQB_REFUSED)
        return error_set(err, SEQB_REFUSED,
                         "%s: the user or the password was refused",
                         link->where);
    return status;
}
