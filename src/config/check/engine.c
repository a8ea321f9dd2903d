/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a backend's settings. Settings that exclude each other are in tables;
 * each other rule is a function. */
#include "config/check/check.h"

#include <string.h>

#include "config/settings/settings.h"
#include "platform/text.h"

#define REDIS_DATABASE_MAX 65535
#define NODES_MAX          16
#define LETTERS_TABLE                                                          \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* A setting, and others that must not be given together with it. */
struct exclusion {
    const char *setting;
    const char *others;
    const char *advice;
};

static const struct exclusion addresses[] = {
    {"conninfo",
     "host, port, socket, user, database, tls, tls_ca, tls_cert, tls_key",
     "say it all in conninfo"},
    {"cluster", "host, port, socket, sentinels, database", "remove one"},
    {"sentinels", "host, port, socket", "remove one"},
    {"endpoints", "host, port", "remove one"},
    {"hosts", "host, port, socket", "remove one"},
    {"socket", "host, port", "remove one"},
};

static const struct exclusion passwords[] = {
    {"password", "password_file, password_env", "keep one"},
    {"password_file", "password_env", "keep one"},
};

/* The line of a setting, 0 if it was not given. */
static int given_line(const struct draft_backend *backend,
                      const struct schema_row *row)
{
    const char *member = (const char *)backend + row->offset;

    if (row->type == SCHEMA_ADDRESSES)
        return ((const struct draft_names *)(const void *)member)->line;
    if (row->type >= SCHEMA_INTEGER)
        return ((const struct draft_number *)(const void *)member)->line;
    return ((const struct draft_text *)(const void *)member)->line;
}

/* The same, by the setting's name. */
static int named_line(const struct draft_backend *backend, const char *name)
{
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].section == SCHEMA_BACKENDS &&
            strcmp(rows[i].name, name) == 0)
            return given_line(backend, &rows[i]);
    }
    return 0;
}

static void check_known(const struct draft *draft,
                        const struct draft_backend *backend,
                        struct diagnostics *diagnostics)
{
    char engines[512];

    if (backend->ops != NULL)
        return;
    if (strcmp(backend->engine.text, "snowflake") == 0) {
        diagnostics_add(
            diagnostics, backend->engine.line,
            "there is no engine 'snowflake' any more: a snowflake is "
            "a kind of sequence: remove the backend, and write "
            "snowflake = { worker_bits = 10; counter_bits = 12; }; "
            "in the sequence, see time.md");
        return;
    }
    engines_list(draft, engines, sizeof engines);
    diagnostics_add(diagnostics, backend->engine.line,
                    "unknown engine '%.64s'%s", backend->engine.text, engines);
}

/* Finds settings that only other engines use. */
static void check_foreign(struct diagnostics *diagnostics,
                          const struct draft_backend *backend)
{
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    for (size_t i = 0; i < count; i++) {
        int line;

        if (rows[i].section != SCHEMA_BACKENDS || *rows[i].engines == '\0' ||
            value_is_listed(rows[i].engines, backend->engine.text))
            continue;
        line = given_line(backend, &rows[i]);
        if (line > 0)
            diagnostics_add(
                diagnostics, line,
                "engine %s does not use '%s', it is for %s: remove it",
                backend->engine.text, rows[i].name, rows[i].engines);
    }
}

static void check_exclusion(struct diagnostics *diagnostics,
                            const struct draft_backend *backend,
                            const struct exclusion *exclusion)
{
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    if (named_line(backend, exclusion->setting) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        int line;

        if (rows[i].section != SCHEMA_BACKENDS ||
            !value_is_listed(exclusion->others, rows[i].name))
            continue;
        line = given_line(backend, &rows[i]);
        if (line > 0)
            diagnostics_add(
                diagnostics, line, "'%s' and '%s' exclude each other: %s",
                exclusion->setting, rows[i].name, exclusion->advice);
    }
}

static void check_passwords(struct diagnostics *diagnostics,
                            const struct draft_backend *backend)
{
    for (size_t i = 0; i < sizeof passwords / sizeof passwords[0]; i++)
        check_exclusion(diagnostics, backend, &passwords[i]);
}

static void check_address(struct diagnostics *diagnostics,
                          const struct draft_backend *backend)
{
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
        check_exclusion(diagnostics, backend, &addresses[i]);
    if (backend->socket.text != NULL && backend->socket.text[0] != '/')
        diagnostics_add(diagnostics, backend->socket.line,
                        "'socket' is \"%.80s\", but must be an absolute path",
                        backend->socket.text);
}

/* Checks a setting that has no use without another one. */
static void check_pair(struct diagnostics *diagnostics,
                       const struct draft_backend *backend, const char *setting,
                       const char *other)
{
    const int line = named_line(backend, setting);

    if (line > 0 && named_line(backend, other) == 0)
        diagnostics_add(diagnostics, line, "'%s' needs '%s' beside it", setting,
                        other);
}

/* For engines with TLS only. Other engines do not use these settings. */
static void check_certificates(struct diagnostics *diagnostics,
                               const struct draft_backend *backend)
{
    static const char *const files[] = {"tls_ca", "tls_cert", "tls_key"};
    const bool is_off =
        backend->tls.text != NULL && strcmp(backend->tls.text, "off") == 0;

    if (backend->conninfo.line > 0)
        return;
    for (size_t i = 0; is_off && i < sizeof files / sizeof files[0]; i++) {
        const int line = named_line(backend, files[i]);

        if (line > 0)
            diagnostics_add(diagnostics, line,
                            "'%s' is of no use while tls is \"off\": add tls = "
                            "\"verify\" or remove it",
                            files[i]);
    }
    check_pair(diagnostics, backend, "tls_cert", "tls_key");
    check_pair(diagnostics, backend, "tls_key", "tls_cert");
}

