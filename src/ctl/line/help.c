/* SPDX-License-Identifier: Apache-2.0 */
/* Help, from the tables and docs/help/seqctl.txt; and the complaint about an
 * unknown command. */
#include <stdio.h>
#include <string.h>

#include "ctl/json.h"
#include "ctl/line/line.h"
#include "guess/guess.h"
#include "seqctl_txt.h"

/* Prints the text below the heading "# NAME" of docs/help/seqctl.txt. */
static void help_section_print(const char *name)
{
    char heading[32];
    const char *begin;
    const char *end;

    snprintf(heading, sizeof heading, "# %s\n", name);
    begin = strstr(seqctl_txt, heading);
    if (begin == NULL)
        return;
    begin += strlen(heading);
    end = strstr(begin, "\n# ");
    printf("%.*s", end == NULL ? (int)strlen(begin) : (int)(end + 1 - begin),
           begin);
}

static void help_print(void)
{
    help_section_print("seqctl");
    puts("\nUsage: seqctl [OPTION ...] COMMAND [ARGUMENT ...]\n"
         "\nCommands (seqctl COMMAND --help tells more):");
    for (size_t i = 0; command_at(i) != NULL; i++) {
        const struct command *command = command_at(i);
        char usage[64];

        snprintf(usage, sizeof usage, "%s %s", command->name,
                 command->arguments);
        printf("  %-27s %s\n", usage, command->summary);
    }
    puts("\nOptions:");
    options_print(~0U);
    putchar('\n');
    help_section_print("exit codes");
}

static void command_help_print(const struct command *command)
{
    help_section_print(command->name);
    printf("\nUsage: seqctl %s [OPTION ...]%s%s\n", command->name,
           command->arguments[0] != '\0' ? " " : "", command->arguments);
    puts("\nOptions:");
    options_print(command->options | CTL_HELP);
}

/* For one command; NULL: for all. */
static json_t *commands_make(const struct command *only)
{
    json_t *list = json_array();

    for (size_t i = 0; command_at(i) != NULL; i++) {
        const struct command *command = command_at(i);

        if (only != NULL && command != only)
            continue;
        (void)json_array_append_new(
            list, json_pack("{ss ss ss}", "name", command->name, "arguments",
                            command->arguments, "summary", command->summary));
    }
    return list;
}

static enum ctl_exit help_object(const struct command *only)
{
    return json_line_print(json_pack("{so}", "commands", commands_make(only)))
               ? CTL_OK
               : CTL_FAILED;
}

enum ctl_exit command_help(const struct command *command,
                           const struct ctl_options *options)
{
    if (options->given & CTL_JSON)
        return help_object(command);
    command_help_print(command);
    return CTL_OK;
}

enum ctl_exit command_unknown(const char *name)
{
    struct guess guess = {.word = name};

    if (show_has(name)) {
        ctl_complain("unknown command \"%s\", did you mean \"show %s\"?", name,
                     name);
        return CTL_USAGE;
    }
    for (size_t i = 0; command_at(i) != NULL; i++)
        guess_weigh(&guess, command_at(i)->name);
    if (guess.best != NULL)
        ctl_complain("unknown command \"%s\", did you mean \"%s\"?", name,
                     guess.best);
    else
        ctl_complain("unknown command \"%s\", see seqctl --help", name);
    return CTL_USAGE;
}

enum ctl_exit help_run(const struct ctl_options *options, char **argument)
{
    const struct command *command = NULL;

    if (argument[0] != NULL) {
        command = command_find(argument[0]);
        if (command == NULL)
            return command_unknown(argument[0]);
    }
    if (command != NULL)
        return command_help(command, options);
    if (options->given & CTL_JSON)
        return help_object(NULL);
    help_print();
    return CTL_OK;
}
