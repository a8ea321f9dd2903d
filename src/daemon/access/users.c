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
#include "tls/tls.h"

#define ANONYMOUS "default"

/* Texts of one setting, in their order. */
struct words {
    char **at;
    size_t count;
};

struct user {
    char *name;
    char *role;
    char *password_hash; /* NULL: none */
    char *token_hash;    /* NULL: none */
    char *certificate;   /* NULL: none */
    struct words keys;   /* none: all */
    struct words uid_names, gid_names;
    /* Of users_check. */
    unsigned rights;
    unsigned char token[CREDENTIAL_DIGEST_SIZE];
    id_t *uids, *gids; /* as many as there are names */
};

struct users {
    struct user *at;
    size_t count;
};

/* --- making --- */

struct users *users_new(void)
{
    return calloc(1, sizeof(struct users));
}

static bool words_add(struct words *words, const char *value)
{
    char **at = realloc(words->at, (words->count + 1) * sizeof *at);

    if (at == NULL)
        return false;
    words->at = at;
    at[words->count] = strdup(value);
    return at[words->count] != NULL && ++words->count > 0;
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
    at[users->count] = (struct user){.name = strdup(name)};
    return at[users->count].name != NULL && ++users->count > 0;
}

bool users_take(struct users *users, const char *setting, const char *value)
{
    struct user *user = users->count > 0 ? &users->at[users->count - 1] : NULL;

    if (strcmp(setting, "users.name") == 0)
        return user_begin(users, value);
    if (user == NULL)
        return true;
    if (strcmp(setting, "users.role") == 0)
        return text_set(&user->role, value);
    if (strcmp(setting, "users.password_hash") == 0)
        return text_set(&user->password_hash, value);
    if (strcmp(setting, "users.token_hash") == 0)
        return text_set(&user->token_hash, value);
    if (strcmp(setting, "users.certificate") == 0)
        return text_set(&user->certificate, value);
    if (strcmp(setting, "users.keys") == 0)
        return words_add(&user->keys, value);
    if (strcmp(setting, "users.uids") == 0)
        return words_add(&user->uid_names, value);
    if (strcmp(setting, "users.gids") == 0)
        return words_add(&user->gid_names, value);
    return true;
}

static void words_free(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->at[i]);
    free(words->at);
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
    }
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

/* A name of the system or a number. */
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

/* The name that is unknown; "" if memory is short; NULL: all are read. */
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

/* All are compared, so that the time does not say whose it is. */
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

/* A common name that looks like an alternative name is none. */
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
    for (size_t i = 0; i < user->keys.count; i++)
        if (pattern_matches(user->keys.at[i], key, length))
            return true;
    return user->keys.count == 0;
}
