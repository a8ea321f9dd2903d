/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users of a topology, as one object that is immutable once it is checked:
 * a reload makes another one. Private to the folder, except through access.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <seqbroker/seqbroker.h>

#include "daemon/access/key_limits.h"
#include "daemon/access/quota.h"
#include "daemon/reasons.h"

/* The right that a command or a route needs. */
enum right {
    RIGHT_OPEN = 1, /* everybody has it */
    RIGHT_READ = 2,
    RIGHT_TAKE = 4,
    RIGHT_ADMIN = 8
};

/* The rights of each role. A role includes those of the lower roles. */
#define RIGHTS_NONE  ((unsigned)RIGHT_OPEN)
#define RIGHTS_READ  (RIGHTS_NONE | RIGHT_READ)
#define RIGHTS_TAKE  (RIGHTS_READ | RIGHT_TAKE)
#define RIGHTS_ADMIN (RIGHTS_TAKE | RIGHT_ADMIN)

struct users;
struct user;
struct quotas;
struct tls_peer;

/* The user and the groups of a process, as the kernel reports them. */
struct peer {
    uid_t uid;
    const gid_t *gids;
    size_t gid_count;
};

/* Returns an empty table; NULL if memory is short. */
struct users *users_new(void);

/* Takes a setting as seqb_daemon_settings reports it: "users.name" begins a
 * user, and the other "users." settings belong to the user begun last; the same
 * with "key_limits.name". Settings of other sections are ignored. False if
 * memory is short. */
bool users_take(struct users *users, const char *setting, const char *value);

/* To be called after the last users_take. SEQB_INVALID if a hash is malformed,
 * or a user or a group does not exist in the system. `reasons` (NULL is
 * allowed) gets one for each user that is refused; the first one is the error.
 */
enum seqb_status users_check(struct users *users, const struct reasons *reasons,
                             struct seqb_error *err);

/* NULL is allowed. */
void users_free(struct users *users);

size_t users_count(const struct users *users);

/* NULL if there is no user of that name. */
const struct user *users_find(const struct users *users, const char *name,
                              size_t length);

/* The user with that token; NULL if there is none. */
const struct user *users_find_token(const struct users *users,
                                    const char *token, size_t length);

/* The user of a process on the unix socket: the first user with its uid, else
 * the first user with one of its groups, else NULL. */
const struct user *users_find_peer(const struct users *users,
                                   const struct peer *peer);

/* The user with that certificate, by the certificate's names (tls/tls.h). NULL
 * if no user or more than one matches. */
const struct user *users_find_certificate(const struct users *users,
                                          const struct tls_peer *certificate);

/* The user of clients that have not logged in: the user "default", if it has no
 * password, token or certificate. NULL if there is none. */
const struct user *users_anonymous(const struct users *users);

const char *user_name(const struct user *user);
unsigned user_rights(const struct user *user);

/* The hash that takes the longest to check; NULL if no user has a password. */
const char *users_slowest_hash(const struct users *users);

/* The hash of the user's password, or NULL; and whether the token is the
 * user's. */
const char *user_password_hash(const struct user *user);
/* The name as the log may show it: of a user of the table, else "(unknown)". A
 * client that mixes up its words sends its secret as the name. */
const char *users_shown_name(const struct users *users, const char *name,
                             size_t length);

bool user_has_token(const struct user *user, const char *token, size_t length);

/* Whether the user is limited to some keys, and whether it may use that key. */
bool user_is_limited(const struct user *user);
bool user_may_use(const struct user *user, const char *key, size_t length);

/* Hands the quotas of all users over to `quotas`, whose owner frees them. A
 * user whose name is there keeps that quota with the new limits. A quota whose
 * user is not in the table any more loses its limits. */
void users_hand_over(struct users *users, struct quotas *quotas);

/* The quota of a user; never NULL. It lives as long as these quotas. */
struct quota *user_quota(const struct user *user);

/* The limits of a key, or NULL. */
const struct key_limit *users_key_limit(const struct users *users,
                                        const char *key, size_t length);

/* Whether a key matches a pattern: `*` matches any text, `?` one byte. */
bool pattern_matches(const char *pattern, const char *key, size_t length);
