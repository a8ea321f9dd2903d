/* SPDX-License-Identifier: Apache-2.0 */
/* The table of users; see users.h. */
#include "daemon/access/users.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "credential/credential.h"
#include "daemon/access/quotas.h"
#include "daemon/access/words.h"
#include "daemon/account/account.h"
#include "setting/setting.h"
#include "tls/tls.h"

#define ANONYMOUS "default"

struct user {
    char *name;
    char *role;
    char *password_hash; /* NULL: none */
    char *token_hash;    /* NULL: none */
    char *certificate;   /* NULL: none */
    struct words keys;   /* empty: all keys */
    struct words uid_names, gid_names;
    struct quota *quota;
    bool has_own_quota; /* until users_hand_over */
    struct quota_limits limits;
    /* Set by users_check. */
    unsigned rights;
    unsigned char token[CREDENTIAL_DIGEST_SIZE];
    id_t *uids, *gids; /* as many as there are names */
};

struct users {
    struct user *at;
    size_t count;
    struct key_limits key_limits;
};

/* --- making --- */

struct users *users_new(void)
{
    return calloc(1, sizeof(struct users));
}

static bool user_begin(struct users *users, const char *name)
{
    struct user *at = realloc(users->at, (users->count + 1) * sizeof *at);

    if (at == NULL)
        return false;
    users->at = at;
    at[users->count] = (struct user){.name = strdup(name),
                                     .quota = calloc(1, sizeof(struct quota)),
                                     .has_own_quota = true};
    users->count++;
    return at[users->count - 1].name != NULL &&
           at[users->count - 1].quota != NULL;
}

/* A setting of the user that was begun last. */
static bool user_take(struct user *user, const char *setting, const char *value)
{
    if (strcmp(setting, "role") == 0)
        return setting_keep(&user->role, value);
    if (strcmp(setting, "password_hash") == 0)
        return setting_keep(&user->password_hash, value);
    if (strcmp(setting, "token_hash") == 0)
        return setting_keep(&user->token_hash, value);
    if (strcmp(setting, "certificate") == 0)
        return setting_keep(&user->certificate, value);
    if (strcmp(setting, "keys") == 0)
        return words_add(&user->keys, value);
    if (strcmp(setting, "uids") == 0)
        return words_add(&user->uid_names, value);
    if (strcmp(setting, "gids") == 0)
        return words_add(&user->gid_names, value);
    (void)quota_limits_take(&user->limits, setting, value);
    return true;
}

bool users_take(struct users *users, const char *setting, const char *value)
{
    const char *const member = strchr(setting, '.');

    if (strncmp(setting, "key_limits.", strlen("key_limits.")) == 0)
        return key_limits_take(&users->key_limits, member + 1, value);
    if (strncmp(setting, "users.", strlen("users.")) != 0)
        return true;
    if (strcmp(member, ".name") == 0)
        return user_begin(users, value);
    return users->count == 0 ||
           user_take(&users->at[users->count - 1], member + 1, value);
}

void users_free(struct users *users)
{
    if (users == NULL)
        return;
    for (size_t i = 0; i < users->count; i++) {
        struct user *user = &users->at[i];

        words_free(&user->keys);
        words_free(&user->uid_names);
        words_free(&user->gid_names);
        free(user->name);
        free(user->role);
        free(user->password_hash);
        free(user->token_hash);
        free(user->certificate);
        free(user->uids);
        free(user->gids);
        if (user->has_own_quota)
            free(user->quota);
    }
    key_limits_free(&users->key_limits);
    free(users->at);
    free(users);
}

/* --- checking --- */

static enum seqb_status user_fail(const struct user *user, const char *why,
                                  const char *what, struct seqb_error *err)
{
    err->status = SEQB_INVALID;
    snprintf(err->text, sizeof err->text, "user %s: %s%s", user->name, why,
             what);
    return err->status;
}

/* Fails for a name that account_read could not look up. */
static enum seqb_status account_fail(const struct user *user, const char *name,
                                     bool is_group, int error,
                                     struct seqb_error *err)
{
    const char *kind = is_group ? "group" : "user";

