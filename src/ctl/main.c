/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl: the operator's command line. Reads the options, finds the command,
 * and sees to it that output which was lost is not taken for success. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/commands.h"
#include "seqctl_txt.h"

#define COUNT_MAX   10000000
#define TIMEOUT_MAX 3600
#define WATCH_S     2 /* between two rounds, if nothing was said */

struct option_row {
    enum ctl_option option;
    int letter; /* of getopt */
    const char *name;
    const char *usage;
    const char *help;
    /* Where its argument goes, of struct ctl_options; 0: it takes none. */
    size_t offset;
    int64_t min; /* of an amount */
    int64_t max; /* 0: a text */
};

#define FLAG                    0, 0, 0
#define TEXT(to)                offsetof(struct ctl_options, to), 0, 0
#define AMOUNT(to, least, most) offsetof(struct ctl_options, to), least, most

static const struct option_row option_rows[] = {
    {CTL_COUNT, 'n', "count", "-n, --count N",
     "how many numbers (1 ... 10000000)", AMOUNT(count, 1, COUNT_MAX)},
    {CTL_SHARD, 'S', "shard", "--shard S", "the shard that the ids are to have",
     AMOUNT(shard, 0, INT64_MAX)},
    {CTL_STAMP, 'P', "stamp", "--stamp", "each number with its stamp", FLAG},
    {CTL_JSON, 'j', "json", "-j, --json",
     "one JSON object instead of lines and tables", FLAG},
    {CTL_MARKDOWN, 'm', "markdown", "--markdown",
     "the page of docs/ that tells all of it", FLAG},
    {CTL_PROBE, 'p', "probe", "--probe", "try every backend, too", FLAG},
    {CTL_BROKER, 'b', "broker", "--broker",
     "not a partition: stop the whole broker", FLAG},
    {CTL_DRY_RUN, 'd', "dry-run", "--dry-run",
     "tell what would be done, and write nothing", FLAG},
    {CTL_KEYS, 'k', "keys", "--keys FILE",
     "keys that the topologies do not list, one a line", TEXT(keys)},
    {CTL_WITHOUT, 'W', "without", "--without BACKEND",
     "leave out a store that is gone for good", TEXT(without)},
    {CTL_TO, 'T', "to", "--to N", "the number that all later ones are above",
     AMOUNT(to, 1, INT64_MAX)},
    {CTL_WATCH, 'w', "watch", "-w, --watch", "again and again, until Ctrl-C",
     FLAG},
    {CTL_INTERVAL, 'I', "interval", "--interval SECONDS",
     "between two rounds (default: 2)", AMOUNT(interval_s, 1, TIMEOUT_MAX)},
    {CTL_SOCKET, 's', "socket", "-s, --socket SOCKET",
     "the daemon's (default: the one in the state directory)", TEXT(socket)},
    {CTL_TIMEOUT, 't', "timeout", "-t, --timeout SECONDS",
     "how long it may take to answer (default: 5)",
     AMOUNT(timeout_s, 1, TIMEOUT_MAX)},
    {CTL_HELP, 'h', "help", "-h, --help", "this text; after a command, its own",
     FLAG},
    {CTL_VERSION, 'V', "version", "--version",
     "versions of seqbroker and its libraries", FLAG},
};

#define OPTION_COUNT (sizeof option_rows / sizeof option_rows[0])

static void options_print(unsigned options)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (option_rows[i].option & options)
            printf("  %-27s %s\n", option_rows[i].usage, option_rows[i].help);
    }
}

/* Prints a section of docs/help/seqctl.txt: what stands below the line "#
 * NAME". */
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

static void version_print(void)
{
    printf("seqbroker %s\n", SEQB_VERSION);
    for (size_t i = 0; seqb_library(i) != NULL; i++)
        puts(seqb_library(i));
}

