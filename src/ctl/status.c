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

#define SCREEN_SIZE  65536           /* bytes written at once */
#define CLEAR_SCREEN "\033[H\033[2J" /* ECMA-48: cursor home, erase */

#define RIGHT SCOLS_FL_RIGHT
#define WRAP  SCOLS_FL_WRAP

static const struct field broker_fields[] = {
    JSON_ONLY("broker", MEMBER_TEXT),       JSON_ONLY("version", MEMBER_TEXT),
    JSON_ONLY("uptime_ms", MEMBER_INTEGER), JSON_ONLY("pid", MEMBER_INTEGER),
    JSON_ONLY("state_dir", MEMBER_TEXT),    {.name = NULL},
};

static const struct field partition_fields[] = {
    JSON_ONLY("pool", MEMBER_TEXT),
    {"partition", MEMBER_INTEGER, "PARTITION", SHOW_PARTITION, 0},
    {"backend", MEMBER_TEXT, "BACKEND", SHOW_TEXT, 0},
    {"engine", MEMBER_TEXT, "ENGINE", SHOW_TEXT, 0},
    JSON_ONLY("server", MEMBER_TEXT),
    JSON_ONLY("domain", MEMBER_TEXT),
    JSON_ONLY("loss", MEMBER_TEXT),
    {"class", MEMBER_TEXT, "CLASS", SHOW_TEXT, 0},
    JSON_ONLY("authority", MEMBER_BOOLEAN),
    {"state", MEMBER_TEXT, "STATE", SHOW_TEXT, 0},
    {"reason", MEMBER_TEXT, "WHY", SHOW_WHY, WRAP},
    {"since_ms", MEMBER_INTEGER, "SINCE", SHOW_AGE, RIGHT},
    JSON_ONLY("next_probe_ms", MEMBER_INTEGER),
    {"latency_us", MEMBER_INTEGER, "LATENCY", SHOW_LATENCY, RIGHT},
    {"granted", MEMBER_BIG, "GRANTED", SHOW_INTEGER, RIGHT},
    {"errors", MEMBER_INTEGER, "ERRORS", SHOW_INTEGER, RIGHT},
    JSON_ONLY("slow", MEMBER_INTEGER),
    {"ejections", MEMBER_INTEGER, "EJECTED", SHOW_INTEGER, RIGHT},
    {"refused", MEMBER_INTEGER, "REFUSES", SHOW_SOME, RIGHT},
    {"clock_ms", MEMBER_MAYBE_INTEGER, "CLOCK", SHOW_OFFSET, RIGHT},
    {.name = NULL},
};

static const struct field lessor_fields[] = {
    JSON_ONLY("pool", MEMBER_TEXT),
    {"partition", MEMBER_INTEGER, "LESSOR", SHOW_PARTITION, 0},
    {"backend", MEMBER_TEXT, "BACKEND", SHOW_TEXT, 0},
    {"state", MEMBER_TEXT, "STATE", SHOW_TEXT, 0},
    {"waits_for", MEMBER_MAYBE_TEXT, "WAITS FOR", SHOW_MAYBE, 0},
    {"since_ms", MEMBER_INTEGER, "SINCE", SHOW_AGE, RIGHT},
    {"leases_per_minute", MEMBER_INTEGER, "LEASES/MIN", SHOW_INTEGER, RIGHT},
    {.name = NULL},
};

/* As JSON has them, which programs read: the columns are in another order. */
static const struct field sequence_members[] = {
    JSON_ONLY("key", MEMBER_TEXT),
    JSON_ONLY("pool", MEMBER_TEXT),
    JSON_ONLY("memory_bits", MEMBER_INTEGER),
    JSON_ONLY("window_bits", MEMBER_INTEGER),
    JSON_ONLY("stock", MEMBER_INTEGER),
    JSON_ONLY("in_flight", MEMBER_INTEGER),
    JSON_ONLY("taken", MEMBER_BIG),
    JSON_ONLY("rate", MEMBER_INTEGER),
    JSON_ONLY("runway_ms", MEMBER_INTEGER),
    JSON_ONLY("waits", MEMBER_INTEGER),
    JSON_ONLY("low_water", MEMBER_INTEGER),
    JSON_ONLY("target", MEMBER_INTEGER),
    JSON_ONLY("asked", MEMBER_INTEGER),
    JSON_ONLY("why", MEMBER_TEXT),
    JSON_ONLY("runs_out_ms", MEMBER_INTEGER),
    JSON_ONLY("period", MEMBER_MAYBE_TEXT),
    JSON_ONLY("stamp", MEMBER_MAYBE_INTEGER),
    JSON_ONLY("dropped", MEMBER_MAYBE_INTEGER),
    JSON_ONLY("width_numbers", MEMBER_MAYBE_BIG),
    JSON_ONLY("pool_numbers", MEMBER_MAYBE_BIG),
    {.name = NULL},
};

