/* SPDX-License-Identifier: Apache-2.0 */
/* An answer to SEQ.STATUS as two tables (libsmartcols) or as one JSON object.
 * Fields are read by name; one row below is one column or one member. */
#include "ctl/output.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <string.h>
#include <time.h>

#include "ctl/client.h"
#include "ctl/json.h"

#define CELL_SIZE 320

/* How a table shows a field. */
enum show {
    SHOW_TEXT,
    SHOW_INTEGER,
    SHOW_AGE,       /* ms, as 3m12s; -1: none */
    SHOW_DATE,      /* ms from now; -1: none */
    SHOW_LATENCY,   /* us, as 1.2ms */
    SHOW_REFILL,    /* how many numbers it asked for, and why so many */
    SHOW_WHY,       /* the reason; else what its settings lose */
    SHOW_PARTITION, /* with the pool's name where there are several */
};

/* What JSON makes of a field. */
enum member {
    MEMBER_TEXT,
    MEMBER_INTEGER,
    MEMBER_BIG, /* may pass 2^53, where JSON readers round: a string */
    MEMBER_BOOLEAN,
};

struct column {
    const char *title;
    const char *field;
    enum show show;
    int flags; /* of libsmartcols */
};

struct field {
    const char *name;
    enum member member;
};

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
    {.title = NULL},
};

static const struct column sequence_columns[] = {
    {"SEQUENCE", "key", SHOW_TEXT, 0},
    {"POOL", "pool", SHOW_TEXT, 0},
    {"BITS", "memory_bits", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"STOCK", "stock", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"IN FLIGHT", "in_flight", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"TAKEN", "taken", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"RATE/S", "rate", SHOW_INTEGER, SCOLS_FL_RIGHT},
    {"RUNWAY", "runway_ms", SHOW_AGE, SCOLS_FL_RIGHT},
    {"WAITS", "waits", SHOW_INTEGER, SCOLS_FL_RIGHT},
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
    {.name = NULL},
};

