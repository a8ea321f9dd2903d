/* SPDX-License-Identifier: Apache-2.0 */
/* docs/configuration.md: docs/help/configuration.md, with the tables in their
 * places, which come from the library's settings. */
#include <stdio.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "configuration_md.h"
#include "ctl/commands.h"

#define MARK "{{" /* "{{SECTION}}" on a line of its own */

/* A bar would end the cell. */
static void print_cell(const char *text)
{
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

static void print_row(const struct seqb_setting *setting)
{
    putchar('|');
    print_code(setting->name);
    putchar(' ');
    print_cell(setting->type);
    putchar(' ');
    print_cell(setting->range);
    if (strcmp(setting->initial, "required") == 0)
        fputs(" required |", stdout);
    else
        print_code(setting->initial);
    putchar(' ');
    print_cell(setting->help);
    putchar('\n');
}

/* Returns the number of rows: those of the section. */
static size_t print_table(const char *section, size_t length)
{
    size_t count;
    size_t printed = 0;
    const struct seqb_setting *settings = seqb_settings(&count);

    puts("| setting | type | range | default | meaning |\n"
         "|---|---|---|---|---|");
    for (size_t i = 0; i < count; i++) {
        if (strlen(settings[i].section) != length ||
            memcmp(settings[i].section, section, length) != 0)
            continue;
        print_row(&settings[i]);
        printed++;
    }
    return printed;
}

enum ctl_exit settings_doc_print(void)
{
    static const char embedded[] = "embedded";
    const char *at = configuration_md;
    size_t left;

    (void)seqb_settings(&left);
    for (const char *mark; (mark = strstr(at, MARK)) != NULL;) {
        const char *name = mark + strlen(MARK);
        const size_t length = strcspn(name, "}");

        fwrite(at, 1, (size_t)(mark - at), stdout);
        if (strncmp(name, embedded, length) == 0)
            fputs(seqb_embedded_topology(), stdout);
        else
            left -= print_table(name, length);
        at = name + length + strlen("}}\n");
    }
    fputs(at, stdout);
    if (left == 0)
        return CTL_OK;
    ctl_complain("%zu settings stand in no section of docs/help", left);
    return CTL_FAILED;
}
