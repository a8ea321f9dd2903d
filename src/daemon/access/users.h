/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users of a topology, as one object that does not change once it is made:
 * who reloads makes another one. Private to the folder, but by access.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <seqbroker/seqbroker.h>

#include "daemon/access/key_limits.h"
#include "daemon/access/quota.h"

/* What a command or a route needs: one of them. */
enum right {
    RIGHT_OPEN = 1, /* nothing: everybody has it */
    RIGHT_READ = 2,
    RIGHT_TAKE = 4,
    RIGHT_ADMIN = 8
};

/* What a role has: all that the roles below it have, too. */
#define RIGHTS_NONE  ((unsigned)RIGHT_OPEN)
#define RIGHTS_READ  (RIGHTS_NONE | RIGHT_READ)
#define RIGHTS_TAKE  (RIGHTS_READ | RIGHT_TAKE)
#define RIGHTS_ADMIN (RIGHTS_TAKE | RIGHT_ADMIN)

struct users;
struct user;
struct tls_peer;

/* The groups of a process, as the kernel says them. */
struct peer {
    uid_t uid;
    const gid_t *gids;
    size_t gid_count;
};

/* An empty table; NULL if memory is short. */
struct users *users_new(void);

/* Takes a setting as seqb_daemon_settings says it: "users.name" begins a user,
 * the others are of that one; and the same of "key_limits.name". False if
 * memory is short. Settings of other sections are ignored. */
bool users_take(struct users *users, const char *setting, const char *value);

/* Once all are taken. SEQB_INVALID if a hash cannot be used, or a user or a
 * group of the system is not there. */
enum seqb_status users_check(struct users *users, struct seqb_error *err);

/* Takes NULL. */
void users_free(struct users *users);

size_t users_count(const struct users *users);

/* NULL: there is none of that name. */
const struct user *users_find(const struct users *users, const char *name,
                              size_t length);

/* Whose token it is; NULL: nobody's. */
const struct user *users_find_token(const struct users *users,
                                    const char *token, size_t length);

/* Who a process on the unix socket is: the first user with its uid, else the
 * first one with one of its groups; NULL: none. */
const struct user *users_find_peer(const struct users *users,
                                   const struct peer *peer);

/* Whose certificate it is, by its names (tls/tls.h). NULL: nobody's, or that of
 * several users. */
const struct user *users_find_certificate(const struct users *users,
                                          const struct tls_peer *certificate);

/* The user "default" if it has neither a password nor a token nor a
 * certificate: who is not logged in. NULL: there is none. */
const struct user *users_anonymous(const struct users *users);

const char *user_name(const struct user *user);
const char *user_role(const struct user *user); /* "read", "take", "admin" */
unsigned user_rights(const struct user *user);

/* The hash of its password, or NULL; and whether a token is its own. */
const char *user_password_hash(const struct user *user);
bool user_has_token(const struct user *user, const char *token, size_t length);

/* Whether it is limited to some keys, and whether it may use that one. */
bool user_is_limited(const struct user *user);
bool user_may_use(const struct user *user, const char *key, size_t length);

/* Puts the quotas of its users into the list, whose owner frees them. A user of
 * a name that the list has goes on with that quota, by the new limits; one that
 * is not in the table any more has no limits. */
void users_hand_over(struct users *users, struct quota_list *list);

/* What it has taken, and may; never NULL. It lives as long as the list. */
struct quota *user_quota(const struct user *user);

/* The limits of a key, or NULL. */
const struct key_limit *users_key_limit(const struct users *users,
                                        const char *key, size_t length);

/* Whether a key is what a pattern stands for: `*` is any text, `?` one byte. */
bool pattern_matches(const char *pattern, const char *key, size_t length);
