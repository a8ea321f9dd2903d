/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl: the operator's command line. It reads the options, runs the command,
 * and fails if output was lost. */
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/answer.h"
#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/json.h"
#include "ctl/line/line.h"
#include "ctl/secret.h"
#include "streams/streams.h"

#define WATCH_S 2 /* between two rounds, if no interval is given */

static enum ctl_exit version_print(const struct ctl_options *options)
{
    if (options->given & CTL_JSON)
        return json_line_print(json_pack("{ss so}", "version", SEQB_VERSION,
                                         "libraries", json_of_libraries()))
                   ? CTL_OK
                   : CTL_FAILED;
    printf("seqbroker %s\n", SEQB_VERSION);
    for (size_t i = 0; seqb_library(i) != NULL; i++)
        puts(seqb_library(i));
    return CTL_OK;
}

static bool count_is_right(const struct command *command,
                           const struct ctl_options *options, int argc)
{
    const int wanted =
        options->given & CTL_BROKER ? 0 : command->argument_count;
    const int more = command->options & CTL_TAKES_ONE_MORE ? 1 : 0;

    if (wanted < 0)
        return argc >= -wanted;
    return argc >= wanted && argc <= wanted + more;
}

static enum ctl_exit command_run(const struct command *command,
                                 const struct ctl_options *options, int argc,
                                 char **argv)
{
    const char *misplaced;

    if (options->given & CTL_HELP)
        return command_help(command, options);
    misplaced = option_usage(options->given & ~command->options);
    if (misplaced != NULL) {
        ctl_complain("%s takes no %s", command->name, misplaced);
        return CTL_USAGE;
    }
    if (!options_agree(command, options->given))
        return CTL_USAGE;
    if (!count_is_right(command, options, argc)) {
        ctl_complain("usage: seqctl %s%s%s", command->name,
                     command->arguments[0] != '\0' ? " " : "",
                     command->arguments);
        return CTL_USAGE;
    }
    if (options->server_count > 1 &&
        (command->options & CTL_TAKES_SEVERAL) == 0) {
        ctl_complain("%s takes one -s only", command->name);
        return CTL_USAGE;
    }
    return (command->run != NULL ? command->run : help_run)(options, argv);
}

/* Runs the command as the user in the options, and wipes the password after
 * it. */
static enum ctl_exit command_log_in(const struct command *command,
                                    struct ctl_options *options, int argc,
                                    char **argv)
{
    struct secret secret = {""};
    enum ctl_exit result = CTL_USAGE;

    options->password = secret.text;
    if (options->given & CTL_HELP || secret_of_user(options, &secret))
        result = command_run(command, options, argc, argv);
    options->password = NULL;
    credential_wipe(&secret, sizeof secret);
    return result;
}

static enum ctl_exit line_run(int argc, char **argv)
{
    struct ctl_options options = {.timeout_s = 5, .interval_s = WATCH_S};
    const struct command *command;

    if (!options_read(argc, argv, &options))
        return CTL_USAGE;
    argc -= optind;
    argv += optind;
    if (options.given & CTL_VERSION)
        return version_print(&options);
    if (argc == 0 && options.given & CTL_HELP)
        return help_run(&options, argv);
    if (argc == 0) {
        ctl_complain("which command? see seqctl --help");
        return CTL_USAGE;
    }
    command = command_find(argv[0]);
    return command != NULL
               ? command_log_in(command, &options, argc - 1, argv + 1)
               : command_unknown(argv[0]);
}

/* Searched before the options are read, since an option may be wrong. */
static bool json_is_wanted(char *const *argv)
{
    for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++) {
        if (option_is_json(*argv))
            return true;
    }
    return false;
}

/* Prints the collected complaints at the end, as an object on stderr, so that
 * stdout stays one value. */
static void complaint_print(enum ctl_exit result, bool is_json)
{
    json_t *object = is_json ? complaint_object(result) : NULL;
    char *text = json_dumps(object, 0);

    if (text != NULL)
        fprintf(stderr, "%s\n", text);
    else
        fprintf(stderr, "seqctl: %s\n", complaint_text());
    json_decref(object);
    free(text);
}

int main(int argc, char **argv)
{
    const bool is_json = json_is_wanted(argv);
    enum ctl_exit result;

    if (!streams_fill())
        return CTL_FAILED;
    setlocale(LC_CTYPE, ""); /* otherwise tables escape what is not ASCII */
    /* a lost daemon or reader is reported and does not kill seqctl */
    signal(SIGPIPE, SIG_IGN);
    if (is_json)
        complaints_gather();
    result = line_run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        ctl_complain("output was lost: stdout cannot be written");
        if (result == CTL_OK)
            result = CTL_FAILED;
    }
    if (complaint_text()[0] != '\0')
        complaint_print(result, is_json);
    return (int)result;
}
