/* SPDX-License-Identifier: Apache-2.0 */
/* What each command does. How a status looks is in output.c, what is common
 * to all command lines in main.c. */
#include "ctl/commands.h"

#include <stdio.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/apart.h"
#include "ctl/client.h"
#include "ctl/migrate.h"
#include "ctl/numbers.h"
#include "ctl/operate.h"
#include "ctl/output.h"
#include "ctl/probe.h"
#include "ctl/settings_doc.h"
#include "ctl/watch.h"
#include "ctl/workers.h"

#define NAME_MAX_GUESSED 16

static enum ctl_exit status_show(const struct ctl_options *options)
{
    static const char *const words[] = {"SEQ.STATUS"};
    struct client client;
    redisReply *reply = NULL;
    enum ctl_exit result = client_open(options, &client);

    if (result == CTL_OK)
        result = client_call(&client, 1, words, &reply);
    if (result == CTL_OK)
        result = options->given & CTL_JSON ? output_json(reply)
                                           : output_tables(reply);
    freeReplyObject(reply);
    client_close(&client);
    return result;
}

static enum ctl_exit command_status(const struct ctl_options *options,
                                    char **argument)
{
    (void)argument;
    if (options->given & CTL_WATCH)
        return watch_run(options, status_show);
    if (options->given & CTL_INTERVAL) {
        ctl_complain("status takes --interval with --watch only");
        return CTL_USAGE;
    }
    return status_show(options);
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

static enum ctl_exit command_migrate(const struct ctl_options *options,
                                     char **argument)
{
    return migrate_run(argument[0], argument[1], options->keys,
                       options->given & CTL_DRY_RUN);
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
    {"next", "KEY", 1,
     CTL_COUNT | CTL_SHARD | CTL_STAMP | CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     "take numbers of a sequence",
     "  seqctl next order\n"
     "  seqctl next order --count 1000 > numbers\n"
     "  seqctl next receipt --stamp\n"
     "  seqctl next waybill --shard 17\n"
     "\n"
     "Prints the numbers one a line. They are increasing within a block, but\n"
     "not contiguous. Numbers that were taken and could not be printed are\n"
     "lost (a gap), and the exit code is then not 0.\n"
     "\n"
     "Where the sequence has a period, numbers begin afresh with each of its\n"
     "stamps: --stamp prints it before each number, as 20261121 5; up to 1000\n"
     "that are taken together are of one stamp. --shard is for ids only: the\n"
     "shard that stands in them; without it, 0.\n"
     "\n"
     "--json prints {\"numbers\": [\"37\", ...]}: strings, since they may "
     "pass\n"
     "2^53, above which many readers of JSON round. With --stamp each is an\n"
     "object of `stamp` and `number`.\n",
     numbers_next},
    {"number", "KEY [NAME=VALUE ...]", -1,
     CTL_COUNT | CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     "take numbers as their template writes them",
     "  seqctl number order\n"
     "  seqctl number waybill area=010 --count 1000 > waybills\n"
     "  seqctl number id shard=17 --json\n"
     "\n"
     "Prints the texts one a line. NAME=VALUE is a parameter of the template,\n"
     "which all of them get; `shard` is the one that ids are to have. What "
     "the\n"
     "template asks for must be given unless it has a default, and nothing "
     "that\n"
     "it does not ask for. Texts that were taken and could not be printed are\n"
     "lost (a gap), and the exit code is then not 0.\n"
     "\n"
     "--json prints {\"numbers\": [\"SN-000042-7\", ...]}.\n",
     numbers_number},
    {"status", "", 0,
     CTL_JSON | CTL_SOCKET | CTL_TIMEOUT | CTL_WATCH | CTL_INTERVAL,
     "how partitions and sequences are",
     "  seqctl status\n"
     "  seqctl status --json\n"
     "  seqctl status --watch --interval 5\n"
     "\n"
     "A table of the partitions and one of the sequences in use. RUNWAY is "
     "how\n"
     "long a sequence's stock lasts at its RATE, LAST REFILL how many numbers\n"
     "were asked for last, and why so many; RUNS OUT the date at which its\n"
     "bits are used up at its usual rate. With --json one object; `granted`,\n"
     "`taken`, `width_numbers` and `pool_numbers` are strings there, since "
     "they\n"
     "may pass 2^53, above which many readers of JSON round; `runway_ms` and\n"
     "`runs_out_ms` are -1 for never.\n"
     "What does not apply, or is not known, is null.\n"
     "\n"
     "WHY tells why a partition is not up, or which counter it refuses though\n"
     "it is, for what reason; REFUSES is shown where some do, and tells how\n"
     "many. They are tried again by themselves.\n"
     "\n"
     "CLOCK is the clock of a store's machine less ours. Where sequences have "
     "a\n"
     "period, STAMP is the current one, DROPPED how many numbers were unused\n"
     "when theirs was over, and a last line tells the clock that stamps are\n"
     "made of, which never goes back, and why it gives none. POOL GIVES is "
     "for\n"
     "templates with a width: of the numbers that fit it, in each period, how\n"
     "many the pool can give; the others fall between its partitions.\n"
     "\n"
     "--watch redraws a terminal and appends elsewhere, until Ctrl-C.\n",
     command_status},
    {"health", "", 0, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     "whether every pool can serve",
     "  seqctl health\n"
     "  seqctl health --json\n"
     "\n"
     "Prints one line. Exit codes: 0 serving, every partition may be asked, "
     "and\n"
     "refuses no counter; 1 degraded, some may not, or refuse a counter, and\n"
     "every pool can serve; 2 not serving, a pool has no partition that may "
     "be\n"
     "asked; 3 unknown, no daemon answers.\n"
     "What is wrong with the clock is a warning in that line: only sequences\n"
     "with a period are without numbers then.\n",
     operate_health},
    {"workers", "", 0, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     "who has the worker ids of snowflakes",
     "  seqctl workers\n"
     "  seqctl workers --json\n"
     "\n"
     "Each worker id that was ever taken, as the pools' authorities have it:\n"
     "ours (this broker has it), held (somebody has or had it, and it was not\n"
     "given back), or free; who holds it, when that was renewed, by the\n"
     "holder's clock, and the time after which no id of it can be. An id "
     "whose\n"
     "holder died is taken again when its lease has passed.\n",
     workers_show},
    {"quarantine", "PARTITION", 1, CTL_SOCKET | CTL_TIMEOUT,
     "take a partition out as if it had failed",
     "  seqctl quarantine main/2\n"
     "  seqctl quarantine redis-a\n"
     "\n"
     "It comes back by itself when its probes succeed. PARTITION is its pool\n"
     "and number, pool/authority, or its backend's name. The order is for\n"
     "this daemon alone: other brokers go on asking it.\n",
     operate_quarantine},
    {"rescue", "PARTITION", 1, CTL_SOCKET | CTL_TIMEOUT,
     "probe a partition now",
     "  seqctl rescue main/2\n"
     "\n"
     "Also one that is refused or poisoned, which nothing else brings back:\n"
     "first see to it that its store is the right one, and that its counters\n"
     "lie above every number that was issued. For this daemon alone.\n",
     operate_rescue},
    {"drain", "PARTITION|--broker", 1, CTL_BROKER | CTL_SOCKET | CTL_TIMEOUT,
     "ask a partition no more",
     "  seqctl drain main/2\n"
     "  seqctl drain --broker\n"
     "\n"
     "Before its server is stopped. Calls under way end as ever. It is "
     "neither\n"
     "asked nor probed until it is resumed or this daemon starts anew. Other\n"
     "brokers go on asking it: drain it in each of them.\n"
     "\n"
     "--broker stops the whole broker, cleanly, as SIGTERM does: it takes no\n"
     "connection any more, answers what has arrived, and ends. Returns when "
     "it\n"
     "has; exit code 1 if it goes on ending longer than --timeout.\n",
     operate_drain},
    {"resume", "PARTITION", 1, CTL_SOCKET | CTL_TIMEOUT, "undo a drain",
     "  seqctl resume main/2\n"
     "\n"
     "It is probed at once, and then its share of the turns grows to the\n"
     "whole.\n",
     operate_resume},
    {"advance", "KEY --to N", 1, CTL_TO | CTL_SOCKET | CTL_TIMEOUT,
     "move a sequence beyond a number",
     "  seqctl advance order --to 5000000\n"
     "\n"
     "All numbers that this daemon hands out afterwards are above it, and so\n"
     "are those of other brokers once they have used up what they hold. What\n"
     "is fetched ahead is dropped (a gap). Refuses to go back: N must be "
     "above\n"
     "all that was granted to this daemon. Waits for the stores as long as "
     "the\n"
     "sequence's `deadline`. The exit code is 1 if some could not be raised:\n"
     "they are, before this daemon uses them; nothing needs to be repeated.\n",
     operate_advance},
    {"decode", "KEY VALUE", 2, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     "take a number apart",
     "  seqctl decode order 37\n"
     "  seqctl decode order 37 --json\n"
     "\n"
     "Says which counter value of which partition a number was made from,\n"
     "not whether it was ever issued.\n"
     "Of an id, or of a snowflake's number, its time (UTC), shard or worker,\n"
     "and the number within that time, too.\n"
     "\n"
     "With --json one object: `counter` and `number` are strings, what does "
     "not\n"
     "apply is null.\n",
     apart_decode},
    {"parse", "KEY TEXT", 2, CTL_JSON | CTL_SOCKET | CTL_TIMEOUT,
     "take apart what number wrote",
     "  seqctl parse order SN-000042-7\n"
     "  seqctl parse waybill 010-6541-00001 --json\n"
     "\n"
     "Prints what the text says: the value that `next` gives for it, the "
     "number\n"
     "within its period, stamp, shard, and each parameter as param.NAME. Says\n"
     "not whether it was ever issued.\n"
     "\n"
     "Exit codes: 0 it has the sequence's form, its check digit is right, its\n"
     "date exists; 1 it is none of the sequence's numbers, and stderr tells\n"
     "why, beginning with FOREIGN; or another error was answered. A text that\n"
     "begins with - stands behind --.\n"
     "\n"
     "With --json one object: `value` and `number` are strings, `params` is "
     "an\n"
     "object, what does not apply is null.\n",
     apart_parse},
    {"check", "FILE", 1, CTL_PROBE | CTL_JSON, "check a topology file",
     "  seqctl check topology.conf\n"
     "  seqctl check --probe topology.conf\n"
     "\n"
     "Prints every mistake as `file:line: what`, or `FILE: ok`. Asks neither\n"
     "a daemon nor a backend, but reads the files of keys and passwords.\n"
     "Before `ok` come lines with `note:`, how many numbers fit a template's\n"
     "width and how many of them its pool can give, and with `warning:`, what\n"
     "should be looked at; neither counts for the exit code.\n"
     "\n"
     "With --probe it then opens every backend by itself, and lists whether\n"
     "it answers, its server and role, what its settings lose, the place that\n"
     "it claims, and what it fails together with; warnings come after it.\n"
     "Nothing is made or written: stores that a first start has yet to make\n"
     "are told as missing. The exit code is 1 if a backend cannot serve;\n"
     "warnings do not count.\n",
     command_check},
    {"migrate", "OLD NEW", 2, CTL_DRY_RUN | CTL_KEYS,
     "move pools to another layout",
     "  seqctl migrate old.conf new.conf --dry-run\n"
     "  seqctl migrate old.conf new.conf --keys used-keys\n"
     "\n"
     "For another number or order of partitions, other window_bits or\n"
     "memory_bits, another authority: write the new topology with one more in\n"
     "`generation` of each pool that changes, stop every broker, migrate, and\n"
     "start the brokers with the new topology. All new numbers are above all\n"
     "old ones; old brokers get no more. Every backend of both must answer.\n"
     "\n"
     "Tells the plan first; with --dry-run that is all, and nothing is made\n"
     "or written. It may be killed at any moment and run again, with the same\n"
     "files. Where the old topology has auto_sequences, --keys must name "
     "every\n"
     "key that was ever used: docs/operations.md says how to get them.\n",
     command_migrate},
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
