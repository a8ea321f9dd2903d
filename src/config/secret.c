/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and guarding secrets. A setting that should name a place may hold
 * the password itself by mistake: such a name is not told where it need not. */
#include "config/secret.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/place.h"
#include "platform/file.h"

#define PASSWORD_MAX 4096
#define OTHERS       077 /* mode bits of group and others */

/* Of a file that was opened before: who may not even look at it is told so
 * when it is read. */
static bool is_private(const char *path)
{
    struct stat about;

    return stat(path, &about) != 0 || (about.st_mode & OTHERS) == 0;
}

/* The first line's length is the password's; more lines are a mistake. */
static const char *take_password(const struct secret_reader *reader,
                                 const char *text, const char *path, int line)
{
    const size_t length = strcspn(text, "\r\n");
    const char *rest = text + length;

    if (length == 0 || rest[strspn(rest, "\r\n")] != '\0') {
        mistakes_add(reader->mistakes, line,
                     "%s must hold one line, the password", path);
        return NULL;
    }
    return arena_format(reader->source->arena, "%.*s", (int)length, text);
}

static const char *read_file(const struct secret_reader *reader,
                             const struct draft_text *file)
{
    struct mistakes *mistakes = reader->mistakes;
    const char *path = place_join(mistakes->arena, reader->folder, file->text);
    const char *password;
    struct seqb_error error;
    char *text;

    if (path == NULL)
        return NULL;
    if (file_read(path, PASSWORD_MAX, &text, &error) != SEQB_OK) {
        mistakes_add(mistakes, file->line, "%s", error.text);
        return NULL;
    }
    password = take_password(reader, text, path, file->line);
    explicit_bzero(text, strlen(text));
    free(text);
    if (is_private(path))
        return password;
    mistakes_add(mistakes, file->line,
                 "others may read the password file %s: chmod 600 it", path);
    return NULL;
}

static const char *read_variable(const struct secret_reader *reader,
                                 const struct draft_text *name)
{
    const char *value = place_variable(name->text);

    if (value != NULL)
        return arena_format(reader->source->arena, "%s", value);
    mistakes_add(reader->mistakes, name->line,
                 "the variable that 'password_env' names is not set, or is "
                 "empty: set it where the broker starts");
    return NULL;
}

/* That nobody else may read the file in which a setting stands. A text in
 * memory stands in none. */
static void check_line(const struct secret_reader *reader, int line,
                       const char *setting)
{
    const char *path = source_line_at(reader->source, line).file;

    if (reader->source->read == NULL || is_private(path))
        return;
    mistakes_add(reader->mistakes, line,
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

static void check_text(const struct secret_reader *reader,
                       const struct draft_text *setting, const char *name)
{
    if (setting->text != NULL && holds_password(setting->text))
        check_line(reader, setting->line, name);
}

const char *secret_password(const struct secret_reader *reader,
                            const struct draft_backend *backend)
{
    if (backend->password_file.text != NULL)
        return read_file(reader, &backend->password_file);
    if (backend->password_env.text != NULL)
        return read_variable(reader, &backend->password_env);
    if (backend->password.text != NULL)
        check_line(reader, backend->password.line, "password");
    return backend->password.text;
}

void secret_check(const struct secret_reader *reader,
                  const struct draft_backend *backend)
{
    struct mistakes *mistakes = reader->mistakes;
    const char *key = backend->tls_key.text;

    check_text(reader, &backend->conninfo, "conninfo");
    check_text(reader, &backend->parameters, "parameters");
    if (key != NULL)
        key = place_join(mistakes->arena, reader->folder, key);
    if (key != NULL && !is_private(key))
        mistakes_add(mistakes, backend->tls_key.line,
                     "others may read the key %s: chmod 600 it", key);
}
