/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the settings for the daemon, which the library does not use itself: its
 * section, users and key limits, in the table's order. */
#include "config/build/build.h"

#include <string.h>

/* Where values are written. While `out` is NULL they are only counted. */
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

/* Durations are written in ms. */
static const char *number_text(struct values *values,
                               const struct schema_row *row,
                               const struct draft_number *number)
{
    if (row->type == SCHEMA_BOOLEAN)
        return number->number != 0 ? "true" : "false";
    return arena_format(values->arena, "%lld", (long long)number->number);
}

static void add_names(struct values *values, const char *setting,
                      const struct draft_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        add(values, setting, names->names[i]);
    if (names->line > 0 && names->count == 0)
        add(values, setting, "");
}

static void add_row(struct values *values, const char *setting,
                    const void *group, const struct schema_row *row)
{
    const void *member = (const char *)group + row->offset;
    const struct draft_number *number = member;
    const struct draft_text *text = member;

    if (schema_is_list(row))
        add_names(values, setting, member);
    else if (row->type >= SCHEMA_INTEGER && number->line > 0)
        add(values, setting, number_text(values, row, number));
    else if (row->type < SCHEMA_INTEGER && text->line > 0)
        add(values, setting, text->text);
}

/* A hash file is read only once, when values are written. */
static void add_hash(struct values *values, const struct build *build,
                     const struct draft_user *user)
{
    const char *hash =
        values->out != NULL ? secret_password_hash(build, user) : NULL;

    if (user->password_hash.line > 0 || user->password_hash_file.line > 0)
        add(values, "users.password_hash", hash != NULL ? hash : "");
}

static bool row_is_hash(const struct schema_row *row)
{
    return strncmp(row->name, "password_hash", strlen("password_hash")) == 0;
}

static void add_user(struct values *values, const struct build *build,
                     const struct draft_user *user)
{
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].section == SCHEMA_USERS && !row_is_hash(&rows[i]))
            add_row(values,
                    arena_format(values->arena, "users.%s", rows[i].name), user,
                    &rows[i]);
    }
    add_hash(values, build, user);
}

static void add_key_limit(struct values *values,
                          const struct draft_key_limit *limit)
{
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].section == SCHEMA_KEY_LIMITS)
            add_row(values,
                    arena_format(values->arena, "key_limits.%s", rows[i].name),
                    limit, &rows[i]);
    }
}

static void add_all(struct values *values, const struct build *build)
{
    const struct draft *draft = build->draft;
    size_t count;
    const struct schema_row *rows = schema_rows(&count);

    values->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].section == SCHEMA_DAEMON)
            add_row(values, rows[i].name, draft->daemon, &rows[i]);
    }
    for (size_t i = 0; i < draft->user_count; i++)
        add_user(values, build, &draft->users[i]);
    for (size_t i = 0; i < draft->key_limit_count; i++)
        add_key_limit(values, &draft->key_limits[i]);
}

const struct config_daemon *build_daemon(const struct build *build)
{
    struct values values = {build->arena, NULL, 0};

    add_all(&values, build);
    values.out = arena_take(build->arena, values.count + 1, sizeof *values.out);
    if (values.out != NULL)
        add_all(&values, build);
    return values.out;
}
