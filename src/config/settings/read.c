/* SPDX-License-Identifier: Apache-2.0 */
/* Reads libconfig's tree. Each group begins as a copy of its section's
 * defaults, and only settings that are given are looked up, because there may
 * be 100,000 groups. Of sequences that differ only in their keys, libconfig
 * reads the first. */
#include "config/config.h"
#include "config/settings/settings.h"

#include <string.h>

#include "config/settings/value.h"
#include "config/source/source.h"
#include "platform/text.h"

#define STRING_OF(word)  #word
#define VERSION_OF(word) STRING_OF(word)

static void set_default(const struct schema_row *row, void *item)
{
    const char *initial = row->initial;
    struct draft_number *number = (void *)((char *)item + row->offset);
    struct draft_text *text = (void *)((char *)item + row->offset);

    if (*initial == '\0' || schema_is_required(row))
        return;
    if (row->type == SCHEMA_DURATION)
        (void)duration_parse(initial, &number->number);
    else if (row->type == SCHEMA_INTEGER)
        (void)text_to_int64(initial, strlen(initial), &number->number);
    else if (row->type == SCHEMA_BOOLEAN)
        number->number = strcmp(initial, "true") == 0;
    else
        text->text = initial;
}

static const struct schema_row *find_row(enum schema_section section,
                                         const char *name)
{
    size_t count;
    const struct schema_row *rows = schema_rows_of(section, &count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].name[0] == name[0] && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

static struct did_you_mean did_you_mean_setting(enum schema_section section,
                                                const char *name)
{
    size_t count;
    const struct schema_row *rows = schema_rows_of(section, &count);
    struct did_you_mean did_you_mean = {.word = name};

    for (size_t i = 0; i < count; i++)
        did_you_mean_weigh(&did_you_mean, rows[i].name);
    return did_you_mean;
}

static bool is_section(const char *name)
{
    for (int i = 0; i < SCHEMA_SECTIONS; i++) {
        const struct schema_group *about = schema_group((enum schema_section)i);

        if (!about->is_nested && strcmp(about->name, name) == 0)
            return true;
    }
    return false;
}

/* Adds a mistake for a setting that the section does not have. */
static void add_unknown(struct value_reader *reader,
                        enum schema_section section,
                        const config_setting_t *member)
{
    const char *name = config_setting_name(member);
    const struct did_you_mean did_you_mean =
        did_you_mean_setting(section, name);
    char hint[DID_YOU_MEAN_SIZE];

    diagnostics_add(
        reader->diagnostics, value_line(member),
        "unknown setting '%.64s' in %s%s", name, schema_group(section)->name,
        did_you_mean_hint(
            &did_you_mean,
            is_section(name) ? ": it is a section of its own" : "", hint));
}

/* Whether an unknown setting of the group is a misspelling of this one. Then
 * that mistake is enough. */
static bool is_misspelt(const struct schema_row *row,
                        const config_setting_t *group)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const char *name =
            config_setting_name(config_setting_get_elem(group, (unsigned)i));
        const char *best;

        if (find_row(row->section, name) != NULL)
            continue;
        best = did_you_mean_setting(row->section, name).best;
        if (best != NULL && strcmp(best, row->name) == 0)
            return true;
    }
    return false;
}

static void add_missing(struct value_reader *reader,
                        const struct schema_row *row,
                        const config_setting_t *group)
{
    if (config_setting_get_member(group, row->name) != NULL ||
        is_misspelt(row, group))
        return;
    diagnostics_add(reader->diagnostics, value_line(group),
                    "the %s has no '%s'", schema_group(row->section)->item,
                    row->name);
}

static void set_defaults(enum schema_section section, void *item)
{
    size_t count;
    const struct schema_row *rows = schema_rows_of(section, &count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].type == SCHEMA_GROUP)
            set_defaults(schema_nested(&rows[i]),
                         (char *)item + rows[i].offset);
        else
            set_default(&rows[i], item);
    }
}

/* Fills an item with its section's defaults. */
static void item_init(struct value_reader *reader, enum schema_section section,
                      void *item)
{
    const size_t size = schema_group(section)->size;
    void *made = NULL;

    if (reader->initial[section] == NULL) {
        made = arena_take(reader->diagnostics->arena, 1, size);
        if (made == NULL)
            return;
        set_defaults(section, made);
        reader->initial[section] = made;
    }
    memcpy(item, reader->initial[section], size);
}

static void add_no_group(struct value_reader *reader,
                         const struct schema_row *row,
                         const config_setting_t *member)
{
    diagnostics_add(reader->diagnostics, value_line(member),
                    "'%s' must be a group: %s = { ... };", row->name,
                    row->name);
}

