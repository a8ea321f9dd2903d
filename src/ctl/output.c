/* SPDX-License-Identifier: Apache-2.0 */
/* An answer to SEQ.STATUS as two tables and a line for the clock, or as one
 * JSON object: which columns and members there are. How a field looks is in
 * table.c and object.c. */
#include "ctl/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/json.h"
#include "ctl/object.h"
#include "ctl/table.h"

static const struct column partition_columns[] = {
    {"PARTITION", "partition", SHOW_PARTITION, 0},
    {"BACKEND", "backend", SHOW_TEXT, 0},
    {"ENGINE", "engine", SHOW_TEXT, 0},
    {"CLASS", "class", SHOW_TEXT, 0},
    {"STATE", "state", SHOW_TEXT, 0},
    {"WHY", "reason", SHOW_WHY, SCOLS_FL_WRAP},
    {"SINCE", "since_ms", SHOW_AGE, SCOLS_FL_RIGHT},
    {"LATENCY", "latency_us", SHOW_LATENCY, SCOLS_FL_RIGHT},
    {"GRANTED", "granted", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"ERRORS", "errors", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"EJECTED", "ejections", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"REFUSES", "refused", SHOW_SOME, SCOLS_FL_RIGHT},
    {"CLOCK", "clock_ms", SHOW_OFFSET, SCOLS_FL_RIGHT},
    {.title = NULL},
};

static const struct column sequence_columns[] = {
    {"SEQUENCE", "key", SHOW_TEXT, 0},
    {"POOL", "pool", SHOW_TEXT, 0},
    {"PERIOD", "period", SHOW_MAYBE, 0},
    {"STAMP", "stamp", SHOW_MAYBE, SCOLS_FL_RIGHT},
    {"BITS", "memory_bits", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"STOCK", "stock", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"IN FLIGHT", "in_flight", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"TAKEN", "taken", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"RATE/S", "rate", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"RUNWAY", "runway_ms", SHOW_AGE, SCOLS_FL_RIGHT},
    {"WAITS", "waits", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"DROPPED", "dropped", SHOW_MAYBE, SCOLS_FL_RIGHT},
    {"POOL GIVES", "pool_numbers", SHOW_ROOM, SCOLS_FL_RIGHT},
    {"RUNS OUT", "runs_out_ms", SHOW_DATE, SCOLS_FL_RIGHT},
    {"LAST REFILL", "why", SHOW_REFILL, SCOLS_FL_WRAP},
    {.title = NULL},
};

static const struct field broker_fields[] = {
    {"broker", MEMBER_TEXT},       {"version", MEMBER_TEXT},
    {"uptime_ms", MEMBER_INTEGER}, {"pid", MEMBER_INTEGER},
    {"state_dir", MEMBER_TEXT},    {.name = NULL},
};

static const struct field partition_fields[] = {
    {"pool", MEMBER_TEXT},
    {"partition", MEMBER_INTEGER},
    {"backend", MEMBER_TEXT},
    {"engine", MEMBER_TEXT},
    {"server", MEMBER_TEXT},
    {"domain", MEMBER_TEXT},
    {"loss", MEMBER_TEXT},
    {"class", MEMBER_TEXT},
    {"authority", MEMBER_BOOLEAN},
    {"state", MEMBER_TEXT},
    {"reason", MEMBER_TEXT},
    {"since_ms", MEMBER_INTEGER},
    {"next_probe_ms", MEMBER_INTEGER},
    {"latency_us", MEMBER_INTEGER},
    {"granted", MEMBER_BIG},
    {"errors", MEMBER_INTEGER},
    {"slow", MEMBER_INTEGER},
    {"ejections", MEMBER_INTEGER},
    {"refused", MEMBER_INTEGER},
    {"clock_ms", MEMBER_MAYBE_INTEGER},
    {.name = NULL},
};

static const struct field sequence_fields[] = {
    {"key", MEMBER_TEXT},
    {"pool", MEMBER_TEXT},
    {"memory_bits", MEMBER_INTEGER},
    {"stock", MEMBER_INTEGER},
    {"in_flight", MEMBER_INTEGER},
    {"taken", MEMBER_BIG},
    {"rate", MEMBER_INTEGER},
    {"runway_ms", MEMBER_INTEGER},
    {"waits", MEMBER_INTEGER},
    {"low_water", MEMBER_INTEGER},
    {"target", MEMBER_INTEGER},
    {"asked", MEMBER_INTEGER},
    {"why", MEMBER_TEXT},
    {"runs_out_ms", MEMBER_INTEGER},
    {"period", MEMBER_MAYBE_TEXT},
    {"stamp", MEMBER_MAYBE_INTEGER},
    {"dropped", MEMBER_MAYBE_INTEGER},
    {"width_numbers", MEMBER_MAYBE_BIG},
    {"pool_numbers", MEMBER_MAYBE_BIG},
    {.name = NULL},
};

static const struct field clock_fields[] = {
    {"wall_ms", MEMBER_INTEGER},   {"guarded_ms", MEMBER_INTEGER},
    {"behind_ms", MEMBER_INTEGER}, {"ahead_ms", MEMBER_INTEGER},
    {"issued_ms", MEMBER_INTEGER}, {"steps_back", MEMBER_INTEGER},
    {"reason", MEMBER_TEXT},       {.name = NULL},
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

static enum ctl_exit output_refuse(void)
{
    ctl_complain("the answer to SEQ.STATUS has no partitions or sequences: "
                 "is this a seqbrokerd, and of this version?");
    return CTL_FAILED;
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

enum ctl_exit output_tables(const redisReply *status)
{
    const redisReply *partitions = reply_array(status, "partitions");
    const redisReply *sequences = reply_array(status, "sequences");
    char age[32];

    if (partitions == NULL || sequences == NULL)
        return output_refuse();
    age_format(age, sizeof age, reply_integer(status, "uptime_ms"));
    printf("broker %s: seqbroker %s, pid %" PRId64 ", up %s\n\n",
           reply_text(status, "broker"), reply_text(status, "version"),
           reply_integer(status, "pid"), age);
    if (!table_print(partition_columns, partitions,
                     pools_are_several(partitions)))
        return CTL_FAILED;
    putchar('\n');
    if (sequences->elements == 0)
        puts("no sequence is in use yet");
    else if (!table_print(sequence_columns, sequences, false))
        return CTL_FAILED;
    clock_print(reply_array(status, "clock"));
    return CTL_OK;
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

enum ctl_exit output_json(const redisReply *status)
{
    const redisReply *partitions = reply_array(status, "partitions");
    const redisReply *sequences = reply_array(status, "sequences");

    if (partitions == NULL || sequences == NULL)
        return output_refuse();
    fputs("{\n  ", stdout);
    members_print(broker_fields, status);
    libraries_print(reply_array(status, "libraries"));
    clock_object_print(reply_array(status, "clock"));
    fputs(",\n  ", stdout);
    objects_print("partitions", partition_fields, partitions);
    fputs(",\n  ", stdout);
    objects_print("sequences", sequence_fields, sequences);
    puts("\n}");
    return CTL_OK;
}
