/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl config: the settings that a topology file may have. */
#include <stdio.h>

#include <seqbroker/admin.h>

#include "ctl/commands.h"
#include "ctl/json.h"

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
                                     size_t count)
{
    fputs("{\n  \"settings\": [", stdout);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ",\n    " : "\n    ", stdout);
        if (!json_print(setting_make(&settings[i]), 0))
            return CTL_FAILED;
    }
    puts("\n  ]\n}");
    return CTL_OK;
}

enum ctl_exit config_run(const struct ctl_options *options, char **argument)
{
    size_t count;
    const struct seqb_setting *settings = seqb_settings(&count);

    (void)argument;
    if (options->given & CTL_MARKDOWN)
        return settings_doc_print();
    if (options->given & CTL_JSON)
        return settings_object(settings, count);
    for (size_t i = 0; i < count; i++)
        setting_print(&settings[i]);
    return CTL_OK;
}