/* Reads one group and the groups nested in it. */
static void read_group(struct value_reader *reader, enum schema_section section,
                       const config_setting_t *group, void *item)
{
    size_t count;
    const struct schema_row *rows = schema_rows_of(section, &count);

    item_init(reader, section, item);
    *(int *)item = value_line(group);
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member =
            config_setting_get_elem(group, (unsigned)i);
        const struct schema_row *row =
            find_row(section, config_setting_name(member));

        if (row == NULL)
            add_unknown(reader, section, member);
        else if (row->type != SCHEMA_GROUP)
            value_read(reader, row, member, item);
        else if (config_setting_is_group(member))
            read_group(reader, schema_nested(row), member,
                       (char *)item + row->offset);
        else
            add_no_group(reader, row, member);
    }
    for (size_t i = 0; i < count; i++) {
        if (schema_is_required(&rows[i]))
            add_missing(reader, &rows[i], group);
    }
}

/* Reads the groups of a list. An element that is not a group is a mistake and
 * left out. */
static size_t read_list(struct value_reader *reader,
                        enum schema_section section,
                        const config_setting_t *list, char *items)
{
    const struct schema_group *about = schema_group(section);
    size_t count = 0;

    for (int i = 0; i < config_setting_length(list); i++) {
        config_setting_t *group = config_setting_get_elem(list, (unsigned)i);

        if (config_setting_is_group(group))
            read_group(reader, section, group, items + about->size * count++);
        else
            diagnostics_add(reader->diagnostics, value_line(group),
                            "each of %s must be a group { ... }, but one is %s",
                            about->name, value_words(group));
    }
    return count;
}

/* Returns the section's items, which live as long as the diagnostics' arena;
 * NULL when out of memory. */
static void *read_section(struct value_reader *reader,
                          enum schema_section section,
                          const config_setting_t *root, size_t *count)
{
    const struct schema_group *about = schema_group(section);
    const config_setting_t *setting =
        config_setting_get_member(root, about->name);
    const bool is_right =
        setting == NULL || (about->is_list ? config_setting_is_list(setting)
                                           : config_setting_is_group(setting));
    size_t most = 1;
    void *items;

    *count = 0;
    if (!is_right) {
        diagnostics_add(reader->diagnostics, value_line(setting),
                        about->is_list ? "'%s' must be a list of groups: "
                                         "%s = ( { ... }, { ... } );"
                                       : "'%s' must be a group: %s = { ... };",
                        about->name, about->name);
        setting = NULL;
    }
    if (setting != NULL && about->is_list)
        most = (size_t)config_setting_length(setting);
    items = arena_take(reader->diagnostics->arena, most, about->size);
    if (items == NULL)
        return NULL;
    if (setting != NULL && about->is_list) {
        *count = read_list(reader, section, setting, items);
    } else {
        *count = setting != NULL;
        if (setting != NULL)
            read_group(reader, section, setting, items);
        else
            item_init(reader, section, items);
    }
    return items;
}

/* Lists the groups that were read, and in their places those that alike_find
 * left out. If there are mistakes, the latter are missing, because then the
 * whole text is read again. */
static void list_sequences(const struct value_reader *reader,
                           struct draft *draft)
{
    const struct alike none = {.count = 0};
    const bool is_whole =
        reader->alike != NULL && reader->diagnostics->found.count == 0;
    const struct alike *alike = is_whole ? reader->alike : &none;
    const size_t count = draft->sequence_count + alike->count;
    struct draft_listed *listed =
        arena_take(reader->diagnostics->arena, count, sizeof *listed);
    size_t next = 0; /* of the groups */
    uint32_t of = 0;

    if (listed == NULL || draft->sequences == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        if (next < alike->count && alike->groups[next].at == i) {
            const struct alike_group *group = &alike->groups[next++];

            listed[i].key =
                arena_copy_part(reader->arena, group->key, group->length);
            listed[i].of = listed[group->of].of;
            listed[i].lines = group->lines;
        } else {
            listed[i].key = draft->sequences[of].key.text;
            listed[i].of = of++;
        }
    }
    draft->listed = listed;
    draft->listed_count = count;
}

static struct did_you_mean did_you_mean_section(const char *name)
{
    struct did_you_mean did_you_mean = {.word = name};

    for (int i = 0; i < SCHEMA_SECTIONS; i++) {
        const struct schema_group *about = schema_group((enum schema_section)i);

        if (!about->is_nested)
            did_you_mean_weigh(&did_you_mean, about->name);
    }
    return did_you_mean;
}

static void read_unknown_sections(struct value_reader *reader,
                                  const config_setting_t *root)
{
    char hint[DID_YOU_MEAN_SIZE];

    for (int i = 0; i < config_setting_length(root); i++) {
        config_setting_t *member = config_setting_get_elem(root, (unsigned)i);
        const char *name = config_setting_name(member);
        struct did_you_mean did_you_mean;

        if (is_section(name))
            continue;
        did_you_mean = did_you_mean_section(name);
        diagnostics_add(reader->diagnostics, value_line(member),
                        "unknown section '%.64s'%s", name,
                        did_you_mean_hint(&did_you_mean, "", hint));
    }
}

