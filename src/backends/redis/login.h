/* SPDX-License-Identifier: Apache-2.0 */
/* Logging in at a Redis server or a sentinel. */
#pragma once

#include "backends/redis/link.h"

/* The user is NULL with a password alone; both are NULL for no log-in. */
struct redis_login {
    const char *user, *password;
};

static inline bool login_is_given(const struct redis_login *login)
{
    return login->user != NULL || login->password != NULL;
}

/* Adds AUTH to what link_flush sends, if a log-in is given; false when out of
 * memory. */
bool login_append(struct redis_link *link, const struct redis_login *login);

/* Reads the answer to that AUTH, if there was one. SEQB_REFUSED, without what
 * the server said: its words may quote the command. Else as link_lose. */
enum seqb_status login_answer(struct redis_link *link,
                              const struct redis_login *login,
                              struct seqb_error *err);
