/* SPDX-License-Identifier: Apache-2.0 */
/* The effective settings of a topology: those given, and defaults for the rest.
 * Only values that differ from the table's default are stored, because there
 * may be 100,000 sequences. Secrets are never stored. */
#include "config/build/effective.h"

#include <assert.h>
#include <string.h>

#include "config/build/build.h"
#include "platform/checksum.h"
#include "platform/text.h"

/* --- storing --- */

static struct setting_item *item_add(const struct build *build,
                                     struct config_settings *settings,
                                     enum schema_section section,
                                     const char *name)
{
    struct setting_item *item = arena_take(build->arena, 1, sizeof *item);

    if (item == NULL)
        return NULL;
    *item = (struct setting_item){
        .section = section, .outer = section, .name = name};
    item->last = &item->first;
    *settings->last = item;
    settings->last = &item->next;
    settings->count++;
    return item;
}

static void value_add(const struct build *build, struct setting_item *item,
                      const struct setting_value *from)
{
    struct setting_value *value;

    if (from->text == NULL)
        return;
    value = arena_take(build->arena, 1, sizeof *value);
    if (value == NULL)
        return;
    *value = *from;
    *item->last = value;
    item->last = &value->next;
}

static const char *number_text(const struct build *build,
                               const struct schema_row *row, int64_t number)
{
    char duration[DURATION_SIZE];

    if (row->type == SCHEMA_BOOLEAN)
        return number != 0 ? "true" : "false";
    if (row->type == SCHEMA_INTEGER)
        return arena_format(build->arena, "%lld", (long long)number);
    duration_format(number, duration);
    return arena_format(build->arena, "%s", duration);
}

static const char *names_text(const struct build *build,
                              const struct draft_names *names)
{
    const char *text = "";

    for (size_t i = 0; i < names->count && text != NULL; i++)
        text = arena_format(build->arena, "%s%s%s", text, i > 0 ? ", " : "",
                            names->names[i]);
    return text;
}

/* The value given in the topology; NULL: not given. */
static const char *given_text(const struct build *build,
                              const struct schema_row *row, const void *group)
{
    const void *member = (const char *)group + row->offset;
    const struct draft_number *number = member;
    const struct draft_names *names = member;
    const struct draft_text *text = member;

    if (schema_is_list(row))
        return names->line > 0 ? names_text(build, names) : NULL;
    if (row->type >= SCHEMA_INTEGER)
        return number->line > 0 ? number_text(build, row, number->number)
                                : NULL;
    return text->line > 0 ? secret_masked(row, text->text) : NULL;
}

/* A checksum of a masked value. It shows whether a secret changed without
 * storing it. 0: not masked. */
static uint64_t secret_of(const struct schema_row *row, const void *group,
                          const char *shown)
{
    const struct draft_text *text =
        (const void *)((const char *)group + row->offset);

    if (shown == NULL || schema_is_list(row) || row->type >= SCHEMA_INTEGER ||
        text->text == shown)
        return 0;
    return checksum_of(text->text, strlen(text->text));
}

static bool row_is(const struct schema_row *row, const char *name)
{
    return row->name[0] == name[0] && strcmp(row->name, name) == 0;
}

static const char *backend_derived(const struct build *build,
                                   const struct schema_row *row,
                                   const struct draft_backend *backend)
{
    const int32_t port = draft_backend_port(backend);

    return row_is(row, "port") && port > 0 ? number_text(build, row, port)
                                           : NULL;
}

static const char *pool_derived(const struct build *build,
                                const struct schema_row *row,
                                const struct draft_pool *pool)
{
    if (row_is(row, "authority"))
        return pool->authority.text;
    if (row_is(row, "window_bits"))
        return number_text(build, row, draft_window_bits(build->draft, pool));
    return NULL;
}

static const char *sequence_derived(const struct build *build,
                                    const struct schema_row *row,
                                    const struct draft_sequence *sequence)
{
    const struct draft *draft = build->draft;
    const int32_t pool = draft_find_pool(draft, sequence);

    if (row_is(row, "pool"))
        return draft->pools[pool].name.text;
    if (row_is(row, "window_bits"))
        return number_text(
            build, row,
            draft_sequence_window_bits(draft, sequence, &draft->pools[pool]));
    if (row_is(row, "period") && sequence->ids.line > 0)
        return split_period(sequence->ids.unit.text);
    return NULL;
}

/* A value that follows from other settings; NULL: the table's default
 * applies. */
