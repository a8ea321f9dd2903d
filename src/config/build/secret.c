/* SPDX-License-Identifier: Apache-2.0 */
/* Reads secrets and checks that files with secrets are private. A setting that
 * should name a place may hold the password itself by mistake. So messages show
 * such a name only where it is needed. */
#include "config/build/build.h"

#include <stdlib.h>
#include <string.h>

#include "store/store.h"

/* The content of a file that must hold `what`; free it by secret_free. NULL,
 * with a mistake added, if it cannot be read. */
static char *read_file(const struct build *build, const struct draft_text *file,
                       const char *what)
{
    struct diagnostics *diagnostics = build->diagnostics;
    const char *path = path_join(diagnostics->arena, build->folder, file->text);
    struct seqb_error error;
    char *text = NULL;

    if (path != NULL && secret_read(path, what, &text, &error) != SEQB_OK)
        diagnostics_add(diagnostics, file->line, "%s", error.text);
    return text;
}

static const char *read_variable(const struct build *build,
                                 const struct draft_text *name)
{
    const char *value = path_variable(name->text);

    if (value != NULL)
        return arena_format(build->source->arena, "%s", value);
    diagnostics_add(build->diagnostics, name->line,
                    "the variable that 'password_env' names is not set, or is "
                    "empty: set it where the broker starts");
    return NULL;
}

/* Adds a mistake if others may read the file that contains the setting. A text
 * in memory has no file. */
static void check_line(const struct build *build, int line, const char *setting)
{
    const char *path = source_line_at(build->source, line).file;

    if (build->source->read == NULL || secret_is_private(path))
        return;
    diagnostics_add(
        build->diagnostics, line,
        "'%s' holds a password, and others may read %s: chmod 600 it, "
        "or use password_file",
        setting, path);
}

/* Looks for "password = x", or "scheme://user:x@host". */
static bool holds_password(const char *text)
{
    const char *authority = strstr(text, "://");
    const char *colon;

    for (const char *at = strstr(text, "password"); at != NULL;
         at = strstr(at + 1, "password")) {
        const char *after = at + strlen("password");

        if (after[strspn(after, " \t")] == '=')
            return true;
    }
    if (authority == NULL)
        return false;
    colon = strchr(authority + 3, ':');
    return colon != NULL && strchr(colon, '@') != NULL;
}

/* Goes by the name, so that a secret setting added later is masked, too. The
 * URL of a webhook holds its access token. */
static bool is_secret(const struct schema_row *row)
{
    const char *end = strrchr(row->name, '_');
    const bool is_place =
        end != NULL && (strcmp(end, "_file") == 0 || strcmp(end, "_env") == 0);

    return !is_place && (strstr(row->name, "password") != NULL ||
                         strstr(row->name, "token") != NULL ||
                         strstr(row->name, "secret") != NULL ||
                         strcmp(row->name, "webhook") == 0 ||
                         strcmp(row->name, "parameters") == 0);
}

const char *secret_masked(const struct schema_row *row, const char *text)
{
    return is_secret(row) ||
                   (row->section == SCHEMA_BACKENDS && holds_password(text))
               ? "***"
               : text;
}

static void check_text(const struct build *build,
                       const struct draft_text *setting, const char *name)
{
    if (setting->text != NULL && holds_password(setting->text))
        check_line(build, setting->line, name);
}

const char *secret_password(const struct build *build,
                            const struct draft_backend *backend)
{
    if (backend->password_file.text != NULL) {
        secret_free(read_file(build, &backend->password_file, "password"));
        return NULL;
    }
    if (backend->password_env.text != NULL)
        return read_variable(build, &backend->password_env);
    if (backend->password.text != NULL)
        check_line(build, backend->password.line, "password");
    return backend->password.text;
}

void secret_check(const struct build *build,
                  const struct draft_backend *backend)
{
    struct diagnostics *diagnostics = build->diagnostics;
    const char *key = backend->tls_key.text;

    if (backend->sentinel_password_file.text != NULL)
        secret_free(
            read_file(build, &backend->sentinel_password_file, "password"));
    check_text(build, &backend->conninfo, "conninfo");
    check_text(build, &backend->parameters, "parameters");
    if (key != NULL)
        key = path_join(diagnostics->arena, build->folder, key);
    if (key != NULL && !secret_is_private(key))
        diagnostics_add(diagnostics, backend->tls_key.line,
                        "others may read the key %s: chmod 600 it", key);
}

const char *secret_password_hash(const struct build *build,
                                 const struct draft_user *user)
{
    const char *hash = user->password_hash.text;
    char *text = NULL;

    if (user->password_hash_file.text == NULL)
        return hash;
    text = read_file(build, &user->password_hash_file, "hash of a password");
    if (text != NULL)
        hash = arena_format(build->arena, "%s", text);
    secret_free(text);
    return hash;
}

bool secret_shuffle_key(const struct build *build,
                        const struct draft_text *file, struct shuffle_key *out)
{
    char *text = read_file(build, file, "key");
    const size_t length = text == NULL ? 0 : strlen(text);
    const bool is_right =
        length >= SHUFFLE_SECRET_MIN && length <= SHUFFLE_SECRET_MAX;

    if (is_right)
        shuffle_key_make(text, length, out);
    else if (text != NULL)
        diagnostics_add(
            build->diagnostics, file->line,
            "the key in %s has %zu characters, but must have %d ... "
            "%d: head -c 32 /dev/urandom | base64 makes one",
            file->text, length, SHUFFLE_SECRET_MIN, SHUFFLE_SECRET_MAX);
    secret_free(text);
    return is_right;
}
