/* SPDX-License-Identifier: Apache-2.0 */
/* One function an engine that wants more than the table can say. */
#include "config/engine.h"

#include <string.h>

#include "backends/backends.h"
#include "config/value.h"
#include "platform/text.h"

const struct seqb_backend_ops *engine_find(const struct draft_backend *backend)
{
    const char *engine = backend->engine.text;

    return engine == NULL ? NULL : backend_find(engine);
}

static void list_engines(char *out, size_t size)
{
    const struct seqb_backend_ops *ops;

    (void)text_copy(out, size, ": this build has");
    for (size_t i = 0; (ops = backend_at(i)) != NULL; i++)
        (void)text_append(out, size, "%s %s", i == 0 ? "" : ",", ops->engine);
}

static void check_known(struct mistakes *mistakes,
                        const struct draft_backend *backend)
{
    char engines[256];

    if (backend->engine.text == NULL || engine_find(backend) != NULL)
        return;
    list_engines(engines, sizeof engines);
    mistakes_add(mistakes, backend->engine.line, "unknown engine '%.64s'%s",
                 backend->engine.text, engines);
}

/* The line of a setting that was given, else 0. */
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

/* Settings that another engine uses. */
static void check_foreign(struct mistakes *mistakes,
                          const struct draft_backend *backend)
{
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    if (engine_find(backend) == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        int line;

        if (rows[i].section != SCHEMA_BACKENDS || *rows[i].engines == '\0' ||
            value_is_listed(rows[i].engines, backend->engine.text))
            continue;
        line = given_line(backend, &rows[i]);
        if (line > 0)
            mistakes_add(mistakes, line,
                         "engine %s does not use '%s', it is for %s: remove it",
                         backend->engine.text, rows[i].name, rows[i].engines);
    }
}

static void check_sqlite(struct mistakes *mistakes,
                         const struct draft_backend *backend)
{
    if (backend->path.line == 0)
        mistakes_add(mistakes, backend->line,
                     "the backend has no 'path': engine sqlite needs one");
}

static void check_server(struct mistakes *mistakes,
                         const struct draft_backend *backend)
{
    const int host_line =
        backend->host.line > 0 ? backend->host.line : backend->port.line;

    if (backend->socket.line > 0 && host_line > 0)
        mistakes_add(mistakes, backend->socket.line,
                     "'socket' and '%s' exclude each other: remove one",
                     backend->host.line > 0 ? "host" : "port");
    if (backend->socket.text != NULL && backend->socket.text[0] != '/')
        mistakes_add(mistakes, backend->socket.line,
                     "'socket' is \"%.80s\", but must be an absolute path",
                     backend->socket.text);
}

void engine_check(const struct draft_backend *backend,
                  struct mistakes *mistakes)
{
    const char *engine = backend->engine.text;

    if (engine == NULL)
        return;
    check_known(mistakes, backend);
    check_foreign(mistakes, backend);
    if (strcmp(engine, "sqlite") == 0)
        check_sqlite(mistakes, backend);
    else
        check_server(mistakes, backend);
}
