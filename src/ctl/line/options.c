/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options, and how options are read. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/line/line.h"
#include "guess/guess.h"

#define COUNT_MAX   10000000
#define TIMEOUT_MAX 3600

struct option_row {
    enum ctl_option option;
    char letter; /* 0: it has a long name only */
    const char *name;
    const char *usage;
    const char *help;
    /* The offset in struct ctl_options of its argument; 0: it takes none. */
    size_t offset;
    int64_t min; /* of an amount */
    int64_t max; /* 0: the argument is a text */
};

#define FLAG                    0, 0, 0
#define TEXT(to)                offsetof(struct ctl_options, to), 0, 0
#define AMOUNT(to, least, most) offsetof(struct ctl_options, to), least, most

static const struct option_row option_rows[] = {
    {CTL_COUNT, 'n', "count", "-n, --count N",
     "how many numbers (1 ... 10000000)", AMOUNT(count, 1, COUNT_MAX)},
    {CTL_SHARD, 0, "shard", "--shard S", "the shard of the ids (default: 0)",
     AMOUNT(shard, 0, INT64_MAX)},
    {CTL_STAMP, 0, "stamp", "--stamp", "print the stamp before each number",
     FLAG},
    {CTL_JSON, 'j', "json", "-j, --json",
     "one JSON object instead of lines and tables", FLAG},
    {CTL_MARKDOWN, 0, "markdown", "--markdown",
     "print the page of docs/ about it", FLAG},
    {CTL_PROBE, 0, "probe", "--probe", "try every backend, too", FLAG},
    {CTL_BROKER, 0, "broker", "--broker",
     "not a partition: stop the whole broker", FLAG},
    {CTL_DRY_RUN, 0, "dry-run", "--dry-run",
     "print what would be done, and write nothing", FLAG},
    {CTL_CHECK, 0, "check", "--check", "compare only, and apply nothing", FLAG},
    {CTL_KEYS, 0, "keys", "--keys FILE",
     "further keys that were used, one a line", TEXT(keys)},
    {CTL_WITHOUT, 0, "without", "--without BACKEND",
     "leave out a store that is gone for good", TEXT(without)},
    {CTL_TO, 0, "to", "--to N", "all later numbers are above this number",
     AMOUNT(to, 1, INT64_MAX)},
    {CTL_WATCH, 'w', "watch", "-w, --watch", "repeat until Ctrl-C", FLAG},
    {CTL_INTERVAL, 0, "interval", "--interval SECONDS",
     "time between two rounds (default: 2)",
     AMOUNT(interval_s, 1, TIMEOUT_MAX)},
    {CTL_WIDE, 0, "wide", "--wide", "all columns, and nothing cut", FLAG},
    {CTL_SORT, 0, "sort", "--sort ORDER",
     "order of sequences: rate, stock, runway, ...", TEXT(sort)},
    {CTL_TOP, 0, "top", "--top N", "the first N sequences (default: 20)",
     AMOUNT(top, 1, COUNT_MAX)},
    {CTL_ALL, 0, "all", "--all", "all sequences or lines that are kept", FLAG},
    {CTL_COLOR, 0, "color", "--color WHEN",
     "auto (on a terminal; the default), always or never", TEXT(color)},
    {CTL_SINCE, 0, "since", "--since WHEN",
     "an age as 10m, or a time as 2026-11-21T10:00:00Z", TEXT(since)},
    {CTL_LEVEL, 0, "level", "--level LEVEL",
     "the lowest level: error, warn, info or debug", TEXT(level)},
    {CTL_SOCKET, 's', "socket", "-s, --socket SERVER",
     "HOST:PORT, tls://HOST:PORT or a socket's path", TEXT(socket)},
    {CTL_TLS, 0, "tls-ca", "--tls-ca FILE",
     "for tls://: trusted CAs (default: the system's)", TEXT(tls_ca)},
    {CTL_TLS, 0, "tls-cert", "--tls-cert FILE",
     "for tls://: our own certificate, as PEM", TEXT(tls_cert)},
    {CTL_TLS, 0, "tls-key", "--tls-key FILE",
     "for tls://: its key, as PEM, without a passphrase", TEXT(tls_key)},
    {CTL_TIMEOUT, 't', "timeout", "-t, --timeout SECONDS",
     "the longest wait for an answer (default: 5)",
     AMOUNT(timeout_s, 1, TIMEOUT_MAX)},
    {CTL_USER, 0, "user", "--user NAME", "log in as this user of the topology",
     TEXT(user)},
    {CTL_PASSWORD_FILE, 0, "password-file", "--password-file FILE",
     "a file with the password or token of the user", TEXT(password_file)},
    {CTL_FORCE, 0, "force", "--force", "do it although nothing takes it back",
     FLAG},
    {CTL_HELP, 'h', "help", "-h, --help", "this text; after a command, its own",
     FLAG},
    {CTL_VERSION, 0, "version", "--version",
     "versions of seqbroker and its libraries", FLAG},
};

#define OPTION_COUNT (sizeof option_rows / sizeof option_rows[0])

void options_print(unsigned options)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (option_rows[i].option & options)
            printf("  %-27s %s\n", option_rows[i].usage, option_rows[i].help);
    }
}

