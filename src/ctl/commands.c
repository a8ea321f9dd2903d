/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, how a name is found in it, and the two short ones that
 * need no daemon. What is common to all command lines is in main.c. */
#include "ctl/commands.h"

#include <stdio.h>
#include <string.h>

#include <seqbroker/admin.h>

#define NAME_MAX_GUESSED 16

static void diagnostic_print(void *context, const char *line)
{
    size_t *diagnostics = context;

    puts(line);
    (*diagnostics)++;
}

static enum ctl_exit command_check(const struct ctl_options *options,
                                   char **argument)
{
    size_t diagnostics = 0;
    struct seqb_error err;
    enum seqb_status status;

    if (options->given & CTL_PROBE)
        return probe_run(options, argument);
    if (options->given & CTL_JSON) {
        ctl_complain("check takes --json with --probe only");
        return CTL_USAGE;
    }
    status =
        seqb_check_topology(argument[0], diagnostic_print, &diagnostics, &err);
    if (status == SEQB_OK) {
        printf("%s: ok\n", argument[0]);
        return CTL_OK;
    }
    if (diagnostics == 0)
        ctl_complain("%s", err.text);
    return CTL_USAGE;
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

static enum ctl_exit command_config(const struct ctl_options *options,
                                    char **argument)
{
    size_t count;
    const struct seqb_setting *settings = seqb_settings(&count);

    (void)argument;
    if (options->given & CTL_MARKDOWN)
        return settings_doc_print();
    for (size_t i = 0; i < count; i++)
        setting_print(&settings[i]);
    return CTL_OK;
}

static const struct command commands[] = {
    {"next", "KEY", 1,
     CTL_COUNT | CTL_SHARD | CTL_STAMP | CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     numbers_next, "take numbers of a sequence"},
    {"number", "KEY [NAME=VALUE ...]", -1,
     CTL_COUNT | CTL_JSON | CTL_SOCKET | CTL_TIMEOUT, numbers_number,
     "take numbers as their template writes them"},
    {"status", "", 0,
     CTL_JSON | CTL_MARKDOWN | CTL_SOCKET | CTL_TIMEOUT | CTL_WATCH |
         CTL_INTERVAL,
     status_run, "how partitions and sequences are"},
    {"health", "", 0, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT, operate_health,
     "whether every pool can serve"},
    {"workers", "", 0, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT, workers_run,
     "who has the worker ids of snowflakes"},
    {"quarantine", "PARTITION", 1, CTL_SOCKET | CTL_TIMEOUT, operate_quarantine,
     "take a partition out as if it had failed"},
    {"rescue", "PARTITION", 1, CTL_SOCKET | CTL_TIMEOUT, operate_rescue,
     "probe a partition now"},
    {"drain", "PARTITION|--broker", 1, CTL_BROKER | CTL_SOCKET | CTL_TIMEOUT,
     operate_drain, "ask a partition no more"},
    {"resume", "PARTITION", 1, CTL_SOCKET | CTL_TIMEOUT, operate_resume,
     "undo a drain"},
    {"advance", "KEY --to N", 1, CTL_TO | CTL_SOCKET | CTL_TIMEOUT,
     operate_advance, "move a sequence beyond a number"},
    {"decode", "KEY VALUE", 2, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     numbers_decode, "take a number apart"},
    {"parse", "KEY TEXT", 2, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT, numbers_parse,
     "take apart what number wrote"},
    {"check", "FILE", 1, CTL_PROBE | CTL_JSON, command_check,
     "check a topology file"},
    {"migrate", "OLD NEW", 2, CTL_DRY_RUN | CTL_KEYS | CTL_WITHOUT, migrate_run,
     "move pools to another layout"},
    {"trust", "FILE BACKEND", 2, CTL_DRY_RUN, trust_run,
     "say that a restarted store did not go back"},
    {"config", "", 0, CTL_MARKDOWN, command_config,
     "list the settings of a topology file"},
};

const struct command *command_at(size_t i)
{
    return i < sizeof commands / sizeof commands[0] ? &commands[i] : NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

/* Single-letter edits that make `b` of `a`; `b` has at most
 * NAME_MAX_GUESSED letters. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_GUESSED + 1];
    size_t length = strlen(b);

    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length];
}

const struct command *command_guess(const char *name)
{
    const struct command *guess = NULL;
    size_t nearest = 3; /* further away is another word */

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        size_t distance = edit_distance(name, commands[i].name);

        if (distance < nearest) {
            nearest = distance;
            guess = &commands[i];
        }
    }
    return guess;
}
