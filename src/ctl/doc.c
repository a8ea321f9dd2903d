/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of docs/ that are made of tables: docs/configuration.md of the
 * library's settings, docs/status.md of the fields of a status. Their texts are
 * in docs/help, with marks for the tables. */
#include <stdio.h>
#include <string.h>

#include <seqbroker/admin.h>
#include <seqbroker/reload.h>

#include "configuration_md.h"
#include "ctl/commands.h"
#include "status/status.h"
#include "status_md.h"

#define MARK "{{" /* "{{NAME}}" on a line of its own */

struct page {
    const char *text;
    size_t rows; /* of all tables of the page */
    /* Prints the table with this name; returns its number of rows. */
    size_t (*print)(const char *name, size_t length);
};

/* An unescaped bar would end the cell. */
static void print_cell(const char *text)
{
    putchar(' ');
    for (; *text != '\0'; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
    }
    fputs(" |", stdout);
}

static void print_code(const char *text)
{
    if (*text == '\0')
        fputs(" |", stdout);
    else
        printf(" `%s` |", text);
}

static bool is_name(const char *name, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(expected, name, length) == 0;
}

static enum ctl_exit page_print(const struct page *page)
{
    const char *at = page->text;
    size_t left = page->rows;

    for (const char *mark; (mark = strstr(at, MARK)) != NULL;) {
        const char *name = mark + strlen(MARK);
        const size_t length = strcspn(name, "}");

        fwrite(at, 1, (size_t)(mark - at), stdout);
        left -= page->print(name, length);
        at = name + length + strlen("}}\n");
    }
    fputs(at, stdout);
    if (left == 0)
        return CTL_OK;
    ctl_complain("%zu rows stand in no section of docs/help", left);
    return CTL_FAILED;
}

/* --- settings --- */

static const char *reload_words(enum seqb_reload_need need)
{
    switch (need) {
    case SEQB_RELOAD_NOTHING:
        return "applied";
    case SEQB_RELOAD_REFUSED:
        return "refused";
    default:
        return "restart";
    }
}

static void print_setting(const struct seqb_setting *setting)
{
    putchar('|');
    print_code(setting->name);
    print_cell(setting->type);
    print_cell(setting->range);
    if (strcmp(setting->initial, "required") == 0)
        print_cell(setting->initial);
    else
        print_code(setting->initial);
    print_cell(setting->help);
    print_cell(
        reload_words(seqb_setting_need(setting->section, setting->name)));
    putchar('\n');
}

static size_t print_section(const char *name, size_t length)
{
    size_t count;
    size_t printed = 0;
    const struct seqb_setting *settings = seqb_settings(&count);

    if (is_name(name, length, "embedded")) {
        fputs(seqb_embedded_topology(), stdout);
        return 0;
    }
    puts("| setting | type | range | default | meaning | reload |\n"
         "|---|---|---|---|---|---|");
    for (size_t i = 0; i < count; i++) {
        if (!is_name(name, length, settings[i].section))
            continue;
        print_setting(&settings[i]);
        printed++;
    }
    return printed;
}

enum ctl_exit settings_doc_print(void)
{
    struct page page = {.text = configuration_md, .print = print_section};

    (void)seqb_settings(&page.rows);
    return page_print(&page);
}

/* --- the status --- */

static const char *type_of(const struct status_field *field)
{
    if (status_is_text(field))
        return "text";
    if (field->kind == STATUS_BOOLEAN)
        return "boolean";
    return field->kind == STATUS_BIG ? "integer, a string in JSON" : "integer";
}

/* The field's column, and whether only --wide shows it. */
static void print_title(const struct status_field *field)
{
    char title[64];

    snprintf(title, sizeof title, "%s%s",
             field->title != NULL ? field->title : "",
             field->is_wide ? " (wide)" : "");
    print_cell(title);
}

static void print_field(const struct status_field *field)
{
    putchar('|');
    print_code(field->name);
    print_cell(type_of(field));
    print_cell(field->unit != NULL ? field->unit : "");
    print_title(field);
    print_code(field->metric != NULL ? field->metric : "");
    print_cell(field->help);
    putchar('\n');
}

static size_t print_fields(const char *name, size_t length)
{
    size_t printed = 0;

    puts("| field | type | unit | column | metric | meaning |\n"
         "|---|---|---|---|---|---|");
    for (size_t i = 0; i < STATUS_TABLES; i++) {
        const struct status_field *field = status_tables[i].fields;

        if (!is_name(name, length, status_tables[i].name))
            continue;
        for (; field->name != NULL; field++, printed++)
            print_field(field);
    }
    return printed;
}

enum ctl_exit status_doc_print(void)
{
    struct page page = {.text = status_md, .print = print_fields};

    for (size_t i = 0; i < STATUS_TABLES; i++) {
        const struct status_field *field = status_tables[i].fields;

        for (; field->name != NULL; field++)
            page.rows++;
    }
    return page_print(&page);
}
