/* SPDX-License-Identifier: Apache-2.0 */
/* The table of users; see users.h. */
#include "daemon/access/users.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "credential/credential.h"
#include "daemon/access/words.h"
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

static bool text_set(char **text, const char *value)
{
    free(*text);
    *text = strdup(value);
    return *text != NULL;
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
        return text_set(&user->role, value);
    if (strcmp(setting, "password_hash") == 0)
        return text_set(&user->password_hash, value);
    if (strcmp(setting, "token_hash") == 0)
        return text_set(&user->token_hash, value);
    if (strcmp(setting, "certificate") == 0)
        return text_set(&user->certificate, value);
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

/* Reads a user or a group of the system, by name or by number. */
static bool id_read(const char *text, bool is_group, id_t *out)
{
    char *end = NULL;
    unsigned long number = 0;

    errno = 0;
    number = strtoul(text, &end, 10);
    if (errno == 0 && *end == '\0' && *text != '-' && number < UINT32_MAX) {
        *out = (id_t)number;
        return true;
    }
    if (is_group) {
        const struct group *group = getgrnam(text);

        *out = group != NULL ? group->gr_gid : 0;
        return group != NULL;
    }
    const struct passwd *owner = getpwnam(text);

    *out = owner != NULL ? owner->pw_uid : 0;
    return owner != NULL;
}

/* Returns NULL if all were read, else the unknown name, or "" if memory is
 * short. */
static const char *ids_read(const struct words *names, bool is_group,
                            id_t **out)
{
    *out = calloc(names->count + 1, sizeof **out);
    if (*out == NULL)
        return "";
    for (size_t i = 0; i < names->count; i++)
        if (!id_read(names->at[i], is_group, &(*out)[i]))
            return names->at[i];
    return NULL;
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
    const char *unknown;

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
    unknown = ids_read(&user->uid_names, false, &user->uids);
    if (unknown != NULL)
        return user_fail(user, "the system has no user ", unknown, err);
    unknown = ids_read(&user->gid_names, true, &user->gids);
    if (unknown != NULL)
        return user_fail(user, "the system has no group ", unknown, err);
    return SEQB_OK;
}

enum seqb_status users_check(struct users *users, struct seqb_error *err)
{
    for (size_t i = 0; i < users->count; i++)
        if (user_check(&users->at[i], err) != SEQB_OK)
            return err->status;
    return SEQB_OK;
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

const char *user_role(const struct user *user)
{
    return user->role;
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

/* --- limits --- */

static struct quota *list_find(struct quota_list *list, const char *name)
{
    struct quota *quota = NULL;

    TAILQ_FOREACH(quota, list, entry)
    if (!quota->is_key && strcmp(quota->name, name) == 0)
        return quota;
    return NULL;
}

static void user_hand_over(struct user *user, struct quota_list *list)
{
    struct quota *listed = list_find(list, user->name);

    if (listed == NULL) {
        listed = user->quota;
        snprintf(listed->name, sizeof listed->name, "%s", user->name);
        TAILQ_INSERT_TAIL(list, listed, entry);
    } else {
        free(user->quota);
    }
    listed->limits = user->limits;
    user->quota = listed;
    user->has_own_quota = false;
}

void users_hand_over(struct users *users, struct quota_list *list)
{
    struct quota *quota = NULL;

    TAILQ_FOREACH(quota, list, entry)
    if (!quota->is_key)
        quota->limits = (struct quota_limits){.rate = 0};
    for (size_t i = 0; i < users->count; i++)
        user_hand_over(&users->at[i], list);
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