    err->status = error == ENOMEM ? SEQB_NO_MEMORY : SEQB_INVALID;
    if (error == ENOENT)
        snprintf(err->text, sizeof err->text,
                 "user %s: the system has no %s %s", user->name, kind, name);
    else
        snprintf(err->text, sizeof err->text,
                 "user %s: the system's %s %s cannot be looked up: %s",
                 user->name, kind, name, strerror(error));
    return err->status;
}

static enum seqb_status ids_read(const struct user *user, bool is_group,
                                 id_t **out, struct seqb_error *err)
{
    const struct words *names = is_group ? &user->gid_names : &user->uid_names;
    int error = 0;

    *out = calloc(names->count + 1, sizeof **out);
    if (*out == NULL) {
        (void)user_fail(user, "out of memory", "", err);
        err->status = SEQB_NO_MEMORY;
        return err->status;
    }
    for (size_t i = 0; i < names->count; i++) {
        error = account_read(names->at[i], is_group, &(*out)[i]);
        if (error != 0)
            return account_fail(user, names->at[i], is_group, error, err);
    }
    return SEQB_OK;
}

static unsigned rights_of(const char *role)
{
    if (role == NULL)
        return RIGHTS_NONE;
    if (strcmp(role, "admin") == 0)
        return RIGHTS_ADMIN;
    if (strcmp(role, "take") == 0)
        return RIGHTS_TAKE;
    return strcmp(role, "read") == 0 ? RIGHTS_READ : RIGHTS_NONE;
}

static enum seqb_status user_check(struct user *user, struct seqb_error *err)
{
    user->rights = rights_of(user->role);
    if (user->rights == RIGHTS_NONE)
        return user_fail(user, "role is read, take or admin", "", err);
    if (user->password_hash != NULL && !credential_is_hash(user->password_hash))
        return user_fail(user,
                         "password_hash is no argon2id of at most 256 MiB and "
                         "16 passes: seqctl password makes one",
                         "", err);
    if (user->token_hash != NULL &&
        !credential_token_read(user->token_hash, user->token))
        return user_fail(user, "token_hash is none: seqctl token makes one", "",
                         err);
    if (ids_read(user, false, &user->uids, err) != SEQB_OK)
        return err->status;
    return ids_read(user, true, &user->gids, err);
}

enum seqb_status users_check(struct users *users, const struct reasons *reasons,
                             struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    struct seqb_error why;

    for (size_t i = 0; i < users->count; i++)
        if (user_check(&users->at[i], &why) != SEQB_OK)
            status = reasons_add(reasons, status, &why, err);
    return status;
}

/* --- asking --- */

size_t users_count(const struct users *users)
{
    return users->count;
}

const struct user *users_find(const struct users *users, const char *name,
                              size_t length)
{
    for (size_t i = 0; i < users->count; i++)
        if (strlen(users->at[i].name) == length &&
            memcmp(users->at[i].name, name, length) == 0)
            return &users->at[i];
    return NULL;
}

const char *users_shown_name(const struct users *users, const char *name,
                             size_t length)
{
    const struct user *user = users_find(users, name, length);

    return user != NULL ? user_name(user) : "(unknown)";
}

bool user_has_token(const struct user *user, const char *token, size_t length)
{
    unsigned char digest[CREDENTIAL_DIGEST_SIZE];

    if (user->token_hash == NULL)
        return false;
    credential_token_digest(token, length, digest);
    return credential_is_same(digest, user->token);
}

/* Compares all tokens, so that the time taken does not reveal whose it is. */
const struct user *users_find_token(const struct users *users,
                                    const char *token, size_t length)
{
    const struct user *found = NULL;

    for (size_t i = 0; i < users->count; i++)
        if (user_has_token(&users->at[i], token, length))
            found = &users->at[i];
    return found;
}