static const char *derived_text(const struct build *build,
                                const struct schema_row *row, const void *group)
{
    switch (row->section) {
    case SCHEMA_BROKER:
        return row_is(row, "state_dir") ? build->topology->state_dir : NULL;
    case SCHEMA_BACKENDS:
        return backend_derived(build, row, group);
    case SCHEMA_POOLS:
        return pool_derived(build, row, group);
    case SCHEMA_SEQUENCES:
    case SCHEMA_AUTOMATIC:
        return sequence_derived(build, row, group);
    default:
        return NULL;
    }
}

static void values_add(const struct build *build, struct setting_item *item,
                       const void *group)
{
    size_t count;
    const struct schema_row *rows = schema_rows_of(item->section, &count);

    for (size_t i = 0; i < count; i++) {
        const struct schema_row *row = &rows[i];
        struct setting_value value = {.row = row};

        if (row->type == SCHEMA_GROUP)
            continue;
        value.text = given_text(build, row, group);
        value.secret = secret_of(row, group, value.text);
        value.is_given = value.text != NULL;
        if (!value.is_given)
            value.text = derived_text(build, row, group);
        value_add(build, item, &value);
    }
}

/* --- the sections --- */

/* The effective state directory is shown, because the environment overrides the
 * topology. */
static void broker_add(const struct build *build,
                       struct config_settings *settings)
{
    const struct draft_broker *broker = build->draft->broker;
    struct setting_item *item = item_add(build, settings, SCHEMA_BROKER, NULL);

    if (item == NULL)
        return;
    values_add(build, item, broker);
    for (struct setting_value *value = item->first; value != NULL;
         value = value->next)
        if (row_is(value->row, "state_dir"))
            value->text = build->topology->state_dir;
}

static void backend_add(const struct build *build,
                        struct config_settings *settings,
                        const struct draft_backend *backend)
{
    struct setting_item *item =
        item_add(build, settings, SCHEMA_BACKENDS, backend->name.text);

    if (item == NULL)
        return;
    item->engine = backend->engine.text;
    item->has_no_host =
        backend->socket.text != NULL || backend->conninfo.text != NULL ||
        backend->sentinels.count > 0 || backend->cluster.count > 0 ||
        backend->endpoints.count > 0 || backend->hosts.count > 0;
    values_add(build, item, backend);
}

static void nested_add(const struct build *build,
                       struct config_settings *settings,
                       const struct setting_item *outer,
                       enum schema_section section, const void *group)
{
    struct setting_item *item;

    if (*(const int *)group == 0) /* its line: the group was not given */
        return;
    item = item_add(build, settings, section, outer->name);
    if (item == NULL)
        return;
    item->outer = outer->section;
    values_add(build, item, group);
}

/* Shares the values of `from`, except for the key, which is the item's name and
 * has the first row of the table. */
static void values_share(const struct build *build, struct setting_item *item,
                         const struct setting_item *from)
{
    struct setting_value *key;

    if (from->first == NULL) /* out of memory */
        return;
    key = arena_take(build->arena, 1, sizeof *key);
    if (key == NULL)
        return;
    assert(row_is(from->first->row, "key"));
    *key = *from->first;
    key->text = item->name;
    item->first = key;
}

/* `key` is NULL for auto_sequences. `alike` is a sequence of the same group,
 * whose values are shared; NULL: none yet. */
static struct setting_item *sequence_add(const struct build *build,
                                         struct config_settings *settings,
                                         const struct draft_sequence *sequence,
                                         const char *key,
                                         const struct setting_item *alike)
{
    struct setting_item *item =
        item_add(build, settings,
                 key == NULL ? SCHEMA_AUTOMATIC : SCHEMA_SEQUENCES, key);

    if (item == NULL)
        return NULL;
    if (alike != NULL)
        values_share(build, item, alike);
    else
        values_add(build, item, sequence);
    nested_add(build, settings, item, SCHEMA_IDS, &sequence->ids);
    nested_add(build, settings, item, SCHEMA_SNOWFLAKE, &sequence->snowflake);
    return item;
}

static void sequences_add(const struct build *build,
                          struct config_settings *settings)
{
    const struct draft *draft = build->draft;
    struct setting_item **items =
        arena_take(build->diagnostics->arena, draft->sequence_count,
                   sizeof(struct setting_item *));

    for (size_t i = 0; items != NULL && i < draft->listed_count; i++) {
        const struct draft_listed *listed = &draft->listed[i];

        items[listed->of] =
            sequence_add(build, settings, &draft->sequences[listed->of],
                         listed->key, items[listed->of]);
    }
}

