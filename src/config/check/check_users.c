/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the daemon's users: their names, how they log in, and the form of
 * hashes. Also checks limits of keys. */
#include "config/check/check.h"

#include <string.h>

/* The user of clients that are not logged in. */
#define DEFAULT_USER  "default"
#define PASSWORD_HASH "$argon2id$"
#define TOKEN_HASH    "blake2b:"

/* seqbrokerd ignores longer names of certificates: see TLS_NAME_SIZE in
 * src/tls. */
#define CERTIFICATE_MAX 255

static void check_name(const struct draft *draft, size_t i,
                       struct diagnostics *diagnostics)
{
    const struct draft_text *name = &draft->users[i].name;

    for (size_t j = 0; j < i && name->text != NULL; j++) {
        const char *other = draft->users[j].name.text;

        if (other == NULL || strcmp(other, name->text) != 0)
            continue;
        diagnostics_add(diagnostics, name->line,
                        "there is another user named '%s'", name->text);
        return;
    }
}

/* The message does not show the value, which may be a password instead of a
 * hash. */
static void check_hash(const struct draft_text *hash, const char *begin,
                       const char *setting, struct diagnostics *diagnostics)
{
    if (hash->text != NULL && strncmp(hash->text, begin, strlen(begin)) != 0)
        diagnostics_add(diagnostics, hash->line,
                        "'%s_hash' is no hash, which begins with %s: seqctl %s "
                        "makes one",
                        setting, begin, setting);
}

static void check_claim(const struct draft *draft, size_t i,
                        struct diagnostics *diagnostics)
{
    const struct draft_text *claim = &draft->users[i].certificate;

    for (size_t j = 0; j < i; j++) {
        const struct draft_user *other = &draft->users[j];

        if (other->certificate.text == NULL ||
            strcmp(other->certificate.text, claim->text) != 0)
            continue;
        diagnostics_add(diagnostics, claim->line,
                        "'certificate' \"%s\" is that of the user '%s', too",
                        claim->text,
                        other->name.text != NULL ? other->name.text : "");
        return;
    }
}

/* A certificate that no client can show is a mistake, because it would look
 * like a way to log in. */
static void check_certificate(const struct draft *draft, size_t i,
                              struct diagnostics *diagnostics)
{
    const struct draft_text *claim = &draft->users[i].certificate;
    const char *auth = draft->daemon->tls_client_auth.text;

    if (claim->text == NULL)
        return;
    if (strlen(claim->text) > CERTIFICATE_MAX)
        diagnostics_add(diagnostics, claim->line,
                        "'certificate' is longer than %d bytes",
                        CERTIFICATE_MAX);
    if (auth == NULL || strcmp(auth, "none") == 0)
        diagnostics_add(diagnostics, claim->line,
                        "'certificate' needs clients that are asked for one: "
                        "set tls_client_auth in section daemon");
    check_claim(draft, i, diagnostics);
}

static bool can_log_in(const struct draft_user *user)
{
    return user->password_hash.line > 0 || user->password_hash_file.line > 0 ||
           user->token_hash.line > 0 || user->certificate.line > 0 ||
           user->uids.line > 0 || user->gids.line > 0;
}

static void check_user(const struct draft_user *user,
                       struct diagnostics *diagnostics)
{
    const char *name = user->name.text;

    check_hash(&user->password_hash, PASSWORD_HASH, "password", diagnostics);
    check_hash(&user->token_hash, TOKEN_HASH, "token", diagnostics);
    if (user->password_hash.line > 0 && user->password_hash_file.line > 0)
        diagnostics_add(
            diagnostics, user->password_hash_file.line,
            "the user has a password_hash, too: remove one of them");
    if (name != NULL && strcmp(name, DEFAULT_USER) != 0 && !can_log_in(user))
        diagnostics_add(diagnostics, user->line,
                        "the user '%s' can never log in: give it a "
                        "password_hash, a password_hash_file, a token_hash, "
                        "a certificate, uids or gids",
                        name);
}

/* A client of TCP that has not logged in is the user "default", unless that has
 * to log in. */
static bool is_anonymous(const struct draft_user *user)
{
    return user->name.text != NULL &&
           strcmp(user->name.text, DEFAULT_USER) == 0 &&
           user->password_hash.line == 0 &&
           user->password_hash_file.line == 0 && user->token_hash.line == 0 &&
           user->certificate.line == 0;
}

static void check_anonymous(const struct draft_user *user,
                            struct diagnostics *diagnostics)
{
    if (is_anonymous(user) && user->role.text != NULL &&
        strcmp(user->role.text, "admin") == 0)
        diagnostics_add(
            diagnostics, user->role.line,
            "the user 'default' needs no login, so that whoever connects "
            "could give orders: give it another role, or a password_hash, a "
            "password_hash_file, a token_hash or a certificate");
}

static void check_burst(const struct draft_number *burst,
                        const struct draft_number *rate,
                        struct diagnostics *diagnostics)
{
    if (burst->number > 0 && rate->number == 0)
        diagnostics_add(diagnostics, burst->line,
                        "'burst' is nothing without a 'rate': set one");
}

static void check_key_limit(const struct draft *draft, size_t i,
                            struct diagnostics *diagnostics)
{
    const struct draft_key_limit *limit = &draft->key_limits[i];

    check_burst(&limit->burst, &limit->rate, diagnostics);
    for (size_t j = 0; j < i && limit->name.text != NULL; j++) {
        const char *other = draft->key_limits[j].name.text;

        if (other == NULL || strcmp(other, limit->name.text) != 0)
            continue;
        diagnostics_add(diagnostics, limit->name.line,
                        "there is another key limit named '%s'",
                        limit->name.text);
        return;
    }
}

void check_users(const struct draft *draft, struct diagnostics *diagnostics)
{
    for (size_t i = 0; i < draft->user_count; i++) {
        check_name(draft, i, diagnostics);
        check_user(&draft->users[i], diagnostics);
        check_anonymous(&draft->users[i], diagnostics);
        check_burst(&draft->users[i].burst, &draft->users[i].rate, diagnostics);
        check_certificate(draft, i, diagnostics);
    }
    for (size_t i = 0; i < draft->key_limit_count; i++)
        check_key_limit(draft, i, diagnostics);
}
