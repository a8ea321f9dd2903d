/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and guarding secrets. A setting that should name a place may hold
 * the password itself by mistake: such a name is not told where it need not. */
#include "config/build/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/file.h"

#define FILE_MAX 4096 /* bytes of a file that holds a secret */
#define OTHERS   077  /* mode bits of group and others */

/* Of a file that was opened before: who may not even look at it is told so
 * when it is read. */
static bool is_private(const char *path)
{
    struct stat about;

    return stat(path, &about) != 0 || (about.st_mode & OTHERS) == 0;
}

static void secret_free(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    free(text);
}

/* The first line's length is the secret's; more lines are a mistake. */
static bool is_one_line(const char *text, size_t *length)
{
    *length = strcspn(text, "\r\n");
    return *length > 0 && text[*length + strspn(text + *length, "\r\n")] == 0;
}

/* A file that must hold one line, `what`, and be its owner's alone. Its text,
 * for secret_free, ends with the line; NULL and a mistake. */
static char *read_file(const struct build *build, const struct draft_text *file,
                       const char *what)
{
    struct diagnostics *diagnostics = build->diagnostics;
    const char *path = path_join(diagnostics->arena, build->folder, file->text);
    const size_t before = diagnostics->found.count;
    struct seqb_error error;
    size_t length;
    char *text;

    if (path == NULL)
        return NULL;
    if (file_read(path, FILE_MAX, &text, &error) != SEQB_OK) {
        diagnostics_add(diagnostics, file->line, "%s", error.text);
        return NULL;
    }
    if (is_one_line(text, &length))
        text[length] = '\0';
    else
        diagnostics_add(diagnostics, file->line,
                        "%s must hold one line, the %s", path, what);
    if (!is_private(path))
        diagnostics_add(diagnostics, file->line,
                        "others may read the %s file %s: chmod 600 it", what,
                        path);
    if (diagnostics->found.count == before)
        return text;
    secret_free(text);
    return NULL;
}

static const char *read_password(const struct build *build,
                                 const struct draft_text *file)
{
    char *text = read_file(build, file, "password");
    const char *password = NULL;

    if (text != NULL)
        password = arena_format(build->source->arena, "%s", text);
    secret_free(text);
    return password;
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

/* That nobody else may read the file in which a setting stands. A text in
 * memory stands in none. */
static void check_line(const struct build *build, int line, const char *setting)
{
    const char *path = source_line_at(build->source, line).file;

    if (build->source->read == NULL || is_private(path))
        return;
    diagnostics_add(
        build->diagnostics, line,
        "'%s' holds a password, and others may read %s: chmod 600 it, "
        "or use password_file",
        setting, path);
}

/* "password = x" among the words, or "scheme://user:x@host". */
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

static void check_text(const struct build *build,
                       const struct draft_text *setting, const char *name)
{
    if (setting->text != NULL && holds_password(setting->text))
        check_line(build, setting->line, name);
}

const char *secret_password(const struct build *build,
                            const struct draft_backend *backend)
{
    if (backend->password_file.text != NULL)
        return read_password(build, &backend->password_file);
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

    check_text(build, &backend->conninfo, "conninfo");
    check_text(build, &backend->parameters, "parameters");
    if (key != NULL)
        key = path_join(diagnostics->arena, build->folder, key);
    if (key != NULL && !is_private(key))
        diagnostics_add(diagnostics, backend->tls_key.line,
                        "others may read the key %s: chmod 600 it", key);
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