static void group_add(const struct build *build,
                      struct config_settings *settings,
                      enum schema_section section, const char *name,
                      const void *group)
{
    struct setting_item *item = item_add(build, settings, section, name);

    if (item != NULL)
        values_add(build, item, group);
}

struct config_settings *build_settings(const struct build *build)
{
    const struct draft *draft = build->draft;
    struct config_settings *settings =
        arena_take(build->arena, 1, sizeof *settings);

    if (settings == NULL)
        return NULL;
    *settings = (struct config_settings){.last = &settings->first};
    broker_add(build, settings);
    for (size_t i = 0; i < draft->backend_count; i++)
        backend_add(build, settings, &draft->backends[i]);
    for (size_t i = 0; i < draft->pool_count; i++)
        group_add(build, settings, SCHEMA_POOLS, draft->pools[i].name.text,
                  &draft->pools[i]);
    sequences_add(build, settings);
    if (draft->automatic != NULL)
        (void)sequence_add(build, settings, draft->automatic, NULL, NULL);
    group_add(build, settings, SCHEMA_DAEMON, NULL, draft->daemon);
    for (size_t i = 0; i < draft->user_count; i++)
        group_add(build, settings, SCHEMA_USERS, draft->users[i].name.text,
                  &draft->users[i]);
    for (size_t i = 0; i < draft->key_limit_count; i++)
        group_add(build, settings, SCHEMA_KEY_LIMITS,
                  draft->key_limits[i].name.text, &draft->key_limits[i]);
    return settings;
}

/* --- reporting --- */

/* Whether the setting has a meaning for the group. */
static bool row_applies(const struct setting_item *item,
                        const struct schema_row *row)
{
    if (item->engine == NULL)
        return true;
    if (item->has_no_host && (row_is(row, "host") || row_is(row, "port")))
        return false;
    return row->engines[0] == '\0' ||
           value_is_listed(row->engines, item->engine);
}

const char *setting_default(const struct setting_item *item,
                            const struct schema_row *row)
{
    return row->initial[0] != '\0' &&
                   strcmp(row->initial, SCHEMA_REQUIRED) != 0 &&
                   row_applies(item, row)
               ? row->initial
               : NULL;
}

void setting_path(const struct setting_item *item, const char *name,
                  char out[SETTING_PATH_SIZE])
{
    const bool is_nested = item->outer != item->section;

    (void)text_format(
        out, SETTING_PATH_SIZE, "%s%s%s%s%s%s%s",
        schema_group(item->outer)->name, item->name != NULL ? "." : "",
        item->name != NULL ? item->name : "", is_nested ? "." : "",
        is_nested ? schema_group(item->section)->name : "",
        name != NULL ? "." : "", name != NULL ? name : "");
}

static void item_visit(const struct setting_item *item,
                       config_visit_function *visit, void *context)
{
    size_t count;
    const struct schema_row *rows = schema_rows_of(item->section, &count);
    const struct setting_value *value = item->first;
    char path[SETTING_PATH_SIZE];

    for (size_t i = 0; i < count; i++) {
        const struct schema_row *row = &rows[i];
        const bool is_kept = value != NULL && value->row == row;
        const bool is_given = is_kept && value->is_given;
        const char *text = is_kept ? value->text : setting_default(item, row);

        if (is_kept)
            value = value->next;
        if (row->type == SCHEMA_GROUP || text == NULL ||
            (!is_given && !row_applies(item, row)))
            continue;
        setting_path(item, row->name, path);
        visit(context, &(struct seqb_setting_value){path, text, !is_given});
    }
}

static struct setting_item *item_at(struct config_settings *settings, size_t at)
{
    const bool is_behind = settings->shown != NULL && settings->shown_at <= at;
    struct setting_item *item = is_behind ? settings->shown : settings->first;

    for (size_t i = is_behind ? settings->shown_at : 0; i < at && item != NULL;
         i++)
        item = item->next;
    settings->shown = item;
    settings->shown_at = at;
    return item;
}

void settings_visit(struct config_settings *settings,
                    struct seqb_settings_part *part,
                    config_visit_function *visit, void *context)
{
    const struct setting_item *item = item_at(settings, part->first);

    for (size_t i = 0; i < part->count && item != NULL; i++) {
        item_visit(item, visit, context);
        item = item->next;
    }
    part->is_last = item == NULL;
}