/* For engines that use no TLS over a unix socket. */
static void check_stream(struct diagnostics *diagnostics,
                         const struct draft_backend *backend)
{
    if (backend->socket.line > 0 && backend->tls.text != NULL &&
        strcmp(backend->tls.text, "off") != 0)
        diagnostics_add(diagnostics, backend->tls.line,
                        "'tls' is of no use with 'socket', which stays on "
                        "this machine: remove it, or name a host");
    check_certificates(diagnostics, backend);
}

static void check_sqlite(struct diagnostics *diagnostics,
                         const struct draft_backend *backend)
{
    if (backend->path.line == 0)
        diagnostics_add(diagnostics, backend->line,
                        "the backend has no 'path': engine sqlite needs one");
}

static void check_redis_database(struct diagnostics *diagnostics,
                                 const struct draft_text *database)
{
    const char *text = database->text;
    int64_t number;

    if (text != NULL && (!text_to_int64(text, strlen(text), &number) ||
                         number < 0 || number > REDIS_DATABASE_MAX))
        diagnostics_add(
            diagnostics, database->line,
            "'database' is \"%.80s\", but redis has numbers, 0 ... %d", text,
            REDIS_DATABASE_MAX);
}

static void check_user(struct diagnostics *diagnostics,
                       const struct draft_backend *backend)
{
    if (backend->user.line > 0 && backend->password.line == 0 &&
        backend->password_file.line == 0 && backend->password_env.line == 0)
        diagnostics_add(diagnostics, backend->user.line,
                        "'user' needs a password beside it, such as a "
                        "'password_file'");
}

static void check_redis(struct diagnostics *diagnostics,
                        const struct draft_backend *backend)
{
    check_stream(diagnostics, backend);
    check_redis_database(diagnostics, &backend->database);
    check_pair(diagnostics, backend, "sentinels", "master_name");
    check_pair(diagnostics, backend, "master_name", "sentinels");
    check_pair(diagnostics, backend, "sentinel_user", "sentinel_password_file");
    check_pair(diagnostics, backend, "sentinel_password_file", "sentinels");
    check_user(diagnostics, backend);
}

/* Users of etcd are used to URLs, which are wrong here. */
static void check_endpoints(struct diagnostics *diagnostics,
                            const struct draft_names *endpoints)
{
    for (size_t i = 0; i < endpoints->count; i++)
        if (strstr(endpoints->names[i], "//") != NULL)
            diagnostics_add(diagnostics, endpoints->line,
                            "'endpoints' is \"%s\", but must be host:port: "
                            "'tls' says whether it is https",
                            endpoints->names[i]);
}

static void check_etcd(struct diagnostics *diagnostics,
                       const struct draft_backend *backend)
{
    check_endpoints(diagnostics, &backend->endpoints);
    if (backend->endpoints.count > NODES_MAX)
        diagnostics_add(
            diagnostics, backend->endpoints.line,
            "'endpoints' has %zu members, but an etcd needs no more "
            "than %d",
            backend->endpoints.count, NODES_MAX);
    check_user(diagnostics, backend);
    check_certificates(diagnostics, backend);
}

/* How often a word of two letters occurs in a text. */
static int occurrences(const char *text, const char *word)
{
    int count = 0;

    for (const char *at = strstr(text, word); at != NULL;
         at = strstr(at + 2, word))
        count++;
    return count;
}

/* Whether the text consists of letters of table names, one %s and one %d. */
static bool is_table_format(const char *text)
{
    if (occurrences(text, "%s") != 1 || occurrences(text, "%d") != 1)
        return false;
    for (text += strspn(text, LETTERS_TABLE); *text != '\0';
         text += strspn(text, LETTERS_TABLE)) {
        if (strncmp(text, "%s", 2) != 0 && strncmp(text, "%d", 2) != 0)
            return false;
        text += 2;
    }
    return true;
}

static void check_mysql(struct diagnostics *diagnostics,
                        const struct draft_backend *backend)
{
    const struct draft_text *format = &backend->table_format;

    if (backend->database.line == 0)
        diagnostics_add(diagnostics, backend->line,
                        "the backend has no 'database': engine %s needs one",
                        backend->engine.text);
    if (format->line > 0 && format->text != NULL &&
        !is_table_format(format->text))
        diagnostics_add(
            diagnostics, format->line,
            "'table_format' is \"%.80s\", but must hold %%s and %%d "
            "once each, and else only A-Z a-z 0-9 _",
            format->text);
    if (backend->hosts.count > NODES_MAX)
        diagnostics_add(
            diagnostics, backend->hosts.line,
            "'hosts' has %zu members, but a cluster needs no more than %d",
            backend->hosts.count, NODES_MAX);
    check_certificates(diagnostics, backend);
}

static const struct {
    const char *engine;
    void (*check)(struct diagnostics *diagnostics,
                  const struct draft_backend *backend);
} rules[] = {
    {"sqlite", check_sqlite},       {"redis", check_redis},
    {"memcached", check_stream},    {"mysql-row", check_mysql},
    {"mysql-autoinc", check_mysql}, {"postgres", check_certificates},
    {"etcd", check_etcd},
};

void engine_check(const struct draft *draft,
                  const struct draft_backend *backend,
                  struct diagnostics *diagnostics)
{
    if (backend->engine.text == NULL)
        return;
    check_known(draft, backend, diagnostics);
    check_passwords(diagnostics, backend);
    if (backend->ops == NULL || backend->is_custom)
        return;
    check_foreign(diagnostics, backend);
    check_address(diagnostics, backend);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (strcmp(rules[i].engine, backend->engine.text) == 0)
            rules[i].check(diagnostics, backend);
    }
}