static void age_format(char *to, size_t size, int64_t ms)
{
    int64_t s = ms / 1000;

    if (ms < 0)
        snprintf(to, size, "-");
    else if (ms < 1000)
        snprintf(to, size, "%" PRId64 "ms", ms);
    else if (s < 60)
        snprintf(to, size, "%" PRId64 "s", s);
    else if (s < 3600)
        snprintf(to, size, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(to, size, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
    else
        snprintf(to, size, "%" PRId64 "d%02" PRId64 "h", s / 86400,
                 s / 3600 % 24);
}

/* The hour matters only when it is near. */
static void date_format(char *to, size_t size, int64_t ms)
{
    const bool is_near = ms < INT64_C(2) * 86400000;
    const time_t at = time(NULL) + (time_t)(ms / 1000);
    struct tm parts;

    if (ms < 0 || localtime_r(&at, &parts) == NULL ||
        strftime(to, size, is_near ? "%Y-%m-%d %H:%M" : "%Y-%m-%d", &parts) ==
            0)
        snprintf(to, size, "-");
}

static void latency_format(char *to, size_t size, int64_t us)
{
    if (us == 0)
        snprintf(to, size, "-"); /* none was measured yet */
    else if (us < 1000)
        snprintf(to, size, "%" PRId64 "us", us);
    else
        snprintf(to, size, "%" PRId64 ".%" PRId64 "ms", us / 1000,
                 us / 100 % 10);
}

static void partition_format(char *to, size_t size, const redisReply *map,
                             bool name_pool)
{
    int64_t partition = reply_integer(map, "partition");
    const char *pool = name_pool ? reply_text(map, "pool") : "";
    const char *slash = name_pool ? "/" : "";

    if (partition < 0)
        snprintf(to, size, "%s%sauthority", pool, slash);
    else
        snprintf(to, size, "%s%s%" PRId64, pool, slash, partition);
}

/* A partition that is well may still be one that loses commits. */
static void why_format(char *to, size_t size, const redisReply *map)
{
    const char *loss = reply_text(map, "loss");

    if (*reply_text(map, "reason") != '\0')
        snprintf(to, size, "%s", reply_text(map, "reason"));
    else
        snprintf(to, size, "%s%s", *loss != '\0' ? "may lose: " : "", loss);
}

static void refill_format(char *to, size_t size, const redisReply *map)
{
    const int64_t asked = reply_integer(map, "asked");

    if (asked == 0)
        snprintf(to, size, "-");
    else
        snprintf(to, size, "%" PRId64 ", %s", asked, reply_text(map, "why"));
}

static void cell_format(char *to, size_t size, const struct column *column,
                        const redisReply *map, bool name_pool)
{
    switch (column->show) {
    case SHOW_TEXT:
        snprintf(to, size, "%s", reply_text(map, column->field));
        return;
    case SHOW_INTEGER:
        snprintf(to, size, "%" PRId64, reply_integer(map, column->field));
        return;
    case SHOW_AGE:
        age_format(to, size, reply_integer(map, column->field));
        return;
    case SHOW_DATE:
        date_format(to, size, reply_integer(map, column->field));
        return;
    case SHOW_LATENCY:
        latency_format(to, size, reply_integer(map, column->field));
        return;
    case SHOW_REFILL:
        refill_format(to, size, map);
        return;
    case SHOW_WHY:
        why_format(to, size, map);
        return;
    case SHOW_PARTITION:
        partition_format(to, size, map, name_pool);
        return;
    }
}

static bool table_add(struct libscols_table *table,
                      const struct column *columns, const redisReply *map,
                      bool name_pool)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char cell[CELL_SIZE];

    if (line == NULL)
        return false;
    for (size_t i = 0; columns[i].title != NULL; i++) {
        cell_format(cell, sizeof cell, &columns[i], map, name_pool);
        if (scols_line_set_data(line, i, cell) != 0)
            return false;
    }
    return true;
}

static bool table_fill(struct libscols_table *table,
                       const struct column *columns, const redisReply *rows,
                       bool name_pool)
{
    for (size_t i = 0; columns[i].title != NULL; i++) {
        if (scols_table_new_column(table, columns[i].title, 0,
                                   columns[i].flags) == NULL)
            return false;
    }
    for (size_t i = 0; i < rows->elements; i++) {
        if (!table_add(table, columns, rows->element[i], name_pool))
            return false;
    }
    return true;
}

static bool table_print(const struct column *columns, const redisReply *rows,
                        bool name_pool)
{
    struct libscols_table *table = scols_new_table();
    bool printed = table != NULL &&
                   table_fill(table, columns, rows, name_pool) &&
                   scols_print_table(table) == 0;

    scols_unref_table(table);
    return printed;
}

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
                     pools_are_several(partitions))) {
        ctl_complain("out of memory");
        return CTL_FAILED;
    }
    if (sequences->elements == 0) {
        puts("\nno sequence is in use yet");
        return CTL_OK;
    }
    putchar('\n');
    if (!table_print(sequence_columns, sequences, false)) {
        ctl_complain("out of memory");
        return CTL_FAILED;
    }
    return CTL_OK;
}

static void member_print(const struct field *field, const redisReply *map)
{
    json_string(stdout, field->name);
    fputs(": ", stdout);
    switch (field->member) {
    case MEMBER_TEXT:
        json_string(stdout, reply_text(map, field->name));
        return;
    case MEMBER_INTEGER:
        printf("%" PRId64, reply_integer(map, field->name));
        return;
    case MEMBER_BIG:
        printf("\"%" PRId64 "\"", reply_integer(map, field->name));
        return;
    case MEMBER_BOOLEAN:
        fputs(reply_integer(map, field->name) != 0 ? "true" : "false", stdout);
        return;
    }
}

static void members_print(const struct field *fields, const redisReply *map)
{
    for (size_t i = 0; fields[i].name != NULL; i++) {
        if (i > 0)
            fputs(", ", stdout);
        member_print(&fields[i], map);
    }
}

static void objects_print(const char *name, const struct field *fields,
                          const redisReply *rows)
{
    printf(",\n  \"%s\": [", name);
    for (size_t i = 0; i < rows->elements; i++) {
        fputs(i > 0 ? ",\n    {" : "\n    {", stdout);
        members_print(fields, rows->element[i]);
        putchar('}');
    }
    fputs(rows->elements > 0 ? "\n  ]" : "]", stdout);
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

enum ctl_exit output_json(const redisReply *status)
{
    const redisReply *partitions = reply_array(status, "partitions");
    const redisReply *sequences = reply_array(status, "sequences");

    if (partitions == NULL || sequences == NULL)
        return output_refuse();
    fputs("{\n  ", stdout);
    members_print(broker_fields, status);
    libraries_print(reply_array(status, "libraries"));
    objects_print("partitions", partition_fields, partitions);
    objects_print("sequences", sequence_fields, sequences);
    puts("\n}");
    return CTL_OK;
}
