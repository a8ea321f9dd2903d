/* SPDX-License-Identifier: Apache-2.0 */
/* Logging in at a Redis server or a sentinel. */
#pragma once

#include "backends/redis/link.h"

/* `user` is NULL with a password only; both are NULL without a login. */
struct redis_login {
    const char *user, *password;
};

static inline bool login_is_given(const struct redis_login *login)
{
    return login->user != NULL || login->password != NULL;
}

/* Adds AUTH to the buffer that link_flush sends, if a login is given; false
 * when out of memory. */
bool login_append(struct redis_link *link, const struct redis_login *login);

/* Reads the answer to that AUTH, if it was sent. SEQB_REFUSED, without the
 * server's text, which may quote the command. Other errors as for link_lose. */
enum seqb_status login_answer(struct redis_link *link,
                              const struct redis_login *login,
                              struct seqb_error *err);
