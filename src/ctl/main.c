/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl: the operator's command line. Reads the options, finds the command,
 * and sees to it that output which was lost is not taken for success. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/commands.h"

#define COUNT_MAX   10000000
#define TIMEOUT_MAX 3600
#define WATCH_S     2 /* between two rounds, if nothing was said */

struct option_row {
    enum ctl_option option;
    const char *usage;
    const char *help;
};

static const struct option_row option_rows[] = {
    {CTL_COUNT, "-n, --count N", "how many numbers (1 ... 10000000)"},
    {CTL_SHARD, "--shard S", "the shard that the ids are to have"},
    {CTL_STAMP, "--stamp", "each number with its stamp"},
    {CTL_JSON, "-j, --json", "one JSON object instead of lines and tables"},
    {CTL_MARKDOWN, "--markdown", "as docs/configuration.md"},
    {CTL_PROBE, "--probe", "try every backend, too"},
    {CTL_BROKER, "--broker", "not a partition: stop the whole broker"},
    {CTL_DRY_RUN, "--dry-run", "tell what would be done, and write nothing"},
    {CTL_KEYS, "--keys FILE",
     "keys that the topologies do not list, one a line"},
    {CTL_TO, "--to N", "the number that all later ones are above"},
    {CTL_WATCH, "-w, --watch", "again and again, until Ctrl-C"},
    {CTL_INTERVAL, "--interval SECONDS", "between two rounds (default: 2)"},
    {CTL_SOCKET, "-s, --socket SOCKET",
     "the daemon's (default: the one in the state directory)"},
    {CTL_TIMEOUT, "-t, --timeout SECONDS",
     "how long it may take to answer (default: 5)"},
    {CTL_HELP, "-h, --help", "this text; after a command, its own"},
    {CTL_VERSION, "--version", "versions of seqbroker and its libraries"},
};

static const struct option long_options[] = {
    {"broker", no_argument, NULL, 'b'},
    {"count", required_argument, NULL, 'n'},
    {"dry-run", no_argument, NULL, 'd'},
    {"json", no_argument, NULL, 'j'},
    {"keys", required_argument, NULL, 'k'},
    {"markdown", no_argument, NULL, 'm'},
    {"probe", no_argument, NULL, 'p'},
    {"shard", required_argument, NULL, 'S'},
    {"stamp", no_argument, NULL, 'P'},
    {"to", required_argument, NULL, 'T'},
    {"watch", no_argument, NULL, 'w'},
    {"interval", required_argument, NULL, 'I'},
    {"socket", required_argument, NULL, 's'},
    {"timeout", required_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void options_print(unsigned options)
{
    for (size_t i = 0; i < sizeof option_rows / sizeof option_rows[0]; i++) {
        if (option_rows[i].option & options)
            printf("  %-27s %s\n", option_rows[i].usage, option_rows[i].help);
    }
}

static void help_print(void)
{
    puts("  seqctl next order                 one number\n"
         "  seqctl next order --count 1000    a thousand, one a line\n"
         "  seqctl number order               one as its template writes it\n"
         "  seqctl parse order SN-000042-7    is that one of them?\n"
         "  seqctl status                     partitions and sequences\n"
         "  seqctl health                     can it serve? for monitors\n"
         "  seqctl drain main/2               ask that partition no more\n"
         "  seqctl check topology.conf        is this file sound?\n"
         "  seqctl check --probe FILE         and are its backends?\n"
         "  seqctl migrate OLD NEW --dry-run  what would a new layout take?\n"
         "\n"
         "Usage: seqctl [OPTION ...] COMMAND [ARGUMENT ...]\n"
         "\n"
         "Commands (seqctl COMMAND --help tells more):");
    for (size_t i = 0; command_at(i) != NULL; i++) {
        const struct command *command = command_at(i);
        char usage[64];

        snprintf(usage, sizeof usage, "%s %s", command->name,
                 command->arguments);
        printf("  %-27s %s\n", usage, command->summary);
    }
    puts("\nOptions:");
    options_print(~0U);
    puts(
        "\n"
        "Exit codes: 0 done; 1 an error was answered, a probed backend is not\n"
        "well, or the output could not be written; 2 bad usage or an invalid\n"
        "topology; 3 no daemon answers. Those of health: 0 serving, 1 "
        "degraded,\n"
        "2 not serving, 3 unknown.");
}

static void command_help_print(const struct command *command)
{
    fputs(command->help, stdout);
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

static bool option_read(int letter, struct ctl_options *out)
{
    switch (letter) {
    case 'n':
        out->given |= CTL_COUNT;
        return amount_read("count", optarg, 1, COUNT_MAX, &out->count);
    case 'j':
        out->given |= CTL_JSON;
        return true;
    case 'm':
        out->given |= CTL_MARKDOWN;
        return true;
    case 'p':
        out->given |= CTL_PROBE;
        return true;
    case 'b':
        out->given |= CTL_BROKER;
        return true;
    case 'd':
        out->given |= CTL_DRY_RUN;
        return true;
    case 'k':
        out->given |= CTL_KEYS;
        out->keys = optarg;
        return true;
    case 'T':
        out->given |= CTL_TO;
        return amount_read("to", optarg, 1, INT64_MAX, &out->to);
    case 'S':
        out->given |= CTL_SHARD;
        return amount_read("shard", optarg, 0, INT64_MAX, &out->shard);
    case 'P':
        out->given |= CTL_STAMP;
        return true;
    case 'w':
        out->given |= CTL_WATCH;
        return true;
    case 'I':
        out->given |= CTL_INTERVAL;
        return amount_read("interval", optarg, 1, TIMEOUT_MAX,
                           &out->interval_s);
    case 's':
        out->given |= CTL_SOCKET;
        out->socket = optarg;
        return true;
    case 't':
        out->given |= CTL_TIMEOUT;
        return amount_read("timeout", optarg, 1, TIMEOUT_MAX, &out->timeout_s);
    case 'h':
        out->given |= CTL_HELP;
        return true;
    case 'V':
        out->given |= CTL_VERSION;
        return true;
    default: /* getopt has told it */
        return false;
    }
}

static bool options_read(int argc, char **argv, struct ctl_options *out)
{
    int letter;

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
    for (size_t i = 0; i < sizeof option_rows / sizeof option_rows[0]; i++) {
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
