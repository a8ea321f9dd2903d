/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl settings: the settings that a topology file may have. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/commands.h"
#include "ctl/json.h"
#include "guess/guess.h"

#define FULL_NAME_SIZE 128 /* of "section.name" */

static void full_name(char out[FULL_NAME_SIZE],
                      const struct seqb_setting *setting)
{
    snprintf(out, FULL_NAME_SIZE, "%s.%s", setting->section, setting->name);
}

/* Whether the name is the setting's, or its section's. The name may be a glob;
 * NULL matches all. */
static bool setting_matches(const struct seqb_setting *setting,
                            const char *name)
{
    char full[FULL_NAME_SIZE];

    full_name(full, setting);
    return name == NULL || fnmatch(name, setting->section, 0) == 0 ||
           fnmatch(name, setting->name, 0) == 0 || fnmatch(name, full, 0) == 0;
}

static size_t setting_next(const struct seqb_setting *settings, size_t count,
                           size_t i, const char *name)
{
    while (i < count && !setting_matches(&settings[i], name))
        i++;
    return i;
}

static void setting_print(const struct seqb_setting *setting)
{
    printf("%s.%s\n    %s", setting->section, setting->name, setting->type);
    if (setting->range[0] != '\0')
        printf(", %s", setting->range);
    printf("; default: %s\n    %s\n",
           setting->initial[0] != '\0' ? setting->initial : "none",
           setting->help);
}

static json_t *setting_make(const struct seqb_setting *setting)
{
    return json_pack(
        "{so so so so so so}", "section", json_of_text(setting->section),
        "name", json_of_text(setting->name), "type",
        json_of_text(setting->type), "range", json_of_text(setting->range),
        "default", json_of_text(setting->initial), "help",
        json_of_text(setting->help));
}

static enum ctl_exit settings_object(const struct seqb_setting *settings,
                                     size_t count, const char *name)
{
    const char *before = "\n    ";

    fputs("{\n  \"settings\": [", stdout);
    for (size_t i = setting_next(settings, count, 0, name); i < count;
         i = setting_next(settings, count, i + 1, name)) {
        fputs(before, stdout);
        before = ",\n    ";
        if (!json_print(setting_make(&settings[i]), 0))
            return CTL_FAILED;
    }
    puts("\n  ]\n}");
    return CTL_OK;
}

static enum ctl_exit setting_unknown(const struct seqb_setting *settings,
                                     size_t count, const char *name)
{
    struct guess guess = {.word = name};

    for (size_t i = 0; i < count; i++) {
        guess_weigh(&guess, settings[i].section);
        guess_weigh(&guess, settings[i].name);
    }
    if (guess.best != NULL)
        ctl_complain("there is no setting \"%s\", did you mean \"%s\"?", name,
                     guess.best);
    else
        ctl_complain("there is no setting \"%s\", see seqctl settings", name);
    return CTL_USAGE;
}

enum ctl_exit settings_run(const struct ctl_options *options, char **argument)
{
    const char *name = argument[0];
    size_t count;
    const struct seqb_setting *settings = seqb_settings(&count);

    if (options->given & CTL_MARKDOWN)
        return settings_doc_print();
    if (setting_next(settings, count, 0, name) == count)
        return setting_unknown(settings, count, name);
    if (options->given & CTL_JSON)
        return settings_object(settings, count, name);
    for (size_t i = setting_next(settings, count, 0, name); i < count;
         i = setting_next(settings, count, i + 1, name))
        setting_print(&settings[i]);
    return CTL_OK;
}
