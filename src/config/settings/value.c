/* SPDX-License-Identifier: Apache-2.0 */
/* Converts libconfig's values to the draft's types. Messages say what was
 * expected and what was found. */
#include "config/settings/value.h"

#include <string.h>

#include "config/settings/settings.h"
#include "platform/text.h"

#define PORT_MAX 65535

int value_line(const config_setting_t *setting)
{
    return (int)config_setting_source_line(setting);
}

const char *value_words(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_GROUP:
        return "a group { ... }";
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return "an integer";
    case CONFIG_TYPE_FLOAT:
        return "a fraction";
    case CONFIG_TYPE_STRING:
        return "a text";
    case CONFIG_TYPE_BOOL:
        return "a boolean";
    default:
        return "a list";
    }
}

static const char *wanted_words(enum schema_type type)
{
    switch (type) {
    case SCHEMA_INTEGER:
        return "an integer";
    case SCHEMA_BOOLEAN:
        return "true or false, without quotes";
    case SCHEMA_DURATION:
        return "a duration in quotes, as \"200ms\"";
    case SCHEMA_NAMES:
        return "a list of names, as [ \"a\", \"b\" ]";
    case SCHEMA_ADDRESSES:
        return "a list of addresses, as [ \"10.0.0.3:26379\" ]";
    case SCHEMA_LISTEN:
        return "an address in quotes, or a list, as [ \"127.0.0.1:9379\" ]";
    case SCHEMA_PATHS:
        return "a path in quotes, or a list, as [ \"/run/a.sock\" ]";
    case SCHEMA_PATTERNS:
        return "a list of patterns, as [ \"order*\", \"shop:*\" ]";
    case SCHEMA_LABELS:
        return "a list of names or numbers, as [ \"deploy\", \"1000\" ]";
    case SCHEMA_LABEL:
        return "a text in quotes or an integer";
    default:
        return "a text in quotes";
    }
}

static void add_wrong_type(struct value_reader *reader,
                           const struct schema_row *row,
                           const config_setting_t *setting)
{
    diagnostics_add(reader->diagnostics, value_line(setting),
                    "'%s' must be %s, but is %s", row->name,
                    wanted_words(row->type), value_words(setting));
}

bool value_is_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; *at != '\0';) {
        const size_t end = strcspn(at, ",");

        if (end == length && strncmp(at, word, length) == 0)
            return true;
        at += end;
        at += strspn(at, ", ");
    }
    return false;
}

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

/* "host:port" */
static bool is_address(const char *text, int64_t lowest)
{
    const char *colon = strrchr(text, ':');
    int64_t port;

    return colon != NULL && colon > text &&
           text_to_int64(colon + 1, strlen(colon + 1), &port) &&
           port >= lowest && port <= PORT_MAX;
}

static bool text_fits(const struct schema_row *row, const char *text)
{
    int64_t ms;
    int32_t month;
    int32_t day;

    switch (row->type) {
    case SCHEMA_NAME:
    case SCHEMA_NAMES:
        return text_is_name(text);
    case SCHEMA_KEY:
        return text_is_key(text);
    case SCHEMA_CHOICE:
        return *row->low == '\0' || value_is_listed(row->low, text);
    case SCHEMA_DATE:
        return day_parse(text, &ms);
    case SCHEMA_DAY:
        return day_parse_yearly(text, &month, &day);
    case SCHEMA_ADDRESSES:
        return is_plain(text) && is_address(text, 1);
    case SCHEMA_LISTEN:
        return is_plain(text) && is_address(text, 0);
    case SCHEMA_PATTERNS:
        return text_is_pattern(text);
    default:
        return is_plain(text);
    }
}

/* The digits of an integer where the row also accepts an integer without
 * quotes; NULL otherwise. */
static const char *take_label(struct value_reader *reader,
                              const struct schema_row *row,
                              const config_setting_t *setting)
{
    const int type = config_setting_type(setting);

    if (row->type != SCHEMA_LABEL && row->type != SCHEMA_LABELS)
        return NULL;
    if (type == CONFIG_TYPE_INT)
        return arena_format(reader->arena, "%d",
                            config_setting_get_int(setting));
    if (type == CONFIG_TYPE_INT64)
        return arena_format(reader->arena, "%lld",
                            config_setting_get_int64(setting));
    return NULL;
}

/* A copy of the setting's text; NULL, with a mistake added, if it is wrong. */
static const char *take_text(struct value_reader *reader,
                             const struct schema_row *row,
                             const config_setting_t *setting, int line)
{
    const char *text = config_setting_get_string(setting);
    const char *label = take_label(reader, row, setting);

    if (label != NULL)
        return label;
    if (text == NULL) {
        add_wrong_type(reader, row, setting);
        return NULL;
    }
    if (*text == '\0')
        diagnostics_add(reader->diagnostics, line, "'%s' must not be empty",
                        row->name);
    else if (text_fits(row, text))
        return arena_copy(reader->arena, text);
    else if (*row->low == '\0')
        diagnostics_add(reader->diagnostics, line,
                        "'%s' holds a control character", row->name);
    else
        diagnostics_add(reader->diagnostics, line,
                        "'%s' is \"%.80s\", but must be %s%s", row->name, text,
                        row->type == SCHEMA_CHOICE ? "one of " : "", row->low);
    return NULL;
}