const char *option_usage(unsigned options)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (option_rows[i].option & options)
            return option_rows[i].usage;
    }
    return NULL;
}

static const char *option_name(enum ctl_option option)
{
    size_t i = 0;

    while (option_rows[i].option != option)
        i++;
    return option_rows[i].name;
}

/* --watch is for people; a page is no JSON. */
bool options_agree(const struct command *command, unsigned options)
{
    static const enum ctl_option pairs[][2] = {
        {CTL_WATCH, CTL_JSON},
        {CTL_WATCH, CTL_MARKDOWN},
        {CTL_MARKDOWN, CTL_JSON},
        {CTL_TOP, CTL_ALL},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if ((options & pairs[i][0]) == 0 || (options & pairs[i][1]) == 0)
            continue;
        ctl_complain("%s takes --%s or --%s, not both", command->name,
                     option_name(pairs[i][0]), option_name(pairs[i][1]));
        return false;
    }
    return true;
}

/* --- reading --- */

/* Those with an argument have a ":". */
#define LETTERS "n:js:t:hw"

bool option_is_json(const char *word)
{
    static const char json[] = "--json";

    if (word[0] != '-')
        return false;
    if (word[1] == '-')
        return word[2] != '\0' && strncmp(word, json, strlen(word)) == 0;
    /* The rest of the word may be an argument. */
    while (*++word != '\0' && *word != 'j') {
        const char *letter = strchr(LETTERS, *word);

        if (letter == NULL || letter[1] == ':')
            return false;
    }
    return *word == 'j';
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

static bool server_add(struct ctl_options *out, const char *server)
{
    if (out->server_count == CTL_SERVERS_MAX) {
        ctl_complain("-s may stand at most %d times", CTL_SERVERS_MAX);
        return false;
    }
    out->servers[out->server_count++] = server;
    out->socket = out->servers[0];
    return true;
}

static bool option_take(const struct option_row *row, struct ctl_options *out)
{
    void *to = (char *)out + row->offset;

    out->given |= row->option;
    if (row->option == CTL_SOCKET)
        return server_add(out, optarg);
    if (row->max > 0)
        return amount_read(row->name, optarg, row->min, row->max, to);
    if (row->offset > 0)
        *(const char **)to = optarg;
    return true;
}

/* Reports an abbreviation of several options. False: it is none. */
static bool option_ambiguous(const char *name)
{
    char names[256];
    size_t used = 0;
    int count = 0;

    for (size_t i = 0; i < OPTION_COUNT && used < sizeof names; i++) {
        if (strncmp(option_rows[i].name, name, strlen(name)) == 0)
            used += (size_t)snprintf(names + used, sizeof names - used,
                                     "%s--%s", count++ > 0 ? " or " : "",
                                     option_rows[i].name);
    }
    if (count < 2 || name[0] == '\0')
        return false;
    ctl_complain("--%s is %s", name, names);
    return true;
}

/* Of a long option the word up to "=", of a short one its letter. */
static void option_unknown(const char *word)
{
    struct guess guess = {.word = ""};
    char name[64];

    if (optopt != 0) {
        ctl_complain("unknown option -%c, see seqctl --help", optopt);
        return;
    }
    word += strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    if (option_ambiguous(name))
        return;
    guess.word = name;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        guess_weigh(&guess, option_rows[i].name);
    if (guess.best != NULL)
        ctl_complain("unknown option --%s, did you mean --%s? see seqctl "
                     "--help",
                     name, guess.best);
    else
        ctl_complain("unknown option --%s, see seqctl --help", name);
}

/* What getopt_long answers for a row. Of an option without a letter it is no
 * character, which a person could type. */
static int option_answer(size_t row)
{
    return option_rows[row].letter != 0 ? option_rows[row].letter
                                        : UCHAR_MAX + 1 + (int)row;
}

static const struct option_row *option_find(int answer)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (option_answer(i) == answer)
            return &option_rows[i];
    }
    return NULL;
}

/* Reports a word that getopt refused: an argument is missing or not allowed, or
 * the option is unknown. */
static void option_refuse(int answer, const char *word)
{
    const struct option_row *row = option_find(optopt);

    if (answer == ':' && row != NULL)
        ctl_complain("--%s wants an argument: %s", row->name, row->usage);
    else if (row != NULL)
        ctl_complain("--%s takes no argument: \"%s\"", row->name, word);
    else
        option_unknown(word);
}

bool options_read(int argc, char **argv, struct ctl_options *out)
{
    struct option long_options[OPTION_COUNT + 1] = {{.name = NULL}};
    int answer;

    for (size_t i = 0; i < OPTION_COUNT; i++)
        long_options[i] = (struct option){.name = option_rows[i].name,
                                          .has_arg = option_rows[i].offset > 0
                                                         ? required_argument
                                                         : no_argument,
                                          .val = option_answer(i)};
    opterr = 0; /* the errors are reported here */
    while ((answer = getopt_long(argc, argv, ":" LETTERS, long_options,
                                 NULL)) != -1) {
        const struct option_row *row = option_find(answer);

        if (row == NULL)
            option_refuse(answer, argv[optind - 1]);
        if (row == NULL || !option_take(row, out))
            return false;
    }
    return true;
}