static const struct field sequence_columns[] = {
    {"key", MEMBER_TEXT, "SEQUENCE", SHOW_TEXT, 0},
    {"pool", MEMBER_TEXT, "POOL", SHOW_TEXT, 0},
    {"period", MEMBER_MAYBE_TEXT, "PERIOD", SHOW_MAYBE, 0},
    {"stamp", MEMBER_MAYBE_INTEGER, "STAMP", SHOW_MAYBE, RIGHT},
    {"memory_bits", MEMBER_INTEGER, "BITS", SHOW_INTEGER, RIGHT},
    {"stock", MEMBER_INTEGER, "STOCK", SHOW_INTEGER, RIGHT},
    {"in_flight", MEMBER_INTEGER, "IN FLIGHT", SHOW_INTEGER, RIGHT},
    {"taken", MEMBER_BIG, "TAKEN", SHOW_INTEGER, RIGHT},
    {"rate", MEMBER_INTEGER, "RATE/S", SHOW_INTEGER, RIGHT},
    {"runway_ms", MEMBER_INTEGER, "RUNWAY", SHOW_AGE, RIGHT},
    {"waits", MEMBER_INTEGER, "WAITS", SHOW_INTEGER, RIGHT},
    {"dropped", MEMBER_MAYBE_INTEGER, "DROPPED", SHOW_MAYBE, RIGHT},
    {"pool_numbers", MEMBER_MAYBE_BIG, "POOL GIVES", SHOW_ROOM, RIGHT},
    {"runs_out_ms", MEMBER_INTEGER, "RUNS OUT", SHOW_DATE, RIGHT},
    {"why", MEMBER_TEXT, "LAST REFILL", SHOW_REFILL, WRAP},
    {.name = NULL},
};

static const struct field clock_fields[] = {
    JSON_ONLY("wall_ms", MEMBER_INTEGER),
    JSON_ONLY("guarded_ms", MEMBER_INTEGER),
    JSON_ONLY("behind_ms", MEMBER_INTEGER),
    JSON_ONLY("ahead_ms", MEMBER_INTEGER),
    JSON_ONLY("issued_ms", MEMBER_INTEGER),
    JSON_ONLY("steps_back", MEMBER_INTEGER),
    JSON_ONLY("reason", MEMBER_TEXT),
    {.name = NULL},
};

static const struct field worker_fields[] = {
    {"pool", MEMBER_TEXT, "POOL", SHOW_TEXT, 0},
    {"worker", MEMBER_INTEGER, "WORKER", SHOW_INTEGER, RIGHT},
    {"state", MEMBER_TEXT, "STATE", SHOW_TEXT, 0},
    {"holder", MEMBER_TEXT, "HOLDER", SHOW_TEXT, 0},
    {"renewed_ms", MEMBER_INTEGER, "RENEWED", SHOW_SINCE, RIGHT},
    {"used_upto_ms", MEMBER_INTEGER, "USED UP TO", SHOW_MOMENT, RIGHT},
    {.name = NULL},
};

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
    return table_print(lessor_fields, lessors, several);
}

static bool status_tables(const redisReply *status,
                          const redisReply *partitions,
                          const redisReply *sequences)
{
    const bool several = pools_are_several(partitions);
    char age[32];

    age_format(age, sizeof age, reply_integer(status, "uptime_ms"));
    printf("broker %s: seqbroker %s, pid %" PRId64 ", up %s\n\n",
           reply_text(status, "broker"), reply_text(status, "version"),
           reply_integer(status, "pid"), age);
    if (!table_print(partition_fields, partitions, several) ||
        !lessors_table(reply_array(status, "lessors"), several))
        return false;
    putchar('\n');
    if (sequences->elements == 0)
        puts("no sequence is in use yet");
    else if (!table_print(sequence_columns, sequences, false))
        return false;
    clock_print(reply_array(status, "clock"));
    return true;
}

static void libraries_print(const redisReply *libraries)
{
    fputs(",\n  \"libraries\": [", stdout);
    for (size_t i = 0; libraries != NULL && i < libraries->elements; i++) {
        const char *library = libraries->element[i]->str;

        if (i > 0)
            fputs(", ", stdout);
        json_string(stdout, library != NULL ? library : "");
    }
    putchar(']');
}

/* null: nothing has a period. */
static void clock_object_print(const redisReply *clock)
{
    fputs(",\n  \"clock\": ", stdout);
    if (clock == NULL) {
        fputs("null", stdout);
        return;
    }
    putchar('{');
    members_print(clock_fields, clock);
    putchar('}');
}

static void status_json(const redisReply *status, const redisReply *partitions,
                        const redisReply *sequences)
{
    fputs("{\n  ", stdout);
    members_print(broker_fields, status);
    libraries_print(reply_array(status, "libraries"));
    clock_object_print(reply_array(status, "clock"));
    fputs(",\n  ", stdout);
    objects_print("partitions", partition_fields, partitions);
    fputs(",\n  ", stdout);
    if (reply_array(status, "lessors") != NULL) {
        objects_print("lessors", lessor_fields, reply_array(status, "lessors"));
        fputs(",\n  ", stdout);
    }
    objects_print("sequences", sequence_members, sequences);
    puts("\n}");
}

static enum ctl_exit status_print(const redisReply *status, bool is_json)
{
    const redisReply *partitions = reply_array(status, "partitions");
    const redisReply *sequences = reply_array(status, "sequences");

    if (partitions == NULL || sequences == NULL)
        return reply_refuse("SEQ.STATUS", "has no partitions or sequences");
    if (!is_json)
        return status_tables(status, partitions, sequences) ? CTL_OK
                                                            : CTL_FAILED;
    status_json(status, partitions, sequences);
    return CTL_OK;
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
    if (is_terminal) /* a screen at once, lest it flickers */
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
        objects_print("workers", worker_fields, workers);
        puts("\n}");
        return CTL_OK;
    }
    if (workers->elements == 0) {
        puts("no worker id was ever taken");
        return CTL_OK;
    }
    return table_print(worker_fields, workers, false) ? CTL_OK : CTL_FAILED;
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
