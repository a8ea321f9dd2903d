/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl status and workers: an answer to SEQ.STATUS as two tables and a line
 * for the clock, one to SEQ.WORKERS as a table, or each as one JSON object. How
 * a field looks is in answer.c. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/answer.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/json.h"
#include "status/status.h"

#define SCREEN_SIZE  65536           /* bytes written at once */
#define CLEAR_SCREEN "\033[H\033[2J" /* ECMA-48: cursor home, erase */

static bool pools_are_several(const redisReply *partitions)
{
    for (size_t i = 1; i < partitions->elements; i++) {
        if (strcmp(reply_text(partitions->element[0], "pool"),
                   reply_text(partitions->element[i], "pool")) != 0)
            return true;
    }
    return false;
}

static void apart_print(const redisReply *clock, const char *name,
                        const char *what)
{
    const int64_t ms = reply_integer(clock, name);
    char age[32];

    if (ms == 0)
        return;
    age_format(age, sizeof age, ms);
    printf(", the machine's is %s %s", age, what);
}

/* Stamps are made of it. What is wrong with it is a warning: only sequences
 * with a period are without numbers then. */
static void clock_print(const redisReply *clock)
{
    const int64_t steps = reply_integer(clock, "steps_back");
    const char *reason = reply_text(clock, "reason");
    char moment[40];

    if (clock == NULL)
        return;
    moment_format(moment, sizeof moment, reply_integer(clock, "guarded_ms"));
    printf("\nclock %s", moment);
    apart_print(clock, "behind_ms", "behind");
    apart_print(clock, "ahead_ms", "ahead");
    if (steps > 0)
        printf(", it went back %" PRId64 " time%s", steps,
               steps == 1 ? "" : "s");
    putchar('\n');
    if (*reason != '\0')
        printf("warning: sequences with a period have no numbers: %s\n",
               reason);
}

/* Of pools with neighbours; `several` pools are named. */
static bool lessors_table(const redisReply *lessors, bool several)
{
    if (lessors == NULL || lessors->elements == 0)
        return true;
    putchar('\n');
    return table_print(STATUS_OF_LESSORS, lessors, several);
}

static bool tables_print(const redisReply *status, const redisReply *partitions,
                         const redisReply *sequences)
{
    const bool several = pools_are_several(partitions);
    char age[32];

    age_format(age, sizeof age, reply_integer(status, "uptime_ms"));
    printf("broker %s: seqbroker %s, pid %" PRId64 ", up %s\n\n",
           reply_text(status, "broker"), reply_text(status, "version"),
           reply_integer(status, "pid"), age);
    if (!table_print(STATUS_OF_PARTITIONS, partitions, several) ||
        !lessors_table(reply_array(status, "lessors"), several))
        return false;
    putchar('\n');
    if (sequences->elements == 0)
        puts("no sequence is in use yet");
    else if (!table_print(STATUS_OF_SEQUENCES, sequences, false))
        return false;
    clock_print(reply_array(status, "clock"));
    return true;
}