static bool ids_have(const id_t *ids, size_t count, id_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static bool user_has_group(const struct user *user, const struct peer *peer)
{
    for (size_t i = 0; i < peer->gid_count; i++)
        if (ids_have(user->gids, user->gid_names.count, peer->gids[i]))
            return true;
    return false;
}

const struct user *users_find_peer(const struct users *users,
                                   const struct peer *peer)
{
    for (size_t i = 0; i < users->count; i++)
        if (ids_have(users->at[i].uids, users->at[i].uid_names.count,
                     peer->uid))
            return &users->at[i];
    for (size_t i = 0; i < users->count; i++)
        if (user_has_group(&users->at[i], peer))
            return &users->at[i];
    return NULL;
}

/* Whether the name in a user's settings means an alternative name. Such a name
 * is never compared with a common name, which may look the same. */
static bool is_alternative(const char *name)
{
    static const char *const kinds[] = {"DNS:", "email:", "URI:"};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

static bool user_has_certificate(const struct user *user,
                                 const struct tls_peer *certificate)
{
    const char *name = user->certificate;

    if (name == NULL || name[0] == '\0')
        return false;
    if (!is_alternative(name))
        return strcmp(certificate->common_name, name) == 0;
    for (size_t i = 0; i < certificate->name_count; i++)
        if (strcmp(certificate->names[i], name) == 0)
            return true;
    return false;
}

const struct user *users_find_certificate(const struct users *users,
                                          const struct tls_peer *certificate)
{
    const struct user *found = NULL;

    for (size_t i = 0; i < users->count; i++) {
        if (!user_has_certificate(&users->at[i], certificate))
            continue;
        if (found != NULL)
            return NULL;
        found = &users->at[i];
    }
    return found;
}

const struct user *users_anonymous(const struct users *users)
{
    const struct user *user = users_find(users, ANONYMOUS, strlen(ANONYMOUS));

    return user != NULL && user->password_hash == NULL &&
                   user->token_hash == NULL && user->certificate == NULL
               ? user
               : NULL;
}

const char *user_name(const struct user *user)
{
    return user->name;
}

unsigned user_rights(const struct user *user)
{
    return user->rights;
}

const char *user_password_hash(const struct user *user)
{
    return user->password_hash;
}

bool user_is_limited(const struct user *user)
{
    return user->keys.count > 0;
}

bool user_may_use(const struct user *user, const char *key, size_t length)
{
    return user->keys.count == 0 || words_match(&user->keys, key, length);
}

/* --- passwords --- */

const char *users_slowest_hash(const struct users *users)
{
    const char *slowest = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < users->count; i++) {
        const char *hash = user_password_hash(&users->at[i]);
        const uint64_t cost = hash != NULL ? credential_cost(hash) : 0;

        if (cost <= most)
            continue;
        most = cost;
        slowest = hash;
    }
    return slowest;
}

/* --- limits --- */

/* The first of the users' quotas, which stand before those of the keys; NULL:
 * there is none. */
static struct quota *quotas_first(const struct quotas *quotas)
{
    struct quota *first = TAILQ_FIRST(&quotas->list);

    return first != quotas->first_key ? first : NULL;
}

static struct quota *quotas_next(const struct quotas *quotas,
                                 struct quota *quota)
{
    struct quota *next = TAILQ_NEXT(quota, entry);

    return next != quotas->first_key ? next : NULL;
}

static struct quota *quotas_find(const struct quotas *quotas, const char *name)
{
    struct quota *quota = quotas_first(quotas);

    while (quota != NULL && strcmp(quota->name, name) != 0)
        quota = quotas_next(quotas, quota);
    return quota;
}

/* Behind the other users, and before the keys. */
static void quotas_add(struct quotas *quotas, struct quota *added)
{
    if (quotas->first_key != NULL)
        TAILQ_INSERT_BEFORE(quotas->first_key, added, entry);
    else
        TAILQ_INSERT_TAIL(&quotas->list, added, entry);
}

static void user_hand_over(struct user *user, struct quotas *quotas)
{
    struct quota *listed = quotas_find(quotas, user->name);

    if (listed == NULL) {
        listed = user->quota;
        snprintf(listed->name, sizeof listed->name, "%s", user->name);
        quotas_add(quotas, listed);
    } else {
        free(user->quota);
    }
    listed->limits = user->limits;
    user->quota = listed;
    user->has_own_quota = false;
}

void users_hand_over(struct users *users, struct quotas *quotas)
{
    struct quota *quota = quotas_first(quotas);

    for (; quota != NULL; quota = quotas_next(quotas, quota))
        quota->limits = (struct quota_limits){.rate = 0};
    for (size_t i = 0; i < users->count; i++)
        user_hand_over(&users->at[i], quotas);
}

struct quota *user_quota(const struct user *user)
{
    return user->quota;
}

const struct key_limit *users_key_limit(const struct users *users,
                                        const char *key, size_t length)
{
    return key_limits_find(&users->key_limits, key, length);
}