/* Whether the root has a section that is not empty and has this name or a
 * misspelling of it. */
static bool is_attempted(const config_setting_t *root,
                         enum schema_section section)
{
    const char *wanted = schema_group(section)->name;

    for (int i = 0; i < config_setting_length(root); i++) {
        config_setting_t *member = config_setting_get_elem(root, (unsigned)i);
        const char *name = config_setting_name(member);
        const char *best =
            is_section(name) ? name : did_you_mean_section(name).best;

        if (config_setting_is_list(member) &&
            config_setting_length(member) == 0)
            continue;
        if (best != NULL && strcmp(best, wanted) == 0)
            return true;
    }
    return false;
}

static void check_sections(struct value_reader *reader,
                           const config_setting_t *root)
{
    if (!is_attempted(root, SCHEMA_BACKENDS))
        diagnostics_add(reader->diagnostics, 1,
                        "there are no backends: add backends = ( { ... } );");
    if (!is_attempted(root, SCHEMA_POOLS))
        diagnostics_add(reader->diagnostics, 1,
                        "there are no pools: add pools = ( { ... } );");
    if (!is_attempted(root, SCHEMA_SEQUENCES) &&
        !is_attempted(root, SCHEMA_AUTOMATIC))
        diagnostics_add(
            reader->diagnostics, 1,
            "there are no sequences: add sequences = ( { ... } ); or "
            "auto_sequences = { ... };");
}

static void read_root(struct value_reader *reader, const config_setting_t *root,
                      struct draft *draft)
{
    size_t count;

    read_unknown_sections(reader, root);
    check_sections(reader, root);
    draft->broker = read_section(reader, SCHEMA_BROKER, root, &count);
    draft->daemon = read_section(reader, SCHEMA_DAEMON, root, &count);
    draft->backends =
        read_section(reader, SCHEMA_BACKENDS, root, &draft->backend_count);
    draft->pools = read_section(reader, SCHEMA_POOLS, root, &draft->pool_count);
    draft->sequences =
        read_section(reader, SCHEMA_SEQUENCES, root, &draft->sequence_count);
    list_sequences(reader, draft);
    draft->users = read_section(reader, SCHEMA_USERS, root, &draft->user_count);
    draft->key_limits =
        read_section(reader, SCHEMA_KEY_LIMITS, root, &draft->key_limit_count);
    draft->automatic = read_section(reader, SCHEMA_AUTOMATIC, root, &count);
    if (count == 0)
        draft->automatic = NULL;
}

static void add_syntax_error(struct diagnostics *diagnostics,
                             const config_t *tree)
{
    const char *text = config_error_text(tree);
    const char *advice = "";

    if (strcmp(text, "syntax error") == 0)
        advice = " here or on the line before: is a quote, a bracket or a ';' "
                 "missing?";
    else if (strcmp(text, "duplicate setting name") == 0)
        advice = ": it stands before this line already, put both together";
    diagnostics_add(diagnostics, config_error_line(tree), "%s%s", text, advice);
}

static bool read_tree(struct value_reader *reader, const char *text,
                      struct draft *draft)
{
    config_t tree;
    bool is_read;

    config_init(&tree);
    is_read = config_read_string(&tree, text) == CONFIG_TRUE;
    if (is_read)
        read_root(reader, config_root_setting(&tree), draft);
    else
        add_syntax_error(reader->diagnostics, &tree);
    config_destroy(&tree);
    return is_read;
}

/* False, with the draft and the diagnostics unchanged, if the whole text must
 * be read: that finds all mistakes with their lines. */
static bool read_first_of_alike(const char *text, struct arena *arena,
                                struct diagnostics *diagnostics,
                                struct draft *draft)
{
    struct diagnostics found = {.arena = diagnostics->arena};
    struct alike alike;
    struct value_reader reader = {
        .arena = arena, .diagnostics = &found, .alike = &alike};
    struct draft made = *draft;
    const bool is_read =
        alike_find(&alike, text, schema_group(SCHEMA_SEQUENCES)->name, "key") &&
        read_tree(&reader, alike.text, &made) && found.found.count == 0;

    alike_free(&alike);
    if (is_read)
        *draft = made;
    return is_read;
}

bool read_draft(const char *text, struct arena *arena,
                struct diagnostics *diagnostics, struct draft *draft)
{
    struct value_reader reader = {.arena = arena, .diagnostics = diagnostics};

    return read_first_of_alike(text, arena, diagnostics, draft) ||
           read_tree(&reader, text, draft);
}

const char *config_library(void)
{
    return LIBCONFIG_VER_REVISION > 0
               ? "libconfig " VERSION_OF(LIBCONFIG_VER_MAJOR) "." VERSION_OF(
                     LIBCONFIG_VER_MINOR) "." VERSION_OF(LIBCONFIG_VER_REVISION)
               : "libconfig " VERSION_OF(LIBCONFIG_VER_MAJOR) "." VERSION_OF(
                     LIBCONFIG_VER_MINOR);
}
