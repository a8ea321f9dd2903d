/* SPDX-License-Identifier: Apache-2.0 */
/* What each command does. How a status looks is in output.c, what is common
 * to all command lines in main.c. */
#include "ctl/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/client.h"
#include "ctl/output.h"
#include "ctl/probe.h"
#include "ctl/settings_doc.h"

#define NUMBERS_AT_ONCE  1000 /* asked of the daemon in one request */
#define NAME_MAX_GUESSED 16

static bool number_print(const redisReply *number)
{
    if (number->type == REDIS_REPLY_INTEGER)
        return printf("%lld\n", number->integer) > 0;
    return false;
}

/* True if the answer was `count` numbers and stdout took them. */
static bool numbers_print(const redisReply *reply, int64_t count)
{
    if (reply->type != REDIS_REPLY_ARRAY || (int64_t)reply->elements != count) {
        ctl_complain("the answer to SEQ.NEXT makes no sense: is this a "
                     "seqbrokerd, and of this version?");
        return false;
    }
    for (size_t i = 0; i < reply->elements; i++) {
        if (!number_print(reply->element[i]))
            return false;
    }
    return fflush(stdout) == 0;
}

static enum ctl_exit numbers_take(struct client *client, const char *key,
                                  int64_t count)
{
    char text[24];
    const char *const words[] = {"SEQ.NEXT", key, "COUNT", text};
    redisReply *reply;
    enum ctl_exit result;

    snprintf(text, sizeof text, "%" PRId64, count);
    result = client_call(client, 4, words, &reply);
    if (result != CTL_OK)
        return result;
    if (!numbers_print(reply, count))
        result = CTL_FAILED;
    freeReplyObject(reply);
    return result;
}

static enum ctl_exit command_next(const struct ctl_options *options,
                                  char **argument)
{
    int64_t left = options->count > 0 ? options->count : 1;
    struct client client;
    enum ctl_exit result = client_open(options, &client);

    while (result == CTL_OK && left > 0) {
        int64_t count = left < NUMBERS_AT_ONCE ? left : NUMBERS_AT_ONCE;

        result = numbers_take(&client, argument[0], count);
        left -= count;
    }
    client_close(&client);
    return result;
}

static enum ctl_exit command_status(const struct ctl_options *options,
                                    char **argument)
{
    static const char *const words[] = {"SEQ.STATUS"};
    struct client client;
    redisReply *reply = NULL;
    enum ctl_exit result = client_open(options, &client);

    (void)argument;
    if (result == CTL_OK)
        result = client_call(&client, 1, words, &reply);
    if (result == CTL_OK)
        result = options->given & CTL_JSON ? output_json(reply)
                                           : output_tables(reply);
    freeReplyObject(reply);
    client_close(&client);
    return result;
}

static void decoded_print(const redisReply *map)
{
    static const char *const names[] = {"counter", "partition", "memory_bits",
                                        "memory"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        printf("%-12s %" PRId64 "\n", names[i], reply_integer(map, names[i]));
}

static enum ctl_exit command_decode(const struct ctl_options *options,
                                    char **argument)
{
    const char *const words[] = {"SEQ.DECODE", argument[0], argument[1]};
    struct client client;
    redisReply *reply = NULL;
    enum ctl_exit result = client_open(options, &client);

    if (result == CTL_OK)
        result = client_call(&client, 3, words, &reply);
    if (result == CTL_OK && reply_field(reply, "counter") == NULL) {
        ctl_complain("the answer to SEQ.DECODE has no counter: is this a "
                     "seqbrokerd, and of this version?");
        result = CTL_FAILED;
    }
    if (result == CTL_OK)
        decoded_print(reply);
    freeReplyObject(reply);
    client_close(&client);
    return result;
}

static void mistake_print(void *context, const char *line)
{
    size_t *mistakes = context;

    puts(line);
    (*mistakes)++;
}

static enum ctl_exit command_check(const struct ctl_options *options,
                                   char **argument)
{
    size_t mistakes = 0;
    struct seqb_error err;
    enum seqb_status status;

    if (options->given & CTL_PROBE)
        return probe_run(argument[0], options->given & CTL_JSON);
    if (options->given & CTL_JSON) {
        ctl_complain("check takes --json with --probe only");
        return CTL_USAGE;
    }
    status = seqb_check_topology(argument[0], mistake_print, &mistakes, &err);
    if (status == SEQB_OK) {
        printf("%s: ok\n", argument[0]);
        return CTL_OK;
    }
    if (mistakes == 0)
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
    if (options->given & CTL_MARKDOWN) {
        settings_doc_print(stdout);
        return CTL_OK;
    }
    for (size_t i = 0; i < count; i++)
        setting_print(&settings[i]);
    return CTL_OK;
}

static const struct command commands[] = {
    {"next", "KEY", 1, CTL_COUNT | CTL_SOCKET | CTL_TIMEOUT,
     "take numbers of a sequence",
     "  seqctl next order\n"
     "  seqctl next order --count 1000 > numbers\n"
     "\n"
     "Prints the numbers one a line. They are increasing within a block, but\n"
     "not contiguous. Numbers that were taken and could not be printed are\n"
     "lost (a gap), and the exit code is then not 0.\n",
     command_next},
    {"status", "", 0, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     "how partitions and sequences are",
     "  seqctl status\n"
     "  seqctl status --json\n"
     "\n"
     "A table of the partitions and one of the sequences in use. With --json\n"
     "one object; `granted` and `taken` are strings there, since they may\n"
     "pass 2^53, above which many readers of JSON round.\n",
     command_status},
    {"decode", "KEY VALUE", 2, CTL_SOCKET | CTL_TIMEOUT, "take a number apart",
     "  seqctl decode order 37\n"
     "\n"
     "Says which counter value of which partition a number was made from,\n"
     "not whether it was ever issued.\n",
     command_decode},
    {"check", "FILE", 1, CTL_PROBE | CTL_JSON, "check a topology file",
     "  seqctl check topology.conf\n"
     "  seqctl check --probe topology.conf\n"
     "\n"
     "Prints every mistake as `file:line: what`, or `FILE: ok`. Asks neither\n"
     "a daemon nor a backend.\n"
     "\n"
     "With --probe it then opens every backend by itself, and lists whether\n"
     "it answers, its server and role, what its settings lose, the place that\n"
     "it claims, and what it fails together with; warnings come after it.\n"
     "Nothing is made or written: stores that a first start has yet to make\n"
     "are told as missing. The exit code is 1 if a backend cannot serve;\n"
     "warnings do not count.\n",
     command_check},
    {"config", "", 0, CTL_MARKDOWN, "list the settings of a topology file",
     "  seqctl config\n"
     "  seqctl config --markdown > configuration.md\n"
     "\n"
     "Each setting with its type, range, default, and what it does. Asks no\n"
     "daemon.\n",
     command_config},
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