static json_t *libraries_make(const redisReply *libraries)
{
    json_t *list = json_array();

    for (size_t i = 0; libraries != NULL && i < libraries->elements; i++) {
        const char *library = libraries->element[i]->str;

        if (json_array_append_new(
                list, json_of_text(library != NULL ? library : "")) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* null: no sequence needs it. */
static json_t *clock_make(const redisReply *clock)
{
    return clock == NULL
               ? json_null()
               : object_make(status_tables[STATUS_OF_CLOCK].fields, clock);
}

static bool lessors_json(const redisReply *lessors)
{
    if (lessors == NULL)
        return true;
    fputs(",\n  ", stdout);
    return objects_print(STATUS_OF_LESSORS, lessors);
}

/* One object, whose members and list elements stand on lines of their own. */
static bool status_json(const redisReply *status, const redisReply *partitions,
                        const redisReply *sequences)
{
    fputs("{\n  ", stdout);
    if (!json_print(object_make(status_tables[STATUS_OF_BROKER].fields, status),
                    JSON_EMBED))
        return false;
    fputs(",\n  \"libraries\": ", stdout);
    if (!json_print(libraries_make(reply_array(status, "libraries")), 0))
        return false;
    fputs(",\n  \"clock\": ", stdout);
    if (!json_print(clock_make(reply_array(status, "clock")), 0))
        return false;
    fputs(",\n  ", stdout);
    if (!objects_print(STATUS_OF_PARTITIONS, partitions) ||
        !lessors_json(reply_array(status, "lessors")))
        return false;
    fputs(",\n  ", stdout);
    if (!objects_print(STATUS_OF_SEQUENCES, sequences))
        return false;
    puts("\n}");
    return true;
}

static enum ctl_exit status_print(const redisReply *status, bool is_json)
{
    const redisReply *partitions = reply_array(status, "partitions");
    const redisReply *sequences = reply_array(status, "sequences");

    if (partitions == NULL || sequences == NULL)
        return reply_refuse("SEQ.STATUS", "has no partitions or sequences");
    return (is_json ? status_json : tables_print)(status, partitions, sequences)
               ? CTL_OK
               : CTL_FAILED;
}

static enum ctl_exit status_show(const struct ctl_options *options)
{
    static const char *const words[] = {"SEQ.STATUS"};
    redisReply *reply;
    enum ctl_exit result = client_ask(options, 1, words, &reply);

    if (result == CTL_OK)
        result = status_print(reply, options->given & CTL_JSON);
    freeReplyObject(reply);
    return result;
}

/* --- again and again --- */

/* Blocked and waited for, so that none cuts a table in two. */
static void signals_block(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGINT);
    sigaddset(out, SIGTERM);
    sigprocmask(SIG_BLOCK, out, NULL);
}

/* False when a signal came. */
static bool wait_calmly(const sigset_t *signals, int64_t seconds)
{
    const struct timespec interval = {.tv_sec = (time_t)seconds};

    return sigtimedwait(signals, NULL, &interval) < 0;
}

/* Shows it until SIGINT or SIGTERM; a terminal is redrawn. Only the first round
 * has to succeed: later the daemon may be away, and come back. */
static enum ctl_exit status_watch(const struct ctl_options *options)
{
    const bool is_terminal = isatty(STDOUT_FILENO) == 1;
    bool is_first = true;
    sigset_t signals;

    signals_block(&signals);
    if (is_terminal) /* a whole screen at once does not flicker */
        (void)setvbuf(stdout, NULL, _IOFBF, SCREEN_SIZE);
    do {
        enum ctl_exit result;

        if (is_terminal)
            fputs(CLEAR_SCREEN, stdout);
        else if (!is_first)
            putchar('\n');
        result = status_show(options);
        if (fflush(stdout) != 0)
            return CTL_FAILED;
        if (is_first && result != CTL_OK)
            return result;
        is_first = false;
    } while (wait_calmly(&signals, options->interval_s));
    return CTL_OK;
}

enum ctl_exit status_run(const struct ctl_options *options, char **argument)
{
    (void)argument;
    if (options->given & CTL_MARKDOWN)
        return status_doc_print();
    if (options->given & CTL_WATCH)
        return status_watch(options);
    if (options->given & CTL_INTERVAL) {
        ctl_complain("status takes --interval with --watch only");
        return CTL_USAGE;
    }
    return status_show(options);
}

/* --- worker ids --- */

static enum ctl_exit workers_print(const redisReply *workers, bool is_json)
{
    if (workers->type != REDIS_REPLY_ARRAY)
        return reply_refuse("SEQ.WORKERS", "is no list");
    if (is_json) {
        fputs("{\n  ", stdout);
        if (!objects_print(STATUS_OF_WORKERS, workers))
            return CTL_FAILED;
        puts("\n}");
        return CTL_OK;
    }
    if (workers->elements == 0) {
        puts("no worker id was ever taken");
        return CTL_OK;
    }
    return table_print(STATUS_OF_WORKERS, workers, false) ? CTL_OK : CTL_FAILED;
}

enum ctl_exit workers_run(const struct ctl_options *options, char **argument)
{
    static const char *const words[] = {"SEQ.WORKERS"};
    redisReply *reply;
    enum ctl_exit result = client_ask(options, 1, words, &reply);

    (void)argument;
    if (result == CTL_OK)
        result = workers_print(reply, options->given & CTL_JSON);
    freeReplyObject(reply);
    return result;
}
