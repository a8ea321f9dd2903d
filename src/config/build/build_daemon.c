/* SPDX-License-Identifier: Apache-2.0 */
/* What a topology says of the daemon, which is not the library's to follow: a
 * list of settings and values, by the table of settings. */
#include "config/build/build.h"

/* Where values go; they are only counted while `out` is NULL. */
struct values {
    struct arena *arena;
    struct config_daemon *out;
    size_t count;
};

static void add(struct values *values, const char *setting, const char *value)
{
    if (values->out != NULL)
        values->out[values->count] = (struct config_daemon){setting, value};
    values->count++;
}

/* A time goes on as its ms. */
static void add_number(struct values *values, const char *setting,
                       const struct draft_number *number)
{
    if (number->line > 0)
        add(values, setting,
            arena_format(values->arena, "%lld", (long long)number->number));
}

static void add_row(struct values *values, const struct draft_daemon *daemon,
                    const struct schema_row *row)
{
    const void *member = (const char *)daemon + row->offset;
    const struct draft_names *names = member;
    const struct draft_text *text = member;

    if (row->type == SCHEMA_DURATION || row->type == SCHEMA_INTEGER) {
        add_number(values, row->name, member);
        return;
    }
    if (!schema_is_list(row)) {
        if (text->line > 0)
            add(values, row->name, text->text);
        return;
    }
    for (size_t i = 0; i < names->count; i++)
        add(values, row->name, names->names[i]);
    if (names->line > 0 && names->count == 0)
        add(values, row->name, "");
}

static void add_all(struct values *values, const struct draft_daemon *daemon)
{
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    values->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].section == SCHEMA_DAEMON)
            add_row(values, daemon, &rows[i]);
    }
}

const struct config_daemon *build_daemon(const struct build *build)
{
    struct values values = {build->arena, NULL, 0};

    add_all(&values, build->draft->daemon);
    values.out = arena_take(build->arena, values.count + 1, sizeof *values.out);
    if (values.out != NULL)
        add_all(&values, build->draft->daemon);
    return values.out;
}