/* One address or path without a list, or "none". */
static void read_place(struct value_reader *reader,
                       const struct schema_row *row,
                       const config_setting_t *setting, struct draft_names *out)
{
    const char *text = config_setting_get_string(setting);

    out->line = value_line(setting);
    if (strcmp(text, "none") == 0)
        return;
    out->names = arena_take(reader->arena, 1, sizeof *out->names);
    if (out->names == NULL)
        return;
    out->count = 1;
    out->names[0] = take_text(reader, row, setting, out->line);
}

static void read_names(struct value_reader *reader,
                       const struct schema_row *row,
                       const config_setting_t *setting, struct draft_names *out)
{
    const bool is_list =
        config_setting_is_array(setting) || config_setting_is_list(setting);
    const int count = is_list ? config_setting_length(setting) : 0;

    out->line = value_line(setting);
    if (!is_list) {
        add_wrong_type(reader, row, setting);
        return;
    }
    if (count == 0 && row->section != SCHEMA_DAEMON)
        diagnostics_add(reader->diagnostics, out->line, "'%s' is empty",
                        row->name);
    out->names = arena_take(reader->arena, (size_t)count, sizeof *out->names);
    if (out->names == NULL)
        return;
    out->count = (size_t)count;
    /* Messages use the list's line: libconfig's line is one too late for some
     * elements. */
    for (int i = 0; i < count; i++)
        out->names[i] =
            take_text(reader, row,
                      config_setting_get_elem(setting, (unsigned)i), out->line);
}

static void read_boolean(struct value_reader *reader,
                         const struct schema_row *row,
                         const config_setting_t *setting,
                         struct draft_number *out)
{
    if (config_setting_type(setting) == CONFIG_TYPE_BOOL)
        out->number = config_setting_get_bool(setting);
    else
        add_wrong_type(reader, row, setting);
}

static bool is_in_range(const struct schema_row *row, int64_t value)
{
    int64_t low;
    int64_t high;

    schema_range(row, &low, &high);
    return value >= low && value <= high;
}

static void read_integer(struct value_reader *reader,
                         const struct schema_row *row,
                         const config_setting_t *setting,
                         struct draft_number *out)
{
    const int type = config_setting_type(setting);
    int64_t value;

    if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) {
        add_wrong_type(reader, row, setting);
        return;
    }
    value = type == CONFIG_TYPE_INT ? config_setting_get_int(setting)
                                    : config_setting_get_int64(setting);
    if (is_in_range(row, value))
        out->number = value;
    else
        diagnostics_add(reader->diagnostics, out->line,
                        "'%s' is %lld, but must be %s ... %s", row->name,
                        (long long)value, row->low, row->high);
}

static void read_duration(struct value_reader *reader,
                          const struct schema_row *row,
                          const config_setting_t *setting,
                          struct draft_number *out)
{
    const char *text = config_setting_get_string(setting);
    const int type = config_setting_type(setting);
    int64_t value;

    if (text == NULL && type == CONFIG_TYPE_INT) {
        const int bare = config_setting_get_int(setting);

        diagnostics_add(reader->diagnostics, out->line,
                        "'%s' has no unit: write \"%dms\" or \"%ds\"",
                        row->name, bare, bare);
    } else if (text == NULL) {
        add_wrong_type(reader, row, setting);
    } else if (*text != '\0' && text[strspn(text, "0123456789")] == '\0') {
        diagnostics_add(reader->diagnostics, out->line,
                        "'%s' has no unit: write \"%.20sms\" or \"%.20ss\"",
                        row->name, text, text);
    } else if (!duration_parse(text, &value)) {
        diagnostics_add(
            reader->diagnostics, out->line,
            "'%s' is \"%.80s\": write a whole number and ms, s, m, h "
            "or d, as \"200ms\"",
            row->name, text);
    } else if (!is_in_range(row, value)) {
        diagnostics_add(reader->diagnostics, out->line,
                        "'%s' is \"%.80s\", but must be %s ... %s", row->name,
                        text, row->low, row->high);
    } else {
        out->number = value;
    }
}

static void read_number(struct value_reader *reader,
                        const struct schema_row *row,
                        const config_setting_t *setting,
                        struct draft_number *out)
{
    out->line = value_line(setting);
    if (row->type == SCHEMA_DURATION)
        read_duration(reader, row, setting, out);
    else if (row->type == SCHEMA_INTEGER)
        read_integer(reader, row, setting, out);
    else
        read_boolean(reader, row, setting, out);
}

void value_read(struct value_reader *reader, const struct schema_row *row,
                const config_setting_t *setting, void *item)
{
    void *member = (char *)item + row->offset;

    if ((row->type == SCHEMA_LISTEN || row->type == SCHEMA_PATHS) &&
        config_setting_type(setting) == CONFIG_TYPE_STRING) {
        read_place(reader, row, setting, member);
    } else if (schema_is_list(row)) {
        read_names(reader, row, setting, member);
    } else if (row->type >= SCHEMA_INTEGER) {
        read_number(reader, row, setting, member);
    } else {
        struct draft_text *out = member;

        out->line = value_line(setting);
        out->text = take_text(reader, row, setting, out->line);
    }
}