static bool amount_read(const char *name, const char *text, int64_t min,
                        int64_t max, int64_t *out)
{
    char *end;
    long long amount;

    errno = 0;
    amount = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || amount < min ||
        amount > max) {
        ctl_complain("--%s is %lld ... %lld, not \"%s\"", name, (long long)min,
                     (long long)max, text);
        return false;
    }
    *out = amount;
    return true;
}

/* False if there is no such option: getopt has told it. */
static bool option_read(int letter, struct ctl_options *out)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        void *to = (char *)out + row->offset;

        if (row->letter != letter)
            continue;
        out->given |= row->option;
        if (row->max > 0)
            return amount_read(row->name, optarg, row->min, row->max, to);
        if (row->offset > 0)
            *(const char **)to = optarg;
        return true;
    }
    return false;
}

static bool options_read(int argc, char **argv, struct ctl_options *out)
{
    struct option long_options[OPTION_COUNT + 1] = {{.name = NULL}};
    int letter;

    for (size_t i = 0; i < OPTION_COUNT; i++)
        long_options[i] = (struct option){.name = option_rows[i].name,
                                          .has_arg = option_rows[i].offset > 0
                                                         ? required_argument
                                                         : no_argument,
                                          .val = option_rows[i].letter};
    while ((letter = getopt_long(argc, argv, "n:js:t:hw", long_options,
                                 NULL)) != -1) {
        if (!option_read(letter, out)) {
            ctl_complain("see seqctl --help");
            return false;
        }
    }
    return true;
}

static enum ctl_exit command_unknown(const char *name)
{
    const struct command *guess = command_guess(name);

    if (guess != NULL)
        ctl_complain("unknown command \"%s\", did you mean \"%s\"?", name,
                     guess->name);
    else
        ctl_complain("unknown command \"%s\", see seqctl --help", name);
    return CTL_USAGE;
}

/* The first option that was given and is none of the command's, or NULL. */
static const char *option_misplaced(const struct command *command,
                                    unsigned given)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (option_rows[i].option & given & ~command->options)
            return option_rows[i].usage;
    }
    return NULL;
}

static enum ctl_exit command_run(const struct command *command,
                                 const struct ctl_options *options, int argc,
                                 char **argv)
{
    const int wanted =
        options->given & CTL_BROKER ? 0 : command->argument_count;
    const char *misplaced;

    if (options->given & CTL_HELP) {
        command_help_print(command);
        return CTL_OK;
    }
    misplaced = option_misplaced(command, options->given);
    if (misplaced != NULL) {
        ctl_complain("%s takes no %s", command->name, misplaced);
        return CTL_USAGE;
    }
    if (wanted < 0 ? argc < -wanted : argc != wanted) {
        ctl_complain("usage: seqctl %s %s", command->name, command->arguments);
        return CTL_USAGE;
    }
    return command->run(options, argv);
}

static enum ctl_exit line_run(int argc, char **argv)
{
    struct ctl_options options = {.timeout_s = 5, .interval_s = WATCH_S};
    const struct command *command;

    if (!options_read(argc, argv, &options))
        return CTL_USAGE;
    argc -= optind;
    argv += optind;
    if (options.given & CTL_VERSION) {
        version_print();
        return CTL_OK;
    }
    if (argc == 0 && options.given & CTL_HELP) {
        help_print();
        return CTL_OK;
    }
    if (argc == 0) {
        ctl_complain("which command? see seqctl --help");
        return CTL_USAGE;
    }
    command = command_find(argv[0]);
    if (command == NULL)
        return command_unknown(argv[0]);
    return command_run(command, &options, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    enum ctl_exit result;

    setlocale(LC_CTYPE, ""); /* else tables escape what is not ASCII */
    /* a lost daemon or reader is an error to tell, not a death */
    signal(SIGPIPE, SIG_IGN);
    result = line_run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        ctl_complain("output was lost: stdout cannot be written");
        if (result == CTL_OK)
            result = CTL_FAILED;
    }
    return (int)result;
}
